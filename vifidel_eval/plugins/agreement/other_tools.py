"""Scores of other tools: the captions to score go out as JSON, and come back with scores.

The file is a JSON list with an entry for each judged caption, in the order of the data set::

    {"id": "7.1", "image_id": "2008_007226", "caption": "the potted plant",
     "references": ["A plant in a pot.", "..."]}

The references are all of the image's that say something else than the captions judged together.
Another tool adds ``"score"`` to each entry; null is an undefined score. ``id`` and ``score`` are
needed; a caption must be the one of the data set.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...errors import AnnotationError
from ...evaluation import Floats
from ...io.containers import entries_of
from ...io.files import json_text, write_whole
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
        for entry_id, one, caption in _identified(judged)
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
    captions = {entry_id: caption for entry_id, _, caption in _identified(judged)}
    scores: dict[str, float] = {}
    for entry in entries_of(path, AnnotationError):
        entry_id, score = entry.text("id"), entry["score"]
        if entry.get("caption", captions.get(entry_id)) != captions.get(entry_id):
            raise entry.error(
                f"{entry}: {entry['caption']!r:.60} is not the caption of id {entry_id!r}; are the "
                "scores for this data set?"
            )
        if entry_id in scores:
            raise entry.error(f"{entry}: id {entry_id!r} appears twice; keep one.")
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if score is not None and (not is_number or abs(score) > sys.float_info.max):
            raise entry.refusal("score", "a finite number or null")
        scores[entry_id] = np.nan if score is None else float(score)
    missing = [entry_id for entry_id in captions if entry_id not in scores]
    if missing or len(scores) > len(captions):
        raise AnnotationError(
            f"{path}: {len(scores)} scores for {len(captions)} captions, {len(missing)} without "
            f"one (ids {samples(missing)}); are they for this data set?"
        )
    flat: Floats = np.array([scores[entry_id] for entry_id in captions], dtype=np.float64)
    by_side: Floats = flat.reshape(len(judged), -1).T
    return by_side


def _identified(judged: Sequence[Judged]) -> Iterator[tuple[str, Judged, str]]:
    for number, one in enumerate(judged, 1):
        for side, caption in enumerate(one.captions, 1):
            yield f"{number}.{side}", one, caption
