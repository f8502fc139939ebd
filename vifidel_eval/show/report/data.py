"""The data of the page: what its scripts draw images and captions from, and its records.

Python writes the values of records of a kind one after the other (`numbers`), without names: the
page has very many. Scripts get the names from the page (`FIELDS`) and read the records by them
(`record` and `records` in base.js).

A label is a place in ``data.labels``, and a text a place in ``plans.texts``; -1 stands for none.
Masses, costs and penalties are whole numbers of `UNIT`; supports and P are hundredths, and -1 where
they are unknown.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from ...annotations import ImageBoxes
from ...evaluation import Evaluation
from ...explain.explanation import Explanation
from ...io.image_ids import ImageId, match
from ...io.pictures import shrink
from ...io.text_tables import readable
from ...kernels.support import NOTHING
from ...scores.scores import Scores, chosen_samples
from .content import Content

#: The unit of masses, costs and penalties.
UNIT = 1e-5

#: An object label of an image.
LabelCount = namedtuple("LabelCount", "label count")
#: A box in thousandths of its picture; the score is in hundredths.
Box = namedtuple("Box", "label left top width height score")
#: What is known of a caption: numbers of records of the next four kinds.
Plan = namedtuple("Plan", "objects words mentions matches")
#: An object with a vector; `silent` if the caption does not mention it.
PlanObject = namedtuple("PlanObject", "text penalty silent")
#: A content word: its nearest evidence, and the place of its mention in the plan.
PlanWord = namedtuple("PlanWord", "text penalty support by mention")
#: A mention: its class, nearest evidence, verdict, who judges it, and what it is a kind of.
PlanMention = namedtuple("PlanMention", "text category support by verdict judge fits")
#: Mass that moves between an object and a word, which are places in the plan.
PlanMatch = namedtuple("PlanMatch", "object word mass cost")
#: A sentence, whether it claims anything, and numbers of `Span` of its inventions.
Sentence = namedtuple("Sentence", "start end claims p inventions")
#: Where something is in a caption, in UTF-16 units, which scripts count in.
Span = namedtuple("Span", "start end")
#: A test of two systems, and what remains at equal length where lengths differ: as text.
PairTest = namedtuple("PairTest", "p difference low high", defaults=(None, None, None))
#: Correlations of two metrics, as text.
Fit = namedtuple("Fit", "pearson spearman")

_KINDS = (LabelCount, Box, Plan, PlanObject, PlanWord, PlanMention, PlanMatch)
#: The names of each kind's fields, in their order.
FIELDS = {kind.__name__: kind._fields for kind in (*_KINDS, Sentence, Span, PairTest, Fit)}


def numbers(records: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the values of records of one kind, one record after the other."""
    return tuple(chain.from_iterable(records))  # of numbers alone: no work for garbage collection


# A box's sides are whole numbers of this share of the picture's.
_STEPS = 1000
# Of all costs of a run, so many per cent lie on the colour scale; the others are at its end.
_COSTS_ON_SCALE = 95


def image_data(content: Content, listed: Container[ImageId] | None = None) -> dict[str, Any]:
    """Return what the list of images is sorted and filtered by, and shows of each image.

    Texts are those of the images that are `listed`, by default of all.
    """
    ids = list(content.references)
    is_listed = [listed is None or image_id in listed for image_id in ids]
    objects = [content.objects.get(image_id, {}) for image_id in ids]
    labels = _numbers_of(objects)
    data: dict[str, Any] = {
        "systems": list(content.scores.evaluations),
        "metrics": list(content.scores.signatures),
        "lowerIsBetter": [c.lower_is_better for c in content.scores.columns()],
        "labels": list(labels),
        "ids": list(map(str, ids)),
        "references": [
            of_image if shown else []
            for of_image, shown in zip(content.references.values(), is_listed, strict=True)
        ],
        "objects": [
            numbers(LabelCount(labels[label], count) for label, count in of_image.items())
            for of_image in objects
        ],
        "captions": [
            [
                by_image.get(image_id) if shown else None
                for image_id, shown in zip(ids, is_listed, strict=True)
            ]
            for by_image in content.captions.values()
        ],
        "scores": [
            [_scores(evaluation, ids) for evaluation in of_metric.values()]
            for of_metric in content.scores.evaluations.values()
        ],
    }
    if listed is not None:
        data["listed"] = [at for at, shown in enumerate(is_listed) if shown]
    if content.denied:
        denied = [content.denied.get(image_id, ()) for image_id in ids]
        labels = _numbers_of(denied)
        data["denied"] = [[labels[label] for label in of_image] for of_image in denied]
        data["deniedLabels"] = list(labels)
    if content.sample_of:
        data["owners"] = [
            data["systems"].index(content.sample_of[name]) for name in content.captions
        ]
        data["samples"] = _samples_of(content.scores, ids)
    return data


