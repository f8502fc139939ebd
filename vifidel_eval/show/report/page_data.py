"""Data of the page: what its scripts draw images and captions from, in numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Evaluation, Floats, Integers
from ...explain.explained import Explained
from ...io.image_ids import ImageId
from ...io.text_tables import readable
from ...kernels.support import NOTHING, rows_of
from .content import Content

#: Masses, costs and penalties are whole numbers of this unit in the data of the page.
UNIT = 1e-5

# Of all costs of a run, so many per cent lie on the colour scale; the others are at its end.
_COSTS_ON_SCALE = 95

#: What the page has of a caption: objects, words, mentions and matches.
Plan = tuple[tuple[int, ...], ...]

_Column = NDArray[Any]


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


def plans_of(
    parts: Iterable[Explained], places: Mapping[ImageId, int], numbers: Mapping[str, int]
) -> list[Plan | None]:
    """Return the plan of each image in the order of the page; None where there is none.

    `places` has the place of each image in the page, `numbers` the number of each text, -1 standing
    for none. Everything is numbers:

    - objects: (text, penalty, whether the caption does not mention it), ..., those with a vector
    - words: (text, penalty, support, evidence, mention), ..., the different content words;
      evidence is a text, and the mention that a word stands for a place among the mentions
    - mentions: (text, class, support, evidence, verdict, who judges it), ..., in the order of the
      caption
    - matches: (object, word, mass, cost), ..., the places of both above

    Objects and words are in alphabetical order, matches in theirs. Supports are hundredths, -1
    where nothing is known; verdicts are those of `Verdict`.
    """
    found: list[Plan | None] = [None] * len(places)
    for part in parts:
        for image_id, plan in zip(part.ids, _plans(part, numbers), strict=True):
            found[places[image_id]] = plan
    return found


def _plans(part: Explained, numbers: Mapping[str, int]) -> Iterator[Plan]:
    number_of = np.array([*map(numbers.__getitem__, part.texts), NOTHING])
    objects, words, mentions, matches = part.objects, part.words, part.mentions, part.matches
    order = np.lexsort((matches.words, matches.objects))
    return zip(
        _cut(
            objects.starts,
            number_of[objects.labels],
            _units(objects.penalties),
            objects.unmentioned.astype(np.int64),
        ),
        _cut(
            words.starts,
            number_of[words.words],
            _units(words.penalties),
            _hundredths(words.support),
            number_of[words.by],
            _places(words.mentions, words.starts, mentions.starts),
        ),
        _cut(
            mentions.starts,
            number_of[mentions.words],
            number_of[mentions.categories],
            _hundredths(mentions.support),
            number_of[mentions.by],
            mentions.verdicts,
            number_of[mentions.judged_by],
        ),
        _cut(
            matches.starts,
            _places(matches.objects, matches.starts, objects.starts)[order],
            _places(matches.words, matches.starts, words.starts)[order],
            _units(matches.masses)[order],
            _units(matches.costs)[order],
        ),
        strict=True,
    )


def scale(of_systems: Iterable[Sequence[Explained]]) -> int:
    """Return the cost at the end of the colour scale, with two digits, in units."""
    costs = [part.matches.costs for parts in of_systems for part in parts]
    if not sum(map(len, costs)):
        return _unit(1)
    return max(_unit(float(f"{np.percentile(np.concatenate(costs), _COSTS_ON_SCALE):.2g}")), 1)


def _cut(starts: Integers, *columns: _Column) -> list[tuple[int, ...]]:
    """Return the rows of columns, one after the other, as a tuple for each caption.

    The garbage collector leaves tuples of numbers alone.
    """
    numbers = np.column_stack(columns).ravel().tolist()
    return [tuple(numbers[start:end]) for start, end in pairwise((starts * len(columns)).tolist())]


def _places(entries: Integers, starts: Integers, of_entries: Integers) -> Integers:
    """Return entries of other columns as places among those of the same caption; `NOTHING` stays.

    Both `starts` and `of_entries` are (captions + 1,): where each caption's are in `entries`, and
    in the other columns.
    """
    return np.where(entries == NOTHING, NOTHING, entries - of_entries[rows_of(starts)])


def _hundredths(support: Floats) -> Integers:
    return np.rint(np.where(np.isnan(support), NOTHING, 100 * support)).astype(np.int64)


def _unit(value: float) -> int:
    return round(value / UNIT)


def _units(values: Floats) -> _Column:
    return np.array(list(map(_unit, values.tolist())), dtype=object)  # may exceed 64 bits


def sentences_of(
    of_column: Mapping[str, Evaluation], captions: Mapping[ImageId, str], ids: Sequence[ImageId]
) -> list[list[list[Any]] | None]:
    """Return the sentences of each image's caption that VIFIDEL-PRF tells; None if it is one.

    A sentence is its start and end, whether it claims anything, its P in hundredths (-1 without
    one), and the starts and ends of inventions. All are places in UTF-16 units, which scripts count
    in.
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
        [units(one[end]) for one in sentence["inventions"] for end in ("start", "end")],
    ]


def _numbers_of(of_images: Sequence[Sequence[str] | Mapping[str, int]]) -> dict[str, int]:
    labels = dict.fromkeys(chain.from_iterable(of_images))
    return {label: number for number, label in enumerate(labels)}


def _scores(evaluation: Evaluation, ids: Sequence[ImageId]) -> list[float | None]:
    of_image = dict(zip(evaluation.ids, evaluation.scores.tolist(), strict=True))
    found = (of_image.get(image_id, math.nan) for image_id in ids)
    return [None if math.isnan(score) else _shown(score) for score in found]


def _shown(score: float) -> float:
    """Return a score as it is shown; one that would be shown as 0 still has its order."""
    return float(readable(score)) or float(f"{score:.4g}")
