"""BERT's word pieces: captions as the token numbers of a ``vocab.txt``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from ...errors import VifidelError
from ...io.files import read_text

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")

# What BERT base uncased's vocabulary, and no other of its size, makes of a caption.
_PUBLISHED_SIZE = 30522
_PUBLISHED = ("a dog.", [101, 1037, 3899, 1012, 102])


class WordPieces:
    """The tokenizer of BERT base uncased over a vocabulary file.

    Captions are lower-cased, lose their accents, and are split at blanks and punctuation and
    then into the longest pieces that the vocabulary has.

    Parameters
    ----------
    path : path
        One piece per line, whose line number from 0 is its token: BERT's ``vocab.txt``.
    size : int
        The number of tokens that the model knows.

    Attributes
    ----------
    digest : str
        SHA-256 of the pieces in order, hexadecimal.

    Raises
    ------
    VifidelError
        If the file cannot be read or is not the vocabulary of such a model.
    """

    def __init__(self, path: str | os.PathLike[str], size: int) -> None:
        pieces = read_text(path, VifidelError).split("\n")
        if pieces[-1] == "":
            pieces.pop()
        tokens = {piece: token for token, piece in enumerate(pieces)}
        missing = [piece for piece in _SPECIAL if piece not in tokens]
        if missing:
            raise VifidelError(
                f"{path}: not a BERT vocabulary, since it has no {missing[0]}; give the vocab.txt "
                "of bert-base-uncased."
            )
        if len(tokens) < len(pieces):
            twice = next(piece for token, piece in enumerate(pieces) if tokens[piece] != token)
            raise VifidelError(
                f"{path}: the piece {twice!r} appears twice in the vocabulary; get a fresh copy."
            )
        if len(tokens) != size:
            raise VifidelError(
                f"{path}: {len(tokens)} pieces in the vocabulary, but the checkpoint knows "
                f"{size}; give the vocab.txt of bert-base-uncased."
            )
        # Its import takes time, so it waits until it is needed.
        from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

        self._tokenizer = BertWordPieceTokenizer(tokens, lowercase=True)
        self.digest = hashlib.sha256("\n".join(pieces).encode()).hexdigest()
        caption, expected = _PUBLISHED
        found = self.tokens([caption])[0]
        if size == _PUBLISHED_SIZE and found != expected:
            raise VifidelError(
                f"{path}: {caption!r} gets the tokens {found} instead of {expected}; give the "
                "vocab.txt of bert-base-uncased."
            )

    def tokens(self, captions: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each caption between ``[CLS]`` and ``[SEP]``."""
        # Lower case first, as published: "[SEP]" in a caption is then no special token.
        # JSON can spell a lone surrogate, UTF-8 cannot.
        texts = [caption.lower().encode(errors="replace").decode() for caption in captions]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
