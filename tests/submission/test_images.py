import json

import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.submission import check_results, read_image_list

LISTED = [{"image_id": 42, "caption": "A dog."}, {"image_id": 73, "caption": "A bike."}]


@pytest.fixture
def write(tmp_path):
    def write(content, name="images"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        {"images": [{"id": 42, "file_name": "a.jpg"}, {"id": 73}], "info": {}},
        {"annotations": [{"image_id": 42}, {"image_id": 73}, {"image_id": 42}]},
        {"42": ["A dog."], "73": []},
        [42, 73],
        LISTED,
        "42\n\n73\n",
        "image_id\n42\n73\n",
        "id,image_id\n1,42\n2,73\n3,42\n",
        '{"image_id": 42}\n{"image_id": 73}\n',
        '{"id": 42, "width": 5}\n{"id": 73, "width": 5}\n',
    ],
)
def test_images_of_any_list(write, content):
    assert list(read_image_list(write(content))) == [42, 73]


def test_images_that_are_strings(write):
    assert list(read_image_list(write("a,b.jpg\nbeach\n"))) == ["a,b.jpg", "beach"]
    assert list(read_image_list(write(["42", "beach"]))) == ["42", "beach"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("image_id\n42\n42\n", r"image 42 appears twice \(line 2 and line 3\)"),
        ([], "there is no image id in it"),
        ({"images": []}, "there is no image id in it"),
        ("image_id,caption\n", "there is no image id in it"),
        ({"images": [{"file_name": "a.jpg"}]}, r"images\[0\]: 'id' is missing"),
        ({"images": [None]}, r"images\[0\]: 'id' is null"),
        ("42\n42\n", r"image 42 appears twice \(line 1 and line 2\)"),
        ([42, None], r"\[1\] is None"),
        (["42", 42], "mean the same image"),
        ('[{"name": 1}]', "no field for an image id"),
        ({"images": [{"filename": "a", "sentences": []}]}, "has Karpathy's splits"),
        ("{", "the JSON ends too early"),
    ],
)
def test_lists_that_are_none(write, content, message):
    with pytest.raises(VifidelError, match=rf"images: .*{message}"):
        read_image_list(write(content))


def faults(write, content, images):
    found = check_results([write(content, "mine.json")], images)
    return [(fault.kind, fault.entry, fault.image_id, fault.repair) for fault in found.faults]


def test_faultless_results_under_any_name(write):
    found = check_results([write(LISTED, "x"), write(LISTED[::-1], "y")], [42, 73])
    assert found.faults == []
    assert [(file.split, file.entries) for file in found.files] == [(None, 2), (None, 2)]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"image_id": "73", "caption": "a"}, ("image id type", 1, 73, "becomes 73")),
        ({"image_id": 73.0, "caption": "a"}, ("image id type", 1, 73, "becomes 73")),
        ({"image_id": 73, "caption": " a"}, ("white space", 1, 73, "removed")),
        ({"image_id": 73, "caption": ""}, ("empty caption", 1, 73, None)),
        ({"image_id": 73, "caption": "a\u2028b"}, ("line break", 1, 73, "becomes a blank")),
        ({"image_id": 73, "caption": "a", "id": 3}, ("extra key", 1, 73, "left out")),
        ({"image_id": 73}, ("no caption", 1, 73, None)),
    ],
)
def test_faults_of_an_entry(write, entry, fault):
    assert faults(write, [LISTED[0], entry], [42, 73]) == [fault]


def test_faults_of_a_list(write):
    content = [*LISTED, LISTED[0], {"image_id": 7, "caption": "a"}]
    assert faults(write, content, [42, 73, 74]) == [
        ("second caption", 2, 42, None),
        ("unknown image", 3, 7, None),
        ("missing image", None, 74, None),
    ]


def test_ids_that_are_strings(write):
    content = [{"image_id": i, "caption": "a"} for i in ("beach", 42, "7")]
    assert faults(write, content, ["beach", "42", 7]) == [
        ("image id type", 1, "42", 'becomes "42"'),
        ("image id type", 2, 7, "becomes 7"),
    ]
    assert faults(write, [{"image_id": 7, "caption": "a"}], ["beach"]) == [
        ("unknown image", 0, 7, None),
        ("missing image", None, "beach", None),
    ]


def test_a_zip_belongs_to_the_profile_of_coco(write):
    found = check_results([write("x", "results.zip")], [42])
    assert [fault.kind for fault in found.faults] == ["zip"]
    assert "--profile coco" in found.faults[0].what
