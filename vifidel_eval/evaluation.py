"""Results of a metric: scores, and everything that was counted on the way."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .doors.arguments import real_numbers
from .errors import VifidelError
from .io.digits import for_json
from .io.image_ids import ImageId, samples
from .words.word_vectors import Tally

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of a table of scores."""

    name: str  # as papers write it
    lower_is_better: bool = False  # whether a system with a lower number is the better one
    #: Whether one direction is better at all; for the length of captions, for example, none is.
    ranked: bool = True
    #: Whether it stands for its metric where that must be one number; if none does, the last does.
    main: bool = False
    #: From sums over rows to the corpus score, as `Statistics.score`, where that is not a mean.
    of_sums: Callable[[Floats], Floats] | None = None
    is_count: bool = False  # whether it is a number of things, which `--percent` does not change

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise VifidelError(f"a column's name is text, not {self.name!r:.40}.")
        for key in ("lower_is_better", "ranked", "main"):
            if not isinstance(getattr(self, key), bool):
                raise VifidelError(
                    f"the column {self.name}: {key} is True or False, not "
                    f"{getattr(self, key)!r:.40}."
                )


UNDECLARED = "nothing_looked_for"  #: the key of images in which nothing can be absent


@dataclass(frozen=True)
class Count:
    """Something that is counted beside the scores; every output lists `COUNTS` in this order."""

    key: str  # its name in JSON and in `Evaluation.counts`
    phrase: str  # what a sentence says after the number: "3 undefined"
    meaning: str  # what is counted, as a legend says it
    always: bool = False  # whether a table shows it where it is zero for every system

    @property
    def header(self) -> str:
        """Its header in tables."""
        return self.key.replace("_", " ").capitalize()


