"""Word vectors: the embedded default and everything gensim holds, behind one lookup."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import VectorsError

#: What the embedded default calls itself in signatures.
EMBEDDED_NAME = "wordllama-l2-supercat-256"

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)  # first bytes of a native fastText model
_FINGERPRINT_ROWS = 1000


class WordVectors(Protocol):
    """Vectors of words, looked up many at a time."""

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        """Return one row a word, (number of words, dimensions); NaN rows for unknown words.

        With `listed_only`, words that would be composed of smaller pieces are unknown too.
        """
        ...

    def signature(self) -> str:
        """Return name and fingerprint, the same wherever the vectors are kept."""
        ...


def load_vectors(source: Any = None) -> WordVectors:
    """Return word vectors from any accepted source.

    Parameters
    ----------
    source : None, path, str, or gensim KeyedVectors
        None is the embedded default: the 256-dimensional WordLlama token vectors inside the
        ``wordllama`` package, nothing is downloaded. A path is a gensim ``.kv``, word2vec
        ``.bin`` or text, GloVe text, or fastText ``.vec`` or ``.bin`` file, recognised by its
        content; gzip where gensim reads it. A name that is no file, such as
        ``word2vec-google-news-300``, is fetched by gensim's downloader.

    Raises
    ------
    VectorsError
        If the source cannot be read as word vectors.
    """
    if source is None:
        return _EmbeddedVectors()
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.exists() or path.suffix or len(path.parts) != 1:
            return _KeyedVectors(_read_file(path), path.name)
        return _KeyedVectors(_download(str(source)), str(source))
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _KeyedVectors(source, "KeyedVectors")
    if hasattr(source, "lookup") and hasattr(source, "signature"):
        return source  # type: ignore[no-any-return]
    raise VectorsError(
        f"vectors cannot be {type(source).__name__} {source!r:.40}; accepted: None (the embedded "
        "default), a path, a gensim-downloader name, or gensim KeyedVectors."
    )


class _EmbeddedVectors:
    """A word is the mean of the vectors of its WordLlama tokens.

    The package's two data files are read directly: importing ``wordllama`` would configure the
    root logger and load an HTTP client.
    """

    def __init__(self) -> None:
        found = importlib.util.find_spec("wordllama")
        if found is None or found.origin is None:
            raise VectorsError(
                "the embedded word vectors are missing: pip install wordllama, or give vectors."
            )
        folder = Path(found.origin).parent
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            weights = load_file(folder / "weights" / "l2_supercat_256.safetensors")
            tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._matrix = weights["embedding.weight"]
        except Exception as problem:  # neither library documents what a damaged file raises
            raise VectorsError(
                f"the embedded word vectors in the wordllama package cannot be read ({problem}); "
                "install wordllama again."
            ) from None
        # Characters the tokenizer does not know are spelt in bytes: no meaning to average.
        self._meaningless = {
            number
            for token, number in self._tokenizer.get_vocab().items()
            if token in ("<unk>", "<s>", "</s>") or token.startswith("<0x")
        }

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self._matrix.shape[1]), np.nan)
        if listed_only:
            return rows
        for row, word in zip(rows, words, strict=True):
            tokens = self._tokenizer.encode(word, add_special_tokens=False).ids
            if tokens and self._meaningless.isdisjoint(tokens):
                row[:] = self._matrix[tokens].astype(np.float64).mean(axis=0)
        return rows

    def signature(self) -> str:
        return f"{EMBEDDED_NAME}#{_fingerprint([], self._matrix)}"


class _KeyedVectors:
    """gensim's KeyedVectors; a fastText model also composes words that it does not list."""

    def __init__(self, keyed_vectors: Any, name: str) -> None:
        self._vectors = keyed_vectors
        self._name = name
        if len(keyed_vectors.key_to_index) == 0:
            raise VectorsError(f"{name}: the word vectors hold no word.")

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self._vectors.vector_size), np.nan)
        vocabulary = self._vectors.key_to_index if listed_only else self._vectors
        for row, word in zip(rows, words, strict=True):
            if word in vocabulary:
                row[:] = self._vectors.get_vector(word)
        return rows

    def signature(self) -> str:
        words = self._vectors.index_to_key
        return f"{self._name}#{_fingerprint(words, self._vectors.vectors)}"


def _fingerprint(words: Sequence[str], matrix: NDArray[Any]) -> str:
    """Return eight hexadecimal digits that stand for the shape and evenly spaced rows."""
    chosen = np.linspace(0, len(matrix) - 1, min(len(matrix), _FINGERPRINT_ROWS)).astype(int)
    digest = hashlib.sha256(repr(matrix.shape).encode())
    digest.update("\n".join(words[i] for i in chosen if words).encode())
    digest.update(np.ascontiguousarray(matrix[chosen], dtype="<f4").tobytes())
    return digest.hexdigest()[:8]


def _read_file(path: Path) -> Any:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    try:
        start = _first_bytes(path)
        if start.startswith(b"\x80"):  # a pickle, which is what gensim saves
            loaded = KeyedVectors.load(str(path), mmap=None if path.suffix == ".gz" else "r")
            return getattr(loaded, "wv", loaded)
        if start.startswith(_FASTTEXT_MAGIC):
            return load_facebook_vectors(str(path))
        has_header, binary = _word2vec_layout(start, path)
        return KeyedVectors.load_word2vec_format(
            str(path), binary=binary, no_header=not has_header
        )
    except VectorsError:
        raise
    except OSError as problem:
        raise VectorsError(
            f"{path}: {(problem.strerror or str(problem)).lower()}; check the path."
        ) from None
    except Exception as problem:  # gensim raises whatever its parsers meet
        raise VectorsError(
            f"{path}: cannot be read as word vectors ({type(problem).__name__}: {problem}); the "
            "file may be truncated."
        ) from None


def _first_bytes(path: Path) -> bytes:
    with open(path, "rb") as plain:
        start = plain.read(1 << 16)
    if start.startswith(b"\x1f\x8b"):
        with gzip.open(path) as packed:
            start = packed.read(1 << 16)
    return start


def _word2vec_layout(start: bytes, path: Path) -> tuple[bool, bool]:
    """Tell whether a word2vec-like file has a header and whether it is binary.

    Raises
    ------
    VectorsError
        If the first lines are neither ``count size``, nor a word and its numbers.
    """
    first, _, rest = start.partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        second = rest.partition(b"\n")[0].rstrip().split(b" ")
        size = int(fields[1])
        return True, not (len(second) > size and _are_numbers(second[-size:]))
    if len(fields) > 2 and _are_numbers(fields[1:]):
        return False, False
    raise VectorsError(
        f"{path}: not word vectors; accepted: gensim .kv, word2vec .bin or text, GloVe text, "
        "fastText .vec or .bin."
    )


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


def _download(name: str) -> Any:
    import gensim.downloader

    try:
        return gensim.downloader.load(name)
    except Exception as problem:  # urllib, ssl, or an unknown name
        raise VectorsError(
            f"{name!r} is neither a file nor vectors that gensim's downloader can fetch "
            f"({problem}); check the name or give a path."
        ) from None
