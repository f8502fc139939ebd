"""Captions and references that the metrics on word vectors read once in a run.

A run goes metric by metric, so that each can fail, be named and report its progress on its own: a
second metric that reads words like the first comes to the same texts again. What a run has read is
found by what the texts are, not by whose they are, and so it cannot be out of date. It is not a
part of a scorer, which keeps nothing of a run, and it is not seen by other threads.

Object labels are not kept: there are few of them, and metrics count them in different ways. Tables
need none of this: each batch of theirs is scored under all metrics before the next one is read.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..evaluation import Tally
from ..kernels.bags import Bags, bags_of_captions
from ..kernels.lexicon import Lexicon
from ..kernels.ngrams import numbering_once

#: How many captions and references, with the words of each, a run keeps of a lexicon: at 16 bytes
#: a word, 34 MB.
MOST_KEPT = 1 << 21


class _Readings:
    """The bags of texts that were read together, as long as there is room for them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[Bags, Tally]] = {}
        self._room = MOST_KEPT

    def bags(self, lexicon: Lexicon, texts: tuple[str, ...]) -> tuple[Bags, Tally]:
        found = self._known.get(texts)
        if found is None:
            found = bags_of_captions(lexicon, texts)
            size = len(texts) + len(found[0].atoms)
            if size <= self._room:
                self._room -= size
                self._known[texts] = found
        return found


# Bags are of the lexicon that numbered their words, and go with it.
_OF_RUN: ContextVar[weakref.WeakKeyDictionary[Lexicon, _Readings] | None] = ContextVar(
    "readings", default=None
)


@contextmanager
def reading_once() -> Iterator[None]:
    """Make one run of what this thread scores: its metrics read each text once.

    Scores are the same without it. Within another run it changes nothing; nothing is kept
    afterwards.
    """
    if _OF_RUN.get() is not None:
        yield
        return
    before = _OF_RUN.set(weakref.WeakKeyDictionary())
    try:
        with numbering_once():
            yield
    finally:
        _OF_RUN.reset(before)


def read_texts(lexicon: Lexicon, texts: Iterable[str]) -> tuple[Bags, Tally]:
    """Return what `bags_of_captions` returns, read before if the run has come to the same texts.

    Raises
    ------
    LexiconFull
        If there is no room for new words.
    """
    of_run = _OF_RUN.get()
    if of_run is None:
        return bags_of_captions(lexicon, texts)
    if lexicon not in of_run:
        of_run[lexicon] = _Readings()
    return of_run[lexicon].bags(lexicon, tuple(texts))
