import pytest

from vifidel_eval.annotations import read_class_descriptions, read_open_images
from vifidel_eval.errors import AnnotationError

HEADER = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,"
    "IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
)
IMAGE = "0001eeaf4aed83f9"
BOXES = HEADER + (
    "0001eeaf4aed83f9,xclick,/m/0cmf2,1,0.02,0.96,0.07,0.80,0,0,0,0,0\n"
    "0001eeaf4aed83f9,xclick,/m/01g317,1,0.10,0.20,0.10,0.20,0,0,1,0,0\n"
    "000595fe6fee6369,activemil,/m/01g317,0.4,0.14,0.18,0.67,0.72,0,0,0,0,0\n"
    "000595fe6fee6369,activemil,/m/0cmf2,0.39,0.14,0.18,0.67,0.72,0,0,0,0,0\n"
    "00075905539074f2,xclick,/m/01bms0,0.1,0,1,0,1,0,0,0,0,0\n"
)
NAMES = {"/m/0cmf2": "Airplane", "/m/01g317": "Person"}


def one_box(label="/m/01g317", confidence="1", image=IMAGE):
    return f"{HEADER}{image},xclick,{label},{confidence},0,1,0,1,0,0,0,0,0\n"


def test_boxes_count_from_the_papers_threshold_on():
    # The last box has a class without a name, and does not count.
    objects = read_open_images(BOXES, "boxes.csv", categories=NAMES)
    assert objects == {
        "0001eeaf4aed83f9": {"airplane": 1, "person": 1},
        "000595fe6fee6369": {"person": 1},
        "00075905539074f2": {},
    }
    assert objects.kind == "open-images"
    assert objects.threshold == 0.4
    assert not objects.lists_every_image


def test_boxes_with_another_threshold():
    objects = read_open_images(BOXES, "boxes.csv", threshold=0.39, categories=NAMES)
    assert objects["000595fe6fee6369"] == {"person": 1, "airplane": 1}


def test_names_in_place_of_machine_ids():
    assert read_open_images(one_box("Hot dog"), "boxes.csv") == {IMAGE: {"hot dog": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (one_box("/m/01bms0"), "line 2: class /m/01bms0 has no name; give the class descriptions"),
        (one_box(confidence="high"), "line 2: score 'high' is not a number"),
        (one_box(confidence="nan"), "line 2: score nan is not a number"),
        (one_box(confidence=""), "line 2: score '' is not a number"),
        (one_box(image=""), "line 2: ImageID or LabelName is empty"),
        (one_box(label=""), "line 2: ImageID or LabelName is empty"),
        (f"{HEADER}{IMAGE}\n", "line 2 has 1 fields but the header has 13"),
        ("ImageID,XMin\n", "no column Confidence, LabelName"),
        ("", "no column Confidence, ImageID, LabelName"),
    ],
)
def test_bad_boxes(text, message):
    with pytest.raises(AnnotationError, match=rf"boxes\.csv: {message}"):
        read_open_images(text, "boxes.csv", categories=NAMES)


@pytest.mark.parametrize("header", ["", "LabelName,DisplayName\n"])
def test_class_descriptions_with_and_without_header(header):
    text = header + '/m/011k07,Tortoise\n/m/01bms0,"Screwdriver, electric"\n'
    assert read_class_descriptions(text, "classes.csv") == {
        "/m/011k07": "Tortoise",
        "/m/01bms0": "Screwdriver, electric",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/m/011k07,Tortoise\n/m/01bms0\n", "line 2 has 1 fields"),
        ("/m/011k07,Tortoise,animal\n", "line 1 has 3 fields"),
        ("LabelName,DisplayName\n", "no class in it"),
        ("", "no class in it"),
        ('/m/011k07,"' + "Tortoise\n" * 20_000, "line"),  # a quote that nothing closes
    ],
)
def test_bad_class_descriptions(text, message):
    with pytest.raises(AnnotationError, match=rf"classes\.csv: {message}"):
        read_class_descriptions(text, "classes.csv")
