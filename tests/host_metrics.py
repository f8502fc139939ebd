"""Captions, conditions and stock runs that the tests of pycocoevalcap's metrics share."""

import contextlib
import io
import sys

import pytest
from pycocoevalcap.eval import COCOEvalCap
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from pycocotools.coco import COCO

from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import Bleu, Cider, Meteor, RougeL
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="puts a script on the PATH")

# The ids are in no order, and some captions are odd, but none holds a line break.
GTS = {
    724: ["A stop sign at a street.", "Cars behind a red sign, it's raining"],
    139: ["a dog with a frisbee", "the dog plays", "A dog's frisbee (red)"],
    885: ["A tennis player hits the ball.", "..."],
    285: ["a big brown bear", "a bear in the caf\u00e9"],
    632: ["a bedroom with a bookcase", "a bed by a window"],
}
RES = {
    724: ["A red stop sign by the street"],
    139: ["A dog catches a frisbee."],
    885: [""],
    285: ["a bear in a Caf\u00e9"],
    632: ["a bedroom with a bookcase"],
}


def evaluate(scorer, gts, res, on_progress=None):
    """Return the evaluation of a scorer's main column."""
    return scorer.evaluate(coco_rows(gts, res), on_progress)[scorer.main]


def python_tokens():
    return Tokenization(PythonTokenizer())


class NoSpice:
    """Stands in for SPICE, whose constructor downloads its models."""

    def method(self):
        return "SPICE"

    def compute_score(self, gts, res):
        return 0.0, [0.0] * len(gts)


def stock(gts, res, monkeypatch):
    """Return corpus scores and scores of the images by a stock COCOEvalCap."""
    monkeypatch.setattr("pycocoevalcap.eval.Spice", NoSpice)
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": i} for i in gts],
            "annotations": [
                {"id": 100 * at + n, "image_id": i, "caption": caption}
                for at, (i, captions) in enumerate(gts.items())
                for n, caption in enumerate(captions)
            ],
        }
        truth.createIndex()
        results = truth.loadRes([{"image_id": i, "caption": c} for i, [c] in res.items()])
        coco_eval = COCOEvalCap(truth, results)
        coco_eval.params["image_id"] = list(gts)
        coco_eval.evaluate()
    return coco_eval.eval, coco_eval.imgToEval


def columns_of(gts, res, tokenization=None):
    tokenization = tokenization or Tokenization()
    result = {}
    for metric in (Bleu, Meteor, RougeL, Cider):
        result |= metric(tokenization).evaluate(coco_rows(gts, res))
    return result


def check_numbers_of_stock(gts, res, monkeypatch):
    """Check corpus scores and scores of the images by a stock COCOEvalCap, bit by bit."""
    corpus, images = stock(gts, res, monkeypatch)
    # Where numbers are written 0,5: it must not change METEOR's.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    columns = columns_of(gts, res)
    assert list(columns) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr"]
    for name, evaluation in columns.items():
        assert evaluation.ids == list(gts)
        assert evaluation.score == corpus[name], name
        assert evaluation.scores.tolist() == [images[i][name] for i in gts], name


def stock_tokens(captions):
    """Return what pycocoevalcap's own tokenizer makes of captions."""
    return PTBTokenizer().tokenize(
        {i: [{"caption": text} for text in texts] for i, texts in captions.items()}
    )
