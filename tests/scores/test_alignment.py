import pytest

from vifidel_eval import ImageIdError, VifidelWarning
from vifidel_eval.io.image_ids import read_image_ids
from vifidel_eval.run.plan import check_releases
from vifidel_eval.scores.alignment import System, align, captioned, only_images

REFERENCES = {1: ["a"], 2: ["b"], 3: ["c"]}


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ([42, "beach", 7.0], [42, "beach", 7]),
        ("42\nbeach\n\n 7 \n", [42, "beach", 7]),
        ("000000000042.jpg\r\n", ["000000000042.jpg"]),
    ],
)
def test_image_ids_are_a_list_or_lines(write, content, ids):
    assert read_image_ids(write(content, "ids")) == ids


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([42, None], r"\[1\] is None; an image id is an integer or a string"),
        ([42, 7, 42], r"image 42 appears twice \(\[0\] and \[2\]\); keep one"),
        ("42\n\n42", r"image 42 appears twice \(line 1 and line 3\); keep one"),
        ({"42": 1}, "holds a JSON object"),
        ("[42", "truncated"),
        ("\n", "has no image ids"),
    ],
)
def test_what_is_no_list_of_ids_is_refused(write, content, says):
    with pytest.raises(ImageIdError, match=says):
        read_image_ids(write(content, "ids"))


def test_only_the_named_images_are_left():
    systems = [System("x", {1: "x1", 2: "x2", 9: "x9"}), System("y", {"000000000002": "y2"})]
    of_systems, references = only_images([3, "COCO_val2014_000000000002.jpg"], systems, REFERENCES)
    assert references == {2: ["b"], 3: ["c"]}
    assert [dict(system.captions) for system in of_systems] == [{2: "x2"}, {"000000000002": "y2"}]
    of_systems, references = only_images([9], systems[:1], None)
    assert references is None
    assert dict(of_systems[0].captions) == {9: "x9"}


def test_named_images_that_nobody_knows_are_refused():
    systems = [System("x", {1: "x1"})]
    with pytest.raises(ImageIdError, match="the reference side lacks 1 image id of the image ids"):
        only_images([1, 4], systems, REFERENCES)
    with pytest.raises(ImageIdError, match=r"the run lacks 1 image id of FILE: 2"):
        only_images([1, 2], systems, None, "FILE")


def coco(year):
    return {"info": {"year": year, "description": f"COCO {year} Dataset"}, "images": []}


def test_releases_that_differ_are_told_apart(write):
    objects, references = write(coco(2014), "instances"), write(coco(2017), "captions")
    with pytest.raises(
        ImageIdError,
        match=r"are from COCO 2014 and the references .* from 2017: 1 of the 3 images have",
    ):
        check_releases([objects], {1: [], 2: []}, references, REFERENCES)
    with pytest.warns(VifidelWarning, match="from COCO 2014 and the references .* from 2017; take"):
        check_releases([objects], {1: [], 2: [], 3: []}, references, REFERENCES)


@pytest.mark.parametrize(
    "image",
    [
        {"file_name": "COCO_val2014_000000000042.jpg"},
        {"coco_url": "http://images.cocodataset.org/val2014/000000000042.jpg"},
    ],
)
def test_images_tell_the_release_where_the_info_does_not(write, image):
    objects, references = write({"images": [image]}, "instances"), write(coco(2017), "captions")
    with pytest.warns(VifidelWarning, match="from COCO 2014"):
        check_releases([objects], REFERENCES, references, REFERENCES)


SPELLINGS = {
    "numbers": lambda number: number,
    "stems": lambda number: f"{number:012}",
    "pictures": lambda number: f"{number:012}.jpg",
    "paths": lambda number: f"val2017/{number:012}.jpg",
}


