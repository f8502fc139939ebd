"""Layouts that say what was looked for, each by an example of our own."""

import json

import pytest

from vifidel_eval.annotations import read_boxes, read_objects
from vifidel_eval.errors import AnnotationError, ImageIdError


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def answer(image, thing, **fields):
    return {"image_id": image, "thing": thing, **fields}


HEADER = {"vifidel_eval": "detections", "version": 1, "model": "toy", "lowest": 0.05}


def detected(image, labels, scores, asked=None, boxes=None):
    boxes = [[20 * i, 0, 20 * i + 10, 10] for i in range(len(labels))] if boxes is None else boxes
    record = {"image_id": image, "labels": labels, "scores": scores, "boxes": boxes}
    record |= {"width": 100, "height": 50}
    return record if asked is None else {**record, "asked": asked}


LVIS = {
    "images": [
        {"id": 1, "neg_category_ids": [2, 3, 4], "not_exhaustive_category_ids": [3]},
        {"id": 2, "neg_category_ids": [], "not_exhaustive_category_ids": [1]},
    ],
    "categories": [
        {"id": 1, "name": "squirrel"},
        {"id": 2, "name": "nut"},
        {"id": 3, "name": "lamp"},
        {"id": 4, "name": "bow_(decorative_ribbons)"},
    ],
    "annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 2, "category_id": 1}],
}

POPE = [
    {"image": "a.jpg", "text": "Is there a squirrel in the image?", "label": "yes"},
    {"image": "a.jpg", "text": "Is there an oak nut in the image?", "label": "no"},
    {"image": "b.jpg", "text": "Are there any skis in the picture?", "label": "no"},
]

AMBER = [
    {"id": 1, "type": "generative", "truth": ["sky", "dog", "dog"], "hallu": ["nut", "dog"]},
    {"id": 2, "type": "generative", "truth": [], "hallu": []},
    {"id": 3, "type": "discriminative-hallucination", "truth": "yes"},
]

WOODPECKER = {
    "img_path": "a.jpg",
    "entity_info": {
        "squirrel": {"total_count": 2, "bbox": [[0.1, 0.1, 0.3, 0.4]]},
        "nut": {"total_count": 0, "bbox": []},
    },
}

