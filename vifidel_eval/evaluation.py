"""Results of a metric: scores, and everything that was counted on the way."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import VectorsError, VifidelWarning
from .image_ids import ImageId

if TYPE_CHECKING:
    from .vectors import WordVectors

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of a table of scores.

    Attributes
    ----------
    name : str
        As papers write it.
    lower_is_better : bool
        Whether a system with a lower number is the better one.
    ranked : bool
        Whether systems are better or worse by it at all; the length of captions only says how
        long they are.
    main : bool
        Whether it stands for its metric where that must be one number; where no column says so, the
        last one does.
    of_sums : callable, optional
        The corpus score that follows from sums over the rows, as `Statistics.score` has it, where
        that is the same for every run and no mean.
    is_count : bool
        Whether it is a number of things, which percent leave as it is.
    """

    name: str
    lower_is_better: bool = False
    ranked: bool = True
    main: bool = False
    of_sums: Callable[[Floats], Floats] | None = None
    is_count: bool = False


@dataclass(frozen=True)
class Count:
    """Something that is counted beside the scores; every output lists `COUNTS` in this order."""

    key: str  # its name in JSON and in `Evaluation.counts`
    phrase: str  # what a sentence says after the number: "3 undefined"
    meaning: str  # what is counted, as a legend says it
    #: Whether a table shows it even if it is zero for every system; it never shows what no metric
    #: counts.
    always: bool = False

    @property
    def header(self) -> str:
        """Its header in tables."""
        return self.key.replace("_", " ").capitalize()


#: Every count that a metric may report.
COUNTS = (
    Count(
        "missing",
        "missing",
        "images of the run of which the system has no caption, under --allow-subset",
    ),
    Count(
        "undefined",
        "undefined",
        "images without a score under some metric, as VIFIDEL has none for an image without "
        "objects",
        always=True,
    ),
    Count("samples", "samples", "captions of all images, under --samples", always=True),
    Count(
        "undefined_samples",
        "undefined samples",
        "samples without a score under some metric; the mean, best and worst are of the others",
    ),
    Count(
        "no_words",
        "without words",
        "captions without a usable word; they score 0",
        always=True,
    ),
    Count(
        "unknown_words",
        "unknown words",
        "words of captions that have no word vector",
        always=True,
    ),
    Count(
        "unweighted",
        "unweighted",
        "images scored without weights, as no reference has a usable word",
    ),
    Count(
        "no_mentions",
        "without mentions",
        "captions in which CHAIR finds no object; CHAIRs counts them, CHAIRi has nothing to count",
    ),
    Count(
        "incomplete",
        "with an incomplete last sentence",
        "captions whose last sentence has no end and was left out",
    ),
    Count(
        "not_judged",
        "mentions not judged",
        "mentions of things that nobody looked for in the image, under VIFIDEL-H without "
        "references, and under CHAIR where the objects say what was looked for",
    ),
    Count(
        "nothing_looked_for",
        "without anything looked for",
        "images whose objects do not say what was looked for, so that nothing can be absent from "
        "them under VIFIDEL-H",
    ),
    Count(
        "unsure",
        "unsure answers",
        "answers about all images that say neither yes nor no, or have a score in between; what "
        "they are about is not judged",
    ),
)

#: Keys of what tables say of a row beside its scores, from best to worst, and the worst of each:
#: what is counted of every run, then why a score is undefined, then what makes the row unusable.
ROW_COUNTS = (
    "unweighted",
    "no_words",
    "nothing_looked_for",
    "no_objects",  # no label
    "no_references",
    "no_known_words",  # of labels and references, none has a vector
    "too_long",  # a text, or more words, than is read
    "bad_caption",  # is no text
    "bad_labels",  # cannot be read
    "bad_references",  # are not a list of texts
)

# How many different words a tally lists at least.
_MOST_LISTED = 5_000

# Above this share of unknown words the scores say little about the captions: warn.
_MANY_UNKNOWN = 0.1
# Above this one, and from this many words on, they say nothing: refuse.
_ALMOST_ALL_UNKNOWN = 0.9
_ENOUGH_TO_REFUSE = 20


