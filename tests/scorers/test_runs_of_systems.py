"""pycocoevalcap's metrics over several systems: what is shared changes no digit."""

import contextlib
import io

import numpy as np
import pytest
from fake_java import METEOR, children, put_java
from host_metrics import GTS, RES, on_posix, python_tokens
from pycocoevalcap.bleu.bleu import Bleu as StockBleu
from pycocoevalcap.cider.cider import Cider as StockCider
from pycocoevalcap.rouge.rouge import Rouge as StockRouge

from vifidel_eval import MetricUnavailable
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import Bleu, Cider, Meteor, RougeL
from vifidel_eval.scores.systems import score_rows

WORDS = ["a", "the", "dog", "cat", "on", "mat", "red", "runs", "U.S.", "It's"]


def captions(rng, number):
    """Return captions of few words, so that they share n-grams, some of them without any."""
    return [" ".join(rng.choice(WORDS, rng.integers(0, 14))) for _ in range(number)]


def run_of(rng, images=60, systems=3):
    """Return references and candidates; the last system lacks some images."""
    gts = {at: captions(rng, rng.integers(1, 6)) for at in range(images)}
    all_res = [dict(zip(gts, ([c] for c in captions(rng, images)), strict=True))
               for _ in range(systems)]  # fmt: skip
    all_res[-1] = {at: all_res[-1][at] for at in list(gts)[5:]}
    return gts, all_res


def stock(metric, gts, res):
    """Return corpus scores and image scores of stock pycocoevalcap, a row per column."""
    tokens = python_tokens()
    scorer = {Bleu: lambda: StockBleu(4), RougeL: StockRouge, Cider: StockCider}[metric]()
    with contextlib.redirect_stdout(io.StringIO()):
        corpus, rows = scorer.compute_score(tokens.tokens(gts), tokens.tokens(res))
    if metric is Bleu:
        return corpus, [list(row) for row in rows]
    return [corpus], [list(rows)]


def found(evaluations):
    return (
        [evaluation.score for evaluation in evaluations.values()],
        [evaluation.scores.tolist() for evaluation in evaluations.values()],
    )


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
@pytest.mark.parametrize("seed", range(3))
def test_systems_of_a_run_have_the_digits_of_stock_runs(metric, seed):
    gts, all_res = run_of(np.random.default_rng(seed))
    systems = [coco_rows({at: gts[at] for at in res}, res) for res in all_res]
    scorer = metric(python_tokens())
    with scorer.in_run(systems) as of_run:
        together = [found(of_run.evaluate(rows)) for rows in systems]
    for res, ours in zip(all_res, together, strict=True):
        assert ours == stock(metric, {at: gts[at] for at in res}, res)
    assert [found(scorer.evaluate(rows)) for rows in systems] == together


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
def test_references_may_change_between_the_systems_of_a_run(metric):
    rng = np.random.default_rng(7)
    gts, (res, other, _) = run_of(rng)
    scorer = metric(python_tokens())
    with scorer.in_run([]) as of_run:  # nothing was announced
        first = found(of_run.evaluate(coco_rows(gts, res)))
        gts[3].append("a red dog runs on the mat")  # the very same lists
        gts[4][0] = "the cat"
        changed = found(of_run.evaluate(coco_rows(gts, res)))
        backwards = dict(reversed(gts.items()))
        turned = found(of_run.evaluate(coco_rows(backwards, other)))
    assert changed == stock(metric, gts, res) != first
    assert turned == stock(metric, backwards, {at: other[at] for at in backwards})


def in_one_process(metric):
    rows = {"one": coco_rows(GTS, RES), "other": coco_rows(GTS, RES)}
    return score_rows(rows, {"METEOR": metric})


@on_posix
def test_systems_share_meteors_process(tmp_path, monkeypatch):
    starts = tmp_path / "starts"
    put_java(tmp_path, monkeypatch, f"open({str(starts)!r}, 'a').write('x')\n{METEOR}")
    before = children()
    scores = in_one_process(Meteor(python_tokens()))
    assert starts.read_text() == "x"
    assert children() == before
    one, other = (scores.evaluations[name]["METEOR"].scores for name in ("one", "other"))
    assert one.tolist() == other.tolist() == [0.5] * 5


@on_posix
def test_a_process_that_failed_is_not_asked_again(tmp_path, monkeypatch):
    starts = tmp_path / "starts"
    fails = f"open({str(starts)!r}, 'a').write('x')\nsys.stdin.readline()\nsys.exit(1)"
    put_java(tmp_path, monkeypatch, fails)
    metric, rows = Meteor(python_tokens()), coco_rows(GTS, RES)
    before = children()
    with metric.in_run([rows, rows]) as of_run:
        for tries in (1, 2):
            with pytest.raises(MetricUnavailable, match="ended early"):
                of_run.evaluate(rows)
            assert starts.read_text() == "x" * tries
            assert children() == before
