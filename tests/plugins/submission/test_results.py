import json
import unicodedata

import hypothesis
import pytest
from hypothesis import strategies as st
from pycocotools.coco import COCO

from vifidel_eval.captions import read_results
from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.submission import check_results, read_image_list, write_results

IMAGES = [42, 73, 74]


def entries(**replaced):
    """Return a faultless results list, some images' entries replaced: i42={...}."""
    whole = {f"i{i}": {"image_id": i, "caption": f"image {i}"} for i in IMAGES}
    return list((whole | replaced).values())


@pytest.fixture
def check(tmp_path):
    """Check a results file: a list to dump, text or bytes."""

    def check(content, images=IMAGES):
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path = tmp_path / "mine.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        result = check_results(path, images)
        assert {fault.file for fault in result.faults} <= {str(path)} == {result.file}
        return result

    return check


def brief(results):
    return [(fault.kind, fault.entry, fault.image_id) for fault in results.faults]


@pytest.mark.parametrize(
    ("entry", "kind", "what"),
    [
        ({"image_id": "42", "caption": "a"}, "image id type", '"42", not a whole number'),
        ({"image_id": " 0042\n", "caption": "a"}, "image id type", '" 0042'),
        ({"image_id": 42.0, "caption": "a"}, "image id type", "42.0, not"),
        ({"image_id": 42, "caption": " a"}, "white space", "white space"),
        ({"image_id": 42, "caption": "a\n"}, "white space", "white space"),
        ({"image_id": 42, "caption": "a\u2028b"}, "line break", r'"\u2028"'),
        ({"image_id": 42, "caption": "a\r\nb"}, "line break", r'"\r"'),
        ({"image_id": 42, "caption": "a", "p": 1}, "extra key", 'key "p"'),
        ({"image_id": 42, "caption": ""}, "empty caption", "no words"),
        ({"image_id": 42, "caption": " \u2028"}, "empty caption", "no words"),
        ({"image_id": 42, "caption": "\u200b"}, "empty caption", "no words"),
        ({"image_id": 42, "caption": "\0 \ufeff"}, "empty caption", "no words"),
        ({"image_id": 42, "caption": None}, "caption type", "is null, not"),
        ({"image_id": 42, "caption": ["a"]}, "caption type", "is a list, not"),
        ({"image_id": 42}, "no caption", "no key caption"),
        ({"image_id": 42, "caption": "\ud83d"}, "lone surrogate", "UTF-8"),
    ],
)
def test_each_fault_of_an_entry_is_the_only_one(check, entry, kind, what):
    (fault,) = check(entries(i42=entry)).faults
    assert (fault.kind, fault.entry, fault.image_id) == (kind, 0, 42)
    assert what in fault.what


def test_reading_goes_on_after_every_fault(check):
    content = [
        {"image_id": 42, "caption": "a"},
        {"image_id": "42", "caption": " b "},
        {"image_id": 16, "caption": ""},
        "no entry",
        {"image_id": 74, "caption": 5, "id": 1, "score": 2},
    ]
    assert brief(check(content)) == [
        ("image id type", 1, 42),
        ("white space", 1, 42),
        ("second caption", 1, 42),
        ("empty caption", 2, 16),
        ("unknown image", 2, 16),
        ("no entry", 3, None),
        ("extra key", 4, 74),
        ("extra key", 4, 74),
        ("caption type", 4, 74),
        ("missing image", None, 73),
    ]


def test_a_key_that_appears_twice_is_a_fault_of_its_entry(check):
    text = json.dumps(entries()).replace('"caption": "image 73"', '"caption": 1, \\g', 1)
    text = text.replace("\\g", '"caption": "image 73"')
    assert brief(check(text)) == [("repeated key", 1, 73)]


@pytest.mark.parametrize(
    ("content", "kind", "what"),
    [
        ("", "unreadable", "the file is empty"),
        ({"42": "a", "73": "b", "74": "c"}, "not a list", "found an object"),
        ("null", "not a list", "found null"),
    ],
)
def test_a_file_that_holds_no_list_has_one_fault(check, content, kind, what):
    (fault,) = check(content).faults
    assert fault.kind == kind
    assert what in fault.what


