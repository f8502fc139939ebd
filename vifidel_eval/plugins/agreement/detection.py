"""Detection of what captions make up: the captions, and the words.

The experiments of ALOHa (Petryk et al., NAACL 2024) on HAT and nocaps-FOIL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import Rows
from ...evaluation import Floats, Integers
from ...io.text_tables import Table
from ...scorers import Scorer
from ...scorers.word_supports import WordSupport
from .forced_choice import forced_choice
from .judgements import ALL, Choices, Hallucinations, References, drawn, times_drawn
from .result import Agreement, Resampled, mean, table_of
from .trials import Trials

#: Which words are ranked: all that a metric judges, or those that name things.
WORD_SETS = {"all": False, "things": True}


@runtime_checkable
class SupportsWords(Protocol):
    """A scorer that knows the support of each word."""

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the words that the metric judges, row by row, in the order of the caption."""
        ...


class RankedWords(NamedTuple):
    """How often the word of a caption that a metric supports least is one that is marked."""

    metric: str
    #: A key of `WORD_SETS`.
    words: str
    #: The judgements with a marked word; (captions,).
    places: Integers
    #: In [0, 1]: of equally supported words the share that is marked; 0 where the metric judges no
    #: word; (draws, captions).
    right: Floats


def find_words(
    data: Hallucinations,
    scorers: Mapping[str, Scorer],
    number: References,
    draws: int,
    seed: int,
) -> list[RankedWords]:
    """Look for the made-up words with every metric that tells the support of words.

    Parameters
    ----------
    data : Hallucinations
        The captions; of those judged together the last one is looked at.
    scorers : mapping
        Metric name to scorer; those that are no `SupportsWords` are passed over.
    number, draws, seed
        References, as `run_trials` draws them.
    """
    places = [at for at, marked in enumerate(data.marked) if marked and data.made_up[-1, at]]
    ranked = []
    for name, scorer in scorers.items():
        if not isinstance(scorer, SupportsWords):
            continue
        supports = []
        for draw in range(times_drawn(data.judged, number, draws)):
            references = drawn(data.judged, number, seed, draw)
            rows = Rows(
                [data.judged[at].captions[-1] for at in places],
                [references[at] for at in places],
                [data.judged[at].image_id for at in places],
            )
            supports.append(scorer.word_supports(rows))
        for words, things_only in WORD_SETS.items():
            right = [
                [
                    _right(of_caption, data.marked[at], things_only)
                    for at, of_caption in zip(places, of_draw, strict=True)
                ]
                for of_draw in supports
            ]
            shape = len(right), len(places)
            ranked.append(RankedWords(name, words, np.array(places), np.reshape(right, shape)))
    return ranked


def _right(words: Sequence[WordSupport], marked: frozenset[int], things_only: bool) -> float:
    ranked = [word for word in words if word.is_thing or not things_only]
    if not ranked:
        return 0.0
    lowest = min(word.support for word in ranked)
    hits = [not marked.isdisjoint(word.place) for word in ranked if word.support == lowest]
    return sum(hits) / len(hits)


