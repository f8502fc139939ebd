"""Scores of other tools: the captions to score go out as JSON, and come back with scores.

The file is a JSON list with an entry for each judged caption, in the order of the data set::

    {"id": "7.1", "image_id": "2008_007226", "caption": "the potted plant",
     "references": ["A plant in a pot.", "..."]}

The references are all of the image's that say something else than the captions judged together.
Another tool adds ``"score"`` to each entry; null is an undefined score. ``id`` and ``score`` are
needed; a caption must be the one of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnnotationError
from ...evaluation import Floats
from ...io.files import json_text, read_json, write_whole
from ...io.image_ids import samples, to_json_value
from .judgements import Judged


def write_candidates(path: Path, judged: Sequence[Judged]) -> None:
    """Write the captions that another tool is to score.

    Raises
    ------
    VifidelError
        If the file cannot be written.
    """
    entries = [
        {
            "id": entry_id,
            "image_id": to_json_value(one.image_id),
            "caption": caption,
            "references": one.others(one.references),
        }
        for entry_id, one, caption in _entries(judged)
    ]
    write_whole(path, json_text(entries) + "\n")


def read_scores(path: Path, judged: Sequence[Judged]) -> Floats:
    """Read the scores of another tool.

    Returns
    -------
    (captions judged together, number of judgements) float64
        NaN where the score is null.

    Raises
    ------
    AnnotationError
        If the file is not as described or does not hold a score for every caption.
    """
    entries = read_json(path, AnnotationError)
    if not isinstance(entries, list):
        raise AnnotationError(
            f"{path}: expected the list that --write-candidates writes, with a score in each "
            f"entry; found {entries!r:.40}."
        )
    captions = {entry_id: caption for entry_id, _, caption in _entries(judged)}
    scores: dict[str, float] = {}
    for number, entry in enumerate(entries):
        entry_id, score = _score(entry, f"{path}: [{number}]")
        if entry.get("caption", captions.get(entry_id)) != captions.get(entry_id):
            raise AnnotationError(
                f"{path}: [{number}]: {entry['caption']!r:.60} is not the caption of id "
                f"{entry_id!r}; are the scores for this data set?"
            )
        if entry_id in scores:
            raise AnnotationError(f"{path}: [{number}]: id {entry_id!r} appears twice; keep one.")
        scores[entry_id] = score
    missing = [entry_id for entry_id in captions if entry_id not in scores]
    if missing or len(scores) > len(captions):
        raise AnnotationError(
            f"{path}: {len(scores)} scores for {len(captions)} captions, {len(missing)} without "
            f"one (ids {samples(missing)}); are they for this data set?"
        )
    flat: Floats = np.array([scores[entry_id] for entry_id in captions], dtype=np.float64)
    by_side: Floats = flat.reshape(len(judged), -1).T
    return by_side


def _entries(judged: Sequence[Judged]) -> Iterator[tuple[str, Judged, str]]:
    for number, one in enumerate(judged, 1):
        for side, caption in enumerate(one.captions, 1):
            yield f"{number}.{side}", one, caption


def _score(entry: Any, where: str) -> tuple[str, float]:
    if not isinstance(entry, dict) or not {"id", "score"} <= entry.keys():
        raise AnnotationError(f"{where}: expected an object with 'id' and 'score'.")
    if not isinstance(entry["id"], str):
        raise AnnotationError(f"{where}: the id is {entry['id']!r:.40}, not a string.")
    score = entry["score"]
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise AnnotationError(f"{where}: the score is {score!r:.40}, neither a number nor null.")
    try:
        number = np.nan if score is None else float(score)
    except OverflowError:  # a whole number of hundreds of digits
        number = np.inf
    if np.isinf(number):
        raise AnnotationError(f"{where}: the score is {str(score)[:40]}, which is not finite.")
    return entry["id"], number
