"""Battles: two systems' captions of an image, and which of them people prefer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...captions.fields import CaptionFields, listed, usual, usual_id
from ...captions.layouts import records_of, texts_of
from ...errors import AnnotationError
from ...io.containers import content_of
from ...io.entries import Entries, Entry
from ...io.files import read_bytes
from .judgements import ALL, REFERENCE_FIELDS, Choices, Judged, image_id_of

# What arenas call the two captions, and the systems that wrote them.
_CAPTIONS = ("caption", "response", "answer", "conversation")
_SYSTEMS = ("model", "source", "system")
_SIDES = (("_a", "_b"), ("1", "2"), ("_1", "_2"))
_TIES = ("tie", "equal", "both", "neither")
_WANTED = CaptionFields(references=True)


def read_battles(path: Path) -> Choices:
    """Read battles from CSV, TSV, JSON, JSON Lines, Excel or Parquet, by row.

    As CapArena has them (Cheng et al., Findings of ACL 2025), and chat arenas with ``model_a``,
    whose captions may be conversations, of which the last answer counts::

        {"img": "test_7.jpg", "source1": "a", "source2": "b", "caption1": "A dog.",
         "caption2": "A cat.", "winner": "a"}

    The winner is the name of a system or of the field with it, ``a`` or ``b``, ``1`` or ``2``, or
    ``tie``. An `AnnotationError` says what is missing.
    """
    rows = records_of(content_of(read_bytes(path, AnnotationError), str(path), AnnotationError))
    if isinstance(rows, Entry) or not rows:
        raise AnnotationError(f"{path}: has no battle; give a table or a list.")
    captions, systems = _pair_of(rows, _CAPTIONS), _pair_of(rows, _SYSTEMS)
    references = next(iter(usual(rows.names, REFERENCE_FIELDS)), None)
    image = "img" if "img" in rows.names else usual_id(name for name in rows.names if name != "id")
    judged, preferred, fought = [], [], []
    for number, row in enumerate(rows):
        image_id = row.image_id(image) if image else number
        texts = [] if references is None else texts_of(row[references], row, _WANTED)
        first, second = (_answer(row, name) for name in captions)
        named = [row.text(name) for name in systems]
        if isinstance(image_id, str):
            image_id = image_id_of(image_id)
        judged.append(Judged(image_id, (first, second), tuple(texts)))
        preferred.append(_preferred(row, named, systems))
        fought.append((named[0], named[1]))
    if len({name for pair in fought for name in pair}) < 2:
        raise AnnotationError(f"{path}: one system only, {fought[0][0]!r:.60}, has no battle.")
    if not any(preferred):
        raise AnnotationError(f"{path}: all battles are ties, so nothing is preferred.")
    return Choices(path.stem, judged, np.array(preferred, float), [ALL] * len(judged), fought)


def _pair_of(rows: Entries, names: Sequence[str]) -> tuple[str, str]:
    """Return the two fields with one of the names, such as ``model_a`` and ``model_b``."""
    pairs = [(name + first, name + second) for name in names for first, second in _SIDES]
    for pair in pairs:
        if set(pair) <= set(rows.names):
            return pair
    raise AnnotationError(
        f"{rows.source.where}: needs two fields such as {pairs[0][0]!r} and {pairs[0][1]!r}; it "
        f"has {listed(rows.names)}."
    )


def _answer(row: Entry, name: str) -> str:
    """Return a caption, of a conversation the last message."""
    messages = row.get(name)
    if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
        return Entry(messages[-1], row.within, row.ordinal, row.image).text("content")
    return row.text(name)


def _preferred(row: Entry, named: Sequence[str], fields: Sequence[str]) -> int:
    """Return 1 if the first side wins, -1 if the second, 0 if none."""
    winner = str(row["winner"]).strip()
    for side, sign in enumerate((1, -1)):
        of_side = {named[side], fields[side], "ab"[side], "12"[side]}
        if winner in of_side and named[0] != named[1]:
            return sign
    if winner.lower().startswith(_TIES):
        return 0
    raise row.refusal("winner", f"{named[0]!r:.40}, {named[1]!r:.40} or 'tie'")