def _samples_of(scores: Scores, ids: Sequence[ImageId]) -> list[dict[str, list[int | None]]]:
    """Return the place of the sample that each column has chosen, by system and image."""
    by_system = []
    for evaluations in scores.evaluations.values():
        of_images = next(iter(evaluations.values())).ids
        by_system.append(
            {
                name: list(map(dict(zip(of_images, samples, strict=True)).get, ids))
                for name, samples in chosen_samples(evaluations).items()
            }
        )
    return by_system


def pictures(
    content: Content, places: Iterable[int], labels: list[str]
) -> tuple[dict[int, str], dict[int, tuple[int, ...]]]:
    """Return the pictures of a page, as many as there is room for, and the boxes in them, by place.

    Boxes are in thousandths of the picture. Labels that `labels` lacks are added to it.
    """
    ids = list(content.references)
    files = {at: content.pictures[ids[at]] for at in places if ids[at] in content.pictures}
    small = shrink(files, content.picture_bytes)
    place_of = {ids[at]: at for at in sorted(small)}
    boxes_of = content.boxes if content.explanations else {}
    same_image = match(boxes_of, place_of)
    boxes = {place_of[same_image[i]]: boxes_of[i] for i in boxes_of if i in same_image}
    label_numbers = {label: number for number, label in enumerate(labels)}
    drawn = {at: _drawn(boxes[at], small[at].size, label_numbers) for at in sorted(boxes)}
    labels += list(label_numbers)[len(labels) :]
    return (
        {at: small[at].data for at in sorted(small)},
        {at: numbered for at, numbered in drawn.items() if numbered},
    )


def _drawn(
    of_image: ImageBoxes, size: tuple[int, int], label_numbers: dict[str, int]
) -> tuple[int, ...]:
    width, height = of_image.size or size
    drawn = []
    for box in of_image.boxes:
        left, right = (_step(x / width) for x in (box.x, box.x + box.width))
        top, bottom = (_step(y / height) for y in (box.y, box.y + box.height))
        if left < right and top < bottom:
            drawn.append(
                Box(
                    label=label_numbers.setdefault(box.label, len(label_numbers)),
                    left=left,
                    top=top,
                    width=right - left,
                    height=bottom - top,
                    score=-1 if box.score is None else round(100 * box.score),
                )
            )
    return numbers(drawn)


def _step(share: float) -> int:
    return round(_STEPS * min(max(share, 0.0), 1.0))


def caption_data(content: Content, listed: Container[ImageId] | None = None) -> dict[str, Any]:
    """Return ``texts``, the ``scale`` of costs, ``plans`` and ``sentences`` by system and image.

    Plans are those of the images that are `listed`, by default of all.
    """
    ids = list(content.references)
    explanations = [
        [e for e in of_system if listed is None or e.image_id in listed]
        for of_system in content.explanations.values()
    ]
    texts = _texts(chain.from_iterable(explanations))
    number_of: dict[str | None, int] = {text: number for number, text in enumerate(texts)}
    number_of[None] = NOTHING
    data: dict[str, Any] = {
        "plans": [plans_of(of_system, ids, number_of) for of_system in explanations],
        "texts": texts,
        "scale": scale(chain.from_iterable(explanations)),
    }
    sentences = [
        sentences_of(of_column, content.captions.get(name, {}), ids)
        for name, of_column in content.scores.evaluations.items()
    ]
    if any(map(any, sentences)):
        data["sentences"] = sentences
    return data


def invention_data(
    of_systems: Sequence[Mapping[ImageId, Sequence[str]]], ids: Sequence[ImageId]
) -> dict[str, Any]:
    """Return ``classes`` and which of them captions make up, by system and image of all `ids`."""
    classes = sorted(set(chain.from_iterable(chain.from_iterable(s.values() for s in of_systems))))
    number_of = {name: number for number, name in enumerate(classes)}
    inventions = [
        [None if i not in things else [number_of[name] for name in things[i]] for i in ids]
        for things in of_systems
    ]
    return {"classes": classes, "inventions": inventions}


def _texts(explanations: Iterable[Explanation]) -> list[str]:
    """Return all texts that `plans_of` numbers, sorted."""
    texts: set[str | None] = set()
    for explanation in explanations:
        in_bag = (*explanation.objects, *explanation.described)
        texts.update(image_object.label for image_object in in_bag)
        for word in explanation.words:
            texts.update((word.word, word.supported_by))
        for mention in explanation.mentions:
            texts.update((mention.words, mention.category))
            texts.update((mention.supported_by, mention.judged_by, mention.fits))
    return sorted(text for text in texts if text is not None)


