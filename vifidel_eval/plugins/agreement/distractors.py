"""Correct captions beside distracted ones (Kilickaya et al., EACL 2017, section 3.3; FOIL).

The file is a JSON list, an entry a pair::

    {"image_id": 42, "kind": "switch people",
     "correct": "a woman rides a horse", "distractor": "a boy rides a horse",
     "references": ["a rider on a brown horse", "..."]}

``references`` may be missing; references of a COCO captions file then stand in, or none do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnnotationError, ImageIdError
from ...io.files import read_json
from ...io.image_ids import ImageId, from_json_value, match, mismatch
from .judgements import ALL, Choices, Judged

_TEXTS = ("kind", "correct", "distractor")


def read_distractors(
    path: Path, references: Mapping[ImageId, Sequence[str]] | None = None
) -> Choices:
    """Read pairs of a correct and a distracted caption.

    Parameters
    ----------
    path : path
        JSON file as above.
    references : mapping, optional
        References of the images whose entries have none.

    Returns
    -------
    Choices
        People prefer the first caption of every pair, the correct one.

    Raises
    ------
    AnnotationError
        If the file cannot be read or has another shape.
    ImageIdError
        If `references` does not know an image.
    """
    entries = read_json(path, AnnotationError)
    if not isinstance(entries, list) or not entries:
        raise AnnotationError(f"{path}: expected a list of pairs, found {entries!r:.40}.")
    judged, kinds = [], []
    for number, entry in enumerate(entries):
        judged.append(_pair(entry, f"{path}: [{number}]"))
        kinds.append(entry["kind"])
    if references is not None:
        lacking = [pair.image_id for pair in judged if not pair.references]
        known = match(lacking, references)
        unknown = [image_id for image_id in lacking if image_id not in known]
        if unknown:
            raise mismatch(unknown, references, str(path), "the reference side")
        judged = [
            pair
            if pair.references
            else Judged(pair.image_id, pair.captions, tuple(references[known[pair.image_id]]))
            for pair in judged
        ]
    return Choices(path.stem, judged, np.ones(len(judged)), kinds)


def _pair(entry: Any, where: str) -> Judged:
    if not isinstance(entry, dict):
        raise AnnotationError(f"{where}: expected an object, found {entry!r:.40}.")
    image_id = from_json_value(entry.get("image_id"))
    if image_id is None:
        raise ImageIdError(
            f"{where}: 'image_id' is {entry.get('image_id')!r}; an image id is an integer or a "
            "string."
        )
    for key in _TEXTS:
        if not isinstance(entry.get(key), str):
            raise AnnotationError(f"{where}: {key!r} is {entry.get(key)!r:.40}, not a string.")
    if entry["kind"] == ALL or not entry["kind"].isprintable():
        raise AnnotationError(
            f"{where}: the kind cannot be called {entry['kind']!r:.40}: {ALL!r} is all kinds "
            "together, and names are printed; rename it."
        )
    references = entry.get("references", [])
    if not isinstance(references, list) or not all(isinstance(r, str) for r in references):
        raise AnnotationError(
            f"{where}: 'references' is {references!r:.40}, not a list of strings."
        )
    return Judged(image_id, (entry["correct"], entry["distractor"]), tuple(references))