def detect(data: Hallucinations, trials: Trials, ranked: Sequence[RankedWords]) -> Agreement:
    """Compare scores with where the hallucinations are.

    Parameters
    ----------
    data : Hallucinations
        The captions.
    trials : Trials
        Their scores, with one number of references.
    ranked : sequence of RankedWords
        What `find_words` found.

    Returns
    -------
    Agreement
        Of each metric, with intervals, means over draws of references. ``"detection"``: the
        ``average_precision`` of ranking the captions, the worst score first; how many ``captions``
        have a score, and the ``positives``, which make something up: their share is what a metric
        reaches by chance. ``"localization"``: the ``accuracy``, from 0 to 1, with which the word of
        least support (of ``words``, a key of `WORD_SETS`) is one that is made up. ``"pairwise"``:
        how often the correct caption of a pair has the higher score; a tie counts half.
    """
    resampled = Resampled(data.judged, trials.seed)
    detection = [
        {"metric": metric, **_detection(data, draws, resampled)}
        for metric, _, draws in trials.columns()
    ]
    localization = []
    for metric, words, places, right in ranked:
        of_marked = Resampled([data.judged[at] for at in places.tolist()], trials.seed)
        low, high = of_marked.of_mean(right) if len(places) else of_marked.interval([])
        accuracy = {"metric": metric, "words": words, "accuracy": mean(right)}
        localization.append({**accuracy, "low": low, "high": high, "captions": len(places)})
    pairwise = _pairwise(data, trials)
    most = max(one["captions"] for one in detection)
    fewer = [
        f"{one['metric']}: {most - one['captions']} captions fewer than others, which it cannot "
        "score"
        for one in detection
        if one["captions"] < most
    ]
    numbers = ", ".join(map(str, trials.references))
    return Agreement(
        data.name,
        {"detection": detection, "localization": localization, "pairwise": pairwise},
        list(_rows(detection, localization, pairwise)),
        list(_tables(data.name, detection, localization, pairwise)),
        [f"references: {numbers}; ties count half", *fewer],
        trials,
    )


_Findings = Sequence[dict[str, Any]]


def _rows(
    detection: _Findings, localization: _Findings, pairwise: _Findings
) -> Iterator[dict[str, Any]]:
    def row(one: dict[str, Any], statistic: str, key: str, n: str) -> dict[str, Any]:
        shared = {name: one[name] for name in ("metric", "low", "high")}
        return {**shared, "statistic": statistic, "value": one[key], "n": one[n]}

    for one in detection:
        yield row(one, "average precision", "average_precision", "captions")
        n = one["captions"]
        share = one["positives"] / n if n else np.nan
        yield {"metric": one["metric"], "statistic": "share of positives", "value": share, "n": n}
    for one in localization:
        of_words = row(one, "localization accuracy", "accuracy", "captions")
        yield {**of_words, "subset": one["words"]}
    for one in pairwise:
        yield row(one, "pairwise accuracy", "accuracy", "pairs")


def _tables(
    name: str, detection: _Findings, localization: _Findings, pairwise: _Findings
) -> Iterator[Table]:
    """Yield a table for each experiment."""
    title = f"{name}: average precision of finding the captions that make something up"
    columns = ["Metric", "Average precision", "Interval", "Captions", "Positives"]
    yield table_of(title, detection, columns)
    if localization:
        title = f"{name}: how often the least supported word is made up"
        columns = ["Metric", "Words", "Accuracy", "Interval", "Captions"]
        yield table_of(title, localization, columns, texts=2)
    if pairwise:
        title = f"{name}: how often the correct caption scores higher"
        yield table_of(title, pairwise, ["Metric", "Accuracy", "Interval", "Pairs"])


def _detection(data: Hallucinations, draws: Floats, resampled: Resampled) -> dict[str, Any]:
    # The same captions in all draws, (draws, captions judged together, judgements).
    scored: NDArray[np.bool_] = np.logical_not(np.isnan(draws).any(axis=0))

    def precision(places: Any, draw: int) -> float:
        of_places = scored[:, places]
        scores = draws[draw][:, places][of_places]
        return average_precision(-scores, data.made_up[:, places][of_places])

    low, high = resampled.interval(resampled.values(len(draws), precision))
    precisions = np.array([precision(slice(None), draw) for draw in range(len(draws))])
    return {
        "average_precision": mean(precisions),
        "low": low,
        "high": high,
        "captions": int(scored.sum()),
        "positives": int((data.made_up & scored).sum()),
    }


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


def _pairwise(data: Hallucinations, trials: Trials) -> list[dict[str, Any]]:
    if any(len(one.captions) == 1 for one in data.judged):
        return []
    ones = np.ones(len(data.judged))
    choices = Choices(data.name, data.judged, ones, [ALL] * len(ones))
    accuracies = forced_choice(choices, trials).findings["accuracies"]
    keys = ("metric", "accuracy", "low", "high", "pairs")
    return [{key: accuracy[key] for key in keys} for accuracy in accuracies]
