import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.plugins.formats.class_names import read_class_descriptions

HEADER = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,"
    "IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
)
BOXES = HEADER + (
    "0001eeaf4aed83f9,xclick,/m/0cmf2,1,0.02,0.96,0.07,0.80,0,0,0,0,0\n"
    "0001eeaf4aed83f9,xclick,/m/01g317,1,0.10,0.20,0.10,0.20,0,0,1,0,0\n"
    "000595fe6fee6369,activemil,/m/01g317,0.4,0.14,0.18,0.67,0.72,0,0,0,0,0\n"
    "000595fe6fee6369,activemil,/m/0cmf2,0.39,0.14,0.18,0.67,0.72,0,0,0,0,0\n"
    "00075905539074f2,xclick,/m/01bms0,0.1,0,1,0,1,0,0,0,0,0\n"
)
NAMES = {"/m/0cmf2": "Airplane", "/m/01g317": "Person"}


def test_boxes_count_from_the_papers_threshold_on(write):
    # The last box has a class without a name, and does not count.
    objects = read_objects(write(BOXES, "boxes.csv"), categories=NAMES)
    assert objects == {
        "0001eeaf4aed83f9": {"airplane": 1, "person": 1},
        "000595fe6fee6369": {"person": 1},
        "00075905539074f2": {},
    }
    assert objects.kind == "open-images"
    assert objects.threshold == 0.4
    assert not objects.lists_every_image


@pytest.mark.parametrize("header", ["", "LabelName,DisplayName\n"])
def test_class_descriptions_with_and_without_header(header):
    text = header + '/m/011k07,Tortoise\n/m/01bms0,"Screwdriver, electric"\n'
    assert read_class_descriptions(text, "classes.csv") == {
        "/m/011k07": "Tortoise",
        "/m/01bms0": "Screwdriver, electric",
    }
