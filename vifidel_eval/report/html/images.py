"""The images of a report in numbers small enough for 20 000 captions, and which come first."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...image_ids import ImageId
from .content import Content
from .formats import fixed

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

    def _plan(self, explanation: Explanation, objects: list[int]) -> list[list[int]]:
        """Return words, matches, mentions, unmentioned objects and marks of a caption.

        All are numbers:

        - words: (word, penalty, support, evidence, verdict), ..., in the order of the caption
        - matches: (object, word, mass, cost), ..., the places of the object in the image and of
          the word in the caption; objects whose words are early come first, so that few lines
          of the picture cross
        - mentions: (words, support, evidence, verdict), ..., in the order of the caption
        - unmentioned: places of objects
        - marks: (start, end), ..., the characters of mentions that are not in the image

        Supports are hundredths, and -1 where nothing is known; evidence is a word, -1 for none;
        verdicts are those of `Verdict` plus 1, and 0 for words of which nothing is claimed.
        """
        matches = explanation.matches
        penalties = {match.word: match.word_penalty for match in matches}
        caption = explanation.caption.lower()
        of_words = sorted(explanation.words, key=lambda w: (caption.find(w.word), w.word))
        word_at = {word.word: place for place, word in enumerate(of_words)}
        label_at = {label: place for place, label in enumerate(self._of_labels(objects))}
        middle = {
            label: math.fsum(m.mass * word_at[m.word] for m in matches if m.label == label)
            / math.fsum(m.mass for m in matches if m.label == label)
            for label in {match.label for match in matches}
        }
        ordered = sorted(
            matches,
            key=lambda m: (round(middle[m.label], 9), label_at[m.label], word_at[m.word]),
        )
        return [
            [
                number
                for word in of_words
                for number in (
                    self._word(word.word),
                    _units(penalties.get(word.word, 1)),
                    _hundredths(word.support),
                    self._word(word.supported_by),
                    0 if word.judged is None else word.judged + 1,
                )
            ],
            [
                number
                for m in ordered
                for number in (label_at[m.label], word_at[m.word], _units(m.mass), _units(m.cost))
            ],
            [
                number
                for mention in explanation.mentions
                for number in (
                    self._word(mention.words),
                    _hundredths(mention.support),
                    self._word(mention.supported_by),
                    mention.verdict + 1,
                )
            ],
            [label_at[label] for label in explanation.unmentioned if label in label_at],
            _marks(explanation.caption, explanation.hallucinated),
        ]

    def _word(self, word: str | None) -> int:
        return _NONE if word is None else self._words.setdefault(word, len(self._words))

    def _of_labels(self, objects: list[int]) -> list[str]:
        names = list(self._labels)
        return [names[label] for label in objects[::3]]

    def _scores(self, ids: Sequence[ImageId], scores: Floats) -> list[float | None]:
        of_image = dict(zip(ids, scores.tolist(), strict=True))
        found = (of_image.get(image_id, math.nan) for image_id in self.ids)
        return [None if math.isnan(score) else float(f"{score:.4g}") for score in found]

    def by_disagreement(self) -> tuple[str, list[int], list[str]]:
        """Return what the list is sorted by at first, and the images in that order.

        Returns
        -------
        sort : str
            ``"systems"`` if there are several, else ``"metrics"`` if there are several, else
            ``"worst"``: the names of the page's sort menu.
        places : list of int
            Images for which the value is not defined come last; ties stay as they are.
        apart : list of str
            How far systems or metrics lie apart on each, as the page says it; empty if undefined.
        """
        scores = np.array(self.data["scores"], dtype=np.float64)
        if scores.shape[0] > 1:
            sort, values = "systems", systems_apart(scores[:, 0])
            texts = [f"{fixed(value, 3)} apart" for value in np.nan_to_num(values).tolist()]
        elif scores.shape[1] > 1:
            signs = self._signs()
            signed = metrics_apart(
                signs[0] * scores[:, 0], signs[self.against()] * scores[:, self.against()]
            )
            sort, values = "metrics", np.abs(signed)
            names = self.data["metrics"]
            texts = [
                metrics_text(value, names[0], names[self.against()])
                for value in np.nan_to_num(signed).tolist()
            ]
        else:
            sort, values = "worst", -self._signs()[0] * scores[0, 0]
            texts = [""] * len(values)
        order = np.argsort(-values, kind="stable").tolist()  # NaN sorts last
        return sort, order, ["" if np.isnan(values[i]) else texts[i] for i in order]

    def _signs(self) -> list[int]:
        """Return what makes higher numbers the better ones: -1 for metrics of the other kind."""
        return [-1 if lower else 1 for lower in self.data["lowerIsBetter"]]

    def against(self) -> int:
        """Return the place of the metric to hold against the first: CIDEr, else the last."""
        metrics = self.data["metrics"]
        return metrics.index("CIDEr") if "CIDEr" in metrics[1:] else len(metrics) - 1


def systems_apart(scores: Floats) -> Floats:
    """Return how far the systems' scores of each image lie apart: highest less lowest.

    Parameters
    ----------
    scores : (systems, images) float64
        Under one metric.

    Returns
    -------
    (images,) float64
        NaN where fewer than two systems have a score.
    """
    defined = ~np.isnan(scores)
    low = np.where(defined, scores, np.inf).min(axis=0)
    high = np.where(defined, scores, -np.inf).max(axis=0)
    return np.where(defined.sum(axis=0) > 1, high - low, np.nan)


def metrics_apart(scores: Floats, others: Floats) -> Floats:
    """Return how far two metrics disagree on each image, in [-1, 1].

    Scores of two metrics have no common scale; their percentile ranks have. The value of an
    image is the largest difference, in size, between the two ranks of one of its captions.

    Parameters
    ----------
    scores, others : (systems, images) float64
        Under the two metrics, higher being better.

    Returns
    -------
    (images,) float64
        Above 0 where the first metric ranks the caption higher; NaN where no caption has both.
    """
    apart = percentile_ranks(scores) - percentile_ranks(others)
    largest = np.where(np.isnan(apart), -1, np.abs(apart)).argmax(axis=0)
    signed: Floats = np.take_along_axis(apart, largest[np.newaxis], axis=0)[0]
    return signed


def metrics_text(apart: float, metric: str, other: str) -> str:
    """Return in words what `metrics_apart` found for an image.

    >>> metrics_text(-0.76, "VIFIDEL", "CIDEr")
    'CIDEr 76 points above VIFIDEL'
    """
    points = fixed(100 * abs(apart), 0)
    if points == "0":
        return "equal ranks"
    above, below = (metric, other) if apart >= 0 else (other, metric)
    unit = "point" if points == "1" else "points"
    return f"{above} {points} {unit} above {below}"


def percentile_ranks(scores: Floats) -> Floats:
    """Return the share of all defined scores that lie below each, ties half; NaN stays NaN."""
    ordered = np.sort(scores[~np.isnan(scores)])
    below = np.searchsorted(ordered, scores, side="left")
    up_to = np.searchsorted(ordered, scores, side="right")
    return np.where(np.isnan(scores), np.nan, (below + up_to) / (2 * max(len(ordered), 1)))


def _hundredths(support: float) -> int:
    return _NONE if math.isnan(support) else round(100 * support)


def _marks(caption: str, mentions: Iterable[str]) -> list[int]:
    """Return where mentions start and end in a caption, in characters, from left to right.

    >>> _marks("A Fire hydrant, dogs, a dog", ["fire hydrant", "dog"])
    [2, 14, 24, 27]
    """
    patterns = [r"\W+".join(map(re.escape, words.split())) for words in mentions]
    if not patterns:
        return []
    found = re.finditer(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", caption, re.IGNORECASE)
    return [place for mention in found for place in mention.span()]


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
