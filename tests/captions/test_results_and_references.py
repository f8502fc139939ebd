import pytest

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.errors import CaptionError

CAPTIONS = {
    "info": {"description": "COCO 2017 Dataset", "year": 2017},
    "licenses": [],
    "images": [{"id": 73, "file_name": "000000000073.jpg"}, {"id": 42}, {"id": 74}],
    "annotations": [
        {"image_id": 42, "id": 641613, "caption": "A dog on a couch."},
        {"image_id": 73, "id": 148284, "caption": "Two motorcycles\n"},
        {"image_id": 42, "id": 641614, "caption": "Ein Hündchen schläft."},
    ],
}
INSTANCES = {
    "images": [{"id": 42}],
    "annotations": [{"id": 1, "image_id": 42, "category_id": 18}],
    "categories": [{"id": 18, "name": "dog"}],
}
DETECTIONS = [{"image_id": 42, "category_id": 18, "bbox": [1, 2, 3, 4], "score": 0.9}]


def annotated(**changed):
    return {"annotations": [{"image_id": 42, "id": 1, "caption": "A dog."} | changed]}


def test_coco_references_come_in_the_order_of_the_images(write):
    references = read_references(write(CAPTIONS, "captions.json"))
    assert list(references.items()) == [
        (73, ["Two motorcycles\n"]),
        (42, ["A dog on a couch.", "Ein Hündchen schläft."]),
        (74, []),
    ]


def test_references_keyed_by_image_id(write):
    keyed = {"42": ["A dog.", "A pet."], "000000000073": ["A bike."], "beach": []}
    assert read_references(write(keyed, "captions.json")) == {
        42: ["A dog.", "A pet."],
        "000000000073": ["A bike."],
        "beach": [],
    }


@pytest.mark.parametrize(
    "content",
    [
        [{"image_id": 73, "caption": "A bike."}, {"image_id": 42, "caption": ""}],
        [{"image_id": 73.0, "caption": "A bike.", "id": 9}, {"image_id": 42, "caption": ""}],
        {"73": "A bike.", "42": ""},
    ],
)
def test_results_come_in_the_order_of_the_file(content, write):
    results = read_results(write(content, "captions.json"))
    assert list(results.items()) == [(73, "A bike."), (42, "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (annotated(caption=None), r"annotations\[0\] \(image 42\): the caption is null"),
        ({"images": [], "annotations": []}, "there is no image and no caption"),
        ({}, "there is no image and no caption"),
        ({"42": "A dog."}, "image 42: expected a list, found 'A dog"),
        ({"42": [["dog", 0.9]]}, r"image 42: the caption is \['dog', 0\.9\]"),
        ({"annotations": [{"image_id": 42}]}, r"annotations.* no 'caption', but other things"),
        (INSTANCES, r"annotations\[0\] \(image 42\): no 'caption', but object annotations"),
        (DETECTIONS, "no caption in it, but object annotations"),
        ([{"image_id": 42, "prediction": "A dog."}], "no field for a caption .*'prediction'"),
        ("42", "42 is not a caption file"),
    ],
)
def test_bad_references(content, message, write):
    with pytest.raises(CaptionError, match=rf"captions\.json: {message}"):
        read_references(write(content, "captions.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [
                {"image_id": 42, "caption": "A dog."},
                {"image_id": 73, "caption": "A bike."},
                {"image_id": 42, "caption": "A cat."},
            ],
            r"two captions for image 42 \(entries \[0\] and \[2\]\)",
        ),
        ([{"caption": "A dog."}], "no field for an image id .*only 'caption'; name it with --id"),
        ([{"image_id": 1, "caption": "a"}, {"caption": "b"}], r"\[1\]: 'image_id' is missing"),
        ([{"image_id": 1, "caption": "a"}, {"image_id": 2}], r"\[1\] \(image 2\): .* is missing"),
        (["A dog."], r"\[0\]: expected an object, found 'A dog"),
        ({"42": None}, "image 42: the caption is null"),
        ({"42": ["A dog.", "A cat."]}, "image 42: 2 captions for one image; .*score-table"),
        ({"42": []}, r"image 42: the caption is \[\], not a string"),
        ({"42": [["A dog."]]}, r"image 42: the caption is \['A dog"),
        (CAPTIONS, "holds a dataset's annotations"),
        ([], "there is no caption in it"),
    ],
)
def test_bad_results(content, message, write):
    with pytest.raises(CaptionError, match=rf"captions\.json: {message}"):
        read_results(write(content, "captions.json"))
