"""COCO's metrics and tokens on val2017."""

import json

import pytest
from host_metrics import GTS, RES, check_numbers_of_stock, stock_tokens

from vifidel_eval.plugins.java import PtbTokenizer
from vifidel_eval.words.tokenization import PythonTokenizer


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock's pipes
def test_numbers_are_those_of_stock_coco_eval_cap(coco, monkeypatch):
    """On some images of val2017, the last first, with those of the tests."""
    gts, res = dict(GTS), dict(RES)
    human = json.loads((coco / "captions_val2017_human_results.json").read_text("utf-8"))
    references = json.loads((coco / "captions_val2017_references.json").read_text("utf-8"))
    chosen = {entry["image_id"]: [entry["caption"]] for entry in human[400:200:-1]}
    for i in chosen.keys() - res.keys():
        res[i], gts[i] = chosen[i], []
    for annotation in references["annotations"]:
        if annotation["image_id"] in chosen.keys() - GTS.keys():
            gts[annotation["image_id"]].append(annotation["caption"])
    check_numbers_of_stock(gts, res, monkeypatch)


def test_ptb_gives_the_tokens_of_pycocoevalcap_on_val2017(coco):
    content = json.loads((coco / "captions_val2017.json").read_text("utf-8"))
    captions = {}
    for annotation in content["annotations"]:
        captions.setdefault(annotation["image_id"], []).append(annotation["caption"])
    assert PtbTokenizer().tokenize(captions) == stock_tokens(captions)


def test_python_tokens_of_val2017_are_almost_always_those_of_the_treebank(coco):
    content = json.loads((coco / "captions_val2017.json").read_text("utf-8"))
    captions = {at: [entry["caption"]] for at, entry in enumerate(content["annotations"])}
    ptb, python = PtbTokenizer().tokenize(captions), PythonTokenizer().tokenize(captions)
    assert sum(ptb[at] != python[at] for at in captions) <= len(captions) / 1000
