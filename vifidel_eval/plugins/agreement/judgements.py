"""Judgements of captions by people: the shapes that data sets are read into, and any file of them.

Polaris, Nebula (Wada, Matsuda et al.), LongCap-Arena and Composite, as capevalkit reads them
(``infrastructure/benchmarks/legacy.py`` of https://github.com/YuigaWada/CaptionEvalKit-for-VLMs),
are CSV or Parquet with ``mt`` or ``cand``, ``refs``, a list, ``score`` or ``human_score``, and
``imgid`` or ``file_name``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePath, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...captions.fields import CAPTIONS, CaptionFields, Names, listed, usual, usual_id
from ...captions.layouts import texts_of
from ...captions.read import records_of
from ...doors.arguments import is_finite, is_listed, name_wrong_argument, option
from ...errors import AnnotationError
from ...evaluation import Floats, Integers
from ...io.containers import content_of_file, listed_in
from ...io.digits import number_of
from ...io.entries import Entries, Entry, is_nothing
from ...io.image_ids import ImageId, from_json_key
from ...run.reading import PathLike

#: All kinds of pairs together.
ALL = "all"

#: A number of references, ``"all"`` those of an image, or the word below.
References = int | str
#: Whatever references another tool's scores were computed with.
AS_GIVEN = "as given"

_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Judged:
    """Captions of an image that were judged together: two for a choice, one for a rating."""

    image_id: ImageId
    captions: tuple[str, ...]
    references: tuple[str, ...]  # all of the image's; some may be among the captions
    keeps_own: bool = False  # whether captions that are references stay among them

    def others(self, references: Sequence[str]) -> list[str]:
        """Return those of some references that say something else than any of the captions."""
        return [reference for reference in references if reference not in self._own]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The references that say what one of the captions says; every draw asks for them."""
        captions = set() if self.keeps_own else {_plain(caption) for caption in self.captions}
        return frozenset(r for r in self.references if _plain(r) in captions)


def _plain(caption: str) -> str:
    return _APART.sub("", caption.lower())  # case, blanks and punctuation make no difference


@dataclass(frozen=True)
class Choices:
    """Pairs of captions of which people preferred one."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # each with two captions
    # 1 for the first caption of a pair, -1 for the second, 0 where people were divided; (pairs,).
    preferred: Floats
    kinds: list[str]  # the kind of each pair; all the same where the data set has none
    systems: Sequence[tuple[str, str]] | None = None  # which wrote the captions of each pair
    kinds_in_words: Mapping[str, str] = field(default_factory=dict)  # as a figure has them


@dataclass(frozen=True)
class Hallucinations:
    """Captions in which people marked, or planted, what is not in the image."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # with one caption each, or with two, the second with the hallucination
    made_up: NDArray[np.bool_]  # whether captions have one; (captions judged together, judgements)
    # For each judgement the pieces between blanks, counted from 0, of its last caption that are
    # made up; empty where nothing is.
    marked: list[frozenset[int]]


