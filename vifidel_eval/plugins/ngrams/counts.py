"""N-grams of tokenised captions as numbers: what BLEU and CIDEr count, and ROUGE-L's subsequences.

An n-gram is a number: its place in a sorted table of the n-gram without its last token and of that
token. Floats are added up in the order of the n-grams in the captions, as pycocoevalcap does it:
the last digits are the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count, islice
from typing import NamedTuple, TypeVar

import numpy as np

from ...evaluation import Floats, Integers
from ...kernels.bags import distinct, positions, starts_of

ORDERS = 4  # n-grams of up to so many tokens
_SIGMA = 6.0  # of CIDEr-D's penalty for another length
_BETA = 1.2  # the weight of recall in ROUGE-L

MOST_TOKENS = 1 << 22  #: how many tokens a run numbers before it starts again, at 130 bytes each

_TOKEN = 32  # bits of the last token in the key of an n-gram
_LAST = (1 << _TOKEN) - 1

_Kind = TypeVar("_Kind", bound="TokenizedCaptions")


class _Order(NamedTuple):
    """The n-grams of one length in groups of captions."""

    #: Every n-gram of every group, sorted: in the upper bits the place of the n-gram without its
    #: last token among the shorter ones, or the group; in the lower bits the last token.
    keys: Integers
    #: Of each caption, in the order in which they first occur:
    captions: Integers
    ngrams: Integers  # places in `keys`
    counts: Integers


class Vocabulary:
    """Numbers of tokens, in the order in which they come."""

    def __init__(self) -> None:
        self._number: defaultdict[str, int] = defaultdict(count().__next__)
        #: Whether each is what `str.split` takes for one token: not empty, without blanks.
        self.is_plain = True

    def numbers(self, tokens: list[str]) -> Integers:
        """Return the number of each token."""
        size = len(self._number)
        numbers = np.fromiter(map(self._number.__getitem__, tokens), np.int64, len(tokens))
        new = islice(self._number, size, None)
        self.is_plain = self.is_plain and all(token.split() == [token] for token in new)
        return numbers


class TokenizedCaptions:
    """Tokenised captions as numbers: at least one, each its tokens joined by blanks."""

    def __init__(self, captions: Sequence[str], groups: Integers, vocabulary: Vocabulary) -> None:
        together = " ".join(captions)
        self.groups = groups  # the row that each caption is of
        # ROUGE-L splits at blanks; for BLEU and CIDEr, nothing is a token between two blanks.
        self._words = self._tokens = vocabulary.numbers(together.split(" "))
        self._lengths = self.sizes = np.array([c.count(" ") for c in captions]) + 1
        if not vocabulary.is_plain:
            self._tokens = vocabulary.numbers(together.split())
            self.sizes = np.array([len(c.split()) for c in captions])

    @property
    def words(self) -> list[list[int]]:
        """The numbers of what is between the blanks of each caption."""
        numbers, ends = self._words.tolist(), np.cumsum(self._lengths)
        slices = zip((ends - self._lengths).tolist(), ends.tolist(), strict=True)
        return [numbers[start:end] for start, end in slices]

    @cached_property
    def orders(self) -> list[_Order]:
        """The n-grams of 1 to `ORDERS` tokens."""
        captions = np.repeat(np.arange(len(self.sizes)), self.sizes)
        left = np.repeat(np.cumsum(self.sizes), self.sizes) - np.arange(len(captions))
        ngrams = self.groups[captions]
        repeats = np.ones(len(captions), dtype=bool)  # its beginning is in the caption again
        orders = []
        for order in range(ORDERS):
            at = np.flatnonzero(left > order)
            longer = ngrams[at] << _TOKEN | self._tokens[at + order]
            keys, ngrams[at], _ = distinct(longer)
            counts = np.zeros(len(captions), np.int64)
            counts[at] = 1
            again = at[repeats[at]]
            _, pairs, firsts = distinct(captions[again] << _TOKEN | ngrams[again])
            sizes = np.bincount(pairs, minlength=len(firsts))
            repeats[again] = sizes[pairs] > 1
            counts[again] = 0
            counts[again[firsts]] = sizes
            first = np.flatnonzero(counts)
            orders.append(_Order(keys, captions[first], ngrams[first], counts[first]))
        return orders

    def places(self, tables: Sequence[Integers], groups: Integers) -> Iterator[Integers]:
        """Yield where the n-grams of each length are in a table of sorted keys, -1 if nowhere."""
        # The upper bits that the first table has for each group here.
        places = groups
        for table, order in zip(tables, self.orders, strict=True):
            keys = places[order.keys >> _TOKEN] << _TOKEN | order.keys & _LAST
            at = np.searchsorted(table, keys)
            places = np.where(np.append(table, -1)[at] == keys, at, -1)
            yield places


def _sums(owners: Integers, amounts: Floats | Integers | list[float], size: int) -> Floats:
    """Return the sum of what each of `size` owners has, added up in the order given."""
    return np.bincount(owners, amounts, minlength=size).astype(np.float64, copy=False)


def _squares(weights: Floats) -> Floats:
    """Return squares as Python computes them: the last digits of NumPy's differ."""
    return np.array([weight**2 for weight in weights.tolist()], dtype=np.float64)