@pytest.mark.parametrize("first", SPELLINGS)
@pytest.mark.parametrize("second", SPELLINGS)
def test_systems_spell_ids_in_their_own_ways(first, second):
    one, other = SPELLINGS[first], SPELLINGS[second]
    systems = [
        System("one", {one(724): "a", one(9): "b"}),
        System("other", {other(9): "c", other(724): "d", other(7): "e"}),
    ]
    aligned = align(systems)
    images = [one(724), one(9), other(7)]
    assert aligned.images == {image_id: [] for image_id in images}
    rows = list(aligned.rows().values())
    assert [list(of_system.ids) for of_system in rows] == [images[:2], images]
    assert [list(of_system.captions) for of_system in rows] == [["a", "b"], ["d", "c", "e"]]
    left, references = only_images([724], systems, None)
    assert [list(system.captions.values()) for system in left] == [["a"], ["d"]]
    assert references is None


def test_pictures_of_different_folders_stay_apart():
    names = ["beach", "val/beach.jpg", "train/beach.jpg"]
    systems = [System(name, {name: name}) for name in names]
    assert list(align(systems).images) == ["beach", "train/beach.jpg"]
    with pytest.raises(ImageIdError, match=r"'beach' could be 'val/beach.jpg' or 'train/beach"):
        align([*systems[1:], systems[0]])


@pytest.mark.parametrize(
    ("captions", "says"),
    [
        ([{724: "a", "724": "b"}], "^system '0': 724 and '724' mean the same image"),
        ([{1.5: "a"}, {"1.5": "b"}], "^the systems together: 1.5 and '1.5' mean the same image"),
        ([{"a": "x"}, {"a.jpg": "y", "b/a.jpg": "z"}], "'a.jpg' and 'b/a.jpg' both mean 'a'"),
    ],
)
def test_ids_that_mean_one_image_are_refused_without_speaking_of_references(captions, says):
    systems = [System(str(number), of_system) for number, of_system in enumerate(captions)]
    with pytest.raises(ImageIdError, match=says) as problem:
        align(systems)
    assert "reference" not in str(problem.value)


def test_objects_say_which_ids_of_systems_mean_one_image():
    systems = [
        System("one", {"val2017/000000000724.jpg": "a", "val2017/000000000009.jpg": "b"}),
        System("other", {"images/9.jpg": "c", "images/724.jpg": "d", "images/7.jpg": "e"}),
        System("third", {724: "f", 9: "g"}),
    ]
    one, other, third = align(systems, objects={724, 9, 8}).systems
    assert one == systems[0]
    assert other.captions == {
        "val2017/000000000009.jpg": "c", "val2017/000000000724.jpg": "d", "images/7.jpg": "e",
    }  # fmt: skip
    assert third.captions == {"val2017/000000000724.jpg": "f", "val2017/000000000009.jpg": "g"}
    assert align(systems[:2], objects={"beach"}).systems == systems[:2]
    with pytest.raises(ImageIdError, match=r"'val/7.jpg' and 'test/7.jpg' both mean 7"):
        align([System("x", {"val/7.jpg": "a", "test/7.jpg": "b"})], objects={7})


def test_pictures_of_other_folders_need_objects_that_say_they_are_the_same():
    references = {"refs/beach.jpg": ["the beach"]}
    one = System("x", {"val/beach.jpg": "a beach"})
    with pytest.raises(ImageIdError, match="the reference side lacks 1 image id of system 'x'"):
        align([one], references, {"val/beach.jpg"})


def test_captioned_images_keep_their_order_and_spelling():
    references = {3: ["c"], 1: ["a"], 2: ["b"], 4: []}
    systems = [System("one", {"000000000001.jpg": "x"}), System("two", {3: "x", 1: "x"})]
    left = captioned(align(systems, references))
    assert list(left.images.items()) == [(3, ["c"]), (1, ["a"])]
    assert left.uncaptioned == 2


def test_an_unknown_image_is_named_beside_all_that_are_known():
    references = {image: ["a dog"] for image in range(1, 41)}
    with pytest.raises(ImageIdError, match=r"lacks 1 image id .*: 99; it has 40 image ids"):
        align([System("one", {99: "x"})], references)
