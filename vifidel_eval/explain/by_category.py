"""Explanations by CHAIR: mentions of a list's categories, held against those of the image."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, chain

import numpy as np

from ..evaluation import Floats, Integers
from ..io.image_ids import ImageId
from ..kernels.support import NOTHING
from ..words.content_words import STOP_WORDS, content_words
from ..words.grounded import LABELS, Verdict
from ..words.mentions import Mention
from .explained import (
    Explained,
    MatchColumns,
    MentionColumns,
    ObjectColumns,
    Texts,
    WordColumns,
)


def explained_by_category(
    ids: Sequence[ImageId],
    captions: Sequence[str],
    mentions: Sequence[Sequence[Mention]],
    there: Sequence[Collection[str]],
    sought: Sequence[Collection[str] | None],
    scores: Floats,
) -> Explained:
    """Return explanations by CHAIR, without vectors: no support, no cost.

    For each caption: its mentions in order, the categories of its image, those that were looked for
    there (None for all), and its score.
    """
    objects: list[list[tuple[str, bool]]] = []
    words: list[list[tuple[str, int]]] = []
    verdicts: list[Verdict] = []
    for caption, of_caption, of_image, asked in zip(captions, mentions, there, sought, strict=True):
        spoken_of = {mention.category for mention in of_caption}
        objects.append([(label, label not in spoken_of) for label in sorted(of_image)])
        parts = set(chain.from_iterable(content_words(m.words, STOP_WORDS) for m in of_caption))
        of_words = {w: NOTHING for w in content_words(caption, STOP_WORDS) if w not in parts}
        for at, mention in reversed([*enumerate(of_caption, len(verdicts))]):
            of_words[mention.words] = at
        words.append(sorted(of_words.items()))
        verdicts += [_verdict(mention.category, of_image, asked) for mention in of_caption]
    found = list(chain.from_iterable(mentions))
    labels, said = list(chain.from_iterable(objects)), list(chain.from_iterable(words))
    texts = Texts()
    categories = texts.of([mention.category for mention in found])
    judged = np.array(verdicts, dtype=np.int64)
    by = np.where(judged == Verdict.THERE, categories, NOTHING)
    of_mention = np.array([at for _, at in said], dtype=np.int64)
    known = np.array([asked is None or bool(asked) for asked in sought], dtype=bool)
    no_number, none = np.full(len(said), np.nan), np.empty(0, dtype=np.int64)
    return Explained(
        ids=ids,
        captions=captions,
        scores=scores,
        distances=np.full(len(captions), np.nan),
        known=known,
        rated=known,
        objects=ObjectColumns(
            _starts(objects),
            texts.of([label for label, _ in labels]),
            np.ones(len(labels)),
            np.array([unmentioned for _, unmentioned in labels], dtype=bool),
        ),
        words=WordColumns(
            _starts(words),
            texts.of([word for word, _ in said]),
            no_number,
            no_number,
            np.append(by, NOTHING)[of_mention],
            of_mention,
        ),
        mentions=MentionColumns(
            _starts(mentions),
            np.array([at for of_one in mentions for at in range(len(of_one))], dtype=np.int64),
            texts.of([mention.words for mention in found]),
            categories,
            np.full(len(found), np.nan),
            by,
            judged,
            np.where(judged == Verdict.UNCONFIRMED, NOTHING, texts.of([LABELS])),
        ),
        matches=MatchColumns(_starts([()] * len(captions)), none, none, np.empty(0), np.empty(0)),
        unknown_words={},
        texts=texts.listed,  # last: now all are listed
    )


def _verdict(category: str, there: Collection[str], sought: Collection[str] | None) -> Verdict:
    if category in there:
        return Verdict.THERE
    return Verdict.ABSENT if sought is None or category in sought else Verdict.UNCONFIRMED


def _starts(of_captions: Iterable[Sequence[object]]) -> Integers:
    return np.array([0, *accumulate(map(len, of_captions))], dtype=np.int64)
