"""The command ``vifidel-eval formats``: what it lists can be read, as what it says."""

import json
import re

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.annotations.read import formats
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.read import layouts


@pytest.mark.parametrize("layout", [*layouts()], ids=lambda layout: layout.name)
def test_an_example_of_captions_is_read(layout, tmp_path):
    path = tmp_path / "captions"
    path.write_text(layout.example, "utf-8")
    if layout.as_results:
        (caption,) = read_results(path).values()
        assert "dog" in caption
    ((caption, *_),) = read_references(path, *[["test"]] * layout.has_splits).values()
    assert "dog" in caption


# nocaps' file is read beside its annotations; what `detect` writes has no example.
ALONE = [known for known in formats() if known.example and known.name != "nocaps JSON"]


@pytest.mark.parametrize("known", ALONE, ids=lambda known: known.name)
def test_an_example_of_objects_is_read(known, tmp_path):
    suffix = {"PASCAL VOC XML": ".xml", "a folder of YOLO labels": ".txt"}.get(known.name, "")
    path = tmp_path / "objects" / f"1{suffix}"
    path.parent.mkdir()
    path.write_text(known.example, "utf-8")
    if suffix == ".txt":
        path = path.parent
    names = tmp_path / "names.csv"
    names.write_text("/m/0bt9lr,dog\n", "utf-8")
    needs_names = known.name.startswith(("Open Images", "COCO detection", "a folder of YOLO"))
    if suffix == ".txt":
        names = tmp_path / "names.txt"
        names.write_text("thing\n" * 16 + "dog\n", "utf-8")
    if known.name == "COCO detection results":
        names.write_text(json.dumps([{"id": 18, "name": "dog"}]), "utf-8")
    objects = read_objects(path, **({"categories": names} if needs_names else {}))
    ((image_id, labels),) = objects.items()
    assert labels.get("dog", 0) >= 1 or objects.denied, (image_id, labels)


def test_it_lists_all_or_one_kind(run, monkeypatch):
    assert len(run("formats").stdout.splitlines()) < 140
    monkeypatch.setenv("COLUMNS", "1000")
    everything = run("formats").stdout
    for known in (*layouts(), *formats()):
        assert known.example.partition("\t")[0].partition("\n")[0] in everything
        only = " (references only)" * (not getattr(known, "as_results", True))
        assert "  " + re.sub(r"[`\\]", "", known.source) + only in everything.splitlines()
    assert everything.startswith("Captions, as results or references\n")
    assert run("formats", "captions").stdout + "\n" + run("formats", "objects").stdout == everything
