"""Scores of other tools: the captions to score go out as JSON, and come back with scores.

The file is a JSON list with an entry for each judged caption, in the order of the data set::

    {"id": "7.1", "image_id": "2008_007226", "caption": "the potted plant",
     "references": ["A plant in a pot.", "..."]}

The references are all of the image's that say something else than the caption. Another tool
adds ``"score"`` to each entry; null is an undefined score. Only ``id`` and ``score`` are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..bags import Floats
from ..errors import AnnotationError
from ..files import read_json, write_whole
from ..image_ids import samples, to_json_value
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
    write_whole(path, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


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
    scores: dict[Any, float] = {}
    for number, entry in enumerate(entries):
        scores |= _score(entry, f"{path}: [{number}]")
    wanted = [entry_id for entry_id, _, _ in _entries(judged)]
    missing = [entry_id for entry_id in wanted if entry_id not in scores]
    if missing or len(scores) > len(wanted):
        raise AnnotationError(
            f"{path}: {len(scores)} scores for {len(wanted)} captions, {len(missing)} without "
            f"one (ids {samples(missing)}); are they of this data set?"
        )
    flat: Floats = np.array([scores[entry_id] for entry_id in wanted], dtype=np.float64)
    by_side: Floats = flat.reshape(len(judged), -1).T
    return by_side


def _entries(judged: Sequence[Judged]) -> Iterator[tuple[str, Judged, str]]:
    for number, one in enumerate(judged, 1):
        for side, caption in enumerate(one.captions, 1):
            yield f"{number}.{side}", one, caption


def _score(entry: Any, where: str) -> dict[Any, float]:
    if not isinstance(entry, dict) or not {"id", "score"} <= entry.keys():
        raise AnnotationError(f"{where}: expected an object with 'id' and 'score'.")
    score = entry["score"]
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise AnnotationError(f"{where}: the score is {score!r:.40}, neither a number nor null.")
    return {entry["id"]: np.nan if score is None else float(score)}
