"""Judgements of any file: a caption, its references and its ratings per row.

Polaris, Nebula (Wada, Matsuda et al.), LongCap-Arena and Composite, as capevalkit reads them
(``infrastructure/benchmarks/legacy.py`` of https://github.com/YuigaWada/CaptionEvalKit-for-VLMs),
are CSV or Parquet with ``mt`` or ``cand``, ``refs``, a list, ``score`` or ``human_score``, and
``imgid`` or ``file_name``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...captions.fields import CAPTIONS, Wanted, listed, usual, usual_id
from ...captions.layouts import records_of, texts_of
from ...errors import AnnotationError
from ...io.containers import content_of, listed_in
from ...io.entries import Entries, Entry
from ...io.files import read_bytes
from ...io.image_ids import ImageId
from ...io.options import is_listed, option
from .judgements import ALL, Judged, Ratings

_field = partial(option, kind=str, section="", metavar="FIELD")


@dataclass(frozen=True)
class Columns:
    """What the columns, or fields, of a file of judgements are called."""

    caption_field: str = _field("", "The captions.  [default: mt, cand, caption, ...]")
    references_field: str = _field("", "The references.  [default: refs, references, ...]")
    rating_field: tuple[str, ...] = _field(
        (), "The ratings; repeat for several questions.  [default: score, ...]", several=True
    )
    image_field: str = _field(
        "",
        "The images, to look up objects and to resample images for intervals.  [default: imgid, "
        "file_name, ...; without it, rows with the same references belong to one image]",
    )
    keep_own: bool = option(
        False, "Keep a caption among its own references, like capevalkit.", bool, section=""
    )
    group_by: str = _field("", "Evaluate the rows of each value of this field separately, too.")


_CAPTIONS = ("mt", "cand", *CAPTIONS)
_REFERENCES = ("refs", "references", "reference", "captions", "sentences")
_RATINGS = ("score", "human_score", "rating")


def read_judgements(path: Path, columns: Columns | None = None) -> Ratings:
    """Read judgements of captions from CSV, TSV, JSON, JSON Lines, Excel or Parquet, by row.

    References and ratings may be lists, which a cell spells: a rating of each judge. The subsets
    are ``"all"``, and each value of the field to group by.
    """
    named = columns or Columns()
    rows = records_of(content_of(read_bytes(path, AnnotationError), str(path), AnnotationError))
    if isinstance(rows, Entry) or not rows:
        raise AnnotationError(f"{path}: has no row with a judgement; give a table or a list.")
    caption = _field_of(rows, "--caption-field", named.caption_field, _CAPTIONS)
    references = _field_of(rows, "--references-field", named.references_field, _REFERENCES, False)
    group = _field_of(rows, "--group-by", named.group_by, (), False)
    asked = named.rating_field or ("",)
    questions = [_field_of(rows, "--rating-field", name, _RATINGS) for name in asked]
    image = _field_of(rows, "--image-field", named.image_field, (), False)
    # An "id" is that of the row.
    image = image or usual_id(name for name in rows.names if name != "id") or ""
    judged = []
    first_with: dict[tuple[str, ...], ImageId] = {}
    for number, row in enumerate(rows):
        texts = texts_of(row[references], row, Wanted(references=True)) if references else []
        of_row = row.image_id(image) if image else first_with.setdefault(tuple(texts), number)
        judged.append(Judged(of_row, (row.text(caption),), tuple(texts), named.keep_own))
    ratings = {}
    for name in questions:
        given = [_ratings(row, name) for row in rows]
        judges = max(map(len, given))
        lacking = [row for row, of in zip(rows, given, strict=True) if 1 < judges != len(of) > 0]
        if lacking:
            raise lacking[0].refusal(name, f"{judges} ratings, as others have, or none")
        ratings[name] = np.array([of or [np.nan] * max(judges, 1) for of in given])
    subsets = {ALL: np.ones(len(judged), dtype=bool)}
    values = [str(row[group]) for row in rows] if group else []
    subsets |= {f"{group} {one}": np.array(values) == one for one in dict.fromkeys(values)}
    return Ratings(path.stem, judged, ratings, subsets)


def _field_of(
    rows: Entries, flag: str, asked: str, known: Sequence[str], needed: bool = True
) -> str:
    """Return the field that a user names, or the only one with a usual name."""
    found = [name for name in rows.names if name == asked] if asked else usual(rows.names, known)
    if len(found) > 1 or (not found and (asked or needed)):
        why = (
            f"{listed(found, ' and ')} could each be meant"
            if found
            else f"there is no {asked!r:.40}"
        )
        why = why if found or asked else f"no field has a usual name ({', '.join(known[:3])})"
        raise AnnotationError(
            f"{rows.source.where}: {why}; name one of {listed(rows.names)} with {flag}."
        )
    return found[0] if found else ""


def _ratings(row: Entry, name: str) -> list[float]:
    """Return the ratings of a caption, one of each judge; none where there is none."""
    given = row.get(name)
    if isinstance(given, str):
        given = listed_in(given, str(row), AnnotationError) or [given.strip() or None]
    try:
        ratings = [
            np.nan if one is None else float(one)
            for one in (given if is_listed(given) else [given])
        ]
    except (TypeError, ValueError):
        ratings = [np.inf]
    if np.isinf(ratings).any():
        raise row.refusal(name, "a number, or a list of numbers")
    return [] if np.isnan(ratings).all() else ratings