def test_byte_order_mark(check):
    result = check(b"\xef\xbb\xbf" + json.dumps(entries()).encode())
    assert brief(result) == [("byte order mark", None, None)]


def test_ids_that_are_strings(check):
    content = [{"image_id": i, "caption": "a"} for i in ("beach", 42, "7")]
    faults = check(content, ["beach", "42", 7]).faults
    assert [(fault.entry, fault.image_id, fault.what) for fault in faults] == [
        (1, "42", "the image id is 42, not a string"),
        (2, 7, 'the image id is "7", not a whole number'),
    ]
    assert brief(check([{"image_id": 7, "caption": "a"}], ["beach"])) == [
        ("unknown image", 0, 7),
        ("missing image", None, "beach"),
    ]


def test_captions_are_written_in_the_order_and_with_the_ids_of_the_images(tmp_path):
    path = tmp_path / "out.json"
    captions = {"000000000073": " a\u2028dog ", 42: "ein Hündchen", "val/74.jpg": "a cat"}
    result = write_results(captions, path, IMAGES)
    assert (result.faults, result.entries) == ([], 3)
    assert path.read_bytes().isascii()
    assert json.loads(path.read_text()) == [
        {"image_id": 42, "caption": "ein Hündchen"},
        {"image_id": 73, "caption": "a dog"},
        {"image_id": 74, "caption": "a cat"},
    ]


@pytest.mark.parametrize(
    ("captions", "fault"),
    [
        ({42: "a", 73: "b"}, ("missing image", None, 74)),
        ({42: "a", 73: "b", 74: "c", 9: "d"}, ("unknown image", 3, 9)),
        ({42: "a", 73: " \n", 74: "c"}, ("empty caption", 1, 73)),
        ({42: "a", 73: "\ud83d", 74: "c"}, ("lone surrogate", 1, 73)),
    ],
)
def test_a_fault_leaves_the_older_file(tmp_path, captions, fault):
    path = tmp_path / "out.json"
    path.write_text("older")
    assert brief(write_results(captions, path, IMAGES)) == [fault]
    assert path.read_text() == "older"


def test_coco_reads_what_was_written(tmp_path, capsys):
    truth = COCO()
    truth.dataset = {"images": [{"id": i} for i in IMAGES]}
    truth.createIndex()
    rows = tmp_path / "mine.csv"
    rows.write_text("image,text\n74,third\n42,first\n73,second\n")
    write_results(read_results(rows), tmp_path / "out.json", IMAGES)
    results = truth.loadRes(str(tmp_path / "out.json"))
    captions = [[one["caption"] for one in results.imgToAnns[i]] for i in IMAGES]
    assert captions == [["first"], ["second"], ["third"]]


# Something to see; JSON of the results format can hold anything but half a character.
CAPTION = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda text: any(unicodedata.category(each)[0] not in "ZC" for each in text)
)


@hypothesis.given(st.dictionaries(st.integers(0, 10**12), CAPTION, min_size=1), st.data())
def test_what_was_written_has_no_fault_and_every_word(tmp_path_factory, captions, data):
    path = tmp_path_factory.mktemp("submission") / "out.json"
    images = data.draw(st.permutations(list(captions)))
    assert write_results(captions, path, images).faults == []
    assert check_results(path, images).faults == []
    written = {entry["image_id"]: entry["caption"] for entry in json.loads(path.read_text())}
    assert list(written) == images
    for image, text in captions.items():
        assert written[image].split() == text.split()


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ODD_ENTRY = JSON_VALUE | st.fixed_dictionaries(
    {"image_id": st.sampled_from([42, "42", 73.0, " 74"]) | JSON_VALUE},
    optional={"caption": st.text() | JSON_VALUE, "score": JSON_VALUE},
)


