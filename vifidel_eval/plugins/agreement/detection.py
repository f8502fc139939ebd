"""Detection of what captions make up: the captions, and the words.

The experiments of ALOHa (Petryk et al., NAACL 2024) on HAT and nocaps-FOIL.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats
from ...io.digits import rounded
from ...io.text_tables import Cell, Table
from .draws import References
from .forced_choice import Accuracy, forced_choice
from .judgements import ALL, Choices, Hallucinations
from .localization import RankedWords
from .resampling import interval, resampled
from .result import Agreement, Estimate
from .trials import Trials


@dataclass(frozen=True)
class Detection:
    """How well a metric finds the captions that make something up.

    Attributes
    ----------
    metric : str
        Its name.
    average_precision : float
        Of ranking the captions, the worst score first; the mean over draws of references. The
        share of positives is what a metric reaches by chance.
    low, high : float
        95 % interval over images and draws.
    captions, positives : int
        Captions with a score, and how many of them make something up.
    """

    metric: str
    average_precision: float
    low: float
    high: float
    captions: int
    positives: int

    def estimates(self) -> Iterator[Estimate]:
        """Yield the average precision, and what a metric reaches by chance."""
        n = self.captions
        value = self.average_precision
        yield Estimate(self.metric, "average precision", value, self.low, self.high, n)
        yield Estimate(
            self.metric, "share of positives", self.positives / n if n else math.nan, n=n
        )


@dataclass(frozen=True)
class Localization:
    """How often the word that a metric supports least is one that is made up.

    Attributes
    ----------
    metric : str
        Its name.
    words : str
        Which words are ranked: ``"all"`` content words, or those that name ``"things"``.
    accuracy : float
        From 0 to 1, the mean over draws of references.
    low, high : float
        95 % interval over images and draws.
    captions : int
        Captions with a marked word.
    """

    metric: str
    words: str
    accuracy: float
    low: float
    high: float
    captions: int

    def estimates(self) -> Iterator[Estimate]:
        """Yield the accuracy."""
        yield Estimate(
            self.metric,
            "localization accuracy",
            self.accuracy,
            self.low,
            self.high,
            self.captions,
            subset=self.words,
        )


@dataclass(frozen=True)
class Pairwise:
    """How often a metric scores the correct caption of a pair higher.

    Attributes
    ----------
    metric : str
        Its name.
    accuracy : float
        From 0 to 1, the mean over draws of references; a tie counts half.
    low, high : float
        95 % interval over images and draws.
    pairs : int
        Pairs of which both captions have a score.
    """

    metric: str
    accuracy: float
    low: float
    high: float
    pairs: int

    def estimates(self) -> Iterator[Estimate]:
        """Yield the accuracy."""
        name = "pairwise accuracy"
        yield Estimate(self.metric, name, self.accuracy, self.low, self.high, self.pairs)


def detect(data: Hallucinations, trials: Trials, found: Sequence[RankedWords]) -> Agreement:
    """Compare scores with where the hallucinations are.

    Parameters
    ----------
    data : Hallucinations
        The captions.
    trials : Trials
        Their scores, with one number of references.
    found : sequence of RankedWords
        What `vifidel_eval.plugins.agreement.localization.find_words` found.
    """
    detection = [
        _detection(data, trials, metric, number)
        for metric in trials.signatures
        for number in trials.numbers()
        if trials.scores(metric, number)
    ]
    localization = []
    for metric, words, places, right in found:
        images = [data.judged[at] for at in places.tolist()]
        resamples = resampled(images, len(right), trials.seed) if images else ()
        low, high = interval([_mean(right[draw, rows]) for rows, draw in resamples])
        localization.append(Localization(metric, words, _mean(right), low, high, len(images)))
    pairwise = _pairwise(data, trials)
    most = max(one.captions for one in detection)
    fewer = [
        f"{one.metric}: {most - one.captions} captions fewer than others, which it cannot score"
        for one in detection
        if one.captions < most
    ]
    numbers = ", ".join(map(str, trials.numbers()))
    return Agreement(
        data.name,
        {"detection": detection, "localization": localization, "pairwise": pairwise},
        list(_tables(data.name, detection, localization, pairwise)),
        [f"references: {numbers}; ties count half", *fewer],
        trials,
    )


def _tables(
    name: str,
    detection: Sequence[Detection],
    localization: Sequence[Localization],
    pairwise: Sequence[Pairwise],
) -> Iterator[Table]:
    """Yield a table for each experiment."""
    captions: list[list[Cell]] = [
        [d.metric, rounded(d.average_precision), _shown(d), d.captions, d.positives]
        for d in detection
    ]
    words: list[list[Cell]] = [
        [w.metric, w.words, rounded(w.accuracy), _shown(w), w.captions] for w in localization
    ]
    pairs: list[list[Cell]] = [
        [p.metric, rounded(p.accuracy), _shown(p), p.pairs] for p in pairwise
    ]
    title = f"{name}: average precision of finding the captions that make something up"
    headers = ["Metric", "Average precision", "Interval", "Captions", "Positives"]
    yield Table(headers, captions, texts=1, title=title)
    if words:
        title = f"{name}: how often the least supported word is made up"
        headers = ["Metric", "Words", "Accuracy", "Interval", "Captions"]
        yield Table(headers, words, texts=2, title=title)
    if pairs:
        title = f"{name}: how often the correct caption scores higher"
        yield Table(["Metric", "Accuracy", "Interval", "Pairs"], pairs, texts=1, title=title)


def _detection(data: Hallucinations, trials: Trials, metric: str, number: References) -> Detection:
    draws = np.array(trials.scores(metric, number))  # (draws, sides, judgements)
    # The same captions in all draws.
    scored: NDArray[np.bool_] = np.logical_not(np.isnan(draws).any(axis=0))
    positive = data.made_up & scored

    def precision(draw: int, rows: Any = slice(None)) -> float:
        of_rows = scored[:, rows]
        return average_precision(-draws[draw][:, rows][of_rows], data.made_up[:, rows][of_rows])

    low, high = interval(
        [precision(draw, rows) for rows, draw in resampled(data.judged, len(draws), trials.seed)]
    )
    return Detection(
        metric,
        _mean(np.array([precision(draw) for draw in range(len(draws))])),
        low,
        high,
        int(scored.sum()),
        int(positive.sum()),
    )


def average_precision(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the average precision of finding the positives by a high score.

    The sum over the different scores, from the highest down, of the recall gained there times the
    precision there; equal scores are one step, so that their order does not matter.

    Parameters
    ----------
    scores : (n,) float64
        Without NaN.
    positive : (n,) bool
        What is to be found.

    Returns
    -------
    float
        In (0, 1]; NaN without a positive.
    """
    if not positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # of equal scores
    found = np.cumsum(positive)[last]
    return float((np.diff(found, prepend=0) * (found / (last + 1))).sum() / found[-1])


def _pairwise(data: Hallucinations, trials: Trials) -> list[Pairwise]:
    if any(len(one.captions) == 1 for one in data.judged):
        return []
    ones = np.ones(len(data.judged))
    choices = Choices(data.name, data.judged, ones, [ALL] * len(ones))
    accuracies: Sequence[Accuracy] = forced_choice(choices, trials).findings["accuracies"]
    return [Pairwise(a.metric, a.accuracy, a.low, a.high, a.pairs) for a in accuracies]


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def _shown(one: Detection | Localization | Pairwise) -> str:
    return f"{one.low:.4f}-{one.high:.4f}"
