"""Accuracies and intervals against numbers worked out by hand and by a plain loop."""

import json
import math

import numpy as np
import pytest

from vifidel_eval.plugins.agreement.forced_choice import forced_choice
from vifidel_eval.plugins.agreement.judgements import Choices, Judged
from vifidel_eval.plugins.agreement.trials import RESAMPLES

NAN = math.nan


def choices(preferred, kinds=None, images=None):
    images = range(len(preferred)) if images is None else images
    judged = [Judged(image, ("first", "second"), ("reference",)) for image in images]
    kinds = [""] * len(preferred) if kinds is None else kinds
    return Choices("Made up", judged, np.array(preferred, float), kinds)


def by_kind(result, metric="m"):
    return {a["kind"]: a for a in result.findings["accuracies"] if a["metric"] == metric}


# Pair by pair: right, wrong, tied, right, people divided, undefined, tied.
PREFERRED = [1, 1, -1, -1, 0, 1, 1]
SCORES = [[0.9, 0.1, 0.5, 0.2, 0.9, NAN, 0.0], [0.1, 0.9, 0.5, 0.3, 0.1, 0.5, 0.0]]
KINDS = ["HI", "HC", "HC", "HC", "HC", "HI", "HI"]


@pytest.mark.parametrize(
    ("ties", "hc", "hi", "total"),
    [("half", 1.5 / 3, 1.5 / 2, 3 / 5), ("wrong", 1 / 3, 1 / 2, 2 / 5), ("right", 2 / 3, 1, 4 / 5)],
)
def test_ties_under_each_convention(given_trials, ties, hc, hi, total):
    result = forced_choice(choices(PREFERRED, KINDS), given_trials(m=[SCORES]), ties)
    results = by_kind(result)
    assert list(results) == ["HC", "HI", "all"]
    assert [a["accuracy"] for a in results.values()] == pytest.approx([hc, hi, total])
    assert [a["pairs"] for a in results.values()] == [3, 2, 5]
    assert [a["tied"] for a in results.values()] == pytest.approx([1 / 3, 1 / 2, 2 / 5])
    assert result.settings["divided"] == 1
    table = result.tables()[0].render("table")
    assert f"Ties count as {ties}; left out: 1 pair on which people were divided" in table
    assert all(a["low"] <= a["accuracy"] <= a["high"] for a in results.values())


def test_without_a_pair_nothing_is_claimed(given_trials):
    trials = given_trials(m=[[[1.0, 2.0], [2.0, 1.0]]])
    accuracy = forced_choice(choices([0, 0]), trials).findings["accuracies"][0]
    assert math.isnan(accuracy["accuracy"])
    assert math.isnan(accuracy["low"])
    assert accuracy["pairs"] == 0
    result = forced_choice(choices([0, 0]), trials)
    assert result.tidy().render("csv").splitlines()[1] == "m,accuracy,,,,0,1,all"
    document = result.to_json()
    assert json.loads(json.dumps(document, allow_nan=False))["accuracies"][0]["accuracy"] is None


def naive_interval(right, images, draws, seed):
    """Return the interval of a mean by a loop over the same random numbers."""
    names = list(dict.fromkeys(images))
    random = np.random.default_rng(seed)
    means = []
    for _ in range(RESAMPLES):
        chosen = random.integers(len(names), size=len(names))
        draw = right[random.integers(draws)]
        values = [
            value
            for number in chosen
            for image, value in zip(images, draw, strict=True)
            if image == names[number] and not math.isnan(value)
        ]
        if values:
            means.append(sum(values) / len(values))
    return np.quantile(means, [0.025, 0.975])


@pytest.mark.parametrize("seed", [0, 7])
def test_intervals_equal_a_plain_loop(given_trials, seed):
    random = np.random.default_rng(99)
    images = [f"image {n}" for n in random.integers(9, size=30)]
    preferred = random.choice([-1, 0, 1], size=30, p=[0.4, 0.1, 0.5])
    kinds = random.choice(["HC", "MM"], size=30).tolist()
    draws = random.integers(4, size=(3, 2, 30)).astype(float)  # integers tie
    undefined = 3
    draws[1, 0, undefined] = NAN  # left out of all draws
    result = forced_choice(choices(preferred, kinds, images), given_trials(seed=seed, m=draws))
    for kind, accuracy in by_kind(result).items():
        right = [
            [
                NAN
                if p == 0 or at == undefined or kind not in (of, "all")
                else 0.5
                if a == b
                else float((a > b) == (p > 0))
                for at, (a, b, p, of) in enumerate(zip(*draw, preferred, kinds, strict=True))
            ]
            for draw in draws
        ]
        expected = naive_interval(right, images, 3, seed)
        assert (accuracy["low"], accuracy["high"]) == pytest.approx(expected, abs=1e-12)
        assert accuracy["low"] < accuracy["accuracy"] < accuracy["high"]
        defined = [value for row in right for value in row if not math.isnan(value)]
        assert accuracy["accuracy"] == pytest.approx(sum(defined) / len(defined))


def test_where_lower_is_better_the_lower_score_is_the_choice(given_trials):
    judged = [Judged(image, ("one", "other"), ()) for image in range(3)]
    choices = Choices("made up", judged, np.array([1.0, 1.0, -1.0]), ["kind"] * 3)
    scores = [[[2, 1, 1], [1, 2, 2]]]
    trials = given_trials(lower=["down"], up=scores, down=scores)
    result = forced_choice(choices, trials)
    results = {
        accuracy["metric"]: accuracy["accuracy"] for accuracy in result.findings["accuracies"]
    }
    assert results == {"up": pytest.approx(2 / 3), "down": pytest.approx(1 / 3)}