class _Corpus(NamedTuple):
    """The n-grams of one length in all references of a run."""

    keys: Integers  # as those of `_Order`
    places: Integers  # where in `keys` the n-grams of the single rows are
    idf: Floats  # inverse document frequencies, (n + 1,); the last is that of other n-grams
    squares: Floats


class TokenizedReferences(TokenizedCaptions):
    """The references of the rows of a run, and what their n-grams weigh in it."""

    @cached_property
    def starts(self) -> Integers:
        """The first reference of each row; every row has one."""
        return np.flatnonzero(np.diff(self.groups, prepend=-1))

    @cached_property
    def _most(self) -> list[Integers]:
        """How often one reference of the row has each n-gram at most; 0 at the end, for none."""
        largest = [np.zeros(len(order.keys) + 1, np.int64) for order in self.orders]
        for of_order, order in zip(largest, self.orders, strict=True):
            np.maximum.at(of_order, order.ngrams, order.counts)
        return largest

    def bleu_counts(self, captions: TokenizedCaptions) -> Floats:
        """Return lengths, closest lengths, shared and all n-grams, (rows, 2 + 2 * ORDERS)."""
        lengths, rows = captions.sizes, len(captions.sizes)
        base = self.sizes.max() + 1
        nearest = np.abs(self.sizes - lengths[self.groups]) * base + self.sizes
        closest = np.minimum.reduceat(nearest, self.starts) % base
        places = captions.places([order.keys for order in self.orders], np.arange(rows))
        correct = [
            _sums(order.captions, np.minimum(most[at[order.ngrams]], order.counts), rows)
            for most, at, order in zip(self._most, places, captions.orders, strict=True)
        ]
        guessed = [np.maximum(lengths - order, 0) for order in range(ORDERS)]
        return np.column_stack([lengths, closest, *correct, *guessed]).astype(np.float64)

    @cached_property
    def _corpus(self) -> list[_Corpus]:
        rows = len(self.starts)
        places: Integers = np.zeros(rows, np.int64)
        corpus = []
        for order in self.orders:
            pairs = places[order.keys >> _TOKEN] << _TOKEN | order.keys & _LAST
            keys, places, _ = distinct(pairs)
            documents = np.append(np.bincount(places, minlength=len(keys)), 0)
            # One logarithm at a time, as pycocoevalcap takes them: few frequencies differ.
            frequencies = np.flatnonzero(np.bincount(documents))
            logs = [float(np.log(max(1.0, n))) for n in frequencies.tolist()]
            idf = float(np.log(float(rows))) - np.array(logs)
            which = np.searchsorted(frequencies, documents)
            corpus.append(_Corpus(keys, places, idf[which], _squares(idf)[which]))
        return corpus

    def _weighed(
        self, captions: TokenizedCaptions, places: Iterable[Integers]
    ) -> Iterator[tuple[Floats, Floats]]:
        """Yield the weights of captions' n-grams at places in the corpus, and the norms."""
        for corpus, at, order in zip(self._corpus, places, captions.orders, strict=True):
            weights = order.counts * corpus.idf[at[order.ngrams]]
            squares = corpus.squares[at[order.ngrams]]
            several = np.flatnonzero(order.counts > 1)
            squares[several] = _squares(weights[several])
            yield weights, np.sqrt(_sums(order.captions, squares, len(captions.sizes)))

    @cached_property
    def _own(self) -> list[tuple[Floats, Floats, Integers, Integers]]:
        """Weights and norms of the references, and the places of each n-gram: in order, starts."""
        weighed = self._weighed(self, (corpus.places for corpus in self._corpus))
        return [
            (
                *of_order,
                np.argsort(order.ngrams, kind="stable"),
                starts_of(np.bincount(order.ngrams, minlength=len(order.keys))),
            )
            for of_order, order in zip(weighed, self.orders, strict=True)
        ]

    def cider(self, captions: TokenizedCaptions) -> Floats:
        """Return CIDEr-D of one caption per row, (rows,); the references are the corpus."""
        rows = len(captions.sizes)
        bigrams = [np.maximum(some.sizes - 1, 0) for some in (captions, self)]
        differences, which = np.unique(bigrams[0][self.groups] - bigrams[1], return_inverse=True)
        exponents = [-(float(n) ** 2) / (2 * _SIGMA**2) for n in differences.tolist()]
        penalties = np.array([float(np.e**exponent) for exponent in exponents])[which]
        places = captions.places([order.keys for order in self.orders], np.arange(rows))
        in_corpus = captions.places([n.keys for n in self._corpus], np.zeros(rows, np.int64))
        weighed = self._weighed(captions, in_corpus)
        of_orders = []
        for order, (weights, norms), at, ours, (own_weights, own_norms, by_ngram, starts) in zip(
            captions.orders, weighed, places, self.orders, self._own, strict=True
        ):
            shared = np.flatnonzero(at[order.ngrams] >= 0)
            ngrams = at[order.ngrams[shared]]
            sizes = starts[ngrams + 1] - starts[ngrams]
            met = by_ngram[positions(starts[ngrams], sizes)]
            products = np.minimum(np.repeat(weights[shared], sizes), own_weights[met])
            products *= own_weights[met]
            values = _sums(ours.captions[met], products, len(self.sizes))
            scales = norms[self.groups] * own_norms
            np.divide(values, scales, out=values, where=scales != 0)
            of_orders.append(_sums(self.groups, values * penalties, rows))
        means: Floats = np.ascontiguousarray(np.transpose(of_orders)).mean(axis=1)
        return means / np.diff(self.starts, append=len(self.sizes)) * 10.0

    @cached_property
    def _places_of_words(self) -> list[tuple[dict[int, int], int, list[tuple[int, int]]]]:
        """For each row the bits of the places of each word, all of them, and each reference's."""
        words, ends = self.words, [*self.starts[1:].tolist(), len(self.sizes)]
        by_group = []
        for start, end in zip(self.starts.tolist(), ends, strict=True):
            places: dict[int, int] = {}
            every, at, spans = 0, 0, []
            for reference in words[start:end]:
                spans.append((at, len(reference)))
                every |= ((1 << len(reference)) - 1) << at
                for word in reference:
                    places[word] = places.get(word, 0) | 1 << at
                    at += 1
                at += 1  # between two references, where what is carried over ends
            by_group.append((places, every, spans))
        return by_group

    def rouge_l(self, captions: TokenizedCaptions) -> list[float]:
        """Return ROUGE-L of one caption per row: the best precision with the best recall."""
        scores = []
        # Subsequences have a bit per place (Hyyro, 2004, "Bit-parallel LCS-length computation").
        rows = zip(captions.words, self._places_of_words, strict=True)
        for words, (places, every, spans) in rows:
            free = every
            for word in words:
                if match := free & places.get(word, 0):
                    free = (free + match | free - match) & every
            common = [size - (free >> first & (1 << size) - 1).bit_count() for first, size in spans]
            precision = max(common) / len(words)
            recall = max(n / size for n, (_, size) in zip(common, spans, strict=True))
            total = recall + _BETA**2 * precision
            scores.append(((1 + _BETA**2) * precision * recall) / total if total else 0.0)
        return scores


