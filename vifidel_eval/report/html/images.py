"""The images of a report in numbers small enough for 20 000 captions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...image_ids import ImageId
from .content import Content
from .made_up import things_made_up
from .plans import plans_of, scale
from .sentences import sentences_of

if TYPE_CHECKING:
    from ...evaluation import Floats


class Images:
    """The data behind the list of images: everything that is shown about an image.

    The page's script draws the list, the plot and the categories from these numbers.

    Attributes
    ----------
    ids : list
        The images, in the order of the references.
    data : dict
        What the script sorts and filters by: ``systems``, ``metrics``, ``labels``; by metric
        ``lowerIsBetter``; by image ``ids``, ``references`` and ``objects`` (label, count,
        ...), and ``denied``, what was looked for and is not there, if that is known of any; by
        system and image ``captions``; by system, metric and image ``scores``
        (None where undefined).
    plans : dict
        What is known of captions: ``texts``; ``scale``, the cost at the end of the colour scale;
        by system and image ``plans`` as `plans_of` has them; where anything is made up,
        ``inventions``, how many things, by system and image; where a caption has several
        sentences that VIFIDEL-PRF judged, ``sentences`` as `sentences_of` has them.
    """

    def __init__(self, content: Content) -> None:
        self.ids: list[ImageId] = list(content.references)
        places = {image_id: place for place, image_id in enumerate(self.ids)}
        objects = [content.objects.get(image_id, {}) for image_id in self.ids]
        labels = {label: n for n, label in enumerate(dict.fromkeys(chain.from_iterable(objects)))}
        parts = chain.from_iterable(content.explanations.values())
        texts = sorted(set(chain.from_iterable(part.texts for part in parts)))
        numbers = {text: number for number, text in enumerate(texts)}
        self.plans: dict[str, Any] = {
            "plans": [plans_of(parts, places, numbers) for parts in content.explanations.values()],
            "texts": texts,
            "scale": scale(content.explanations.values()),
        }
        if any(content.inventions.values()):
            self.plans["inventions"] = things_made_up(content, self.ids)
        sentences = [
            sentences_of(of_column, content.captions[name], self.ids)
            for name, of_column in content.scores.evaluations.items()
        ]
        if any(any(of_system) for of_system in sentences):
            self.plans["sentences"] = sentences
        self.data: dict[str, Any] = {
            "systems": list(content.scores.evaluations),
            "metrics": list(content.scores.signatures),
            "lowerIsBetter": [c.lower_is_better for c in content.scores.columns()],
            "labels": list(labels),
            "ids": [str(image_id) for image_id in self.ids],
            "references": list(content.references.values()),
            "objects": [
                [number for label, count in found.items() for number in (labels[label], count)]
                for found in objects
            ],
            **self._denied(content),
            "captions": [
                [captions.get(image_id) for image_id in self.ids]
                for captions in content.captions.values()
            ],
            "scores": [
                [
                    self._scores(evaluation.ids, evaluation.scores)
                    for evaluation in of_metric.values()
                ]
                for of_metric in content.scores.evaluations.values()
            ],
        }

    def _denied(self, content: Content) -> dict[str, Any]:
        """Return the labels that are not there: each once, and their numbers by image."""
        if not content.denied:
            return {}
        numbers: dict[str, int] = {}
        of_images = [
            [numbers.setdefault(label, len(numbers)) for label in content.denied.get(image_id, ())]
            for image_id in self.ids
        ]
        return {"denied": of_images, "deniedLabels": list(numbers)}

    def _scores(self, ids: Sequence[ImageId], scores: Floats) -> list[float | None]:
        of_image = dict(zip(ids, scores.tolist(), strict=True))
        found = (of_image.get(image_id, math.nan) for image_id in self.ids)
        return [None if math.isnan(score) else float(f"{score:.4g}") for score in found]
