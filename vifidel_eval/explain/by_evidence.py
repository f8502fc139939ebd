"""Explanations of captions: by word vectors and transport plans, or by CHAIR's list of classes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from ..evaluation import Floats
from ..io.image_ids import ImageId
from ..io.records import Remembered
from ..kernels.bags import Bags, Part, meetings
from ..kernels.claims import class_numbers
from ..kernels.grounding import Grounding, words_of
from ..kernels.known import LABELS, Verdict
from ..kernels.mentions import Mention
from ..kernels.names import Names
from ..kernels.support import Evidence, Mask, are_named, nearest, some_of
from ..kernels.transport import similarities, sums_of_bags, transport_plans, travel_costs
from ..words.content_words import STOP_WORDS, content_words, piece_words
from ..words.mentions import Unit
from ..words.settings import Thresholds
from .explanation import CaptionWord, Explanation, ImageObject, Match

_COST, _VERDICT = attrgetter("cost"), attrgetter("verdict")
# From the text of a mention to its single words.
_WORDS_IN: Remembered[str, tuple[str, ...]] = Remembered(
    lambda mention: tuple(chain.from_iterable(map(piece_words, mention.split())))
)


def explained_by_vectors(
    part: Part[Any],
    grounding: Grounding,
    evidence: Evidence,
    p: int,
    thresholds: Thresholds,
    unknown_words: Iterable[tuple[str, ...]],
    denied: Iterable[tuple[str, ...]],
) -> list[Explanation]:
    """Return the explanations of rows that were read; `p` is the exponent of the travel cost."""
    rows, words, gold = part.rows, part.words, part.gold
    lexicon, objects = gold.lexicon, gold.objects
    label_penalties, penalties = gold.label_penalties, gold.penalties(words)
    costs = travel_costs(lexicon.distances, objects, words, p, label_penalties, penalties)
    plans = transport_plans(objects, words, costs)
    distances = sums_of_bags(plans * costs, objects, words)
    judged = grounding.judged(lexicon, rows.captions, evidence, thresholds.support)
    mentions = judged.by_row(len(rows))
    names = [image.read_by for image in evidence.images]
    mentioned = _are_mentioned(part, names, grounding.numbers(names), mentions, thresholds.far)
    labels = [lexicon.words[atom] for atom in objects.atoms.tolist()]
    texts = [lexicon.words[atom] for atom in words.atoms.tolist()]
    of_images = list(map(ImageObject, labels, label_penalties.tolist(), mentioned.tolist()))
    of_captions = list(zip(texts, penalties.tolist(), strict=True))
    match_starts, matches = _matches(objects, words, plans, costs, of_images, of_captions)

    starts = words.starts.tolist()
    mention_of = [
        mention
        for of_row, start, end in zip(mentions, starts, starts[1:], strict=False)
        for by_word in [
            # Verdicts are in the order of their weight; of several mentions of a word, the worst
            # comes last and stays, of equals the first.
            {
                word: mention
                for mention in sorted(reversed(of_row), key=_VERDICT)  # noqa: C414
                for word in _WORDS_IN[mention.words]
            }
        ]
        for mention in map(by_word.get, texts[start:end])
    ]
    others = np.array([mention is None for mention in mention_of], dtype=bool).nonzero()[0]
    near, by = evidence.support(lexicon, words.atoms[others], words.owners[others])
    supported = iter(zip(near.tolist(), words_of(lexicon, by), strict=True))
    supports = [next(supported) if m is None else (m.support, m.supported_by) for m in mention_of]

    object_starts = objects.starts.tolist()
    return [
        Explanation(
            image_id=image_id,
            caption=caption,
            score=score,
            distance=distance,
            known=image.is_there,
            rated=image.is_there and image.can_lack,
            matches=tuple(moved),
            words=_words(
                zip(
                    of_captions[slice(*starts[row : row + 2])],
                    supports[slice(*starts[row : row + 2])],
                    mention_of[slice(*starts[row : row + 2])],
                    strict=True,
                ),
                moved,
            ),
            mentions=tuple(mentions[row]),
            objects=tuple(of_images[slice(*object_starts[row : row + 2])]),
            unknown_words=unknown,
            denied=absent,
            units=image.read_by.units(caption),
        )
        for row, (image_id, caption, score, distance, image, unknown, absent) in enumerate(
            zip(
                rows.ids,
                rows.captions,
                similarities(objects.sizes > 0, words, distances).tolist(),
                distances.tolist(),
                evidence.images,
                unknown_words,
                denied,
                strict=True,
            )
        )
        for moved in [matches[slice(*match_starts[row : row + 2])]]
    ]


def _words(
    words: Iterable[tuple[tuple[str, float], tuple[float, str | None], Mention | None]],
    matches: Sequence[Match],
) -> tuple[CaptionWord, ...]:
    """Return the words of a caption, the costliest first; those of equal cost stay in order."""
    costs: dict[str, list[float]] = {}
    for _, word, mass, cost, *_ in matches:
        costs.setdefault(word, []).append(mass * cost)
    found = [
        CaptionWord(word, penalty, math.fsum(costs[word]) if matches else math.nan, *support, of)
        for (word, penalty), support, of in words
    ]
    return tuple(sorted(found, key=_COST, reverse=True))


def _are_mentioned(
    part: Part[Any],
    names: Sequence[Names],
    numbers: Mapping[str, int],
    mentions: Sequence[Sequence[Mention]],
    far: float,
) -> Mask:
    """Return of which objects captions mention the class, or have a word with a cosine of `far`."""
    objects, words, lexicon = part.gold.objects, part.words, part.gold.lexicon
    rows = objects.owners
    labels = class_numbers(lexicon, objects, names, Names.kind_of_label, numbers)
    said = [
        (row, numbers[category or ""])
        for row, of_row in enumerate(mentions)
        for mention in of_row
        for category in names[row].with_kinds(mention.category)
    ]
    of_mentions = np.array(said, dtype=np.int64).reshape(-1, 2).T
    spoken_of = are_named((rows, labels), tuple(of_mentions), (len(objects), len(numbers)))
    others = np.flatnonzero(~spoken_of)
    near = nearest(lexicon.distances, some_of(objects, others), words, floor=-1.0)
    # With this floor a cosine c counts as (c + 1) / 2, and 0 is a caption without words.
    spoken_of[others] = (words.sizes[rows[others]] > 0) & (2 * near.of_left - 1 >= far)
    return spoken_of


def _matches(
    objects: Bags,
    words: Bags,
    plans: Floats,
    costs: Floats,
    of_images: Sequence[ImageObject],
    of_captions: Sequence[tuple[str, float]],
) -> tuple[list[int], list[Match]]:
    """Return where the matches of each row start, and all that move mass, the largest first."""
    moving = np.flatnonzero(plans > 0)
    left, right = (side[moving] for side in meetings(objects, words))
    masses, costs = plans[moving], costs[moving]
    rows = objects.owners[left]
    order = np.lexsort((-masses * costs, rows))
    left, right = left[order].tolist(), right[order].tolist()
    matches = map(
        Match,
        [of_images[at][0] for at in left],
        [of_captions[at][0] for at in right],
        masses[order].tolist(),
        costs[order].tolist(),
        [of_images[at][1] for at in left],
        [of_captions[at][1] for at in right],
    )
    return rows.searchsorted(np.arange(len(objects) + 1)).tolist(), list(matches)


def explained_by_classes(
    image_id: ImageId,
    caption: str,
    units: Sequence[Unit],
    there: Collection[str],
    deniable: Collection[str] | None,
    score: float,
) -> Explanation:
    """Return an explanation by CHAIR of a caption, whose mentions are among its `units`.

    What is `deniable` can be absent, all if it is None.
    """
    mentions = []
    for place, thing in enumerate(unit for unit in units if unit.category is not None):
        category, by, verdict = thing.category or "", None, Verdict.UNCONFIRMED
        if category in there:
            by, verdict = category, Verdict.THERE
        elif deniable is None or category in deniable:
            verdict = Verdict.ABSENT
        judge = None if verdict is Verdict.UNCONFIRMED else LABELS
        mentions.append(Mention(thing.words, category, math.nan, by, verdict, judge, place))
    parts = set(chain.from_iterable(content_words(m.words, STOP_WORDS) for m in mentions))
    words: dict[str, Mention | None] = {
        word: None for word in content_words(caption, STOP_WORDS) if word not in parts
    }
    words |= {mention.words: mention for mention in reversed(mentions)}
    spoken_of = {mention.category for mention in mentions}
    known = deniable is None or bool(deniable)
    return Explanation(
        image_id=image_id,
        caption=caption,
        score=score,
        distance=math.nan,
        known=known,
        rated=known,
        matches=(),
        words=tuple(
            CaptionWord(word, math.nan, math.nan, math.nan, of and of.supported_by, of)
            for word, of in sorted(words.items(), key=lambda item: item[0])
        ),
        mentions=tuple(mentions),
        objects=tuple(ImageObject(label, 1.0, label in spoken_of) for label in sorted(there)),
        unknown_words=(),
        units=tuple(units),
    )
