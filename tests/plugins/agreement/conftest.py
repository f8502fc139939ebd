"""Judgements made up for the tests, and metrics that score them."""

import numpy as np
import pytest
from fake_scorer import FakeScorer

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.agreement.judgements import Judged
from vifidel_eval.plugins.agreement.trials import Trials


def shared_words(caption, references):
    """Return the share of the words of the references that the caption has; it needs references."""
    words = " ".join(references).lower().split()
    return sum(word in caption.lower().split() for word in words) / len(words)


@pytest.fixture
def fast(monkeypatch):
    """No Java, and few resamples."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("vifidel_eval.plugins.agreement.trials.RESAMPLES", 8)


@pytest.fixture
def overlap():
    """A metric under a name that needs references."""
    return FakeScorer("CIDEr", shared_words)


@pytest.fixture
def length():
    """A metric under a name that needs no references."""
    return FakeScorer("VIFIDEL", lambda caption, _: len(caption.split()))


@pytest.fixture
def given_trials():
    """Trials with the scores that a test says: metric to draws of (sides, judgements)."""

    def given_trials(seed=0, number=1, lower=(), **metrics):
        scores = {
            metric: {number: np.array(draws, float) * (-1 if metric in lower else 1)}
            for metric, draws in metrics.items()
        }
        draws = max(len(of_metric) for of_metric in metrics.values())
        signatures = {metric: f"{metric}|made up" for metric in metrics}
        return Trials(seed, draws, [number], scores, signatures, {}, {}, frozenset(lower))

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
def refusal():
    """Return the sentence by which a reader refuses its files."""

    def refusal(read, *arguments):
        with pytest.raises(VifidelError) as caught:
            read(*arguments)
        sentence = str(caught.value)
        assert "\n" not in sentence
        assert sentence.endswith((".", "?"))
        return sentence

    return refusal
