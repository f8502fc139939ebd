"""The images of a report in numbers small enough for 20 000 captions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...explain.explanation import Verdict
from ...image_ids import ImageId
from .content import Content
from .marks import marks

if TYPE_CHECKING:
    from ...evaluation import Floats
    from ...explain.explanation import Explanation

#: Masses, costs and penalties are whole numbers of this unit in the data of the page.
UNIT = 1e-5

# The penalty of an object that no plan has: a label without a vector, captions without words.
_NO_PENALTY = -1
_NONE = -1

# Of all costs of a run, so many per cent lie on the colour scale; the others are at its end.
_COSTS_ON_SCALE = 95


class Images:
    """The data behind the list of images: everything that is shown about an image.

    This package draws the first page of the list from these numbers, the page's script all
    others.

    Attributes
    ----------
    ids : list
        The images, in the order of the references.
    data : dict
        What the script sorts and filters by: ``systems``, ``metrics``, ``labels``; by metric
        ``lowerIsBetter``; by image ``ids``, ``references`` and ``objects`` (label, count,
        penalty, ...); by system and image ``captions``; by system, metric and image ``scores``
        (None where undefined).
    plans : dict
        What it draws when asked: ``words``; ``scale``, the cost at the end of the colour scale;
        by system and image ``plans`` as `_plan` returns them.
    """

    def __init__(self, content: Content) -> None:
        self.ids: list[ImageId] = list(content.references)
        self._labels: dict[str, int] = {}
        self._words: dict[str, int] = {}
        of_systems = list(content.explanations.values())
        objects = [
            self._objects(content.objects.get(image_id, {}), image_id, of_systems)
            for image_id in self.ids
        ]
        self._names = list(self._labels)
        self.plans: dict[str, Any] = {
            "plans": [
                [
                    self._plan(explanations[image_id], of_image)
                    if image_id in explanations
                    else None
                    for image_id, of_image in zip(self.ids, objects, strict=True)
                ]
                for explanations in of_systems
            ],
            "words": list(self._words),
            "scale": _scale(of_systems),
        }
        self.data: dict[str, Any] = {
            "systems": list(content.scores.evaluations),
            "metrics": list(content.scores.signatures),
            "lowerIsBetter": [c.lower_is_better for c in content.scores.columns()],
            "labels": list(self._labels),
            "ids": [str(image_id) for image_id in self.ids],
            "references": list(content.references.values()),
            "objects": objects,
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

    def _objects(
        self,
        labels: Mapping[str, int],
        image_id: ImageId,
        of_systems: list[Mapping[ImageId, Explanation]],
    ) -> list[int]:
        penalties = {
            match.label: match.label_penalty
            for explanations in of_systems
            if image_id in explanations
            for match in explanations[image_id].matches
        }
        numbers = []
        for label, count in labels.items():
            penalty = _units(penalties[label]) if label in penalties else _NO_PENALTY
            numbers += [self._labels.setdefault(label, len(self._labels)), count, penalty]
        return numbers

    def _plan(self, explanation: Explanation, objects: list[int]) -> tuple[tuple[int, ...], ...]:
        """Return words, matches, what is said, unmentioned objects and marks of a caption.

        All are numbers:

        - words: (word, penalty, whether it is not in the image), ..., in the order of the caption
        - matches: (object, word, mass, cost), ..., the places of the object in the image and of
          the word in the caption; objects whose words are early come first, so that few lines
          of the picture cross
        - said: (words, support, evidence, verdict, object), ..., the mentions in the order of the
          caption, then the words of which nothing is claimed; the object that is meant is a place
        - unmentioned: places of objects
        - marks: (start, end, which of those said), ..., in characters of the caption

        Supports are hundredths, and -1 where nothing is known; evidence is a word and an object a
        place, -1 for none; verdicts are those of `Verdict` plus 1, and 0 for no claim.
        """
        matches = explanation.matches
        caption = explanation.caption.lower()
        of_words = sorted(explanation.words, key=lambda w: (caption.find(w.word), w.word))
        word_at = {word.word: place for place, word in enumerate(of_words)}
        label_at = {self._names[label]: place for place, label in enumerate(objects[::3])}
        penalties: dict[str, float] = {}
        middle: dict[str, list[float]] = {}
        for match in matches:
            penalties[match.word] = match.word_penalty
            of_label = middle.setdefault(match.label, [0.0, 0.0])
            of_label[0] += match.mass * word_at[match.word]
            of_label[1] += match.mass
        rank = {
            label: (round(places / mass, 9), label_at[label])
            for label, (places, mass) in middle.items()
        }
        ordered = sorted(matches, key=lambda m: (rank[m.label], word_at[m.word]))
        others = [word for word in of_words if word.judged is None]
        said = [
            (m.words, m.support, m.supported_by, m.verdict + 1, m.category)
            for m in explanation.mentions
        ] + [(word.word, word.support, word.supported_by, 0, None) for word in others]
        # Tuples of numbers, which the garbage collector leaves alone.
        return (
            tuple(
                number
                for word in of_words
                for number in (
                    self._word(word.word),
                    _units(penalties.get(word.word, 1)),
                    int(word.hallucinated),
                )
            ),
            tuple(
                number
                for m in ordered
                for number in (label_at[m.label], word_at[m.word], _units(m.mass), _units(m.cost))
            ),
            tuple(
                number
                for text, support, by, verdict, category in said
                for number in (
                    self._word(text),
                    _hundredths(support),
                    self._word(by),
                    verdict,
                    _object(label_at, verdict, by, category),
                )
            ),
            tuple(label_at[label] for label in explanation.unmentioned if label in label_at),
            tuple(
                marks(
                    explanation.caption,
                    [mention.words for mention in explanation.mentions],
                    [word.word for word in others],
                )
            ),
        )

    def _word(self, word: str | None) -> int:
        return _NONE if word is None else self._words.setdefault(word, len(self._words))

    def _scores(self, ids: Sequence[ImageId], scores: Floats) -> list[float | None]:
        of_image = dict(zip(ids, scores.tolist(), strict=True))
        found = (of_image.get(image_id, math.nan) for image_id in self.ids)
        return [None if math.isnan(score) else float(f"{score:.4g}") for score in found]


def _object(label_at: Mapping[str, int], verdict: int, by: str | None, category: str | None) -> int:
    """Return the place of the object that a mention means: its evidence, or one of its class."""
    if verdict != Verdict.THERE + 1:
        return _NONE
    return label_at.get(by or "", label_at.get(category or "", _NONE))


def _hundredths(support: float) -> int:
    return _NONE if math.isnan(support) else round(100 * support)


def _units(value: float) -> int:
    return round(value / UNIT)


def _scale(of_systems: list[Mapping[ImageId, Explanation]]) -> int:
    """Return the cost at the end of the colour scale, with two digits, in units."""
    costs = [
        match.cost
        for explanations in of_systems
        for explanation in explanations.values()
        for match in explanation.matches
    ]
    if not costs:
        return _units(1)
    return max(_units(float(f"{np.percentile(costs, _COSTS_ON_SCALE):.2g}")), 1)
