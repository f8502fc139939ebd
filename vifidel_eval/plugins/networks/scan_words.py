"""Captions as SCAN reads them: NLTK's tokens, and the vocabulary that numbers them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...errors import VifidelError
from ...io.files import read_json
from ..pytorch import load_libraries

#: What needs NLTK and PyTorch, and the extra that installs them.
NEEDED_BY = "TIGEr"

#: Words of the vocabulary that captions do not have.
START, END, UNKNOWN = "<start>", "<end>", "<unk>"
# The first words of every vocabulary of SCAN, from number 0 on.
_FIRST = ("<pad>", START, END, UNKNOWN)


class Tokenizer:
    """NLTK's ``word_tokenize`` on lower-case captions; punctuation and contractions are tokens.

    Where NLTK's data for finding sentences (punkt) is not installed, a caption counts as one
    sentence, and the full stop of an earlier one stays on its word, which is then unknown.

    Attributes
    ----------
    name : str
        ``"nltk-punkt"`` or ``"nltk-line"``, for signatures.

    Raises
    ------
    MetricUnavailable
        If NLTK, or the PyTorch that TIGEr needs as well, is not installed.
    """

    def __init__(self) -> None:
        # PyTorch too, so that one sentence names all that is not installed.
        _, self._nltk = load_libraries(NEEDED_BY, {"PyTorch": "torch", "NLTK": "nltk.tokenize"})
        try:
            self._nltk.sent_tokenize("a")
            self._one_sentence = False
        except LookupError:
            self._one_sentence = True
        self.name = "nltk-line" if self._one_sentence else "nltk-punkt"

    def __call__(self, caption: str) -> list[str]:
        """Return the tokens of a raw caption."""
        tokens: list[str] = self._nltk.word_tokenize(
            caption.lower(), preserve_line=self._one_sentence
        )
        return tokens

    def unsplit(self, tokens: Sequence[str]) -> str | None:
        """Return a token that may be the end of a sentence that was not found."""
        if not self._one_sentence:
            return None
        return next((t for t in tokens[:-1] if t.endswith(".") and t.strip(".")), None)


def read_vocabulary(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read a vocabulary of SCAN: JSON with ``word2idx``, each word's row in the embeddings.

    Returns
    -------
    dict
        Word to number, from 0 on without gaps.

    Raises
    ------
    VifidelError
        If the file cannot be read or is not such a vocabulary.
    """
    content = read_json(path, VifidelError)
    vocabulary = content.get("word2idx") if isinstance(content, dict) else None
    if not isinstance(vocabulary, dict):
        raise VifidelError(f"{path}: no 'word2idx' in it; give SCAN's coco_precomp_vocab.json.")
    lacking = [word for word in _FIRST if word not in vocabulary]
    if lacking:
        raise VifidelError(f"{path}: no word {lacking[0]!r}; give SCAN's coco_precomp_vocab.json.")
    if not all(type(number) is int for number in vocabulary.values()) or sorted(
        vocabulary.values()
    ) != list(range(len(vocabulary))):
        raise VifidelError(
            f"{path}: its words are not numbered from 0 to {len(vocabulary) - 1}; get a fresh copy."
        )
    for number, word in enumerate(_FIRST):
        if vocabulary[word] != number:
            raise VifidelError(
                f"{path}: {word!r} has number {vocabulary[word]} instead of {number}; give SCAN's "
                "coco_precomp_vocab.json."
            )
    return vocabulary
