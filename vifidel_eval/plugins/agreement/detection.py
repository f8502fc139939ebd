"""Detection of what captions make up: the captions, and the words.

The experiments of ALOHa (Petryk et al., NAACL 2024) on HAT and nocaps-FOIL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import Rows
from ...evaluation import Floats
from ...scorers import Scorer
from ...scorers.word_supports import WordSupport
from .forced_choice import accuracies
from .judgements import ALL, AS_GIVEN, Choices, Hallucinations, References, drawn, times_drawn
from .result import Agreement, Resampled, mean, row_of, table_of
from .trials import Trials

#: Which words are ranked: all that a metric judges, or those that name things.
WORD_SETS = {"all": False, "things": True}
# Of each kind of findings: the title of its table, the columns, and how many of these are text.
_TABLES = (
    (
        "detection",
        "average precision of finding the captions that make something up",
        ["Metric", "Average precision", "Interval", "Captions", "Positives"],
        1,
    ),
    (
        "localization",
        "how often the least supported word is made up",
        ["Metric", "Words", "Accuracy", "Interval", "Captions"],
        2,
    ),
    (
        "pairwise",
        "how often the correct caption scores higher",
        ["Metric", "Accuracy", "Interval", "Pairs"],
        1,
    ),
)


def detect(data: Hallucinations, trials: Trials, scorers: Mapping[str, Scorer]) -> Agreement:
    """Compare scores, with one number of references, with where the hallucinations are.

    Those of the scorers that have ``word_supports`` look for the made-up words, of captions judged
    together in the last one. Found are, of each metric, with intervals, means over draws of
    references:

    - ``"detection"``: the ``average_precision`` of ranking the captions, the worst score first; how
      many ``captions`` have a score, and the ``positives``, which make something up: their share is
      what a metric reaches by chance;
    - ``"localization"``: the ``accuracy``, from 0 to 1, with which the word of least support (of
      ``words``, a key of `WORD_SETS`) is one that is made up; equal words share, and it is 0 where
      the metric judges no word;
    - ``"pairwise"``: how often the correct caption of a pair has the higher score; a tie counts
      half.
    """
    resampled = Resampled(data.judged, trials.bootstrap)
    detection = [
        {"metric": metric, **_detection(data, draws, resampled)}
        for metric, _, draws in trials.columns()
    ]
    localization = [
        finding
        for number in trials.references
        if number != AS_GIVEN
        for finding in _localization(data, trials, number, scorers)
    ]
    pairwise = []
    if len(data.made_up) > 1:
        judged = data.judged
        choices = Choices(data.name, judged, np.ones(len(judged)), [ALL] * len(judged))
        keys = ("metric", "accuracy", "low", "high", "pairs")
        pairwise = [{key: finding[key] for key in keys} for finding in accuracies(choices, trials)]
    most = max(finding["captions"] for finding in detection)
    fewer = [
        f"{finding['metric']}: {most - finding['captions']} captions fewer than others, because it "
        "cannot score the rest."
        for finding in detection
        if finding["captions"] < most
    ]
    findings = {"detection": detection, "localization": localization, "pairwise": pairwise}
    numbers = ", ".join(map(str, trials.references))
    return Agreement(
        data.name,
        findings,
        list(_rows(**findings)),
        [
            table_of(f"{data.name}: {title}", findings[name], columns, texts)
            for name, title, columns, texts in _TABLES
            if findings[name]
        ],
        [f"References: {numbers}. Ties count half.", *fewer],
        trials,
    )


_Findings = Sequence[dict[str, Any]]


def _rows(
    detection: _Findings, localization: _Findings, pairwise: _Findings
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the tidy table."""
    for row in detection:
        yield row_of(row, "average precision", "average_precision", "captions")
        captions = row["captions"]
        share = row["positives"] / captions if captions else np.nan
        by_chance = {"metric": row["metric"], "captions": captions, "share": share}
        yield row_of(by_chance, "share of positives", "share", "captions")
    for row in localization:
        yield row_of(row, "localization accuracy", "accuracy", "captions", subset=row["words"])
    for row in pairwise:
        yield row_of(row, "pairwise accuracy", "accuracy", "pairs")


def _localization(
    data: Hallucinations, trials: Trials, number: References, scorers: Mapping[str, Scorer]
) -> Iterator[dict[str, Any]]:
    places = [at for at, marked in enumerate(data.marked) if marked and data.made_up[-1, at]]
    resampled = Resampled([data.judged[at] for at in places], trials.bootstrap)
    for name, scorer in scorers.items():
        word_supports = getattr(scorer, "word_supports", None)
        if word_supports is None:
            continue
        supports = []
        for draw in range(times_drawn(data.judged, number, trials.draws)):
            references = drawn(data.judged, number, trials.seed, draw)
            rows = Rows(
                [data.judged[at].captions[-1] for at in places],
                [references[at] for at in places],
                [data.judged[at].image_id for at in places],
            )
            supports.append(list(zip(places, word_supports(rows), strict=True)))
        for words, things_only in WORD_SETS.items():
            right = np.array(
                [
                    [_right(of_caption, data.marked[at], things_only) for at, of_caption in of_draw]
                    for of_draw in supports
                ]
            )
            low, high = resampled.of_mean(right) if places else (np.nan, np.nan)
            accuracy = {"metric": name, "words": words, "accuracy": mean(right)}
            yield {**accuracy, "low": low, "high": high, "captions": len(places)}


def _right(words: Sequence[WordSupport], marked: frozenset[int], things_only: bool) -> float:
    ranked = [word for word in words if word.is_thing or not things_only]
    if not ranked:
        return 0.0
    lowest = min(word.support for word in ranked)
    hits = [not marked.isdisjoint(word.place) for word in ranked if word.support == lowest]
    return sum(hits) / len(hits)


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
    """Return the average precision, in (0, 1], of finding the positives by a high score.

    Equal scores are one step, so that their order does not matter; NaN without a positive.
    """
    if not positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # of equal scores
    hits = np.cumsum(positive)[last]
    return float((np.diff(hits, prepend=0) * (hits / (last + 1))).sum() / hits[-1])
