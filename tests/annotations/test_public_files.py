"""What public files of objects hold beside objects; each value is counted by hand."""

import json

import pytest

from vifidel_eval import VifidelWarning, evaluate
from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError, ImageIdError

NAMES = [{"id": 0, "name": "dog"}, {"id": 1, "name": "cat"}]


def coco(*annotations, images=({"id": 1},), categories=NAMES):
    return {"images": [*images], "categories": categories, "annotations": [*annotations]}


def of(category, image=1, **more):
    return {"image_id": image, "category_id": category, **more}


def judged(captions, content, tmp_path, **more):
    path = tmp_path / "o.json"
    path.write_text(json.dumps(content))
    return evaluate({"x": captions}, objects=path, metrics=["VIFIDEL-H", "CHAIR"], **more)


# The same box of a dog three times, another of a dog, one of a cat, and two dogs without an area.
BOXES = [[1, 1, 9, 9]] * 3 + [[1, 1, 9, 8]]
REPEATED = [
    *(of(0, bbox=box, id=n) for n, box in enumerate(BOXES)),
    *(of(1, bbox=BOXES[0]), of(0, bbox=[0, 0, 0, 0]), of(0, bbox=[0, 0, 0, 0])),
]


def test_an_object_that_is_listed_twice_counts_once(write):
    with pytest.warns(VifidelWarning, match=r"2 objects are listed twice.* counts once\."):
        objects = read_objects(write(coco(*REPEATED), "instances.json"))
    assert objects == {1: {"dog": 4, "cat": 1}}


def test_a_detection_that_is_listed_twice_counts_once(write):
    same = of(18, bbox=[1, 2, 3, 4], score=0.9)
    detections = [same, same, {**same, "score": 0.8}, {**same, "image_id": 2}]
    with pytest.warns(VifidelWarning, match=r"1 object is listed twice"):
        objects = read_objects(write(detections, "results.json"), categories={18: "dog"})
    assert objects == {1: {"dog": 2}, 2: {"dog": 1}}


def test_rows_of_a_table_with_the_same_box(write):
    row = "a.jpg,dog,0,0,5,5\n"
    text = "filename,class,xmin,ymin,xmax,ymax\n" + 2 * row + "a.jpg,dog,0,0,5,6\n"
    with pytest.warns(VifidelWarning, match="1 object is listed twice"):
        assert read_objects(write(text, "o.csv")) == {"a.jpg": {"dog": 2}}


def test_labels_without_boxes_are_as_many_objects():
    assert read_objects({1: ["dog", "dog"], 2: [{"label": "dog", "score": 1}] * 2}) == {
        1: {"dog": 2}, 2: {"dog": 2}
    }  # fmt: skip


FLAGGED = [of(0), of(1, was_cancelled=True), of(0, deleted=1), of(0, deleted=False)]


def test_flagged_annotations_are_left_out(write):
    message = r"2 objects are left out \(1 flagged deleted, 1 flagged was_cancelled\)"
    with pytest.warns(VifidelWarning, match=message):
        objects = read_objects(write(coco(*FLAGGED), "instances.json"))
    assert objects == {1: {"dog": 2}}


def test_flagged_rows_are_left_out(write):
    text = "image,label,is_rejected\n1,dog,True\n1,cat,False\n2,dog,true\n"
    with pytest.warns(VifidelWarning, match="2 objects are left out"):
        assert read_objects(write(text, "o.csv")) == {1: {"cat": 1}, 2: {}}


ROOT = [
    {"id": 0, "name": "Street_Things", "supercategory": "none"},
    {"id": 1, "name": "bus", "supercategory": "Street Things"},
    {"id": 2, "name": "zebra", "supercategory": "Street Things"},
]


def test_a_category_that_only_groups_others_cannot_be_absent(write):
    path = write(coco(of(1), categories=ROOT), "instances.json")
    assert read_objects(path).categories == {"bus", "zebra"}
    detected = write([of(1, score=0.9)], "results.json")
    assert read_objects(detected, categories=path).categories == {"bus", "zebra"}