@hypothesis.given(JSON_VALUE | st.lists(ODD_ENTRY))
def test_any_json_is_checked_to_its_end(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("submission") / "mine.json"
    path.write_text(json.dumps(content))
    result = check_results(path, IMAGES)
    described = {fault.image_id for fault in result.faults if fault.kind == "missing image"}
    if isinstance(content, list):
        assert result.entries == len(content)
        assert described.isdisjoint(
            entry["image_id"]
            for entry in content
            if isinstance(entry, dict) and type(entry.get("image_id")) is int
        )
    else:
        assert [fault.kind for fault in result.faults] == ["not a list"]


LISTED = [
    {"id": 7, "file_name": "0013ea2087020901.jpg", "open_images_id": "0013ea2087020901"},
    {"id": 8, "file_name": "beach.jpg", "open_images_id": "00a159a661a2f5aa"},
]


@pytest.mark.parametrize(
    "captions",
    [
        {7: "a dog", 8: "a cat"},
        {"0013ea2087020901": "a dog", "00a159a661a2f5aa": "a cat"},
        {"val/0013ea2087020901.jpg": "a dog", "beach.jpg": "a cat"},
    ],
)
@pytest.mark.parametrize("by_file_name", [False, True])
def test_ids_and_file_names_of_the_list_are_one(captions, by_file_name, write, tmp_path):
    listed = read_image_list(write({"images": LISTED}))
    path = tmp_path / "out.json"
    assert write_results(captions, path, listed, by_file_name).faults == []
    by_name = {"0013ea2087020901.jpg": "a dog", "beach.jpg": "a cat"}
    by_id = [{"image_id": 7, "caption": "a dog"}, {"image_id": 8, "caption": "a cat"}]
    assert json.loads(path.read_text()) == (by_name if by_file_name else by_id)
    assert check_results(path, listed, by_file_name).faults == []
    [fault] = check_results(path, listed, not by_file_name).faults
    assert fault.kind == ("not a list" if by_file_name else "not an object")


def test_file_names_without_a_list_are_the_captions_ids(tmp_path):
    path = tmp_path / "out.json"
    write_results({"b.jpg": "a dog", 7: "a cat"}, path, by_file_name=True)
    assert json.loads(path.read_text()) == {"b.jpg": "a dog", "7": "a cat"}


# Lists of images


CAPTIONED = [{"image_id": 42, "caption": "A dog."}, {"image_id": 73, "caption": "A bike."}]


@pytest.mark.parametrize(
    "content",
    [
        {"images": [{"id": 42, "file_name": "a.jpg"}, {"id": 73}], "info": {}},
        {"annotations": [{"image_id": 42}, {"image_id": 73}, {"image_id": 42}]},
        {"42": ["A dog."], "73": []},
        [42, 73],
        CAPTIONED,
        "42\n\n73\n",
        "image_id\n42\n73\n",
        "id,image_id\n1,42\n2,73\n3,42\n",
        '{"image_id": 42}\n{"image_id": 73}\n',
        '{"id": 42, "width": 5}\n{"id": 73, "width": 5}\n',
    ],
)
def test_images_of_any_list(write, content):
    assert list(read_image_list(write(content, "images"))) == [42, 73]


def test_images_that_are_strings(write):
    assert list(read_image_list(write("a,b.jpg\nbeach\n", "images"))) == ["a,b.jpg", "beach"]
    assert list(read_image_list(write(["42", "beach"], "images"))) == ["42", "beach"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("image_id\n42\n42\n", r"image 42 appears twice \(line 2 and line 3\)"),
        ([], "has no image ids"),
        ({"images": []}, "has no image ids"),
        ("image_id,caption\n", "has no image ids"),
        ({"images": [{"file_name": "a.jpg"}]}, r"images\[0\]: 'id' is missing"),
        ({"images": [None]}, r"images\[0\]: expected an object"),
        ("42\n42\n", r"image 42 appears twice \(line 1 and line 2\)"),
        ([42, None], r"\[1\] is None"),
        (["42", 42], "mean the same image"),
        ('[{"name": 1}]', "no field for an image id"),
        ({"images": [{"filename": "a", "sentences": []}]}, "has Karpathy's splits"),
    ],
)
def test_lists_that_are_none(write, content, message):
    with pytest.raises(VifidelError, match=rf"images: .*{message}"):
        read_image_list(write(content, "images"))