# content of a file; counts; what was looked for
LAYOUTS = {
    "counts": (json.dumps({"1": {"squirrel": 1, "nut": 0}, "2": ["dog"]}),
        {1: {"squirrel": 1}, 2: {"dog": 1}}, {1: {"squirrel", "nut"}, 2: None}),
    "asked beside arrays": (
        json.dumps(
            {"1": {"labels": ["squirrel"], "scores": [0.9], "asked": ["squirrel", "a nut"]}}
        ),
        {1: {"squirrel": 1}},
        {1: {"squirrel", "nut"}},
    ),
    "asked in records": (
        lines(
            {"image": "a.jpg", "objects": ["squirrel", "squirrel"], "asked": ["squirrel", "nut"]},
            {"image": "b.jpg", "objects": [], "asked": ["Nut"]},
            {"image": "c.jpg", "objects": ["dog"]},
        ),
        {"a.jpg": {"squirrel": 2}, "b.jpg": {}, "c.jpg": {"dog": 1}},
        {"a.jpg": {"squirrel", "nut"}, "b.jpg": {"nut"}, "c.jpg": None},
    ),
    "answers": (
        lines(
            answer(1, "squirrel", answer="Yes, there is one."),
            answer(1, "nut", answer="No."),
            answer(1, "lamp", answer="I'm not sure."),
            answer(2, "nut", answer=False),
            answer(1, "nut", answer="no"),
        ),
        {1: {"squirrel": 1}, 2: {}},
        {1: {"squirrel", "nut"}, 2: {"nut"}},
    ),
    "scores": (
        lines(
            answer(1, "squirrel", score=0.5), answer(1, "nut", score=0.49), answer(2, "a", score=0)
        ),
        {1: {"squirrel": 1}, 2: {}},
        {1: {"squirrel", "nut"}, 2: {"a"}},
    ),
    "one answer": (lines(answer(1, "nut", answer="no")), {1: {}}, {1: {"nut"}}),
    "POPE": (lines(*POPE), {"a.jpg": {"squirrel": 1}, "b.jpg": {}},
        {"a.jpg": {"squirrel", "oak nut"}, "b.jpg": {"skis"}}),
    "AMBER": (json.dumps(AMBER), {1: {"sky": 1, "dog": 1}, 2: {}},
        {1: {"sky", "dog", "nut"}, 2: set()}),
    "Woodpecker": (json.dumps([WOODPECKER]), {"a.jpg": {"squirrel": 2}},
        {"a.jpg": {"squirrel", "nut"}}),
    "image labels": (
        "ImageID,Source,LabelName,Confidence\n"
        "x,verification,Squirrel,1\nx,verification,Nut,0\ny,machine,Nut,0.4\ny,machine,Lamp,0.7\n",
        {"x": {"squirrel": 1}, "y": {"lamp": 1}},
        {"x": {"squirrel", "nut"}, "y": {"nut", "lamp"}},
    ),
    "LVIS": (json.dumps(LVIS), {1: {"squirrel": 1}, 2: {"squirrel": 1}},
        {1: {"squirrel", "nut", "bow"}, 2: {"squirrel"}}),
    "detect": (
        lines(
            {**HEADER, "classes": None},
            detected(
                "a.jpg", ["squirrel", "squirrel", "nut"], [0.9, 0.8, 0.1], ["squirrel", "nut"]
            ),
            detected("b.jpg", [], [], ["nut"]),
            detected("b.jpg", ["nut", "lamp"], [0.7, 0.2], ["nut", "lamp"]),
            {"image_id": "c.jpg", "problem": "not a picture"},
        ),
        {"a.jpg": {"squirrel": 1}, "b.jpg": {"nut": 1}, "c.jpg": {}},
        {"a.jpg": {"squirrel", "nut"}, "b.jpg": {"nut", "lamp"}, "c.jpg": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name, write):
    text, counts, asked = LAYOUTS[name]
    objects = read_objects(write(text, "objects.txt"))
    assert {image: dict(labels) for image, labels in objects.items()} == counts
    assert dict(zip(asked, objects.asked_of(list(asked)), strict=True)) == asked
    assert all(0 not in labels.values() for labels in objects.values())
    assert "+asked:image#" in objects.signature()


@pytest.mark.parametrize(
    "text",
    [
        lines({"classes": ["squirrel", "Nut"]}, {"image_id": 1, "objects": ["squirrel"]}),
        lines({**HEADER, "classes": ["squirrel", "Nut"]}, detected("1", ["squirrel"], [0.9])),
    ],
)
def test_classes_in_a_header(text, write):
    objects = read_objects(write(text))
    assert [dict(labels) for labels in objects.values()] == [{"squirrel": 1}]
    assert objects.categories == {"squirrel", "nut"}
    assert "+asked:classes#" in objects.signature()


def test_boxes_of_one_object_count_once(write):
    twice = [[0, 0, 10, 10], [0, 0, 10, 9], [40, 0, 50, 10]]
    text = lines(
        {**HEADER, "classes": ["dog"]},
        detected("a.jpg", ["dog", "dog", "dog"], [0.7, 0.9, 0.8], boxes=twice),
    )
    path = write(text)
    assert read_objects(path) == {"a.jpg": {"dog": 2}}
    boxes = read_boxes(path)["a.jpg"]
    assert [(box.score, box.height) for box in boxes.boxes] == [(0.9, 9), (0.8, 10)]
    assert boxes.size == (100, 50)


def test_boxes_of_woodpecker(write):
    (box,) = read_boxes(write(LAYOUTS["Woodpecker"][0]))["a.jpg"].boxes
    assert box[:3] == ("squirrel", 0.1, 0.1)
    assert box[3:5] == pytest.approx((0.2, 0.3))


def test_tags_with_bars():
    assert read_objects({1: "armchair | floor lamp | lamp"}) == {
        1: {"armchair": 1, "floor lamp": 1, "lamp": 1}
    }
    assert not read_objects({1: "a | b"}).says_what_was_asked
    assert read_objects({1: "dog", 2: ""}) == {1: {"dog": 1}, 2: {}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            lines(answer(1, "nut", answer="yes"), answer(1, "Nut", answer="no")),
            r"line 2 \(image 1\): 'nut' is both there and not there \(the other answer is line 1\)",
        ),
        (lines(answer(1, "nut", answer="a dog"), answer(1, "x", answer="no")),
         r"line 1 \(image 1\): 'answer' is 'a dog'; expected yes, no or unsure"),
        (lines(answer(1, "nut", answer=None), answer(1, "x", answer="no")),
         "'answer' is null"),
        (lines(answer(1, "nut", answer="yes"), answer(1, "x")), "'answer' is missing"),
        (lines(answer(1, "nut", score=12), answer(1, "x", score=0)), "is above 1"),
        (lines(answer(1, 5, answer="yes"), answer(1, "x", answer="no")), "1 .*read as answers"),
        (lines(POPE[0], {**POPE[1], "text": "What?"}), r"line 2 .*: 'text' is 'What\?'; exp"),
        (lines(POPE[0], {**POPE[1], "label": "maybe so"}).replace("maybe so", "7"),
         r"line 2 .*'label' is '7'"),
        (json.dumps([{**AMBER[0], "hallu": None}]), r"\[0\] \(image 1\): 'hallu' is null; exp"),
        (json.dumps([AMBER[0], AMBER[0]]), r"\[1\]: image 1 is listed twice"),
        (json.dumps([AMBER[2]]), "no entry of type 'generative'"),
        (json.dumps([{"img_path": "a", "entity_info": {"nut": 3}}]), "read as Woodpecker"),
        (json.dumps([{"img_path": "a", "entity_info": {"nut": {"total_count": -1}}}]), "negative"),
        (json.dumps([{"img_path": "a", "entity_info": []}]), "cannot be read as Woodpecker"),
        (json.dumps({**LVIS, "images": [{"id": 1, "neg_category_ids": 4}, {"id": 2}]}),
         "image 1\\): 'neg_category_ids' is 4; expected a list"),
        (json.dumps({**LVIS, "images": [{"id": 1, "neg_category_ids": [9]}, {"id": 2}]}),
         "image 1\\): category_id 9 is not one of"),
        (lines({"classes": "dog"}, {"image_id": 1, "objects": []}), "line 1: 'classes' is 'dog'"),
        (lines({**HEADER, "version": 2}, detected("a", [], [])), "line 1: not version 1 of"),
        (lines(HEADER, {"image_id": "a", "labels": ["dog"]}), r"line 2 \(image 'a'\): score None"),
        (lines(HEADER, detected("a", ["dog"] * 1001, [0.9] * 1001)), "has 1001 boxes of 'dog', "),
        (json.dumps({"1": {"labels": [], "scores": [], "asked": [3]}}), "'asked' has 3 in it"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path, text, message, write):
    with pytest.raises(AnnotationError, match=message) as problem:
        read_objects(write(text))
    assert str(problem.value).startswith(str(tmp_path))
    assert str(problem.value).endswith(".")


SCORES = {"squirrel": 0.5, "lamp": 0.49, "nut": 0.3, "dog": 0.29}


@pytest.mark.parametrize(
    "text",
    [
        lines(*(answer("a.jpg", thing, score=score) for thing, score in SCORES.items())),
        lines(
            {**HEADER, "classes": None},
            detected("a.jpg", list(SCORES), list(SCORES.values()), list(SCORES)),
        ),
        "ImageID,Source,LabelName,Confidence\n"
        + "".join(f"a.jpg,machine,{thing},{score}\n" for thing, score in SCORES.items()),
    ],
    ids=["answers", "detect", "image labels"],
)
def test_scores_from_uncertain_up_to_the_threshold_say_nothing(text, write):
    path = write(text, "objects.txt")
    objects = read_objects(path, threshold=0.5, uncertain=0.3)
    assert objects == {"a.jpg": {"squirrel": 1}}
    assert objects.asked_of(["a.jpg"]) == [{"squirrel", "dog"}]
    assert objects.unsure == 2
    assert read_objects(path, threshold=0.5).asked_of(["a.jpg"]) == [set(SCORES)]


DETECTED = lines(
    {**HEADER, "classes": None},
    detected("sub/a.jpg", ["dog"], [0.9], ["dog", "lamp"]),
    detected("b.jpg", [], [], ["cat"]),
)
ANSWERED = lines(
    answer("sub/a.jpg", "dog", answer="yes"),
    answer("sub/a.jpg", "lamp", answer="no", control=True),
    answer("b.jpg", "cat", answer="no"),
)


@pytest.mark.parametrize("text", [DETECTED, ANSWERED], ids=["detected", "answers"])
def test_images_by_path_and_images_without_a_question(text, write):
    objects = read_objects(write(text, "asked.jsonl"))
    for image in ("sub/a.jpg", "a", "photos/sub/a.png"):
        assert objects.of_images([image, "c.jpg"]) == [{"dog": 1}, {}]
        assert objects.asked_of([image, "c.jpg", "b.jpg"]) == [{"dog", "lamp"}, None, {"cat"}]
    # Captions of other images are not taken for captions that mention nothing.
    with pytest.raises(ImageIdError, match=r"the image side \(.*asked.jsonl\) lacks"):
        objects.of_images([f"other{number}.jpg" for number in range(20)])


def test_every_picture_that_was_searched_for_classes_has_a_line(write):
    text = lines({**HEADER, "classes": ["dog"]}, detected("a.jpg", ["dog"], [0.9]))
    objects = read_objects(write(text, "objects.jsonl"))
    with pytest.raises(ImageIdError, match="lacks 1 image id"):
        objects.of_images(["a.jpg", "b.jpg"])