def test_a_supercategory_with_annotations_of_its_own_is_a_category(write):
    objects = read_objects(write(coco(of(1), of(0), categories=ROOT), "instances.json"))
    assert objects.categories == {"street things", "bus", "zebra"}
    own = [{"id": 0, "name": "person", "supercategory": "person"}, *NAMES[1:]]
    assert read_objects(write(coco(of(1), categories=own), "p.json")).categories == {
        "person", "cat"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("root", "caption"),
    [("vehicles", "A bus and other vehicles."), ("objects", "A bus among other objects.")],
)
def test_a_group_is_there_where_its_members_are(root, caption, tmp_path):
    kinds = [{"id": 0, "name": root}, {"id": 1, "name": "bus", "supercategory": root}]
    scores = judged({1: caption}, coco(of(1), categories=kinds), tmp_path).scores["x"]
    assert (scores["VIFIDEL-Hi"], scores["CHAIRi"]) == (0, 0)


@pytest.mark.parametrize("name", ["__background__", "_background_", "Background", "N/A"])
def test_background_is_no_object(name, write):
    classes = [{"id": 0, "name": name}, {"id": 1, "name": "dog"}]
    objects = read_objects(write(coco(of(0), of(1), categories=classes), "instances.json"))
    assert (objects, objects.categories) == ({1: {"dog": 1}}, {"dog"})


@pytest.mark.parametrize(("in_list", "in_annotation"), [(0, "0"), ("0", 0), ("0", "0"), (0, 0)])
def test_ids_of_categories_in_text(in_list, in_annotation, write):
    classes = [{"id": in_list, "name": "dog"}]
    content = coco(of(in_annotation), categories=classes)
    assert read_objects(write(content, "instances.json")) == {1: {"dog": 1}}


# Image 8 is called 7.jpg: that is no name of image 7, whatever its number says.
FILES = {
    "images/beach.jpg": "beach.jpg",
    r"images\1/beach.jpg": "beach.jpg",
    "beach_jpg.rf.0123456789abcdef.jpg": "beach.jpg",
    "cb0618f6-beach.jpg": "beach.jpg",
    "frame.jpg": "frame.jpg",
}


@pytest.mark.parametrize(("file", "name"), FILES.items())
@pytest.mark.parametrize("references", [False, True])
def test_captions_by_file_name(file, name, references, tmp_path):
    images = [{"id": 7, "file_name": file}, {"id": 8, "file_name": "7.jpg"}]
    captions = {name: "A dog.", "7.jpg": "A dog."}
    content = coco(of(0, 7), of(1, 8), images=images)
    more = {"references": {i: ["On the grass."] for i in captions}} if references else {}
    # A dog is in the first of the two images only; in the other is a cat.
    scores = judged(captions, content, tmp_path, **more).per_image("x")
    assert [of_image["VIFIDEL-Hi"] for of_image in scores.values()] == [0, 1]


def test_a_file_name_of_two_images_is_no_name(tmp_path):
    images = [{"id": i, "file_name": "frame.png"} for i in (7, 8)]
    content = coco(of(0, 7), images=images)
    with pytest.raises(ImageIdError, match=r"lacks 1 image id of the captions: 'frame\.png'"):
        judged({"frame.png": "A dog."}, content, tmp_path, allow_subset=True)


def test_names_beside_indices_of_classes(write):
    text = "image,name,class,confidence\na.jpg,dog,16,0.9\na.jpg,dog,16,0.7\n"
    assert read_objects(write(text, "o.csv")) == {"a.jpg": {"dog": 2}}
    only = "image,class\na.jpg,16\n"
    with pytest.raises(AnnotationError, match="the label is '16'; write the name of the class"):
        read_objects(write(only, "p.csv"))


@pytest.mark.filterwarnings("ignore:.*what pandas writes")
def test_cells_that_pandas_writes_for_nothing(write):
    text = "image_id,label\n1.0,dog\n1,dog\n2.0,nan\n3,\n4,<NA>\n5,None\n"
    expected = {1: {"dog": 2}, 2: {}, 3: {}, 4: {}, 5: {}}
    assert read_objects(write(text, "o.csv")) == expected


def test_florence_2(write):
    content = {"<OD>": {"bboxes": [[0, 0, 1, 1], [0, 0, 2, 2]], "labels": ["dog", "frisbee"]}}
    assert read_objects(write({"1": content}, "o.json")) == {1: {"dog": 1, "frisbee": 1}}
    with pytest.raises(AnnotationError, match="nothing says which image"):
        read_objects(write(content, "p.json"))
