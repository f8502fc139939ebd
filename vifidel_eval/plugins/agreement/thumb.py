"""THumB 1.0: captions of COCO rated for precision and recall (Kasai et al., NAACL 2022).

Two JSON Lines files, which belong together by ``seg_id``::

    {"SYS": "Up-Down", "seg_id": "2690", "hyp": "A large body of water filled with boats.",
     "image": "COCO_val2014_000000002690.jpg", "P": 5.0, "R": 3.0, "human_score": 4.0}

    {"seg_id": "2690", "refs": ["A large number of small boats ...", "..."]}
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .entries import read_lines
from .judgements import Judged, Ratings

#: The files of the data set.
FILES = ("mscoco_THumB-1.0.jsonl", "mscoco_references.json")

#: What people were asked, and the keys of the answers; the total is (P + R) / 2 less penalties.
RATINGS = {"P": "P", "R": "R", "total": "human_score"}

_PEOPLE = "Human"


def read_thumb(folder: Path) -> Ratings:
    """Read the ratings of THumB.

    Returns
    -------
    Ratings
        ``"P"``, ``"R"`` and ``"total"``, one judge each; the ``"machine"`` captions, and ``"all"``
        with those that people wrote. Some of these are references of their image, from which
        `Judged` takes them. Image ids are file stems.

    Raises
    ------
    AnnotationError
        If a file is missing or has another shape.
    """
    captions_path, references_path = (folder / name for name in FILES)
    references: dict[str, tuple[str, ...]] = {}
    for entry in read_lines(references_path):
        image = entry.text("seg_id")
        if image in references:
            raise entry.refusal("seg_id", "an image that appears once; keep one of its lines")
        references[image] = entry.texts("refs")
    judged, ratings, by_people = [], [], []
    for entry in read_lines(captions_path):
        image = entry.text("seg_id")
        if image not in references:
            raise entry.refusal("seg_id", f"an image that {references_path.name} has")
        judged.append(Judged(entry.image("image"), (entry.text("hyp"),), references[image]))
        ratings.append([entry.number(key, *_bounds(key)) for key in RATINGS.values()])
        by_people.append(entry.text("SYS") == _PEOPLE)
    of_rating = np.array(ratings).T[:, :, None]
    return Ratings(
        "THumB",
        judged,
        dict(zip(RATINGS, of_rating, strict=True)),
        {"machine": ~np.array(by_people), "all": np.ones(len(judged), dtype=bool)},
    )


def _bounds(key: str) -> tuple[float, float]:
    return (1, 5) if key in ("P", "R") else (-5, 5)  # penalties are taken off the total
