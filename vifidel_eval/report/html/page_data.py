"""Data of the page: what its scripts draw images and captions from, in numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ...evaluation import Evaluation
from ...image_ids import ImageId
from .content import Content
from .plans import plans_of, scale


def image_data(content: Content) -> dict[str, Any]:
    """Return what the list of images is sorted and filtered by, and shows of each image.

    The names of ``systems``, ``metrics`` and ``labels``; by metric ``lowerIsBetter``; by image
    ``ids``, ``references``, ``objects`` (label, count, ...) and, where it is known of any,
    ``denied``, what was looked for and is not there (places in ``deniedLabels``); by system and
    image ``captions``; by system, metric and image ``scores``, None where undefined.
    """
    ids = list(content.references)
    objects = [content.objects.get(image_id, {}) for image_id in ids]
    labels = _numbers_of(objects)
    data: dict[str, Any] = {
        "systems": list(content.scores.evaluations),
        "metrics": list(content.scores.signatures),
        "lowerIsBetter": [c.lower_is_better for c in content.scores.columns()],
        "labels": list(labels),
        "ids": list(map(str, ids)),
        "references": list(content.references.values()),
        "objects": [
            [number for label, count in found.items() for number in (labels[label], count)]
            for found in objects
        ],
        "captions": [list(map(of.get, ids)) for of in content.captions.values()],
        "scores": [
            [_scores(evaluation, ids) for evaluation in of_metric.values()]
            for of_metric in content.scores.evaluations.values()
        ],
    }
    if content.denied:
        denied = [content.denied.get(image_id, ()) for image_id in ids]
        numbers = _numbers_of(denied)
        data["denied"] = [[numbers[label] for label in of_image] for of_image in denied]
        data["deniedLabels"] = list(numbers)
    return data


def caption_data(content: Content) -> dict[str, Any]:
    """Return what is known of captions.

    ``texts``; ``scale``, the cost at the end of the colour scale; by system and image ``plans`` as
    `plans_of` has them, and where there are any ``sentences`` as `sentences_of` has them.
    """
    ids = list(content.references)
    places = {image_id: place for place, image_id in enumerate(ids)}
    parts = chain.from_iterable(content.explanations.values())
    texts = sorted(set(chain.from_iterable(part.texts for part in parts)))
    numbers = {text: number for number, text in enumerate(texts)}
    data: dict[str, Any] = {
        "plans": [plans_of(parts, places, numbers) for parts in content.explanations.values()],
        "texts": texts,
        "scale": scale(content.explanations.values()),
    }
    sentences = [
        sentences_of(of_column, content.captions[name], ids)
        for name, of_column in content.scores.evaluations.items()
    ]
    if any(map(any, sentences)):
        data["sentences"] = sentences
    return data


def sentences_of(
    of_column: Mapping[str, Evaluation], captions: Mapping[ImageId, str], ids: Sequence[ImageId]
) -> list[list[list[Any]] | None]:
    """Return the sentences of each image's caption that VIFIDEL-PRF tells; None if it is one.

    A sentence is its start and end, whether it claims anything, its P in hundredths (-1 without
    one), and the starts and ends of hedged clauses and of inventions. All are places in UTF-16
    units, which scripts count in.
    """
    found: dict[ImageId, list[list[Any]]] = {}
    for evaluation in of_column.values():
        told = evaluation.details.get("sentences", ())
        for image_id, sentences in zip(evaluation.ids, told, strict=False):
            if sentences:
                found[image_id] = [_sentence(captions[image_id], one) for one in sentences]
    return [found.get(image_id) for image_id in ids]


def _sentence(caption: str, sentence: Mapping[str, Any]) -> list[Any]:
    def units(at: int) -> int:
        before = caption[:at]
        return at if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2

    p = sentence["p"]
    return [
        units(sentence["start"]),
        units(sentence["end"]),
        int(sentence["claims"]),
        -1 if p is None else round(100 * p),
        [units(at) for span in sentence["hedged"] for at in span],
        [units(one[end]) for one in sentence["inventions"] for end in ("start", "end")],
    ]


def _numbers_of(of_images: Sequence[Sequence[str] | Mapping[str, int]]) -> dict[str, int]:
    labels = dict.fromkeys(chain.from_iterable(of_images))
    return {label: number for number, label in enumerate(labels)}


def _scores(evaluation: Evaluation, ids: Sequence[ImageId]) -> list[float | None]:
    of_image = dict(zip(evaluation.ids, evaluation.scores.tolist(), strict=True))
    found = (of_image.get(image_id, math.nan) for image_id in ids)
    return [None if math.isnan(score) else float(f"{score:.4g}") for score in found]