@dataclass(frozen=True)
class Tally:
    """How many words were read, and which of them have no vector."""

    words: int
    unknown: Counter[str]  # those without a vector; of very many, the most frequent
    others: int = 0  # how many more have none

    @property
    def without_vector(self) -> int:
        """How many words have no vector."""
        return self.unknown.total() + self.others

    def check_known(self, what: str, vectors: WordVectors) -> None:
        """Warn if more than a tenth of the words have no vector in the vectors that were used.

        Raises a VectorsError if nine tenths of at least 20 have none. The words, which are those of
        `what` was read, are those of a whole run: parts of one say nothing of the language.
        """
        unknown = self.without_vector
        if unknown <= _MANY_UNKNOWN * self.words:
            return
        examples = ", ".join(word for word, _ in self.unknown.most_common(5))
        share = (
            f"{unknown} of {self.words} words of the {what} have no vector in "
            f"{vectors.signature()}, such as {examples}"
        )
        if unknown > _ALMOST_ALL_UNKNOWN * self.words and self.words >= _ENOUGH_TO_REFUSE:
            raise VectorsError(
                f"{share}; are these vectors of the {what}' language, in lower case?"
            )
        warnings.warn(f"{share}; they are left out.", VifidelWarning, stacklevel=5)

    def __add__(self, other: Tally) -> Tally:
        unknown = self.unknown + other.unknown
        others = self.others + other.others
        if len(unknown) > 2 * _MOST_LISTED:  # a table may have as many as it has rows
            kept = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LISTED]
            listed = Counter(dict(kept))
            others += unknown.total() - listed.total()
            unknown = listed
        return Tally(self.words + other.words, unknown, others)


NOTHING_READ = Tally(0, Counter())


def add_tallies(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Return the sums of tallies by what was read."""
    sums: dict[str, Tally] = {}
    for of_part in tallies:
        for what, tally in of_part.items():
            sums[what] = sums.get(what, NOTHING_READ) + tally
    return sums


@dataclass(frozen=True, eq=False)
class Statistics:
    """Counts from which a corpus score follows by addition, where it is not a mean.

    Attributes
    ----------
    of_rows : (n, k) float64
        Whole numbers; NaN where the row does not count in the corpus score.
    score : callable
        The corpus score of sums over rows: (..., k) to (...).
    """

    of_rows: Floats
    score: Callable[[Floats], Floats]

    @property
    def corpus_score(self) -> float:
        """The corpus score of all rows that count."""
        return float(self.score(np.nansum(self.of_rows, axis=0)))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one system in one column of a metric.

    Attributes
    ----------
    ids : sequence
        The image id of each row, or its number where the rows have none.
    scores : (n,) float64
        One score per row; NaN (or what the scorer was told to put there) where it is undefined.
    lower_is_better : bool
        The direction of the column.
    ranked : bool
        Whether the column has a direction.
    corpus_score : float, optional
        The metric's own score of the corpus, where that is not the mean of `scores` (BLEU).
    statistics : Statistics, optional
        What `corpus_score` follows from, where it can be computed for other sets of the rows.
    counts : mapping
        Key of `COUNTS` to number; what the metric does not count is missing.
    tallies : mapping
        What was read (``"captions"``, ``"references"``, ``"object labels"``) to its `Tally`.
    signature : str
        One line that pins everything that changes the number.
    details : mapping
        What ``--output`` says of each row beside its score: a name to one JSON value per row.
    left_out : (n,) bool, optional
        Which rows the corpus score leaves out, where a file says so and `statistics` are gone.
    """

    ids: Sequence[ImageId]
    scores: Floats
    lower_is_better: bool = False
    ranked: bool = True
    corpus_score: float | None = None
    statistics: Statistics | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    signature: str = ""
    details: Mapping[str, Sequence[Any]] = field(default_factory=dict)
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
        """Whether each row is left out of the corpus score, (n,).

        A row without a score of its own may still count: a caption that mentions nothing has no
        share of absent mentions, and adds nothing to the mentions of the run.
        """
        if self.left_out is not None:
            return self.left_out
        if self.statistics is None:
            return np.isnan(np.asarray(self.scores))
        return np.asarray(np.isnan(self.statistics.of_rows).any(axis=1))

    @property
    def undefined(self) -> int:
        """How many rows are left out of the corpus score."""
        return self.counts.get("undefined", int(self.missing.sum()))


class DetailsOfParts(Sequence[Any]):
    """What ``--output`` says of each row, made from what was found in some rows when it is wanted.

    Made at once it would be the largest part of an evaluation: objects for each word of each row,
    which nobody asks for if there is no ``--output``.
    """

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._make: list[Any] = []  # callables
        self._last: tuple[int, list[Any]] | None = None  # rows are read one after the other

    def add(self, rows: int, make: Callable[[], list[Any]]) -> None:
        """Add rows, and what makes the details of each of them."""
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
        if last is None or last[0] != part:
            self._last = last = part, self._make[part]()
        return last[1][row - self._ends[part]]
