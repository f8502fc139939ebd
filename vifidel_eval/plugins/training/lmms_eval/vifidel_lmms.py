"""Functions of the task ``vifidel_coco_caption`` of lmms-eval, which imports this file by its path.

A score is that of all captions together, as `vifidel_eval.evaluate` gives it: lmms-eval hands every
item of a metric to its aggregation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import vifidel_eval
from vifidel_eval.doors.arguments import name_wrong_argument
from vifidel_eval.io.entries import Entries, Source

#: Names the objects of the images.
OBJECTS = "VIFIDEL_OBJECTS"

_METRICS = ["VIFIDEL-PRF", "VIFIDEL-H", "CHAIR"]
_COLUMNS = ("VIFIDEL-P", "VIFIDEL-R", "VIFIDEL-F", "VIFIDEL-Hs", "VIFIDEL-Hi", "CHAIRs", "CHAIRi")

Item = Mapping[str, Any]


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """Return the picture of a document, in colour."""
    return [doc["image"].convert("RGB")]


@name_wrong_argument
def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Item]:
    """Return what the aggregations need of a document, named as lmms-eval's captioning tasks do."""
    document = Entries([doc], Source("lmms-eval", vifidel_eval.VifidelError), key="documents")[0]
    key = "question_id" if "question_id" in document else "image_id"
    image_id, references = document.image_id(key), document.texts("answer")
    if not isinstance(results, list | tuple) or not all(isinstance(text, str) for text in results):
        raise document.error(f"{document}: results are a list of texts, not {results!r:.40}.")
    item = {"image_id": image_id, "answer": references, "pred": results[0] if results else ""}
    return dict.fromkeys(_COLUMNS, item)


@lru_cache(maxsize=1)
def _scores(rows: tuple[tuple[Any, str, tuple[str, ...]], ...], path: str) -> Mapping[str, float]:
    captions: dict[Any, str] = {}
    for image_id, caption, _ in rows:
        if captions.setdefault(image_id, caption) != caption:
            raise vifidel_eval.VifidelError(
                f"image {image_id!r:.40} has two different answers; the task takes one per image, "
                "so set repeats to 1."
            )
    run = vifidel_eval.evaluate(
        {"model": captions},
        references={image_id: list(references) for image_id, _, references in rows},
        objects=path,
        metrics=_METRICS,
    )
    return run.scores["model"]


def _aggregation(column: str) -> Callable[[Sequence[Item]], float]:
    def aggregate(results: Sequence[Item]) -> float:
        path = os.environ.get(OBJECTS)
        if not path:
            raise vifidel_eval.VifidelError(
                f"set the environment variable {OBJECTS} to the objects of the images, such as "
                "instances_val2014.json."
            )
        rows = tuple((item["image_id"], item["pred"], tuple(item["answer"])) for item in results)
        return float(_scores(rows, path)[column])

    return aggregate


vifidel_p, vifidel_r, vifidel_f, vifidel_hs, vifidel_hi, chair_s, chair_i = map(
    _aggregation, _COLUMNS
)
