"""Average precision, localisation and pairs against numbers worked out by hand."""

import numpy as np
import pytest

from vifidel_eval.plugins.agreement.detection import average_precision, detect
from vifidel_eval.plugins.agreement.judgements import Hallucinations, Judged
from vifidel_eval.scorers.word_supports import WordSupport


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch):
    monkeypatch.setattr("vifidel_eval.plugins.agreement.trials.RESAMPLES", 40)


@pytest.mark.parametrize(
    ("scores", "positive", "expected"),
    [
        # Precision at the positives: 1/1, 2/3, 3/4.
        ([9, 8, 7, 6, 5], [1, 0, 1, 1, 0], (1 + 2 / 3 + 3 / 4) / 3),
        ([5, 6, 7, 8, 9], [1, 0, 1, 1, 0], (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ([1, 2], [0, 1], 1),
        ([1, 2], [1, 0], 1 / 2),
        # All alike: one step, whose precision is the share of positives.
        ([3, 3, 3, 3, 3], [1, 0, 0, 1, 0], 2 / 5),
        # 9 finds one of 1; the three 5s find two more, of 4; 1 finds the last, of 6.
        ([5, 9, 5, 1, 5, 2], [1, 1, 0, 1, 1, 0], (1 + 2 * 3 / 4 + 4 / 6) / 4),
        ([1, 2], [1, 1], 1),
    ],
)
def test_average_precision_worked_by_hand(scores, positive, expected):
    result = average_precision(np.array(scores, float), np.array(positive, bool))
    assert result == pytest.approx(expected)


def singles(made_up, images=None):
    """Return single captions; the second piece is marked where something is made up."""
    images = range(len(made_up)) if images is None else images
    return Hallucinations(
        "Made up",
        [Judged(image, (f"a caption {n}",), ("a reference",)) for n, image in enumerate(images)],
        np.array([made_up], bool),
        [frozenset({1} if one else ()) for one in made_up],
    )


def pairs(number):
    return Hallucinations(
        "Pairs",
        [Judged(n, (f"correct {n}", f"made up {n}"), ("a reference",)) for n in range(number)],
        np.repeat([[False], [True]], number, axis=1),
        [frozenset({0})] * number,
    )


def test_a_low_score_means_a_hallucination(given_trials):
    data = singles([1, 0, 1, 1, 0])
    scores, errors = [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]
    trials = given_trials(lower=("errors",), scores=[[scores]], errors=[[errors]])
    result = detect(data, trials, {})
    by_metric = {one["metric"]: one for one in result.findings["detection"]}
    expected = (1 + 2 / 3 + 3 / 4) / 3
    for one in by_metric.values():
        assert one["average_precision"] == pytest.approx(expected)
        assert one["low"] <= expected <= one["high"]
        assert (one["captions"], one["positives"]) == (5, 3)
    assert (result.findings["localization"], result.findings["pairwise"]) == ([], [])
    assert "Sign changed, as lower is better: errors." in " ".join(result.notes())


class Supports:
    """Supports words by a table; upper-case words are things."""

    def __init__(self, **supports):
        self.supports = supports
        self.seen = []

    def word_supports(self, rows):
        self.seen.append(rows)
        return [
            [
                WordSupport(
                    word.lower(), self.supports[word.lower()], word.isupper(), range(n, n + 1)
                )
                for n, word in enumerate(caption.split())
                if word.lower() in self.supports
            ]
            for caption in rows.captions
        ]


@pytest.fixture
def located(given_trials):
    """Return how often the least supported word of captions is marked: of all, of things."""

    def located(data, **scorers):
        trials = given_trials(number="all", S=[np.zeros((len(data.made_up), len(data.judged)))])
        return detect(data, trials, scorers).findings["localization"]

    return located


def test_the_least_supported_word_is_looked_for(located):
    def words_of(caption, marked, **supports):
        judged = [Judged("a", ("not looked at", caption), ("a reference", caption))]
        made_up = np.array([[False], [True]])
        scorer = Supports(**supports)
        data = Hallucinations("Made up", judged, made_up, [frozenset(marked)])
        result = located(data, S=scorer, no_words=object())
        assert [(one["metric"], one["words"]) for one in result] == [("S", "all"), ("S", "things")]
        (rows,) = scorer.seen
        assert (rows.captions, rows.references) == ([caption], [["a reference"]])
        assert rows.image_ids == ["a"]
        return [one["accuracy"] for one in result]

    supports = {"dog": 0.9, "flies": 0.1, "hat": 0.3}
    assert words_of("a DOG flies HAT", {3}, **supports) == [0, 1]
    assert words_of("a DOG flies HAT", {2}, **supports) == [1, 0]
    # Of two words alike the one is marked.
    assert words_of("a DOG flies HAT", {2}, dog=0.5, flies=0.2, hat=0.2) == [0.5, 0]
    # A metric that judges no word has not found it; a stop word is never found.
    assert words_of("a dog flies", {1}, dog=0) == [1, 0]
    assert words_of("a dog flies", {0}) == [0, 0]


def test_only_marked_captions_are_located(located):
    scorer = Supports(a=0.5, caption=0.1)
    every, things = located(singles([1, 0, 1, 0]), S=scorer)
    assert scorer.seen[0].captions == ["a caption 0", "a caption 2"]
    shared = {"metric": "S", "captions": 2}
    assert every == {"words": "all", "accuracy": 1, "low": 1, "high": 1, **shared}
    assert things == {"words": "things", "accuracy": 0, "low": 0, "high": 0, **shared}
