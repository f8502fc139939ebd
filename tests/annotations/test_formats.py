"""The table of formats: the documentation and the help print it."""

import json
import re
from pathlib import Path

import pytest

from vifidel_eval.annotations import Box, ImageBoxes, read_boxes, read_objects
from vifidel_eval.annotations.instances import Format, Way
from vifidel_eval.annotations.read import FORMATS, accepted
from vifidel_eval.errors import AnnotationError

PAGE = Path(__file__).parents[2] / "docs" / "objects.md"

NAMES = ["cat", "dog", "fire hydrant"]
IMAGES: dict[int, list[str]] = {42: ["dog", "dog", "fire hydrant"], 73: ["cat"]}
INDICES = {image: [NAMES.index(label) for label in labels] for image, labels in IMAGES.items()}
CATEGORIES = [{"id": 10 * i, "name": name} for i, name in enumerate(NAMES)]
LISTED = [{"id": image} for image in IMAGES]


def test_the_page_has_the_table():
    table = PAGE.read_text("utf-8").partition("| source |")[2].partition("\n\n")[0]
    rows = [f"| {known.source} | {known.scores} | {known.notes} |" for known in FORMATS]
    assert table.split("\n")[2:] == rows


@pytest.mark.parametrize("command", ["score", "explain"])
def test_help_lists_the_formats(command, run):
    told = " ".join(run(command, "--help").output.split())
    plain = re.sub(r"\s", "", told)
    for known in FORMATS:
        assert re.sub(r"\s", "", known.name) in plain


def test_all_formats_are_listed():
    assert all(known.name in accepted() for known in FORMATS)
    assert len(accepted()) < 500


def test_a_format_is_one_record_and_one_line(tmp_path, monkeypatch):
    def read_toys(table, found):
        found.add(1, table.text[5:], sides=[0, 0, 1, found.lowest])
        return found.object_labels("toys")

    # Said before the others, so that nothing else recognises it; nothing else is changed.
    toy = Format(
        "toy labels",
        "toys, one line",
        "",
        "",
        (
            Way(
                "table",
                lambda table: table.text.startswith("toys:"),
                read_toys,
            ),
        ),
    )
    monkeypatch.setattr("vifidel_eval.annotations.read.FORMATS", (toy, *FORMATS))
    path = tmp_path / "toys.txt"
    path.write_text("toys:kite")
    assert read_objects(path).signature().startswith("toys#")
    assert read_objects(path) == {1: {"kite": 1}}
    assert read_boxes(path, 0.5) == {1: ImageBoxes([Box("kite", 0, 0, 1, 0.5)])}
    assert accepted().startswith("toy labels, COCO")


def test_image_ids_may_be_paths(tmp_path):
    labels = {"val2017/000000000042.jpg": ["dog"], "a b/ü.png": {"labels": ["cat"]}}
    assert read_objects(labels) == {"val2017/000000000042.jpg": {"dog": 1}, "a b/ü.png": {"cat": 1}}
    path = tmp_path / "labels.json"
    path.write_text('{"val2017/000000000042.jpg": ["dog"]}')
    assert read_objects(path) == {"val2017/000000000042.jpg": {"dog": 1}}


def _coco(key):
    """Return the images in a COCO file, as instances or panoptic segments."""
    found = [
        {"image_id": image, "segments_info": [{"category_id": 10 * i} for i in indices]}
        for image, indices in INDICES.items()
    ]
    if key == "category_id":
        found = [
            {"image_id": image["image_id"], **segment}
            for image in found
            for segment in image["segments_info"]
        ]
    return {"images": LISTED, "annotations": found, "categories": CATEGORIES}


def _genome():
    return [
        {"image_id": image, "objects": [{"names": [label]} for label in labels]}
        for image, labels in IMAGES.items()
    ]


def _arrays(indices):
    return {
        "labels": indices,
        "scores": [0.9] * len(indices),
        "bboxes": [[0, 0, 1, 1]] * len(indices),
    }


WRITTEN = {
    "coco-instances": {"instances.json": _coco("category_id")},
    "coco-panoptic": {"panoptic.json": _coco("segments_info")},
    "visual-genome": {"objects.json": _genome()},
    "label-csv": {
        "objects.csv": "image,label\n"
        + "".join(f"{image},{label}\n" for image, labels in IMAGES.items() for label in labels)
    },
    "labels": {"labels.json": IMAGES},
    "labels ": {
        "objects.jsonl": "\n".join(
            json.dumps({"image_id": image, "objects": labels}) for image, labels in IMAGES.items()
        )
    },
    "labels>=0.6": {f"{i}.json": _arrays(indices) for i, indices in INDICES.items()},
    "yolo": {
        f"{image}.txt": "".join(f"{i} .5 .5 .1 .1\n" for i in indices)
        for image, indices in INDICES.items()
    },
    "voc": {
        f"{image}.xml": "<annotation>"
        + "".join(f"<object><name>{label}</name></object>" for label in labels)
        + "</annotation>"
        for image, labels in IMAGES.items()
    },
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_same_objects_in_every_format(tmp_path, kind):
    classes = tmp_path / "classes.txt"
    classes.write_text("\n".join(NAMES))
    folder = tmp_path / "objects"
    folder.mkdir()
    for name, content in WRITTEN[kind].items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    source = folder if len(WRITTEN[kind]) > 1 else folder / name
    objects = read_objects(source, categories=classes)
    plain = read_objects(IMAGES)
    assert objects == {42: {"dog": 2, "fire hydrant": 1}, 73: {"cat": 1}}
    assert objects.signature() == plain.signature().replace("labels", kind.strip())
