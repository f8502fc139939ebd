"""Precision, recall and F1 of the spans that metrics and tools call made up."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats, Integers
from ...scores.significance import Bootstrap, Sample, exact, p_values
from ...scores.standings import holm
from . import trials as trials_of
from .judgements import ALL
from .result import Agreement, row_of, table_of
from .spans import NAMELESS, Marked, Span
from .trials import Trials

#: What is counted: pieces between blanks that a span touches; spans, which are right if they touch
#: one of the other side; captions with a span.
LEVELS = ("tokens", "spans", "captions")

_TESTS = 1000  # resamples of tests
_PIECE = re.compile(r"\S+")
_NOTES = [
    "tokens: pieces between blanks that a span touches; spans: right, or found, if they touch one "
    "of the other side; captions: those with a span",
    "p: approximate randomisation over images, two-sided, after Holm's correction over the pairs",
]


def compare_spans(
    marked: Marked, tools: Mapping[str, Sequence[tuple[Span, ...]]], trials: Trials
) -> Agreement:
    """Compare the spans of tools with those that people marked.

    Found are ``"spans"``: of each tool, ``kind`` and ``level`` the ``precision``, ``recall`` and
    ``f1``, from 0 to 1, with the interval of F1 and those of all (``intervals``), and how many are
    ``predicted`` and ``marked``; of a kind, a tool that names none has a recall alone. And
    ``"tests"`` of F1 between every two tools.
    """
    kinds = [ALL, *marked.kinds] if len(marked.kinds) > 1 else [ALL]
    samples = {
        key: Sample(exact(counts), _f1, (), counts.shape[1])
        for key, counts in _by_image(marked, tools, kinds)
    }
    bootstrap = Bootstrap(trials.seed, trials_of.RESAMPLES, trials_of.LEVEL)
    spans = list(_spans(samples, tools, bootstrap))
    tests = list(_tests({level: samples[ALL, level] for level in LEVELS}, [*tools], trials.seed))
    columns = ["Metric", "Kind", "Level", *map(str.capitalize, _STATISTICS), "Interval"]
    title = f"{marked.name}: made-up spans, with the interval of F1"
    tables = [table_of(title, spans, [*columns, "Predicted", "Marked"], texts=3)]
    if tests:
        header = ["Level", "First", "Second", "Difference", "P"]
        tables.append(table_of(f"{marked.name}: tests of F1", tests, header, texts=3))
    tidy = [
        row_of(found, name, name, "marked", subset=f"{found['kind']}, {found['level']}")
        | dict(zip(("low", "high"), found["intervals"][name], strict=True))
        for found in spans
        for name in _STATISTICS
    ]
    notes = _NOTES if tests else _NOTES[:1]
    return Agreement(marked.name, {"spans": spans, "tests": tests}, tidy, tables, notes, trials)


def _spans(
    samples: Mapping[tuple[str, str], Sample],
    tools: Mapping[str, Sequence[tuple[Span, ...]]],
    bootstrap: Bootstrap,
) -> Iterator[dict[str, Any]]:
    """Yield what is found of each kind, level and tool."""
    drawn = bootstrap.scores(
        {
            (*key, name): replace(sample, score_of=statistic)
            for key, sample in samples.items()
            for name, statistic in _STATISTICS.items()
        }
    )
    for (kind, level), sample in samples.items():
        for at, (tool, predicted) in enumerate(tools.items()):
            sums = sample.rows[at].sum(axis=0)
            values, intervals = {}, {}
            for name, statistic in _STATISTICS.items():
                is_known = kind == ALL or name == "recall" or _names_kinds(predicted)
                values[name] = float(statistic(sums)) if is_known else np.nan
                of_draws = drawn[kind, level, name][at] if is_known else ()
                intervals[name] = bootstrap.interval(of_draws)
            low, high = intervals["f1"]
            yield {"metric": tool, "kind": kind, "level": level, **values} | {
                "low": low,
                "high": high,
                "intervals": intervals,
                "predicted": int(sums[1]),
                "marked": int(sums[3]),
            }


def _names_kinds(predicted: Sequence[tuple[Span, ...]]) -> bool:
    return any(span.kind != NAMELESS for spans in predicted for span in spans)


def _tests(
    of_levels: Mapping[str, Sample], names: Sequence[str], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the test of F1 between every two tools on each level."""
    pairs = list(itertools.combinations(range(len(names)), 2))
    for level, p in p_values(of_levels, seed, _TESTS, {}).items() if pairs else ():
        values = _f1(of_levels[level].rows.sum(axis=1)).tolist()
        corrected = holm([float(p[1][pair]) for pair in pairs])
        for (first, second), of_pair in zip(pairs, corrected, strict=True):
            yield {
                "level": level,
                "first": names[first],
                "second": names[second],
                "difference": values[first] - values[second],
                "p": of_pair,
            }