class Numbered:
    """References and captions that a run has numbered; when too many, it starts again.

    Without it, a default run takes a twelfth longer (`benchmarks/run.py`).
    """

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._vocabulary = Vocabulary()
        self._captions: dict[tuple[str, ...], TokenizedCaptions] = {}
        self._references: dict[tuple[tuple[str, ...], ...], TokenizedReferences] = {}
        self._room = MOST_TOKENS

    def texts(
        self, references: Iterable[Sequence[str]], captions: Iterable[Sequence[str]]
    ) -> tuple[TokenizedReferences, TokenizedCaptions]:
        """Return the references and the only caption of each row, with the same numbers."""
        if self._room < 0:
            self._restart()
        of_rows = tuple(map(tuple, references))
        if of_rows not in self._references:
            rows = np.repeat(np.arange(len(of_rows)), list(map(len, of_rows)))
            self._references[of_rows] = self._tokenized(
                TokenizedReferences, list(chain(*of_rows)), rows
            )
        candidates = tuple(chain.from_iterable(captions))
        if candidates not in self._captions:
            rows = np.arange(len(candidates))
            self._captions[candidates] = self._tokenized(TokenizedCaptions, candidates, rows)
        return self._references[of_rows], self._captions[candidates]

    def _tokenized(self, kind: type[_Kind], captions: Sequence[str], rows: Integers) -> _Kind:
        tokenized = kind(captions, rows, self._vocabulary)
        self._room -= int(tokenized.sizes.sum())
        return tokenized
