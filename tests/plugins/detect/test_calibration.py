"""Rates corrected for wrong answers, against simulated answers whose errors are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.detect.calibration import AnswerCounts, calibrate


def counts(*columns):
    return AnswerCounts(*(np.array(column) for column in columns))


def simulated(images, invented, recall, false_alarms, seed=0, mentions=4):
    """Return counts of answers of which a known share is wrong."""
    source = np.random.default_rng(seed)
    made_up = source.binomial(mentions, invented, images)
    there = mentions - made_up
    said_absent = source.binomial(there, 1 - recall) + source.binomial(made_up, 1 - false_alarms)
    controls, named = np.full(images, 2), np.full(images, 3)
    return counts(
        np.full(images, mentions),
        said_absent,
        controls,
        source.binomial(controls, false_alarms),
        named,
        source.binomial(named, 1 - recall),
    )


def test_the_formula_by_hand():
    """200 mentions, 50 denied; 1 of 10 controls said yes; 4 of 20 things said no.

    (0.25 - 0.2) / (1 - 0.1 - 0.2) = 0.0714.
    """
    found = calibrate(counts([120, 80], [30, 20], [6, 4], [1, 0], [12, 8], [2, 2]))
    assert found.measured == 0.25
    assert (found.false_yes, found.false_no) == (0.1, 0.2)
    assert found.corrected == pytest.approx(0.05 / 0.7)
    assert (found.controls, found.named) == (10, 20)


@pytest.mark.parametrize("invented", [0.03, 0.15, 0.4])
@pytest.mark.parametrize(("recall", "false_alarms"), [(0.8, 0.1), (0.95, 0.02), (0.6, 0.25)])
def test_simulated_errors_are_taken_away(invented, recall, false_alarms):
    found = calibrate(simulated(20000, invented, recall, false_alarms))
    wrong = invented * (1 - false_alarms) + (1 - invented) * (1 - recall)
    assert found.measured == pytest.approx(wrong, abs=0.01)
    assert found.corrected == pytest.approx(invented, abs=0.02)
    low, high = found.interval
    assert low < found.corrected < high
    assert high - low < 0.06


def test_the_interval_covers_the_truth():
    """In 95 of 100 simulations, more or less."""
    covered = 0
    for seed in range(100):
        low, high = calibrate(simulated(300, 0.2, 0.8, 0.1, seed), resamples=300).interval
        covered += low <= 0.2 <= high
    assert 88 <= covered <= 99


@pytest.mark.parametrize(
    "given",
    [
        ([10], [1], [0], [0], [10], [1]),  # no control
        ([10], [1], [10], [1], [0], [0]),  # nothing that several references name
        ([0], [0], [10], [1], [10], [1]),  # nothing judged
        ([10], [1], [10], [6], [10], [5]),  # answers that are no better than chance
        ([], [], [], [], [], []),
    ],
)
def test_what_cannot_be_estimated_is_undefined(given):
    found = calibrate(counts(*given))
    assert math.isnan(found.corrected)
    assert all(map(math.isnan, found.interval))


def test_the_same_digits_for_a_seed_and_none_for_impossible_counts():
    given = simulated(50, 0.2, 0.8, 0.1)
    assert calibrate(given, seed=1) == calibrate(given, seed=1)
    assert calibrate(given, seed=1).interval != calibrate(given, seed=2).interval
    with pytest.raises(VifidelError, match="counts of answers: absent, said_yes and said_no"):
        calibrate(counts([1], [2], [1], [0], [1], [0]))
    for uneven in (([5, 5], [1], [1, 1], [0, 0], [1, 1], [0, 0]), ([5], ["1"], [1], [0], [1], [0])):
        with pytest.raises(VifidelError, match="six arrays of whole numbers"):
            calibrate(counts(*uneven))
