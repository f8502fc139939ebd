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

from ...captions.fields import CAPTIONS, IMAGE_IDS, Wanted, listed, usual
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
        "The images, for objects, and so that intervals resample images.  [default: imgid, "
        "file_name, ...; rows with the same references are of one image where there is none]",
    )
    group_by: str = _field("", "Evaluate the rows of each value of this field apart, too.")


# The usual names; of images, of several the first counts.
_USUAL: dict[str, Sequence[str]] = {
    "caption_field": ("mt", "cand", "hypothesis", "hyp", *CAPTIONS),
    "references_field": ("refs", "references", "reference", "captions", "sentences"),
    "rating_field": ("score", "human_score", "rating", "human_rating"),
    "image_field": ("imgid", *(name for name in IMAGE_IDS if name not in ("id", "question_id"))),
}


def read_judgements(path: Path, columns: Columns | None = None) -> Ratings:
    """Read judgements of captions from CSV, TSV, JSON, JSON Lines, Excel or Parquet, by row.

    References and ratings may be lists, which a cell spells: a rating for each judge. A rating that
    is empty or null is none. The subsets are ``"all"``, and each value of the field to group by.
    """
    columns = columns or Columns()
    rows = records_of(content_of(read_bytes(path, AnnotationError), str(path), AnnotationError))
    if isinstance(rows, Entry) or not rows:
        raise AnnotationError(f"{path}: there is no row with a judgement; give a table or a list.")
    (caption,) = _names(rows, columns, "caption_field")
    references = _names(rows, columns, "references_field", optional=True)
    image = _names(rows, columns, "image_field", optional=True)
    group = _names(rows, columns, "group_by", optional=True)
    judged = []
    answers: dict[str, list[list[float]]] = {
        name: [] for name in _names(rows, columns, "rating_field")
    }
    first_with: dict[tuple[str, ...], ImageId] = {}
    for number, row in enumerate(rows):
        known = [
            text
            for name in references
            for text in texts_of(row[name], row, Wanted(references=True))
        ]
        image_id = first_with.setdefault(tuple(known), number)
        image_id = row.image_id(image[0]) if image else image_id
        judged.append(Judged(image_id, (row.text(caption),), tuple(known)))
        for name, of_rating in answers.items():
            of_rating.append(_ratings(row, name))
    ratings = {}
    for name, of_rating in answers.items():
        judges = max(1, *map(len, of_rating))
        if any(len(given) not in (0, judges) for given in of_rating):
            raise AnnotationError(
                f"{path}: {name!r:.40} has {judges} ratings of some captions and fewer of others; "
                "give as many of each, or none, or their mean."
            )
        ratings[name] = np.array([given or [np.nan] * judges for given in of_rating])
    subsets = {ALL: np.ones(len(judged), dtype=bool)}
    for name in group:
        values = np.array([str(row.get(name)) for row in rows])
        subsets |= {f"{name} {value}": values == value for value in dict.fromkeys(values.tolist())}
    return Ratings(path.stem, judged, ratings, subsets)


def _names(rows: Entries, columns: Columns, role: str, optional: bool = False) -> list[str]:
    """Return the fields that a user names, or else the usual one; several only of ratings."""
    given, known = getattr(columns, role), _USUAL.get(role, ())
    asked = [given] if isinstance(given, str) and given else list(given)
    found = asked or [name for one in known for name in usual(rows.names, [one])]
    missing = [name for name in asked if name not in rows.names]
    several = not asked and len(found) > 1 and role != "image_field"
    if not missing and not several and (found or optional):
        return asked or found[:1]
    what = f"no field {missing[0]!r:.40}" if missing else f"no field for {role}"
    what = f"{listed(found, ' and ')} may each be meant" if several else what
    option = f"--{role.replace('_', '-')}"
    raise AnnotationError(
        f"{rows.source.where}: {what}; say which with {option}: it has {listed(rows.names)}."
    )


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
        raise row.refusal(name, "a number, or a list of numbers") from None
    if np.isinf(ratings).any():
        raise row.refusal(name, "finite numbers")
    return [] if np.isnan(ratings).all() else ratings
