"""Word vectors of files and of gensim: word2vec, GloVe, fastText, and what gensim downloads."""

from __future__ import annotations

import contextlib
import importlib
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import VectorsError
from ...io.files import FileRows, open_file, reason, unmapped
from ...project import pip_install
from ...words.word_vectors import (
    GensimVectors,
    OwnVectors,
    WordVectors,
    fingerprint,
    fingerprint_rows,
    has_utf8,
    load_vectors,
)
from .store import open_store

_PICKLE_MAGIC = b"\x80"  # what gensim saves
_FASTTEXT_MAGIC = struct.pack("<i", 793712314)  # first bytes of a native fastText model


class KeyedVectors(OwnVectors):
    """gensim's KeyedVectors; a fastText model also composes words that it does not list."""

    def __init__(
        self, keyed_vectors: Any, name: str = "KeyedVectors", path: Path | None = None
    ) -> None:
        self._vectors = keyed_vectors
        self._name = name
        self._path = path
        index, matrix = keyed_vectors.key_to_index, np.asarray(keyed_vectors.vectors)
        if not isinstance(index, Mapping) or len(index) == 0:
            raise VectorsError(f"{name}: the word vectors hold no word.")
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or not matrix.shape[1]:
            raise VectorsError(
                f"{name}: its vectors are an array of shape {matrix.shape} and type "
                f"{matrix.dtype}; expected a row of real numbers per word."
            )
        try:
            rows = np.fromiter(index.values(), dtype=np.int64, count=len(index))
        except (TypeError, ValueError, OverflowError):
            rows = np.array([-1])
        if rows.min() < 0 or rows.max() >= len(matrix):
            raise VectorsError(
                f"{name}: has {len(index)} words and {len(matrix)} vectors; each word's number "
                "must be the row of its vector."
            )
        # A fastText model has vectors of words that it does not list.
        self._composed = getattr(keyed_vectors, "vectors_ngrams", None) is not None
        self._index = index
        self._matrix: NDArray[Any] | FileRows = matrix
        if isinstance(keyed_vectors.vectors, np.memmap) and not self._composed:  # gensim maps files
            message = f"{name}: the file was truncated while it was in use; start again."
            self._matrix = unmapped(keyed_vectors.vectors, VectorsError, message)

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self._matrix.shape[1]), np.nan)
        for row, word in zip(rows, words, strict=True):
            if word in self._index:
                row[:] = self._matrix[self._index[word]]
            elif (
                self._composed
                and not listed_only
                and has_utf8(word)
                and word in self._vectors  # one too short to have a piece is not
            ):
                row[:] = self._vectors.get_vector(word)
        return rows

    def signature(self) -> str:
        words = getattr(self._vectors, "index_to_key", None)
        if words is None:
            words = {row: word for word, row in self._index.items()}
        chosen = fingerprint_rows(len(self._matrix))
        spelt = [str(words[row]).encode("utf-8", "surrogatepass") for row in chosen.tolist()]
        return f"{self._name}#{fingerprint(self._matrix.shape, self._matrix[chosen], spelt)}"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            return KeyedVectors, (self._vectors, self._name)
        return load_vectors, (str(self._path.absolute()), True)  # it was trusted here


def read_vectors(source: str | os.PathLike[str], trust_pickles: bool = False) -> WordVectors:
    """Return the vectors of a file, or those that gensim downloads by a name."""
    path = Path(source)
    if not os.path.lexists(path) and not path.suffix and len(path.parts) == 1:
        path, trust_pickles = _download(str(source)), False
    with open_file(path, VectorsError) as file:
        try:
            start = file.read(4)
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None
    if start.startswith(_PICKLE_MAGIC) and not trust_pickles:
        raise VectorsError(
            f"{path}: is a pickle, like every .kv of gensim, and a pickle can run any code when "
            "it is read; if you trust its source, add --trust-pickles (trust_pickles=True in "
            "load_vectors), or export it once: "
            "KeyedVectors.load(FILE).save_word2vec_format('vectors.txt')."
        )
    if not start.startswith((_PICKLE_MAGIC, _FASTTEXT_MAGIC)):
        return open_store(path)
    models = _gensim("models", path)
    try:
        if start.startswith(_FASTTEXT_MAGIC):
            load = models.fasttext.load_facebook_vectors
            return KeyedVectors(load(str(path)), path.name, path)
        loaded = models.KeyedVectors.load(str(path), mmap="r")
        if getattr(getattr(loaded, "wv", loaded), "vectors_ngrams", None) is not None:
            loaded = models.KeyedVectors.load(str(path))  # gensim reads more than rows of words
    except Exception as problem:  # gensim raises whatever its parsers meet
        raise VectorsError(
            f"{path}: cannot be read as word vectors ({type(problem).__name__}: {problem}); the "
            "file may be truncated, or a pickle of something else."
        ) from None
    loaded = getattr(loaded, "wv", loaded)
    if not isinstance(loaded, GensimVectors):
        raise VectorsError(f"{path}: a saved {type(loaded).__name__}, not word vectors.")
    return KeyedVectors(loaded, path.name, path)


def _gensim(module: str, source: object) -> Any:
    """Import a module of gensim, which has no wheel for the newest Pythons."""
    try:
        return importlib.import_module(f"gensim.{module}")
    except ImportError:
        raise VectorsError(
            f"{source}: only gensim can read or download it: {pip_install('gensim')}, or give "
            "word vectors as text (word2vec, GloVe, fastText's .vec) or word2vec's .bin."
        ) from None


def _download(name: str) -> Path:
    downloader = _gensim("downloader", name)
    try:
        # Its progress would appear in the middle of what the command prints.
        with contextlib.redirect_stdout(sys.stderr):
            return Path(downloader.load(name, return_path=True))
    except Exception as problem:  # urllib, ssl, or an unknown name
        raise VectorsError(
            f"{name!r} is neither a file nor vectors that gensim can download ({problem}); check "
            "the name or give a path."
        ) from None