def plans_of(
    explanations: Iterable[Explanation], ids: Sequence[ImageId], number_of: Mapping[str | None, int]
) -> list[Plan | None]:
    """Return the plan of each image in the order of the page; None where there is none.

    `number_of` has the number of each text, -1 standing for none. Objects and words are in
    alphabetical order, mentions in that of the caption.
    """
    plans = {explanation.image_id: _plan(explanation, number_of) for explanation in explanations}
    return [plans.get(image_id) for image_id in ids]


def _plan(explanation: Explanation, number_of: Mapping[str | None, int]) -> Plan:
    objects = (*explanation.objects, *explanation.described)
    words = sorted(explanation.words, key=itemgetter(0))
    mention_at = {mention.claim: at for at, mention in enumerate(explanation.mentions)}
    object_at = {image_object.label: at for at, image_object in enumerate(objects)}
    word_at = {word.word: at for at, word in enumerate(words)}
    return Plan(
        objects=numbers(
            PlanObject(
                text=number_of[image_object.label],
                penalty=round(image_object.penalty / UNIT),
                silent=int(not image_object.is_mentioned),
            )
            for image_object in objects
        ),
        words=numbers(
            PlanWord(
                text=number_of[word.word],
                penalty=round(word.penalty / UNIT),
                support=_hundredths(word.support),
                by=number_of[word.supported_by],
                mention=NOTHING if word.part_of is None else mention_at[word.part_of.claim],
            )
            for word in words
        ),
        mentions=numbers(
            PlanMention(
                text=number_of[mention.words],
                category=number_of[mention.category],
                support=_hundredths(mention.support),
                by=number_of[mention.supported_by],
                verdict=int(mention.verdict),
                judge=number_of[mention.judged_by],
                fits=number_of[mention.fits],
            )
            for mention in explanation.mentions
        ),
        matches=numbers(
            sorted(
                PlanMatch(
                    object=object_at[match.label],
                    word=word_at[match.word],
                    mass=round(match.mass / UNIT),
                    cost=round(match.cost / UNIT),
                )
                for match in explanation.matches
            )
        ),
    )


def _hundredths(share: float | None) -> int:
    return NOTHING if share is None or math.isnan(share) else round(100 * share)


def scale(explanations: Iterable[Explanation]) -> int:
    """Return the cost at the end of the colour scale, with two digits, in units."""
    costs = [match.cost for explanation in explanations for match in explanation.matches]
    end = float(f"{np.percentile(costs, _COSTS_ON_SCALE):.2g}") if costs else 1.0
    return max(round(end / UNIT), 1)


def sentences_of(
    of_column: Mapping[str, Evaluation], captions: Mapping[ImageId, str], ids: Sequence[ImageId]
) -> list[list[Sentence] | None]:
    """Return the sentences of each image's caption that VIFIDEL-PRF tells; None if it is one."""
    sentences_in: dict[ImageId, list[Sentence]] = {}
    for evaluation in of_column.values():
        by_row = evaluation.details.get("sentences", ())
        for image_id, sentences in zip(evaluation.ids, by_row, strict=False):
            if sentences:
                caption = captions[image_id]
                sentences_in[image_id] = [_sentence(caption, sentence) for sentence in sentences]
    return [sentences_in.get(image_id) for image_id in ids]


def _sentence(caption: str, sentence: Mapping[str, Any]) -> Sentence:
    def units(place: int) -> int:
        before = caption[:place]
        if before.isascii():
            return place
        return len(before.encode("utf-16-le", "surrogatepass")) // 2

    return Sentence(
        start=units(sentence["start"]),
        end=units(sentence["end"]),
        claims=int(sentence["claims"]),
        p=_hundredths(sentence["p"]),
        inventions=[
            place
            for invention in sentence["inventions"]
            for place in Span(units(invention["start"]), units(invention["end"]))
        ],
    )


def _numbers_of(of_images: Sequence[Sequence[str] | Mapping[str, int]]) -> dict[str, int]:
    labels = dict.fromkeys(chain.from_iterable(of_images))
    return {label: number for number, label in enumerate(labels)}


def _scores(evaluation: Evaluation, ids: Sequence[ImageId]) -> list[float | None]:
    of_image = dict(zip(evaluation.ids, evaluation.scores.tolist(), strict=True))
    return [
        # One that would be shown as 0 still has its order.
        None
        if math.isnan(score)
        else int(score)
        if score.is_integer()
        else float(readable(score)) or float(f"{score:.4g}")
        for score in (of_image.get(image_id, math.nan) for image_id in ids)
    ]
