"""Word vectors: one lookup for all, the embedded default, and how many words are unknown."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..doors.arguments import name_wrong_argument
from ..doors.entry_points import service
from ..errors import VectorsError, warn

EMBEDDED_NAME = "wordllama-l2-supercat-256"  #: what the embedded default calls itself in signatures

_MOST_LISTED = 5_000  # different words that are left of a tally with twice as many
# Above this share of unknown words the scores say little about the captions: warn. Above the other
# one, and from so many words on, they say nothing: refuse.
_MANY_UNKNOWN, _ALMOST_ALL_UNKNOWN, _ENOUGH_TO_REFUSE = 0.1, 0.9, 20
_FINGERPRINT_ROWS = 1000
_BLANK = "\u2581"  # how WordLlama's tokens spell one


@runtime_checkable
class WordVectors(Protocol):
    """Vectors of words, looked up many at a time."""

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        """Return one row per word, (number of words, dimensions); NaN rows for unknown words.

        With `listed_only`, words that would be composed of smaller pieces are unknown too.
        """
        ...

    def signature(self) -> str:
        """Return name and fingerprint, the same wherever the vectors are kept."""
        ...


@runtime_checkable
class GensimVectors(Protocol):
    """gensim's ``KeyedVectors``, which its models have as ``wv``, or what looks like them."""

    @property
    def key_to_index(self) -> Any: ...

    @property
    def vectors(self) -> Any: ...


class OwnVectors:
    """The base of this package's word vectors, whose answers need no check."""


def fingerprint_rows(count: int) -> NDArray[np.int64]:
    """Return which of so many rows `fingerprint` is made of: evenly spaced ones."""
    return np.linspace(0, count - 1, min(count, _FINGERPRINT_ROWS)).astype(int)


def fingerprint(shape: tuple[int, ...], rows: NDArray[Any], words: Sequence[bytes] = ()) -> str:
    """Return eight hexadecimal digits that stand for a shape, some rows and their words."""
    digest = hashlib.sha256(repr(shape).encode() + b"\n".join(words))
    with np.errstate(over="ignore"):
        digest.update(np.ascontiguousarray(rows, dtype="<f4").tobytes())
    return digest.hexdigest()[:8]


@dataclass(frozen=True)
class Tally:
    """How many words were read, and which of them have no vector."""

    words: int
    unknown: Counter[str]  # those without a vector; of very many, the most frequent
    others: int = 0  # how many more have none

    @property
    def without_vector(self) -> int:
        """How many words have no vector."""
        return self.unknown.total() + self.others

    def check_known(self, noun: str, vectors: WordVectors) -> None:
        """Warn if a tenth of a run's words have no vector; raise if nine tenths have none."""
        unknown = self.without_vector
        if unknown <= _MANY_UNKNOWN * self.words:
            return
        examples = ", ".join(word for word, _ in self.unknown.most_common(5))
        share = (
            f"{unknown} of {self.words} words of the {noun} have no vector in "
            f"{vectors.signature()}, such as {examples}"
        )
        if unknown > _ALMOST_ALL_UNKNOWN * self.words and self.words >= _ENOUGH_TO_REFUSE:
            raise VectorsError(
                f"{share}; are these vectors of the {noun}' language, in lower case?"
            )
        warn(f"{share}; they are left out.")

    def __add__(self, other: Tally) -> Tally:
        unknown = self.unknown + other.unknown
        others = self.others + other.others
        if len(unknown) > 2 * _MOST_LISTED:  # a table may have as many as it has rows
            frequent = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LISTED]
            listed = Counter(dict(frequent))
            others += unknown.total() - listed.total()
            unknown = listed
        return Tally(self.words + other.words, unknown, others)


