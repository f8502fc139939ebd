"""Rows of a table: made up, the same on every machine, and what scorers say of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from vifidel_eval.scorers import Vifidel, VifidelH, VifidelPRF, Wmd

THINGS = "dog cat frisbee man bench pizza fire_hydrant horse car hot_dog".split()
WORDS = [
    *("a", "the", "dog", "cats", "frisbee", "man", "bench", "pizza", "hydrant", "horse", "red"),
    *(
        "isn't",
        "running",
        "caf\u00e9",
        "fire-hydrant",
        "hot",
        "dogs",
        "two",
        "zebra",
        "w00t",
        "!!!",
    ),
]


class Corpus(NamedTuple):
    """Captions with the labels and references of their images."""

    captions: list[str]
    labels: list[list[str]]
    references: list[list[str]]

    def __len__(self) -> int:
        return len(self.captions)


def corpus(rows: int, seed: int = 0) -> Corpus:
    draw = random.Random(seed)

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randrange(9)))

    return Corpus(
        [text() for _ in range(rows)],
        [draw.choices(THINGS, k=draw.randrange(6)) for _ in range(rows)],
        [[text() for _ in range(draw.randrange(5))] for _ in range(rows)],
    )


def make(metric: str, objects: Any, references: bool, counts: bool = True, **travel: Any):
    if metric == "WMD":
        return Wmd(**travel)
    if metric == "VIFIDEL":
        return Vifidel(objects, references=references, counts=counts, **travel)
    if metric == "VIFIDEL-H":
        # The labels are more than COCO's; as rows they do not say what was looked for.
        looked_for = None if objects is None else "all"
        return VifidelH(objects, references=references, looked_for=looked_for)
    return VifidelPRF(objects, references=references)


def expected(metric: str, rows: Corpus, references: bool, **settings: Any) -> dict[str, np.ndarray]:
    """Return the scores by the metrics' own way: objects by image id, gts and res.

    `compute_score` returns those of the main column; columns beside it come from the same run.
    """
    gts = {i: (of_row if references else []) for i, of_row in enumerate(rows.references)}
    res = {i: [caption] for i, caption in enumerate(rows.captions)}
    # Each image by itself: what an image shows never depends on the others.
    scorer = make(metric, dict(enumerate(rows.labels)), references, **settings)
    _, scores = scorer.compute_score(gts, res)
    if len(scorer.columns) == 1:
        return {metric: scores}
    of_rows = make(metric, None, references).score_columns(
        rows.captions,
        objects=rows.labels,
        references=rows.references if references else None,
    )
    if metric != "VIFIDEL-H":  # whose source says what can be absent
        assert np.array_equal(of_rows[scorer.main], scores, equal_nan=True)
    return of_rows


def counted(rows: Corpus) -> list[list[tuple[str, int]]]:
    return [list(Counter(labels).items()) for labels in rows.labels]
