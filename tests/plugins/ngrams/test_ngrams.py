import math

import numpy as np
import pytest
from host_metrics import GTS, RES, check_numbers_of_stock, columns_of, evaluate, python_tokens

from vifidel_eval import MetricUnavailable
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import Bleu, Cider, Meteor, RougeL, Spice


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock's pipes
def test_numbers_are_those_of_stock_coco_eval_cap(monkeypatch):
    check_numbers_of_stock(GTS, RES, monkeypatch)


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


def test_without_java_the_tokens_are_pythons_and_the_signature_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for metric, name in [(Bleu, "BLEU"), (RougeL, "ROUGE_L"), (Cider, "CIDEr")]:
        versions = "tok:python|captions:answers-1|pycocoevalcap:1.2|version:"
        assert metric().signature().startswith(f"{name}|{versions}")
    assert evaluate(Cider(), GTS, RES).score > 0
    for metric, name in [(Meteor, "METEOR"), (Spice, "SPICE")]:
        with pytest.raises(MetricUnavailable, match=f"^{name} needs Java, and no 'java' is on"):
            metric()
