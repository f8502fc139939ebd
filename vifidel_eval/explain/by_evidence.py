"""Explanations of captions: by word vectors and transport plans, or by CHAIR's list of classes."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from ..annotations.labels import ImageAttributes
from ..captions.generated import Answer
from ..captions.rows import LabelCounts
from ..evaluation import Floats
from ..io.caches import Remembered
from ..io.image_ids import ImageId
from ..kernels.bags import Bags, Batch, meetings
from ..kernels.claim_evidence import judged_attributes
from ..kernels.grounding import Grounding, words_of
from ..kernels.known import LABELS, Mention, Names, Verdict
from ..kernels.support import Evidence, Mask, are_named, class_numbers, nearest, some_of
from ..kernels.transport import similarities, sums_of_bags, transport_plans, travel_costs
from ..words.content_words import STOP_WORDS, content_words, piece_words
from ..words.mentions import Phrase
from ..words.settings import Thresholds
from .explanation import CaptionWord, Explanation, ImageObject, Match

_COST, _VERDICT = attrgetter("cost"), attrgetter("verdict")
# From the text of a mention to its single words.
_WORDS_IN: Remembered[str, tuple[str, ...]] = Remembered(
    lambda mention: tuple(chain.from_iterable(map(piece_words, mention.split())))
)


def explained_by_vectors(
    part: Batch[Any],
    grounding: Grounding,
    evidence: Evidence,
    p: int,
    thresholds: Thresholds,
    unknown_words: Sequence[tuple[str, ...]],
    denied: Sequence[tuple[str, ...]],
    with_plans: Container[ImageId] | None = None,
) -> list[Explanation]:
    """Return the explanations of rows that were read; `p` is the exponent of the travel cost.

    Of other images than those `with_plans`, by default all, there are verdicts, and no matches,
    costs and supports of words.
    """
    rows, image_side = part.rows, part.image_side
    lexicon, objects = image_side.lexicon, image_side.objects
    mentions = grounding.judged(lexicon, rows.captions, evidence, thresholds.support)
    names = [image.names for image in evidence.images]
    mentioned = _are_mentioned(part, names, grounding.numbers(names), mentions, thresholds.far)
    labels = [lexicon.words[atom] for atom in objects.atoms.tolist()]
    image_objects = list(
        map(ImageObject, labels, image_side.label_penalties.tolist(), mentioned.tolist())
    )
    has_plan = np.array([with_plans is None or i in with_plans for i in rows.ids], dtype=bool)
    penalties = _word_penalties(part, has_plan)
    scores, distances, matches = _transport(part, p, image_objects, has_plan, penalties)
    caption_words = _caption_words(
        part, penalties.tolist(), evidence, mentions, matches, has_plan.tolist()
    )
    starts = objects.starts.tolist()
    return [
        Explanation(
            image_id=rows.ids[row],
            caption=rows.captions[row],
            score=scores[row],
            distance=distances[row],
            known=image.is_there,
            rated=image.is_there and image.can_lack,
            matches=tuple(matches[row]),
            words=caption_words[row],
            mentions=tuple(mentions[row]),
            objects=tuple(image_objects[starts[row] : starts[row + 1]]),
            unknown_words=unknown_words[row],
            denied=denied[row],
        )
        for row, image in enumerate(evidence.images)
    ]


def _word_penalties(part: Batch[Any], has_plan: Mask) -> Floats:
    """Return the penalty of each word of rows with a plan; NaN for all others."""
    penalties = np.full(len(part.words.atoms), math.nan)
    in_plan = has_plan[part.words.owners]
    penalties[in_plan] = part.image_side.penalties(some_of(part.words, in_plan))
    return penalties


def _transport(
    part: Batch[Any],
    p: int,
    image_objects: Sequence[ImageObject],
    has_plan: Mask,
    penalties: Floats,
) -> tuple[list[float], list[float], list[list[Match]]]:
    """Return the score, the distance and the matches of each row; of one without a plan, none."""
    image_side, lexicon = part.image_side, part.image_side.lexicon
    object_in_plan = has_plan[image_side.objects.owners]
    word_in_plan = has_plan[part.words.owners]
    objects = some_of(image_side.objects, object_in_plan)
    words = some_of(part.words, word_in_plan)
    label_penalties, penalties = image_side.label_penalties[object_in_plan], penalties[word_in_plan]
    costs = travel_costs(lexicon.distances, objects, words, p, label_penalties, penalties)
    plans = transport_plans(objects, words, costs)
    distances = sums_of_bags(plans * costs, objects, words)
    scores = similarities(objects.sizes > 0, words, distances)
    shown = list(compress(image_objects, object_in_plan))
    texts = [lexicon.words[atom] for atom in words.atoms.tolist()]
    matches = _matches(objects, words, plans, costs, shown, texts, penalties.tolist())
    return scores.tolist(), distances.tolist(), matches


def with_attributes(
    explanations: Sequence[Explanation],
    names: Sequence[Names],
    labels: Sequence[LabelCounts],
    attributes: Sequence[ImageAttributes] | None,
) -> list[Explanation]:
    """Return explanations with the attributes of their images, which judge words."""
    if attributes is None:
        return list(explanations)
    explained = []
    rows = zip(explanations, names, labels, attributes, strict=True)
    for explanation, names_of_row, present, listed in rows:
        caption = explanation.caption
        reading = names_of_row.read(caption)
        judged = judged_attributes(caption, reading, names_of_row, present, listed)
        # Of a word that is so in one place and not in another, the contradiction is shown.
        by_word = {
            word: attribute
            for attribute in sorted(judged, key=lambda attribute: not attribute.is_so)
            for word in attribute.word.split()
        }
        explained.append(
            replace(
                explanation,
                objects=tuple(item for item in explanation.objects if item.label in present),
                described=tuple(
                    item._replace(is_mentioned=True)  # nobody has to mention an attribute
                    for item in explanation.objects
                    if item.label not in present
                ),
                words=tuple(
                    word if word.part_of else word.judged_by(by_word.get(word.word))
                    for word in explanation.words
                ),
                attributes=tuple(listed.shown),
            )
        )
    return explained


def with_answers(
    explanations: Iterable[Explanation], answers: Sequence[Answer | None] | None
) -> list[Explanation]:
    """Return explanations with the answers that their captions were taken from."""
    if answers is None:
        return list(explanations)
    return [
        explanation
        if answer is None
        else replace(explanation, answer=answer, rated=explanation.rated and not answer.why_nothing)
        for explanation, answer in zip(explanations, answers, strict=True)
    ]


def _matches(
    objects: Bags,
    words: Bags,
    plans: Floats,
    costs: Floats,
    image_objects: Sequence[ImageObject],
    texts: Sequence[str],
    penalties: Sequence[float],
) -> list[list[Match]]:
    """Return the matches of each row that move mass, the largest first."""
    moving = np.flatnonzero(plans > 0)
    left, right = (side[moving] for side in meetings(objects, words))
    masses, costs = plans[moving], costs[moving]
    rows = objects.owners[left]
    order = np.lexsort((-masses * costs, rows))
    ends = zip(left[order].tolist(), right[order].tolist(), strict=True)
    matches = [
        Match(
            label=image_objects[label].label,
            word=texts[word],
            mass=mass,
            cost=cost,
            label_penalty=image_objects[label].penalty,
            word_penalty=penalties[word],
        )
        for (label, word), mass, cost in zip(
            ends, masses[order].tolist(), costs[order].tolist(), strict=True
        )
    ]
    starts = rows[order].searchsorted(np.arange(len(objects) + 1)).tolist()
    return [matches[start:end] for start, end in pairwise(starts)]


def _caption_words(
    part: Batch[Any],
    penalties: Sequence[float],
    evidence: Evidence,
    mentions: Sequence[Sequence[Mention]],
    matches: Sequence[Sequence[Match]],
    has_plan: Sequence[bool],
) -> list[tuple[CaptionWord, ...]]:
    """Return the words of each caption, the costliest first; those of equal cost stay in order.

    The support of a word is that of its mention, else its own. Words of rows without a plan say
    nothing but their text, and captions share them: a report holds those of all systems.
    """
    words, lexicon = part.words, part.image_side.lexicon
    texts = [lexicon.words[atom] for atom in words.atoms.tolist()]
    ranges = list(pairwise(words.starts.tolist()))
    mention_of: list[Mention | None] = []
    for row, (start, end) in enumerate(ranges):
        by_word = _by_word(mentions[row] if has_plan[row] else ())
        mention_of += map(by_word.get, texts[start:end])
    owners = words.owners.tolist()
    unmentioned = [at for at, row in enumerate(owners) if has_plan[row] and mention_of[at] is None]
    others = np.array(unmentioned, dtype=np.int64)
    near, by = evidence.support(lexicon, words.atoms[others], words.owners[others])
    nearest_of_others = zip(near.tolist(), words_of(lexicon, by), strict=True)
    own_support = dict(zip(unmentioned, nearest_of_others, strict=True))
    caption_words: list[tuple[CaptionWord, ...]] = []
    for row, (start, end) in enumerate(ranges):
        if not has_plan[row]:
            caption_words.append(tuple(map(_text_alone, texts[start:end])))
            continue
        costs: dict[str, list[float]] = {}
        for match in matches[row]:
            costs.setdefault(match.word, []).append(match.mass * match.cost)
        words_of_row = []
        for at in range(start, end):
            mention = mention_of[at]
            cost = math.fsum(costs[texts[at]]) if matches[row] else math.nan
            if mention is None:
                support, supported_by = own_support[at]
            else:
                support, supported_by = mention.support, mention.supported_by
            word = CaptionWord(texts[at], penalties[at], cost, support, supported_by, mention)
            words_of_row.append(word)
        caption_words.append(tuple(sorted(words_of_row, key=_COST, reverse=True)))
    return caption_words


@Remembered
def _text_alone(text: str) -> CaptionWord:
    return CaptionWord(text, math.nan, math.nan, math.nan, None, None)


def _by_word(mentions: Sequence[Mention]) -> dict[str, Mention]:
    """Return the mention that each word belongs to: of several, the worst; of equals, the first."""
    # Verdicts are in the order of their weight, and what comes last stays.
    by_weight = sorted(reversed(mentions), key=_VERDICT)  # noqa: C414
    return {word: mention for mention in by_weight for word in _WORDS_IN[mention.words]}


def _spoken_of(mention: Mention, names: Names) -> frozenset[str]:
    """Return the class of a mention, what that is a kind of, and what the mention fits."""
    classes = names.upward(mention.claim.category or "")
    return classes if mention.fits is None else classes | {names.kind_of_label(mention.fits)}


def _are_mentioned(
    part: Batch[Any],
    names: Sequence[Names],
    numbers: Mapping[str, int],
    mentions: Sequence[Sequence[Mention]],
    far: float,
) -> Mask:
    """Return whether captions mention the class of each object, or a word as near as `far`."""
    objects, words, lexicon = part.image_side.objects, part.words, part.image_side.lexicon
    rows = objects.owners
    labels = class_numbers(lexicon, objects, names, Names.kind_of_label, numbers)
    claimed = [
        (row, numbers[category])
        for row, mentions_of_row in enumerate(mentions)
        for mention in mentions_of_row
        for category in _spoken_of(mention, names[row])
    ]
    classes = np.array(claimed, dtype=np.int64).reshape(-1, 2).T
    spoken_of = are_named((rows, labels), tuple(classes), (len(objects), len(numbers)))
    others = np.flatnonzero(~spoken_of)
    near = nearest(lexicon.distances, some_of(objects, others), words, floor=-1.0)
    # With this floor a cosine c counts as (c + 1) / 2, and 0 is a caption without words.
    spoken_of[others] = (words.sizes[rows[others]] > 0) & (2 * near.of_left - 1 >= far)
    return spoken_of


def explained_by_classes(
    image_id: ImageId,
    caption: str,
    claims: Sequence[Phrase],
    labels: Collection[str],
    deniable: Collection[str] | None,
    score: float,
) -> Explanation:
    """Return an explanation by CHAIR of a caption with its `claims`.

    What is `deniable` can be absent, all if it is None.
    """
    mentions = []
    for claim in claims:
        category, verdict = claim.category or "", Verdict.UNCONFIRMED
        if category in labels:
            verdict = Verdict.THERE
        elif deniable is None or category in deniable:
            verdict = Verdict.ABSENT
        mention = Mention(
            claim,
            support=math.nan,
            supported_by=category if verdict is Verdict.THERE else None,
            verdict=verdict,
            judged_by=None if verdict is Verdict.UNCONFIRMED else LABELS,
        )
        mentions.append(mention)
    parts = set(chain.from_iterable(content_words(m.words, STOP_WORDS) for m in mentions))
    words: dict[str, Mention | None] = {
        word: None for word in content_words(caption, STOP_WORDS) if word not in parts
    }
    words |= {mention.words: mention for mention in reversed(mentions)}
    mentioned = {mention.category for mention in mentions}
    is_known = deniable is None or bool(deniable)
    return Explanation(
        image_id=image_id,
        caption=caption,
        score=score,
        distance=math.nan,
        known=is_known,
        rated=is_known,
        matches=(),
        words=tuple(
            CaptionWord(
                word,
                penalty=math.nan,
                cost=math.nan,
                support=math.nan,
                supported_by=None if mention is None else mention.supported_by,
                part_of=mention,
            )
            for word, mention in sorted(words.items(), key=lambda item: item[0])
        ),
        mentions=tuple(mentions),
        objects=tuple(ImageObject(label, 1.0, label in mentioned) for label in sorted(labels)),
        unknown_words=(),
    )