def add_tallies(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Return the sums of tallies by what was read."""
    sums: dict[str, Tally] = {}
    for of_part in tallies:
        for kind, tally in of_part.items():
            sums[kind] = sums.get(kind, Tally(0, Counter())) + tally
    return sums


#: Everything that `load_vectors` takes.
VectorSource: TypeAlias = str | os.PathLike[str] | WordVectors | GensimVectors | None


@name_wrong_argument
def load_vectors(source: VectorSource = None, trust_pickles: bool = False) -> WordVectors:
    """Return word vectors from any accepted source.

    Parameters
    ----------
    source : None, path, str, or gensim KeyedVectors
        None is the embedded default: the 256-dimensional WordLlama token vectors inside the
        ``wordllama`` package, nothing is downloaded. A path is a gensim ``.kv``, word2vec
        ``.bin`` or text, GloVe text, or fastText ``.vec`` or ``.bin`` file, recognised by its
        content; the texts and word2vec's ``.bin`` may be gzipped. A name that is not a file, such
        as ``word2vec-google-news-300``, is downloaded by gensim.
    trust_pickles : bool
        Whether a pickle, such as gensim's ``.kv``, may be read. A pickle can run any code when it
        is read.

    Raises
    ------
    VectorsError
        If the source cannot be read as word vectors, or is a pickle that is not trusted.
    """
    if source is None:
        return _embedded()
    vectors: WordVectors | None = None
    trained = getattr(source, "wv", source)  # of a Word2Vec or FastText model
    if isinstance(source, str | os.PathLike):
        if not os.fspath(source):
            raise VectorsError("vectors: the path is empty; is a variable unset?")
        vectors = service("vectors_of_file")(source, trust_pickles)
    elif isinstance(trained, GensimVectors):
        vectors = service("vectors_of_gensim")(trained)
    if vectors is not None:
        return vectors
    if isinstance(source, WordVectors):
        return source if isinstance(source, OwnVectors) else _Checked(source)
    raise VectorsError(
        f"vectors cannot be {type(source).__name__} {source!r:.40}; accepted: None (the embedded "
        "default), a path, a gensim-downloader name, or gensim KeyedVectors."
    )


class _EmbeddedVectors(OwnVectors):
    """A word is the mean of its WordLlama tokens; importing that would set up the root logger."""

    def __init__(self) -> None:
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            [location] = importlib.util.find_spec("wordllama").submodule_search_locations  # type: ignore
            folder = Path(location)
            weights = load_file(folder / "weights" / "l2_supercat_256.safetensors")
            tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._matrix = weights["embedding.weight"]
        except Exception as problem:  # neither library documents what a damaged file raises
            raise VectorsError(
                f"the embedded word vectors in the wordllama package cannot be read ({problem}); "
                "reinstall it (pip install wordllama), or give other vectors."
            ) from None
        rows = self._matrix[fingerprint_rows(len(self._matrix))]
        self._fingerprint = fingerprint(self._matrix.shape, rows)
        # Characters the tokenizer does not know are spelt in bytes: no meaning to average.
        self._means_something = np.ones(len(self._matrix), dtype=bool)
        spelt = ("<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)))
        numbers = map(self._tokenizer.token_to_id, spelt)
        self._means_something[[number for number in numbers if number is not None]] = False

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        if listed_only or not words:
            return np.full((len(words), self._matrix.shape[1]), np.nan)
        tokens, of_token = self._tokens(words)
        sizes = np.bincount(of_token, minlength=len(words))
        starts = np.cumsum(sizes) - sizes
        # Token after token, in their order; `np.add.reduceat` is several times slower.
        first = np.append(tokens, 0)[starts]  # a word without a token takes what comes next
        rows: NDArray[np.float64] = self._matrix[first].astype(np.float64)
        for place in range(1, int(sizes.max())):
            longer = np.flatnonzero(sizes > place)
            rows[longer] += self._matrix[tokens[starts[longer] + place]]
        rows /= np.maximum(sizes, 1)[:, None]
        rows[sizes == 0] = np.nan
        rows[of_token[~self._means_something[tokens]]] = np.nan
        return rows

    def _tokens(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tokens of all words, and which word each one belongs to."""
        # One call for all words; as one text, it starts no threads.
        together = "".join(words)
        if together.isascii() and together.isalnum():
            encoded = self._tokenizer.encode(" ".join(words), add_special_tokens=False)
            begins = [token.startswith(_BLANK) for token in encoded.tokens]
            # No token goes on after a blank, so that the words are cut as each is alone.
            if sum(begins) == len(words) and all(words):
                return np.array(encoded.ids, dtype=np.int64), np.cumsum(begins) - 1
        readable = list(words)
        if not together.isascii():
            readable = [word if has_utf8(word) else "" for word in words]
        encoded = self._tokenizer.encode(readable, is_pretokenized=True, add_special_tokens=False)
        return np.array(encoded.ids, dtype=np.int64), np.array(encoded.word_ids, dtype=np.int64)

    def signature(self) -> str:
        return f"{EMBEDDED_NAME}#{self._fingerprint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return load_vectors, ()


_embedded = cache(_EmbeddedVectors)


class _Checked(OwnVectors):
    """Vectors of somebody else's class, whose every answer is checked."""

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors
        self._dimensions = 0
        self._dimensions = self.lookup(()).shape[1]

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.asarray(self._vectors.lookup(words, listed_only=listed_only))
        dimensions = self._dimensions or (rows.shape[1] if rows.ndim == 2 else 0)
        is_real = rows.dtype.kind in "fiu" and dimensions > 0
        if not is_real or rows.shape != (len(words), dimensions):
            raise VectorsError(
                f"{type(self._vectors).__name__}.lookup returned an array of shape {rows.shape} "
                f"and type {rows.dtype} for {len(words)} words; expected shape "
                f"({len(words)}, {self._dimensions or 'dimensions'}) and real numbers."
            )
        return rows.astype(np.float64, copy=False)

    def signature(self) -> str:
        return str(self._vectors.signature())


def has_utf8(word: str) -> bool:
    """Return whether a word has no lone surrogate, which libraries cannot take."""
    return not any("\ud800" <= character <= "\udfff" for character in word)
