import json

import numpy as np
import pytest

from vifidel_eval import MetricUnavailable
from vifidel_eval.evaluation import Evaluation, Statistics
from vifidel_eval.io.text_tables import FORMATS
from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.scores import Scores
from vifidel_eval.scores.scores_file import read_scores, scores_text
from vifidel_eval.show.score_tables import render

IDS = [3, 1, "beach", 7]
UNAVAILABLE = {"SPICE": "its download failed."}


def evaluation(scores, **settings):
    return Evaluation(IDS, np.array(scores, dtype=np.float64), signature="M|v:1", **settings)


def example():
    """Two systems: an ordinary column, one of counts where lower is better, and one unranked."""

    def rate(sums):
        with np.errstate(invalid="ignore"):  # a draw in which nothing is mentioned
            return sums[..., 0] / sums[..., 1]

    of_systems = {}
    for name, shift in (("x", 0.0), ("y", 1 / 3)):
        # The first image mentions nothing: no score of its own, but no hole in the corpus score.
        # The last one is undefined.
        counted = np.array([[0, 0], [1, 2], [1, 1 + 9 * shift], [np.nan, np.nan]])
        of_systems[name] = {
            "M": evaluation([2 / 3 - shift, 1e-102, np.nan, 1.0], counts={"undefined": 1}),
            "CHAIRi": evaluation(
                [np.nan, 0.5, 1.0, np.nan],
                lower_is_better=True,
                corpus_score=rate(counted[:3].sum(axis=0)),
                statistics=Statistics(counted, rate),
                counts={"undefined": 1, "no_mentions": 1, "missing": 2},
                details={"CHAIR": [{"words": ["dog"], "part": shift}] * 4},
            ),
            "Len": evaluation([5, 6, 7, 8], ranked=False),
        }
    signatures = {name: f"{name}|version:1" for name in of_systems["x"]}
    return Scores(signatures, of_systems, {"SPICE": MetricUnavailable("its download failed.")})


def saved(tmp_path, scores, comparisons=None):
    path = tmp_path / "scores.json"
    path.write_text(scores_text(scores, comparisons), "utf-8")
    return path


def test_what_is_read_is_what_was_written(tmp_path):
    scores = example()
    with pytest.warns(match="too few"):
        comparisons = compare(scores)
    path = saved(tmp_path, scores, comparisons)
    found, found_comparisons = read_scores(path)
    assert scores_text(found, found_comparisons) == path.read_text("utf-8")
    assert found_comparisons.to_json() == comparisons.to_json()
    assert found.columns() == scores.columns()
    assert {name: str(why) for name, why in found.unavailable.items()} == UNAVAILABLE
    for name in ("x", "y"):
        assert found.counts(name) == scores.counts(name)
        assert found.counts(name)["undefined"] == 2  # one under M, the last under CHAIRi
        for column, of_column in found.evaluations[name].items():
            before = scores.evaluations[name][column]
            assert list(of_column.ids) == IDS
            assert of_column.score == pytest.approx(before.score, rel=1e-9)
            np.testing.assert_array_equal(of_column.missing, before.missing)
            np.testing.assert_allclose(of_column.scores, before.scores, rtol=1e-9)
    for style in FORMATS:
        shown = render(scores, style, comparisons)
        assert render(found, style, found_comparisons) == shown


def test_a_file_of_version_0_2_0_has_zeros_for_what_a_metric_never_counts(tmp_path):
    counts = {"scored": 1, "missing": 0, "undefined": 0, "no_words": 0, "unknown_words": 0}
    counts |= dict.fromkeys(("unweighted", "no_mentions", "incomplete", "unconfirmed"), 0)
    row = {"image_id": 1, "Bleu_4": 0.5}
    document = {
        "scores": 1,
        "signatures": {"Bleu_4": "BLEU|version:0.2.0"},
        "systems": {
            "x": {"overall": {"Bleu_4": 0.5}, "counts": {"Bleu_4": counts}, "imgToEval": {"1": row}}
        },
    }
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(document), "utf-8")
    scores, _ = read_scores(path)
    assert scores.evaluations["x"]["Bleu_4"].score == 0.5
    assert scores.counts("x") == counts
    assert json.loads(scores_text(scores)) == document
