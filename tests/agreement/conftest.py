"""Judgements made up for the tests, and metrics that stand in for real ones."""

from __future__ import annotations

import numpy as np
import pytest

from vifidel_eval.agreement.judgements import Judged
from vifidel_eval.agreement.parts import Parts
from vifidel_eval.agreement.trials import Trial, Trials
from vifidel_eval.scorers import Evaluation, Scorer


class StandIn(Scorer):
    """Scores captions by a function of caption and references; remembers what it was given."""

    def __init__(self, name, function, signature=None):
        self.name, self.function, self.pinned = name, function, signature or f"{name}|stand-in"
        self.calls = []

    def method(self):
        return self.name

    def signature(self):
        return self.pinned

    def evaluate(self, gts, res, on_progress=None):
        self.calls.append((gts, res))
        scores = [self.function(res[i][0], references) for i, references in gts.items()]
        if on_progress is not None:
            on_progress(len(scores))
        return Evaluation(list(gts), np.array(scores, dtype=np.float64))


def shared_words(caption, references):
    """Return the share of the words of the references that the caption has; it needs references."""
    words = " ".join(references).lower().split()
    return sum(word in caption.lower().split() for word in words) / len(words)


@pytest.fixture
def stand_in():
    return StandIn


@pytest.fixture
def overlap():
    """A metric under a name that needs references."""
    return StandIn("CIDEr", shared_words)


@pytest.fixture
def length():
    """A metric under a name that needs no references."""
    return StandIn("VIFIDEL", lambda caption, _: len(caption.split()))


@pytest.fixture
def given_trials():
    """Trials with the scores that a test says: metric to draws of (sides, judgements)."""

    def given_trials(seed=0, number=1, **metrics):
        draws = {len(of_metric) for of_metric in metrics.values()}
        trials = [
            Trial(number, draw, {m: np.array(s[draw], float) for m, s in metrics.items()})
            for draw in range(max(draws))
        ]
        signatures = {metric: f"{metric}|made up" for metric in metrics}
        return Trials(seed, max(draws), trials, signatures, {}, {})

    return given_trials


@pytest.fixture
def judged():
    """Eleven captions each of three images, in the manner of PASCAL-50S."""
    images = {image: tuple(f"{image} reference {n}" for n in range(12)) for image in "abc"}
    return [
        Judged(image, (f"caption {n}", f"other {image} {n}"), images[image])
        for n in range(2)
        for image in images
    ]


@pytest.fixture
def no_parts():
    return Parts(None)
