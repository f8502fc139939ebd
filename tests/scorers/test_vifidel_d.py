"""VIFIDEL-D by hand, and where it is not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vifidel_eval import VifidelWarning
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.scorers import VifidelD


@pytest.fixture(scope="module")
def scorer(make_vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("things") / "things.txt"
    path.write_text("dog, puppy\ncat\nkite\nlamp\n", encoding="utf-8")
    names = ["dog", "puppy", "cat", "kite", "lamp"]
    axes = dict(zip(names, np.eye(5).tolist(), strict=True))
    return VifidelD({1: ["dog", "kite"], 2: [], 3: ["dog"]}, make_vectors(axes), only_things=path)


@pytest.mark.parametrize(
    ("caption", "score"),
    [
        ("a dog and a kite", 1),
        ("a puppy and a kite", 1),  # of the same class
        ("a dog", math.sqrt(1 / 2)),
        ("a dog and a cat", 0.8 * math.sqrt(1 / 2)),
        ("a dog, a cat and cats", 0.8 * math.sqrt(1 / 2)),
        ("a dog and a lamp", math.sqrt(1 / 2)),  # COCO looks for no lamps
        ("a dog, perhaps a cat", math.sqrt(1 / 2) * 0.8),
        ("a dog and no cat", math.sqrt(1 / 2)),
        ("a dog and a kite, without any dog", 0.8),
        ("a dog and a kite. The lights are dim.", 1),
        ("cats", 0),
        ("it is", 0),
    ],
)
def test_by_hand(scorer, caption, score):
    assert scorer.score([caption], image_ids=[1])[0] == pytest.approx(score, abs=1e-6)


def test_undefined_without_labels(scorer):
    rows = make_rows(["a dog", "a dog"], [2, 3])
    evaluation = scorer.evaluate(rows)["VIFIDEL-D"]
    assert np.isnan(evaluation.scores).tolist() == [True, False]
    assert evaluation.counts["undefined"] == 1
    with pytest.warns(VifidelWarning, match="says what it looks for"):
        scorer.compute_score({2: []}, {2: ["a dog"]})
