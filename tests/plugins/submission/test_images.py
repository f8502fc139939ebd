import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.submission.command import read_image_list

LISTED = [{"image_id": 42, "caption": "A dog."}, {"image_id": 73, "caption": "A bike."}]


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
    assert list(read_image_list(write(content, "images"))) == [42, 73]


def test_images_that_are_strings(write):
    assert list(read_image_list(write("a,b.jpg\nbeach\n", "images"))) == ["a,b.jpg", "beach"]
    assert list(read_image_list(write(["42", "beach"], "images"))) == ["42", "beach"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
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
        ("{", "the JSON ends too early"),
    ],
)
def test_lists_that_are_none(write, content, message):
    with pytest.raises(VifidelError, match=rf"images: .*{message}"):
        read_image_list(write(content, "images"))
