import contextlib
import io
import json
import math

import numpy as np
import pytest
from conftest import SHARED_DATA
from host_metrics import GTS, RES, evaluate, python_tokens
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO

from vifidel_eval import CaptionError, ImageIdError, MetricUnavailable
from vifidel_eval.rows import coco_rows
from vifidel_eval.scorers import Bleu, Cider, Meteor, RougeL, Spice
from vifidel_eval.text.tokenization import Tokenization


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
    found = {}
    for metric in (Bleu, Meteor, RougeL, Cider):
        found |= metric(tokenization).evaluate(coco_rows(gts, res))
    return found


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock's pipes
def test_numbers_are_those_of_stock_coco_eval_cap(monkeypatch):
    gts, res = dict(GTS), dict(RES)
    if (SHARED_DATA / "coco").is_dir():
        add_val2017(gts, res)
    corpus, images = stock(gts, res, monkeypatch)
    # Where numbers are written 0,5: it must not change METEOR's.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    columns = columns_of(gts, res)
    assert list(columns) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr"]
    for name, evaluation in columns.items():
        assert evaluation.ids == list(gts)
        assert evaluation.score == corpus[name], name
        assert evaluation.scores.tolist() == [images[i][name] for i in gts], name


def add_val2017(gts, res):
    """Add some images of val2017, the last first."""
    files = SHARED_DATA / "coco"
    human = json.loads((files / "captions_val2017_human_results.json").read_text("utf-8"))
    references = json.loads((files / "captions_val2017_references.json").read_text("utf-8"))
    chosen = {entry["image_id"]: [entry["caption"]] for entry in human[400:200:-1]}
    for i in chosen.keys() - res.keys():
        res[i], gts[i] = chosen[i], []
    for annotation in references["annotations"]:
        if annotation["image_id"] in chosen.keys() - GTS.keys():
            gts[annotation["image_id"]].append(annotation["caption"])


@pytest.mark.slow
@pytest.mark.java
def test_line_breaks_neither_shift_rows_nor_block_meteor(capfd):
    chars = " \r\n\u2028\f\x85"
    gts, res = {"empty": []}, {"empty": ["a dog"]}
    for char in chars:  # the same images again, each time with another character for one blank
        gts |= {(char, i): [t.replace(" ", char, 1) for t in texts] for i, texts in GTS.items()}
        res |= {(char, i): [t.replace(" ", char, 1) for t in texts] for i, texts in RES.items()}
    for name, evaluation in columns_of(gts, res).items():
        assert math.isnan(evaluation.scores[0])
        rows = evaluation.scores[1:].reshape(len(chars), len(GTS))
        assert len(set(rows[0].tolist())) >= 3, name  # exchanged rows would show
        assert (rows == rows[0]).all(), name
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
def test_images_without_references_have_no_score_and_change_no_other(metric):
    progress = []
    scorer = metric(python_tokens())
    with_them = evaluate(
        scorer, {1: [], **GTS, 2: []}, {1: ["a"], **RES, 2: ["b"]}, progress.append
    )
    without = evaluate(scorer, GTS, RES)
    assert np.isnan(with_them.scores[[0, -1]]).all()
    assert with_them.scores[1:-1].tolist() == without.scores.tolist()
    assert (with_them.score, with_them.undefined) == (without.score, 2)
    assert sum(progress) == 7
    nothing = evaluate(scorer, {1: []}, {1: ["a dog"]})
    assert math.isnan(nothing.score)
    assert nothing.undefined == 1
    assert evaluate(scorer, {}, {}).ids == []


def test_bleu_gives_lists_of_four_as_pycocoevalcap_does():
    score, scores = Bleu(python_tokens()).compute_score(GTS, RES)
    assert type(score) is list
    assert type(scores) is list
    assert [len(row) for row in scores] == [5] * 4
    columns = Bleu(python_tokens()).evaluate(coco_rows(GTS, RES))
    assert score == [columns[f"Bleu_{n}"].score for n in (1, 2, 3, 4)]
    assert evaluate(Bleu(python_tokens()), GTS, RES).score == score[3]
    assert score[0] > score[3] > 0


def test_single_metrics_give_a_float_and_scores():
    score, scores = Cider(python_tokens()).compute_score(GTS, RES)
    assert type(score) is float
    assert scores.shape == (5,)
    assert score > 0


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
def test_captions_without_tokens_and_single_images_are_scored(metric):
    for gts, res in [
        ({1: ["..."]}, {1: ["a dog"]}),
        ({1: ["a dog"]}, {1: [""]}),
        ({1: ["!", "."], 2: [""]}, {1: ["a"], 2: ["b"]}),
    ]:
        evaluation = evaluate(metric(python_tokens()), gts, res)
        assert evaluation.scores.tolist() == pytest.approx([0] * len(gts), abs=1e-6)
    alone = evaluate(Cider(python_tokens()), {1: ["a dog"]}, {1: ["a dog"]})
    assert alone.scores.tolist() == [0.0]


def test_wrong_input_is_named():
    with pytest.raises(ImageIdError, match="1 are only in gts"):
        Cider(python_tokens()).compute_score({1: ["a"]}, {})
    with pytest.raises(CaptionError, match="image 1: expected a list of references"):
        Cider(python_tokens()).compute_score({1: "a dog"}, {1: ["a"]})


def test_without_java_the_tokens_are_pythons_and_the_signature_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for metric, name in [(Bleu, "BLEU"), (RougeL, "ROUGE_L"), (Cider, "CIDEr")]:
        signature = metric().signature()
        assert signature.startswith(f"{name}|tok:python|pycocoevalcap:1.2|version:")
    assert evaluate(Cider(), GTS, RES).score > 0
    for metric, name in [(Meteor, "METEOR"), (Spice, "SPICE")]:
        with pytest.raises(MetricUnavailable, match=f"^{name} needs Java, and no 'java' is on"):
            metric()


@pytest.mark.java
def test_with_java_the_signature_says_so():
    assert Meteor().signature().startswith("METEOR|tok:ptb|pycocoevalcap:1.2|version:")