class _Places:
    """Places in captions, all of which stand one after the other in one text."""

    def __init__(self, marked: Marked, of_captions: Iterable[Sequence[tuple[Any, ...]]]) -> None:
        numbers: dict[Any, int] = {}
        images = [numbers.setdefault(judged.image_id, len(numbers)) for judged in marked.judged]
        places, kinds, at = [], [], 0
        for judged, image, of_caption in zip(marked.judged, images, of_captions, strict=True):
            for start, end, *kind in of_caption:
                places.append((at + start, at + end, image))
                kinds += kind
            at += len(judged.captions[0]) + 1
        self.images, self.kinds = len(numbers), np.array(kinds)
        self.starts, self.ends, self._image = np.array(places, dtype=np.int64).reshape(-1, 3).T

    def touched(self, spans: _Places, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of these places have a character of the wanted spans."""
        starts, ends = np.sort(spans.starts[wanted]), np.sort(spans.ends[wanted])
        begun = np.searchsorted(starts, self.ends, "left")
        return np.asarray(begun > np.searchsorted(ends, self.starts, "right"))

    def counted(self, chosen: NDArray[np.bool_]) -> Integers:
        """Return how many of the chosen places each image has."""
        return np.bincount(self._image[chosen], minlength=self.images)


def _by_image(
    marked: Marked, tools: Mapping[str, Sequence[tuple[Span, ...]]], kinds: Sequence[str]
) -> Iterator[tuple[tuple[str, str], Floats]]:
    """Yield kind, level and counts, (tools, images, 4): right, predicted; found, marked."""
    texts = [judged.captions[0] for judged in marked.judged]
    units = {
        "tokens": _Places(marked, ([p.span() for p in _PIECE.finditer(text)] for text in texts)),
        "captions": _Places(marked, ([(0, len(text))] for text in texts)),
    }
    gold = _Places(marked, marked.spans)
    predicted = [_Places(marked, of_tool) for of_tool in tools.values()]
    for kind, level in itertools.product(kinds, LEVELS):
        by_tool = []
        of_gold = (gold.kinds == kind) | (kind == ALL)
        for spans in predicted:
            of_tool = (spans.kinds == kind) | (kind == ALL) | (spans.kinds == NAMELESS).all()
            if level == "spans":
                right, found = spans.touched(gold, of_gold), gold.touched(spans, of_tool)
                by_tool.append(
                    [
                        *map(spans.counted, (right & of_tool, of_tool)),
                        *map(gold.counted, (found & of_gold, of_gold)),
                    ]
                )
            else:
                unit = units[level]
                in_gold, in_tool = unit.touched(gold, of_gold), unit.touched(spans, of_tool)
                both = in_gold & in_tool
                by_tool.append([*map(unit.counted, (both, in_tool, both, in_gold))])
        yield (kind, level), np.moveaxis(np.array(by_tool, dtype=np.float64), 1, 2)


def _share(part: Floats, whole: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / whole)


def _precision(sums: Floats) -> Floats:
    return _share(sums[..., 0], sums[..., 1])


def _recall(sums: Floats) -> Floats:
    return _share(sums[..., 2], sums[..., 3])


def _f1(sums: Floats) -> Floats:
    """Return the harmonic mean; 0 where nothing is right, undefined where nothing is marked."""
    precision, recall = np.nan_to_num(_precision(sums)), _recall(sums)
    return np.where(sums[..., 2] == 0, recall, _share(2 * precision * recall, precision + recall))


_STATISTICS = {"precision": _precision, "recall": _recall, "f1": _f1}
