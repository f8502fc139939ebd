"""Objects as other programs export them, and layouts that are not known."""

import pytest

from vifidel_eval.annotations import Box, ImageBoxes, read_boxes, read_objects
from vifidel_eval.errors import AnnotationError


def shape(label, *corners, **fields):
    return {"label": label, "points": [*corners], "shape_type": "rectangle", **fields}


def labelme(name, *shapes):
    size = {"imageWidth": 8, "imageHeight": 4}
    rest = {"version": "5.0.1", "flags": {}, "imageData": None, **size}
    return {**rest, "shapes": [*shapes], "imagePath": name}


def test_labelme(write, tmp_path):
    parts = [shape("Dog", [4, 1], [2, 3], group_id=1), shape("Dog", [3, 2], [4, 2], group_id=1)]
    circles = [shape("Ball", [4, 2], [5, n], shape_type="circle", group_id=None) for n in (2, 3)]
    content = labelme("..\\pictures\\42.jpg", *parts, *circles)
    for path in (write(content), write(content, "folder/42.json").parent):
        assert read_objects(path) == {42: {"dog": 1, "ball": 2}}
        assert read_boxes(path) == {42: ImageBoxes([Box("dog", 2, 1, 2, 2, None)], (8, 4))}
    write(labelme("73.jpg"), "folder/73.json")
    assert read_objects(tmp_path / "folder") == {42: {"dog": 1, "ball": 2}, 73: {}}
    write(labelme("73.jpg"), "folder/again.json")
    with pytest.raises(AnnotationError, match=r"again\.json: image 73 is annotated twice"):
        read_objects(tmp_path / "folder")


def sample(path, **fields):
    return {"filepath": path, "tags": ["validation"], "metadata": None, **fields}


def detections(*items):
    return {"_cls": "Detections", "detections": [{"_cls": "Detection", **item} for item in items]}


DOG = {"label": "dog", "bounding_box": [0.1, 0.2, 0.3, 0.4], "confidence": 0.9}
CAT = {"label": "cat", "bounding_box": [0, 0, 1, 1], "confidence": 0.2}


def test_fiftyones_samples(write):
    samples = [
        sample("data/42.jpg", found=detections(DOG, CAT)),
        sample("data/73.jpg", found=detections()),
        sample("data/7.jpg", weather={"_cls": "Classification", "label": "rain"}),
    ]
    path = write({"samples": samples})
    assert read_objects(path) == {"data/42.jpg": {"dog": 1}, "data/73.jpg": {}, "data/7.jpg": {}}
    assert read_objects(path, 0.1)["data/42.jpg"] == {"dog": 1, "cat": 1}
    box = Box("dog", 0.1, 0.2, 0.3, 0.4, 0.9)
    assert read_boxes(path)["data/42.jpg"] == ImageBoxes([box], (1.0, 1.0))
    samples[0]["truth"] = detections(DOG)
    with pytest.raises(AnnotationError, match="'found' and 'truth' have detections; export"):
        read_objects(write({"samples": samples}))


def test_fiftyones_labels(write):
    unscored = DOG | {"confidence": None}
    labels = {"42": [DOG | {"label": 1}, CAT | {"label": 0}], "73": [], "7": [unscored]}
    result = read_objects(write({"classes": ["cat", "dog"], "labels": labels}))
    assert result == {42: {"dog": 1}, 73: {}, 7: {"dog": 1}}
    assert result.categories == {"cat", "dog"}
    with pytest.raises(AnnotationError, match="cannot be read as FiftyOne"):
        read_objects(write({"classes": ["cat"], "labels": labels}))


def test_popes_questions_with_a_models_answers(write):
    asked = {"image": "7.jpg", "question": "Is there a dog in the image?", "answer": "Yes, it is."}
    other = asked | {"question": "Is there a nut in the image?", "answer": "No"}
    result = read_objects(write([asked, other]))
    assert result == {"7.jpg": {"dog": 1}}
    assert result.asked_of(["7.jpg"]) == [frozenset({"dog", "nut"})]
    labelled = [asked | {"label": "no"}, other | {"label": "yes"}]
    assert read_objects(write(labelled)) == {"7.jpg": {"nut": 1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"version": "5.0", "frames": [{"x": 1}], "height": 4},
            "no known layout has 'version', 'frames', 'height'; the nearest are {image id: [label, "
            "...]} JSON and ",
        ),
        (
            [{"image_id": 42, "things": ["dog"]}],
            "no known layout has 'image_id', 'things'; the nearest are JSON Lines of objects and ",
        ),
        (["dog", "cat"], "no known layout begins with \"['dog', 'cat']\"; the nearest are "),
        ({"1": {"<CAPTION>": "a dog"}}, "no known layout has '<CAPTION>'; the nearest are "),
        (42, "no known layout begins with '42'; the nearest are "),
        ("width,height\n1,2\n", "no known layout has 'width', 'height'; the nearest are CSV or "),
    ],
)
def test_an_unknown_layout_is_answered_by_what_it_has(content, message, write):
    with pytest.raises(AnnotationError) as problem:
        read_objects(write(content, "objects.json"))
    assert f"objects.json: not a source of objects: {message}" in str(problem.value)
