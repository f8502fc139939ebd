"""nocaps, in the layout of nocaps.org/download, beside Open Images' boxes."""

import json
import pickle

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError, ImageIdError

NOCAPS = {
    "info": {"description": "nocaps validation dataset"},
    "images": [
        {"id": 0, "open_images_id": "0013ea2087020901", "file_name": "0013ea2087020901.jpg"},
        {"id": 1, "open_images_id": "00a159a661a2f5aa", "file_name": "00a159a661a2f5aa.jpg"},
        {"id": 2, "open_images_id": "00c9d2b1a2d4e5f6", "file_name": "00c9d2b1a2d4e5f6.jpg"},
    ],
    "annotations": [{"image_id": 0, "id": 0, "caption": "A baby in front of a house."}],
}
BOXES = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\n"
    "0013ea2087020901,xclick,/m/0cmf2,1,0,1,0,1\n"
    "0013ea2087020901,xclick,/m/0cmf2,1,0,1,0,0.5\n"
    "00a159a661a2f5aa,xclick,/m/01g317,1,0,1,0,1\n"
    "ffffffffffffffff,xclick,/m/01g317,1,0,1,0,1\n"
)
NAMES = {"/m/0cmf2": "Airplane", "/m/01g317": "Person"}
FOUND = {0: {"airplane": 2}, 1: {"person": 1}, 2: {}}


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "nocaps.json").write_text(json.dumps(NOCAPS))
    (tmp_path / "boxes.csv").write_text(BOXES)
    return [tmp_path / "nocaps.json", tmp_path / "boxes.csv"]


def test_boxes_get_the_ids_of_nocaps(paths):
    for sources in (paths, paths[::-1]):
        objects = read_objects(sources, categories=NAMES)
        assert objects == FOUND
        assert objects.lists_every_image
        assert objects.signature().startswith("open-images>=0.4#")
        assert pickle.loads(pickle.dumps(objects)) == FOUND


def test_union_with_detections_under_either_id(paths):
    more = [{"00a159a661a2f5aa": ["hat"], "0013ea2087020901": []}, {0: ["house"], 2: ["dog"]}]
    united = {0: {"airplane": 1, "house": 1}, 1: {"person": 1, "hat": 1}, 2: {"dog": 1}}
    assert read_objects([*paths, *more], categories=NAMES) == united


def test_nocaps_alone_has_no_objects(paths):
    for source in (paths[0], [paths[0]]):
        with pytest.raises(AnnotationError, match="give one such file"):
            read_objects(source)
    with pytest.raises(AnnotationError, match="give one such file"):
        read_objects([paths[0], *paths], categories=NAMES)


def test_boxes_of_another_split(paths):
    paths[1].write_text(BOXES.replace("00a159a661a2f5aa", "eeeeeeeeeeeeeeee"))
    with pytest.raises(ImageIdError, match=r"boxes\.csv lacks 2 image ids of nocaps' images"):
        read_objects(paths, categories=NAMES)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ({"id": 3}, r"images\[3\] \(image 3\): 'open_images_id' is missing"),
        ({"id": 3, "open_images_id": "0013ea2087020901"}, "'0013ea2087020901' is listed twice"),
        ({"id": 0, "open_images_id": "a"}, "is listed twice"),
    ],
)
def test_broken(paths, image, message):
    paths[0].write_text(json.dumps({"images": [*NOCAPS["images"], image]}))
    with pytest.raises(AnnotationError, match=message):
        read_objects(paths, categories=NAMES)
