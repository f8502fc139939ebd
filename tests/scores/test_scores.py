"""Names of systems and columns; saved runs that read their inputs again, and compare without."""

import json
import re
import shutil
import warnings
from pathlib import Path

import pytest
from example_files import SIX

import vifidel_eval
from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.scorers import RougeL, Vifidel
from vifidel_eval.scores.scores import chosen_columns

CAREFUL, DREAMING, REFERENCES, OBJECTS = (path.name for path in SIX)
FEW = "ignore:.*too few for a significant:vifidel_eval.VifidelWarning"

pytestmark = pytest.mark.filterwarnings(FEW)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the example's files, and their run and file of scores."""
    for path in SIX:
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def evaluate(folder, **options):
    given = {
        "references": folder / REFERENCES,
        "objects": folder / OBJECTS,
        "metrics": "VIFIDEL-H,CHAIR,BLEU,CIDEr,VIFIDEL-PRF",
    }
    return vifidel_eval.evaluate([folder / CAREFUL, folder / DREAMING], **given | options)


def saved(run, path):
    run.save(path)
    return vifidel_eval.load(path)


@pytest.mark.parametrize(
    "options",
    [{}, {"people": True}, {"weighted": False}, {"metrics": "VIFIDEL-H,BLEU,WMD+VIFIDEL"}],
)
def test_a_loaded_run_compares_in_all_columns_as_the_run_did(folder, options):
    run = evaluate(folder, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", VifidelWarning)
        warnings.filterwarnings("ignore", message=".*too few")
        loaded = saved(run, folder / "scores.json")
        for arguments in ({}, {"seed": 4, "resamples": 77, "level": 0.9}):
            fresh, again = run.compare(**arguments), loaded.compare(**arguments)
            assert list(again.metrics) == run.columns
            assert again == fresh  # bit by bit


def test_a_loaded_run_does_all_that_the_run_does_where_its_inputs_are_unchanged(folder):
    run = evaluate(folder, counts=False, stop_words={"a", "the"})
    loaded = saved(run, folder / "scores.json")
    assert loaded.inventions() == run.inventions()
    assert len(run.inventions()) > 5
    assert loaded.sentences("dreaming") == run.sentences("dreaming")
    assert loaded.to_dataframe(words=True).equals(run.to_dataframe(words=True))
    loaded.report(folder / "report.html")
    assert "dreaming" in (folder / "report.html").read_text("utf-8")
    loaded.add_to_leaderboard(folder / "board.json")
    assert len(json.loads((folder / "board.json").read_text("utf-8"))["runs"]) == 2
    again = folder / "again.json"
    loaded.save(again)
    assert again.read_bytes() == (folder / "scores.json").read_bytes()


def test_what_is_missing_or_has_changed_is_named(folder):
    loaded = saved(evaluate(folder), folder / "scores.json")
    (folder / CAREFUL).write_text((folder / CAREFUL).read_text("utf-8") + " ")
    (folder / OBJECTS).unlink()
    with pytest.raises(VifidelError) as caught:
        loaded.inventions()
    message = str(caught.value)
    assert f"{CAREFUL} has changed, " in message
    assert f"{OBJECTS} is not there: restore it, or evaluate again." in message
    assert REFERENCES not in message
    for wants in (
        lambda: loaded.report(folder / "r.html"),
        lambda: loaded.sentences("careful"),
        lambda: loaded.to_dataframe(words=True),
        lambda: loaded.add_to_leaderboard(folder / "board.json"),
    ):
        with pytest.raises(VifidelError, match="has changed"):
            wants()
    assert not (folder / "r.html").exists()
    for path in SIX:
        shutil.copy(path, folder / path.name)
    assert loaded.inventions() == evaluate(folder).inventions()


def test_files_that_moved_with_the_scores_are_found(folder, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(folder)
    run = evaluate(Path())
    run.save("scores.json")
    inputs = json.loads(Path("scores.json").read_text("utf-8"))["inputs"]
    assert set(inputs["files"]) == {CAREFUL, DREAMING, REFERENCES, OBJECTS}
    moved = tmp_path_factory.mktemp("elsewhere") / "project"
    expected = run.inventions()
    shutil.copytree(folder, moved)
    shutil.rmtree(folder)
    monkeypatch.chdir(moved.parent)
    assert vifidel_eval.load(moved / "scores.json").inventions() == expected


def test_a_folder_is_known_by_all_that_is_in_it(folder):
    labels = folder / "labels"
    labels.mkdir()
    names = "names:\n  0: dog\n  1: cat\n"
    (folder / "data.yaml").write_text(names, "utf-8")
    for image in (101, 102):
        box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox>"
        message = f"<object><name>dog</name>{box}</object>"
        text = f"<annotation><filename>{image}.jpg</filename>{message}</annotation>"
        (labels / f"{image}.xml").write_text(text, "utf-8")
    captions = folder / "mine.json"
    captions.write_text('{"101": "a dog and a cat", "102": "a zebra"}', "utf-8")
    run = vifidel_eval.evaluate({"mine": captions}, objects=labels, metrics="VIFIDEL-PRF")
    loaded = saved(run, folder / "scores.json")
    assert loaded.sentences("mine") == run.sentences("mine")
    loaded = vifidel_eval.load(folder / "scores.json")
    (labels / "102.xml").rename(labels / "103.xml")
    with pytest.raises(VifidelError, match="labels has changed"):
        loaded.sentences("mine")


@pytest.mark.parametrize("given", ["captions", "scorers"])
def test_what_was_given_in_python_is_not_in_the_file(folder, given):
    if given == "captions":
        run = vifidel_eval.evaluate(
            {"mine": {"a": "a dog"}}, objects={"a": ["dog"]}, metrics="VIFIDEL"
        )
    else:
        run = evaluate(folder, metrics={"one": Vifidel({101: ["dog"]}), "other": RougeL()},
                       image_ids=[101])  # fmt: skip
    loaded = saved(run, folder / "scores.json")
    assert "inputs" not in json.loads((folder / "scores.json").read_text("utf-8"))
    with pytest.raises(VifidelError, match="holds only scores: evaluate again"):
        loaded.inventions()


def test_a_file_of_scores_never_says_that_pickles_are_trusted(folder):
    run = evaluate(folder, trust_pickles=True)
    run.save(folder / "scores.json")
    assert "pickle" not in (folder / "scores.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("metrics", ["VIFIDEL", "SCENE"], "there is no metric 'SCENE'"),  # its package is not here
        ("metrics", None, r"unknown here \(.*: evaluate again"),
        ("settings", "abc", r"unknown here \(.*: evaluate again"),
    ],
)
def test_a_metric_that_is_not_installed_and_damaged_arguments_are_one_sentence(
    folder, key, value, sentence
):
    path = folder / "scores.json"
    evaluate(folder).save(path)
    document = json.loads(path.read_text("utf-8"))
    document["inputs"]["arguments"][key] = value
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(VifidelError, match=sentence):
        vifidel_eval.load(path).inventions()


METRICS = {"Bleu_1": "BLEU", "Bleu_2": "BLEU", "CIDEr": "CIDEr", "VIFIDEL-P": "VIFIDEL-PRF"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CIDRe", "there is no column 'CIDRe'. Did you mean 'CIDEr'? The columns are Bleu_1, B"),
        ("vifidel-pr", "Did you mean 'VIFIDEL-P"),
        ("xyzzy", "there is no column 'xyzzy'. The columns are Bleu_1, Bleu_2, CIDEr, VIFIDEL-P."),
    ],
)
def test_a_mistyped_column_is_one_sentence(name, expected):
    with pytest.raises(VifidelError, match=re.escape(expected)):
        chosen_columns([name], METRICS)