@dataclass(frozen=True)
class Ratings:
    """Captions that people rated."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # each with one caption
    ratings: Mapping[str, Floats]  # what was asked, and the answers, (captions, judges), or NaN
    subsets: Mapping[str, NDArray[np.bool_]]  # masks over captions that are evaluated apart
    systems: Sequence[str] | None = None  # which wrote each caption


def image_id_of(name: str) -> ImageId:
    """Return the image id of a file name or an address: its stem, a whole number as a number."""
    return from_json_key(PurePosixPath(name).stem)


def numbered(names: Iterable[Any]) -> tuple[Integers, int]:
    """Return the number of each name, in the order in which they come, and how many there are."""
    numbers: dict[Any, int] = {}
    indices = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(indices, dtype=np.int64), len(numbers)


def times_drawn(judged: Sequence[Judged], number: References, draws: int) -> int:
    """Return how many draws of so many references there are: one, if no image has more of them."""
    most_references = max(len(captions.references) for captions in judged)
    return draws if isinstance(number, int) and 0 < number < most_references else 1


def drawn(judged: Sequence[Judged], number: References, seed: int, draw: int) -> list[list[str]]:
    """Return the references of each judgement, the first of a random order of its image's.

    So those of a smaller number are among those of a larger one; its own captions are not.
    """
    if not isinstance(number, int):
        return [captions.others(captions.references) for captions in judged]
    random = np.random.default_rng([seed, draw])
    shuffled: dict[tuple[str, ...], list[str]] = {}
    for captions in judged:
        if captions.references not in shuffled:
            order = random.permutation(len(captions.references))
            shuffled[captions.references] = [captions.references[place] for place in order]
    return [captions.others(shuffled[captions.references])[:number] for captions in judged]


_field = partial(option, kind=str, section="", metavar="FIELD")


@dataclass(frozen=True)
class Columns:
    """What the columns, or fields, of a file of judgements are called."""

    caption_field: str = _field("", "The captions.  [default: mt, cand, caption, ...]")
    references_field: Names = _field(
        (), "The references (repeatable).  [default: refs, ...]", several=True
    )
    rating_field: tuple[str, ...] = _field(
        (), "The ratings; repeat for several questions.  [default: score, ...]", several=True
    )
    judges: bool = option(
        False, "Average the ratings: each field is from one judge.", bool, section=""
    )
    image_field: str = _field(
        "",
        "Image ids, to look up objects and to resample by image.  [default: imgid, file_name, "
        "...; otherwise rows with the same references are one image]",
    )
    keep_own: bool = option(
        False,
        "Keep a caption among its own references, like capevalkit.",
        bool,
        section="",
        rare=True,
    )
    group_by: str = _field("", "Also evaluate each value of this field separately.")
    system_field: str = _field("", "System that wrote each caption, to rank systems.")


_CAPTIONS = ("mt", "cand", *CAPTIONS)
#: What fields of references are usually called.
REFERENCE_FIELDS = ("refs", "references", "reference", "captions", "sentences")
_RATINGS = ("score", "human_score", "rating")


@name_wrong_argument
def read_judgements(path: PathLike, columns: Columns | None = None) -> Ratings:
    """Read judgements of captions from CSV, TSV, JSON, JSON Lines, Excel or Parquet, by row.

    References and ratings may be lists, which a cell spells: a rating of each judge. The subsets
    are ``"all"``, and each value of the field to group by.
    """
    fields = columns or Columns()
    rows = records_of(content_of_file(path, AnnotationError))
    if isinstance(rows, Entry) or not rows:
        raise AnnotationError(f"{path}: has no row with a judgement; give a table or a list.")
    caption = _field_of(rows, "--caption-field", fields.caption_field, _CAPTIONS)
    references = _references_in(rows, fields.references_field)
    group = _field_of(rows, "--group-by", fields.group_by, (), False)
    asked = fields.rating_field or ("",)
    questions = [_field_of(rows, "--rating-field", name, _RATINGS) for name in asked]
    image = _field_of(rows, "--image-field", fields.image_field, (), False)
    # An "id" is that of the row.
    image = image or usual_id(name for name in rows.names if name != "id") or ""
    judged = []
    first_with: dict[tuple[str, ...], ImageId] = {}
    for number, row in enumerate(rows):
        texts = _texts_of(row, references)
        of_row = row.image_id(image) if image else first_with.setdefault(tuple(texts), number)
        judged.append(Judged(of_row, (row.text(caption),), tuple(texts), fields.keep_own))
    ratings = {}
    for name in questions:
        answers = [_ratings(row, name) for row in rows]
        judges = max(map(len, answers))
        lacking = [
            row for row, of_row in zip(rows, answers, strict=True) if 1 < judges != len(of_row) > 0
        ]
        if lacking:
            raise lacking[0].refusal(name, f"{judges} ratings, as others have, or none")
        ratings[name] = np.array([of_row or [np.nan] * max(judges, 1) for of_row in answers])
    if fields.judges:
        if len(ratings) < 2:
            raise AnnotationError(
                f"{path}: --judges averages several columns of ratings; name each with "
                "--rating-field."
            )
        ratings = {", ".join(ratings): np.hstack([*ratings.values()])}
    if all(len(np.unique(of_all[~np.isnan(of_all)])) < 2 for of_all in ratings.values()):
        raise AnnotationError(
            f"{path}: all ratings are the same, so nothing can agree with them; two must differ."
        )
    subsets = {ALL: np.ones(len(judged), dtype=bool)}
    values = [str(row[group]) for row in rows] if group else []
    subsets |= {f"{group} {value}": np.array(values) == value for value in dict.fromkeys(values)}
    field = _field_of(rows, "--system-field", fields.system_field, (), False)
    systems = [row.text(field) for row in rows] if field else None
    if systems and len(set(systems)) < 2:
        raise AnnotationError(
            f"{path}: {field!r} names one system only, {systems[0]!r:.60}; to rank systems, there "
            "must be two."
        )
    return Ratings(PurePath(path).stem, judged, ratings, subsets, systems)


def _references_in(rows: Entries, names: Names) -> list[str]:
    """Return the fields of references: those that a user names, or the one with a usual name."""
    flag = "--references-field"
    asked = (names,) if isinstance(names, str) else names
    fields = [_field_of(rows, flag, name, ()) for name in asked if name]
    usually = "" if fields else _field_of(rows, flag, "", REFERENCE_FIELDS, False)
    return fields or [name for name in (usually,) if name]


def _texts_of(row: Entry, fields: Sequence[str]) -> list[str]:
    """Return the references of a row; of several columns, some may be empty."""
    texts: list[str] = []
    for name in fields:
        value = row.get(name)
        is_empty = value is None or (isinstance(value, str) and not value.strip())
        if len(fields) == 1 or not is_empty:
            texts += texts_of(value, row, CaptionFields(references=True))
    return texts


def _field_of(
    rows: Entries, flag: str, asked: str, names: Sequence[str], needed: bool = True
) -> str:
    """Return the field that a user names, or the only one with a usual name."""
    fields = [name for name in rows.names if name == asked] if asked else usual(rows.names, names)
    why = ""
    if len(fields) > 1:
        why = f"{listed(fields, ' and ')} could each be meant"
    elif not fields and (asked or needed):
        usually = f"no field has a usual name ({', '.join(names[:3])})"
        why = f"there is no {asked!r:.40}" if asked else usually
    if why:
        raise AnnotationError(
            f"{rows.source.where}: {why}; name one of {listed(rows.names)} with {flag}."
        )
    return fields[0] if fields else ""


def _ratings(row: Entry, name: str) -> list[float]:
    """Return the ratings of a caption, one of each judge; none where there is none."""
    answers = row.get(name)
    if isinstance(answers, str):
        answers = listed_in(answers, str(row), AnnotationError) or [answers.strip() or None]
    ratings: list[float] = []
    for answer in answers if is_listed(answers) else [answers]:
        number = number_of(answer) if isinstance(answer, str) else answer
        if answer is None or is_nothing(answer):
            number = np.nan
        elif number is None or not is_finite(number):
            raise row.refusal(name, "a number, or a list of numbers")
        ratings.append(float(number))
    return [] if np.isnan(ratings).all() else ratings
