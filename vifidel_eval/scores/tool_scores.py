"""Scores of other tools: numbers for the captions of each system, as columns beside the metrics'.

A file, mapping or DataFrame has a number per image, ``{"42": 0.7}``, or several by their names,
``{"42": {"PAC-S": 0.7}}``, by themselves, under ``"per_item"`` as capevalkit writes them, or
under ``"imgToEval"`` as coco-caption does; or it has records with an image id each: a JSON list,
JSON Lines, CSV, TSV or Parquet.
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from ..captions.fields import CAPTIONS, IMAGE_IDS, REFERENCES, id_field, usual, usual_id
from ..captions.rows import Rows
from ..doors.arguments import is_finite
from ..errors import VifidelError
from ..evaluation import COUNTS, Column, Evaluation
from ..io.containers import Content, content_of
from ..io.digits import number_of
from ..io.entries import Entries, Entry, Source, is_frame, root
from ..io.files import read_bytes
from ..io.image_ids import ImageId, check_distinct, from_json_key, match, mismatch
from ..scorers import Scorer
from ..scorers.base import Progress
from ..scorers.registry import METRICS
from .alignment import System
from .scores import unknown
from .systems import WORDS

#: The scores of each item by what they are called; NaN where one is undefined.
Columns = dict[str, dict[ImageId, float]]
# The scores of a system's images, and the digest of where they are from.
_Given = tuple[Mapping[ImageId, float], str]
_NOTHING: _Given = ({}, "")

# What a number without a name is called, and where objects have those of each image.
_NAMELESS = "score"
_WITHIN = ("per_item", "imgToEval")
_MOST_NAMES = 100
# What records have beside scores, and what tables call columns of their own.
_NO_SCORES = {*IMAGE_IDS, *CAPTIONS, *REFERENCES}
_OURS = {"system", "image", "image_id", "date", "scored", WORDS.lower()}
_OURS |= {count.header.lower() for count in COUNTS}

_LAYOUTS = (
    '{"ID": number}, {"ID": {"NAME": number}}, the same under "per_item" or "imgToEval", JSON '
    "Lines, CSV or TSV with a header, Parquet"
)


class ToolScores(Scorer):
    """What another tool says of the captions of each system, with a digest, in one column."""

    def __init__(self, column: Column, of_systems: Sequence[_Given]) -> None:
        super().__init__()
        self.columns = (column,)
        self._of_systems = of_systems
        self._of_rows: dict[Rows, _Given] = {}

    def method(self) -> str:
        return self.columns[0].name

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        digests = ",".join(digest for _, digest in self._of_systems)
        name = self.method()
        if METRICS.knows(name):  # not ours, though it is called so
            name = f"tool:{name}"
        return f"{name}|scores:given|files:{digests}"

    def signature_of(self, systems: Iterable[Rows]) -> str:
        return self.signature()  # how captions are read changes nothing

    @contextmanager
    def in_run(self, systems: Sequence[Rows]) -> Iterator[Scorer]:
        """Return a scorer that knows whose captions rows are; people, the last, have no scores."""
        scorer = copy.copy(self)
        scorer._of_rows = dict(zip(systems, [*self._of_systems, _NOTHING], strict=False))
        yield scorer

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        by_image, _ = self._of_rows.get(rows, _NOTHING)
        scores = np.array([by_image.get(image_id, math.nan) for image_id in rows.ids])
        on_progress(len(rows))
        return {self.main: Evaluation(rows.ids, scores)}


def scorers_of(
    scores: Mapping[str, Any],
    lower_is_better: Collection[str],
    systems: Sequence[tuple[System, System]],
    taken: Collection[str],
    id_fields: Sequence[str] = (),
    only_some: bool = False,
) -> dict[str, Scorer]:
    """Return a scorer for each column of scores, which every system must have.

    `scores` map a system, or ``"SYSTEM: NAME"``, to a source or a list of them. Systems come as
    they were read, and with the ids of the run; `taken` are the columns that it has already. If it
    is of `only_some` of the images, there may be scores of others.
    """
    if not isinstance(scores, Mapping):
        raise VifidelError(f"scores are {{system: file or numbers}}, not {scores!r:.40}.")
    if any(system.sample_of is not None for system, _ in systems):
        raise VifidelError(
            "scores of other tools need one caption per image, and samples=True takes several; "
            "leave one of the two out."
        )
    taken_names = _OURS.union(map(str.lower, taken))
    # By system: from ids as they were read to those of the run.
    in_run = {
        as_read.name: dict(zip(as_read.captions, spelled.captions, strict=True))
        for as_read, spelled in systems
    }
    columns: dict[str, dict[str, _Given]] = {}
    for key, sources in scores.items():
        system, asked = _addressed(key, in_run)
        for source in sources if isinstance(sources, list | tuple) else [sources]:
            items, where, digest = items_of(source, f"scores of system {system!r}", id_fields)
            of_columns = columns_of(items, where, asked)
            ids, image_of = [item.image for item in items], in_run[system]
            same_image = match(ids, image_of)
            if len(same_image) < len(ids) and not only_some:
                others = [image_id for image_id in ids if image_id not in same_image]
                raise mismatch(others, image_of, where, f"system {system!r}", ids)
            for column, of_items in of_columns.items():
                of_systems = columns.setdefault(column, {})
                if column.lower() in taken_names or system in of_systems:
                    raise VifidelError(
                        f"{where}: there is another metric or column called {column!r}; give this "
                        f"one another name, as in --scores '{system}: NAME=FILE'."
                    )
                by_image = {image_of[image]: of_items[i] for i, image in same_image.items()}
                of_systems[system] = by_image, digest or _digest(of_items)
    _check_columns(columns, in_run)
    for column in lower_is_better:
        if column not in columns:
            raise VifidelError(
                f"lower is better for {column!r}, but no other tool's scores are called so; they "
                f"are {', '.join(columns) or 'none'}."
            )
    return {
        column: ToolScores(
            Column(column, column in lower_is_better), [of_systems[system] for system in in_run]
        )
        for column, of_systems in columns.items()
    }


def _check_columns(columns: Mapping[str, Mapping[str, _Given]], systems: Iterable[str]) -> None:
    """Raise a VifidelError if a system has no score in a column."""
    for column, of_systems in columns.items():
        for system in systems:
            by_image, _ = of_systems.get(system, _NOTHING)
            if np.isnan(list(by_image.values())).all():
                raise VifidelError(
                    f"system {system!r} has no score called {column!r}; give --scores "
                    f"{system}=FILE that has it for the images of the run."
                )


def _addressed(key: str, systems: Collection[str]) -> tuple[str, str]:
    """Return the system, and the name of the scores if there is one: ``"mine: PAC-S"``."""
    system, _, column = (key, "", "") if key in systems else str(key).rpartition(":")
    if system.strip() not in systems:
        raise unknown("system", key, systems)
    return system.strip(), column.strip()


def _digest(of_items: Mapping[ImageId, float]) -> str:
    numbers = sorted((str(item), number) for item, number in of_items.items())
    return hashlib.sha256(repr(numbers).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def items_of(
    source: Any, where: str = "scores", id_fields: Sequence[str] = ()
) -> tuple[list[Entry], str, str]:
    """Return what a source says of each item, its name for messages, and a file's digest or "".

    A source is a path, a mapping or a DataFrame; an entry has the id of its item as `Entry.image`.
    Of the fields that may hold ids, `id_fields` come first.
    """
    if isinstance(source, str | os.PathLike):
        raw = read_bytes(source, VifidelError)
        content = content_of(raw, where := str(source), VifidelError)
        return list(_items(content, id_fields)), where, hashlib.sha256(raw).hexdigest()[:8]
    memory = Source(where, VifidelError)
    if isinstance(source, Mapping):
        content = Content("object", root(source, memory), memory)
    elif is_frame(source):
        content = Content("list", Entries.of_frame(source, memory), memory)
    else:
        raise VifidelError(
            f"{where} are a path, {{image id: number}} or a DataFrame, not {source!r:.40}."
        )
    return list(_items(content, id_fields)), where, ""


def _items(content: Content, id_fields: Sequence[str]) -> Iterator[Entry]:
    kind, value, source = content
    _check_have_ids(content)
    if kind == "table" and value.delimiter:
        value = value.entries()
    if isinstance(value, Entry):
        within = next((key for key in _WITHIN if key in value), "")
        if within or usual_id(value.content) is None:
            by_id = value[within] if within else value.content
            if not isinstance(by_id, Mapping):
                raise value.refusal(within, "an object with an entry for each image")
            for key, scores in by_id.items():
                fields = scores if isinstance(scores, Mapping) else {_NAMELESS: scores}
                image_id = from_json_key(key) if isinstance(key, str) else key
                yield Entry(fields, value.within, None, image_id)
            return
        value = Entries([value.content], source)  # a file of one line
    if not isinstance(value, Entries):
        raise VifidelError(f"{source.where}: is not a file of scores; accepted: {_LAYOUTS}.")
    asked = [name for name in id_fields if name in value.names]
    id_name = id_field(value.names, asked, source.where) if value else ""
    for entry in value:
        fields = {name: value for name, value in entry.content.items() if name != id_name}
        yield Entry(fields, entry.within, entry.ordinal, entry.image_id(id_name))


def _check_have_ids(content: Content) -> None:
    """Raise a VifidelError if content is nothing but scores one after the other."""
    kind, value, source = content
    listed: list[Any] = []
    if kind == "table" and not value.delimiter:  # a column, perhaps with a name
        first, *lines = value.text.split()
        listed = lines if number_of(first) is None else [first, *lines]
        listed = [number_of(line) for line in listed]
    elif isinstance(value, Entry):
        lists = [value.get(key) for key in _WITHIN if key in value] or [*value.content.values()]
        if all(isinstance(scores, list) and len(scores) > 1 for scores in lists):
            listed = [0 if isinstance(item, Mapping) else item for item in chain(*lists)]
    elif isinstance(value, Entries):
        listed = [*value.values]
        names = {name for item in listed if isinstance(item, Mapping) for name in item}
        if len(names) == 1 and usual_id(names) is None:
            listed = [
                next(iter(item.values()), None) if names.issubset(item) else None for item in listed
            ]
    numbers = sum(isinstance(item, Real) for item in listed)
    if listed and numbers == len(listed):
        scores = f"{numbers} score{'s' * (numbers != 1)}"
        raise VifidelError(
            f"{source.where}: holds {scores} without ids, so it is not known which caption each "
            'is of; write {"ID": number}, or an id beside each score. The ids are those of images, '
            "for `agreement` those that --write-candidates writes."
        )


def columns_of(items: Sequence[Entry], where: str, column: str = "") -> Columns:
    """Return all scores of items by name and id, or those of one column.

    What records have beside scores, such as captions, is left out. If there is no such `column`, it
    becomes the name of the only one or of the one without a name, else the prefix of all names.
    """
    fields = dict.fromkeys(chain.from_iterable(item.content for item in items))
    names = [name for name in fields if str(name).strip() and not usual([name], _NO_SCORES)]
    if column:  # one of those names, or a name for one
        names = [name for name in (column, _NAMELESS) if name in fields][:1] or names
    if not names:
        raise VifidelError(f"{where}: has no scores; give a number for each image.")
    if len(names) > _MOST_NAMES:
        raise VifidelError(
            f"{where}: there are {len(names)} names of scores in it, and at most {_MOST_NAMES} "
            "are read; give each image numbers under the same names."
        )
    columns: Columns = {}
    for name in names:
        shown = column if column and len(names) == 1 else f"{column} {str(name).strip()}".strip()
        if not (shown.isprintable() and "|" not in shown) or shown in columns:
            raise VifidelError(
                f"{where}: scores cannot be called {shown if column else name!r:.40}: names "
                "differ, and are printable text without '|'; rename them."
            )
        columns[shown] = {}
    for item in items:
        for name, of_items in zip(names, columns.values(), strict=True):
            if item.image in of_items:
                raise item.listed_twice()
            of_items[item.image] = score_of(item, name)
    check_distinct([item.image for item in items], where)
    return columns


def score_of(item: Entry, name: str) -> float:
    """Return the score in a field of an entry, NaN if it is empty."""
    value: Any = item.get(name)
    is_text = item.within.textual
    if value is None or (is_text and not value.strip()):
        return math.nan
    value = number_of(value.strip()) if is_text else value
    if not is_finite(value):
        raise item.refusal(name, "a finite number, or nothing if there is no score")
    return float(value)
