"""Explanations by CHAIR: mentions of a list's categories, held against those of the image."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

import numpy as np

from ..evaluation import Floats, Integers
from ..explain.explained import (
    Explained,
    MatchColumns,
    MentionColumns,
    ObjectColumns,
    Texts,
    WordColumns,
)
from ..image_ids import ImageId
from ..kernels.support import NOTHING
from ..text.words import STOP_WORDS, content_words
from ..things.grounded import Verdict
from ..things.mentions import Mention


def explained_by_category(
    ids: Sequence[ImageId],
    captions: Sequence[str],
    mentions: Sequence[Sequence[Mention]],
    there: Sequence[Collection[str]],
    sought: Sequence[Collection[str] | None],
    scores: Floats,
) -> Explained:
    """Return explanations without word vectors: no support, no cost, nothing hedged.

    Parameters
    ----------
    ids, captions : sequence
        Image and caption of each.
    mentions : sequence of sequences of Mention
        What each caption mentions, in order.
    there : sequence of collections of str
        The categories of each image.
    sought : sequence
        The categories that were looked for in each; None for all.
    scores : (captions,) float64
        The score of each.
    """
    texts = Texts()
    objects = [sorted(of_image) for of_image in there]
    spoken_of = [{mention.category for mention in of_caption} for of_caption in mentions]
    verdicts = [
        [_verdict(mention.category, of_image, asked) for mention in of_caption]
        for of_caption, of_image, asked in zip(mentions, there, sought, strict=True)
    ]
    mention_starts = _starts(mentions)
    words: list[list[tuple[str, int]]] = []
    for caption, of_caption, start in zip(
        captions, mentions, mention_starts.tolist(), strict=False
    ):
        parts = {
            part for mention in of_caption for part in content_words(mention.words, STOP_WORDS)
        }
        others = [word for word in content_words(caption, STOP_WORDS) if word not in parts]
        first = {mention.words: start + at for at, mention in reversed([*enumerate(of_caption)])}
        words.append(sorted({**dict.fromkeys(others, NOTHING), **first}.items()))
    found = [mention for of_caption in mentions for mention in of_caption]
    of_mentions = np.array([v for of_caption in verdicts for v in of_caption], dtype=np.int64)
    categories = texts.of([mention.category for mention in found])
    by = np.where(of_mentions == Verdict.THERE, categories, NOTHING)
    of_words = np.array([at for row in words for _, at in row], dtype=np.int64)
    no_words, none = np.full(len(of_words), np.nan), np.empty(0, dtype=np.int64)
    labels = texts.of([label for of_image in objects for label in of_image])
    return Explained(
        ids=ids,
        captions=captions,
        scores=scores,
        distances=np.full(len(captions), np.nan),
        known=np.array([asked is None or bool(asked) for asked in sought], dtype=bool),
        objects=ObjectColumns(
            _starts(objects),
            labels,
            np.ones(len(labels)),
            np.array(
                [
                    label not in said
                    for of_image, said in zip(objects, spoken_of, strict=True)
                    for label in of_image
                ],
                dtype=bool,
            ),
        ),
        words=WordColumns(
            _starts(words),
            texts.of([word for row in words for word, _ in row]),
            no_words,
            no_words,
            np.where(of_words == NOTHING, NOTHING, np.append(by, NOTHING)[of_words]),
            of_words,
        ),
        mentions=MentionColumns(
            mention_starts,
            texts.of([mention.words for mention in found]),
            categories,
            np.full(len(found), np.nan),
            by,
            of_mentions,
            np.zeros(len(found), dtype=bool),
        ),
        matches=MatchColumns(
            np.zeros(len(captions) + 1, dtype=np.int64), none, none, np.empty(0), np.empty(0)
        ),
        unknown_words={},
        texts=texts.listed,  # last: now all are listed
    )


def _verdict(category: str, there: Collection[str], sought: Collection[str] | None) -> Verdict:
    if category in there:
        return Verdict.THERE
    return Verdict.ABSENT if sought is None or category in sought else Verdict.NOT_JUDGED


def _starts(of_captions: Iterable[Sequence[object]]) -> Integers:
    return np.array([0, *accumulate(map(len, of_captions))], dtype=np.int64)
