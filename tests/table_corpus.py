"""Rows of a table: made up, the same on every machine, and what scorers say of them."""

import random
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from vifidel_eval.scorers import Vifidel, VifidelH, VifidelPRF, Wmd

THINGS = "dog cat frisbee man bench pizza fire_hydrant horse car hot_dog".split()
WORDS = (
    "a the dog cats frisbee man bench pizza hydrant horse red isn't running caf\u00e9 fire-hydrant "
    "hot dogs two zebra w00t !!!"
).split()


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
    """Return the scores by the metrics' own way.

    Those of one column are `compute_score`'s: objects by image id, gts and res. Metrics with
    several judge what can be absent by all of a source's labels; a row is its own source, so that
    it is scored alone.
    """
    gts = {i: (of_row if references else []) for i, of_row in enumerate(rows.references)}
    res = {i: [caption] for i, caption in enumerate(rows.captions)}
    if metric in ("VIFIDEL", "WMD"):
        scorer = make(metric, dict(enumerate(rows.labels)), references, **settings)
        return {metric: scorer.compute_score(gts, res)[1]}
    scorer = make(metric, None, references)
    of_rows = scorer.score_columns(
        rows.captions, objects=rows.labels, references=rows.references if references else None
    )
    alone = [
        scorer.score([caption], objects=[labels], references=[gts[i]] if references else None)[0]
        for i, (caption, labels) in enumerate(zip(rows.captions, rows.labels, strict=True))
    ]
    assert np.array_equal(of_rows[scorer.main], alone, equal_nan=True)
    return of_rows


def counted(rows: Corpus) -> list[list[tuple[str, int]]]:
    return [list(Counter(labels).items()) for labels in rows.labels]