#: Every count that a metric may report.
COUNTS = (
    Count(
        "missing",
        "missing",
        "images of the run for which the system has no caption, with --allow-subset",
    ),
    Count(
        "undefined",
        "without some score",
        "images without a score under some metric; VIFIDEL, for example, needs objects",
        always=True,
    ),
    Count("samples", "samples", "captions of all images, with --samples", always=True),
    Count(
        "undefined_samples",
        "undefined samples",
        "samples without a score under some metric; the mean, best and worst are of the others",
    ),
    Count("no_words", "without words", "captions without a usable word; they score 0", always=True),
    Count(
        "unknown_words", "unknown words", "words of captions that have no word vector", always=True
    ),
    Count(
        "no_claim",
        "that claim nothing",
        "refusals, empty texts, only reasoning; rates of what is made up leave them out",
    ),
    Count(
        "reasoning",
        "with reasoning, which is not scored",
        "answers with reasoning beside the caption",
    ),
    Count(
        "around",
        "with other text around the caption, which is not scored",
        "answers with an announcement, a fence or marks of a chat around the caption",
    ),
    Count(
        "unweighted",
        "unweighted",
        "images scored without weights, because no reference has a usable word",
    ),
    Count(
        "no_mentions",
        "without mentions",
        "captions in which CHAIR finds no object; CHAIRs counts them, CHAIRi has nothing to count",
    ),
    Count(
        "incomplete",
        "with an incomplete last sentence",
        "captions whose last sentence was cut off and left out",
    ),
    Count(
        "truncated",
        "truncated",
        "captions that are longer than a network reads, whose ends it was not given",
    ),
    Count(
        "unconfirmed",
        "mentions unconfirmed",
        "mentions of things that were not looked for in the image and are in no reference, "
        "under VIFIDEL-H and, if the objects say what was looked for, CHAIR; they are not part "
        "of any rate",
    ),
    Count(
        "judged_by_references",
        "judged by references",
        "captions whose objects do not say what was looked for: under VIFIDEL-H, a thing that none "
        "of their references mentions counts as not in the image",
    ),
    Count(
        UNDECLARED,
        "without anything looked for",
        "images whose objects do not say what was looked for, so that under VIFIDEL-H nothing "
        "can be absent",
    ),
    Count(
        "unsure",
        "unsure answers",
        "answers, over all images, that are neither yes nor no, or have a score in between; the "
        "things they are about are not judged",
    ),
)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Counts from which a corpus score follows by addition, where it is not a mean."""

    of_rows: Floats  # whole numbers, (n, k); NaN where the row does not count in the corpus score
    score: Callable[[Floats], Floats]  # the corpus score of sums over rows: (..., k) to (...)

    @property
    def corpus_score(self) -> float:
        """The corpus score of all rows that count."""
        return float(self.score(np.nansum(self.of_rows, axis=0)))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one system in one column of a metric."""

    ids: Sequence[ImageId]  # the image of each row, or its number where the rows have none
    #: One score per row, (n,) float64; an undefined one is NaN, or the scorer's `undefined`.
    scores: Floats
    lower_is_better: bool = False
    ranked: bool = True
    #: The metric's own score of the corpus, where that is not the mean of `scores` (BLEU).
    corpus_score: float | None = None
    #: What `corpus_score` follows from, where it can be computed for other sets of the rows.
    statistics: Statistics | None = None
    #: Key of `COUNTS` to number; what the metric does not count is missing.
    counts: Mapping[str, int] = field(default_factory=dict)
    #: What was read (``"captions"``, ``"references"``, ``"object labels"``) to its `Tally`.
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    #: Thing to the number of captions that make it up; None where nothing can be absent.
    made_up: Mapping[str, int] | None = None
    signature: str = ""  # one line that pins everything that changes the number
    #: What ``--output`` says of each row beside its score: a name to one JSON value per row.
    details: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: Which rows the corpus score leaves out, (n,), where a file says so and `statistics` are gone.
    left_out: NDArray[np.bool_] | None = None

    @property
    def score(self) -> float:
        """The corpus score, else the mean of the defined scores; NaN if none is."""
        if self.corpus_score is not None:
            return self.corpus_score
        defined = self.scores[~np.isnan(self.scores)].tolist()
        return math.fsum(defined) / len(defined) if defined else math.nan

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each row is left out of the corpus score, (n,); one without a score may count."""
        if self.left_out is not None:
            return self.left_out
        if self.statistics is None:
            return np.isnan(np.asarray(self.scores))
        return np.asarray(np.isnan(self.statistics.of_rows).any(axis=1))

    @property
    def undefined(self) -> int:
        """How many rows are left out of the corpus score."""
        return self.counts.get("undefined", int(self.missing.sum()))


def checked_evaluations(
    returned: Any, columns: Sequence[Column], ids: Sequence[ImageId]
) -> dict[str, Evaluation]:
    """Return the evaluations that a metric returned; a VifidelError if one breaks the rules."""
    names = [column.name for column in columns]
    if not isinstance(returned, Mapping) or set(returned) != set(names):
        shown = list(returned) if isinstance(returned, Mapping) else returned
        raise VifidelError(
            f"the columns of its class are {', '.join(names)}, and it returned {shown!r:.80}; "
            "return an Evaluation for each column."
        )
    return {
        column.name: _checked_evaluation(returned[column.name], column, names, ids)
        for column in columns
    }


def _checked_evaluation(
    evaluation: Any, column: Column, names: Sequence[str], ids: Sequence[ImageId]
) -> Evaluation:
    name = column.name
    if not isinstance(evaluation, Evaluation):
        raise VifidelError(f"{name}: expected an Evaluation, found {evaluation!r:.40}.")
    if (evaluation.lower_is_better and not column.lower_is_better) or (
        column.ranked and not evaluation.ranked
    ):
        raise VifidelError(
            f"{name}: its Evaluation has another direction than its Column; declare the "
            "direction in the columns of the class."
        )
    scores = real_numbers(evaluation.scores, f"{name}: the score", ids)
    if evaluation.ids is not ids and list(evaluation.ids) != list(ids):
        raise VifidelError(
            f"{name}: its scores are of the images {samples(evaluation.ids)}, and the captions of "
            f"{samples(ids)}; return rows.ids, and the scores in that order."
        )
    statistics, corpus_score = evaluation.statistics, evaluation.corpus_score
    if statistics is not None:
        of_rows = real_numbers(statistics.of_rows, f"{name}: the statistics", ids, axes=2)
        statistics = replace(statistics, of_rows=of_rows)
        sums = np.nansum(of_rows, axis=0)
        # Intervals ask for the scores of many sums at once.
        real_numbers(statistics.score(np.stack([sums] * 2)), f"{name}: the score", ("sums",) * 2)
    if corpus_score is not None:
        real_numbers([corpus_score], f"{name}: the score", ["corpus"])
        corpus_score = float(corpus_score)
    for part, values, kind in (
        ("counts", evaluation.counts, Integral),
        ("tallies", evaluation.tallies, Tally),
    ):
        if not isinstance(values, Mapping) or any(not isinstance(v, kind) for v in values.values()):
            number = "whole number" if kind is Integral else kind.__name__
            raise VifidelError(
                f"{name}: its {part} are {values!r:.60}; they map a name to one {number} each."
            )
    if evaluation.left_out is not None:
        raise VifidelError(
            f"{name}: a metric marks rows that are left out by NaN, not by left_out."
        )
    for key, details in evaluation.details.items():
        if key in ("image_id", *names) or len(details) != len(ids):
            raise VifidelError(
                f"{name}: the details {key!r:.40} must be {len(ids)} values, one for each "
                "caption, under a name that no column has."
            )
        if not isinstance(details, DetailsOfParts):
            json.dumps(for_json(list(details)), allow_nan=False)  # else `--output` fails on them
    return replace(evaluation, scores=scores, statistics=statistics, corpus_score=corpus_score)


def evaluations_of(
    columns: Sequence[Column], ids: Sequence[ImageId], scores: Floats, **others: Any
) -> dict[str, Evaluation]:
    """Return an evaluation of each column of scores, (rows, columns), all with `others`."""
    return {
        column.name: Evaluation(ids, scores[:, at].copy(), **others)
        for at, column in enumerate(columns)
    }


class DetailsOfParts(Sequence[Any]):
    """Details of rows, made when they are read: they are large, and rarely wanted."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._make: list[Any] = []  # callables
        self._last: tuple[int, list[Any]] = -1, []  # rows are read one after the other

    def add(self, rows: int, make: Callable[[], list[Any]]) -> None:
        """Add rows; `make` returns the details of each of them."""
        self._ends.append(len(self) + rows)
        self._make.append(make)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        part = bisect_right(self._ends, row)
        last = self._last
        if last[0] != part:
            self._last = last = part, self._make[part]()
        return last[1][row - self._ends[part]]
