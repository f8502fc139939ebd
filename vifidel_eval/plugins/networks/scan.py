"""SCAN's encoders (Lee et al., 2018) and how they ground image regions in a caption's words.

The vectors of an image's regions and of a caption's words, `<start>` and `<end>` among them, lie
in one space. How well a region is grounded in the caption is the cosine between its vector and
the mean of the words that it attends to. `docs/metrics.md` says where that differs from the papers.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from nltk.tokenize import sent_tokenize, word_tokenize  # type: ignore[import-untyped]
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils import rnn

from ...errors import VifidelError
from ...io.files import read_json
from ..pytorch import find_device, length_sorted, load_weights, read_checkpoint
from .regions import Regions

_REMEDY = "get SCAN's model_best.pth (docs/metrics.md says where)"

# The first words of every vocabulary of SCAN, from number 0 on, which captions do not have.
_FIRST = ["<pad>", "<start>", "<end>", "<unk>"]
_START, _END, _UNKNOWN = 1, 2, 3

# As the published program has them.
_ATTENTION = 9.0  # lambda: how sharply a region attends to the words that are most like it
_NEGATIVE_SLOPE = 0.1
_EPSILON = 1e-8

# What is computed at once: bounds memory.
_TOKENS = 1024
_IMAGES = 32


class Tokenizer:
    """NLTK's ``word_tokenize`` on lower-case captions; its `name` is for signatures.

    Without the data punkt a caption is one sentence; the full stop of another stays on its word.
    """

    def __init__(self) -> None:
        try:
            sent_tokenize("a")
            self._one_sentence = False
        except LookupError:
            self._one_sentence = True
        self.name = "nltk-line" if self._one_sentence else "nltk-punkt"

    def __call__(self, caption: str) -> list[str]:
        """Return the tokens of a raw caption."""
        tokens: list[str] = word_tokenize(caption.lower(), preserve_line=self._one_sentence)
        return tokens

    def unsplit(self, captions: Iterable[str]) -> str | None:
        """Return a token of a caption that may be the end of a sentence that was not found."""
        if not self._one_sentence:
            return None
        tokens = (token for caption in captions for token in self(caption)[:-1])
        return next((token for token in tokens if token.endswith(".") and token.strip(".")), None)


def read_vocabulary(path: str | os.PathLike[str]) -> dict[str, int]:
    """Return each word's row in the embeddings, from SCAN's JSON with ``word2idx``."""
    content = read_json(path, VifidelError)
    numbers = content.get("word2idx") if isinstance(content, dict) else None
    if isinstance(numbers, dict) and all(type(number) is int for number in numbers.values()):
        in_order = sorted(numbers, key=numbers.__getitem__)
        if in_order[:4] == _FIRST and list(map(numbers.get, in_order)) == list(range(len(numbers))):
            return numbers
    raise VifidelError(
        f"{path}: no 'word2idx' in it that numbers words from 0 on, first {', '.join(_FIRST)}; "
        "give SCAN's coco_precomp_vocab.json."
    )


class Scan:
    """SCAN's encoders in double precision: batch and machine leave no trace in ten digits."""

    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        device: str | None = None,
    ) -> None:
        self._device = find_device(device, double=True)
        self.vocabulary = read_vocabulary(vocabulary)
        # Its training options are an argparse.Namespace; nothing of them is used.
        content, digest = read_checkpoint(
            checkpoint, "SCAN checkpoint", _REMEDY, [argparse.Namespace]
        )
        try:
            image, text = content["model"]
            # Every size follows from two tensors; all others must agree with them.
            (size, width), (words, word_size) = image["fc.weight"].shape, text["embed.weight"].shape
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise VifidelError(
                f"{checkpoint}: not a SCAN checkpoint, which has two state dicts under 'model', "
                f"with matrices fc.weight and embed.weight; {_REMEDY}."
            ) from None
        with torch.device("meta"):  # no memory and no random numbers before the weights come
            gru = nn.GRU(word_size, size, batch_first=True, bidirectional=True)
            networks = [
                (nn.ModuleDict({"fc": nn.Linear(width, size)}), image),
                (nn.ModuleDict({"embed": nn.Embedding(words, word_size), "rnn": gru}), text),
            ]
        for network, part in networks:
            if surplus := part.keys() - network.state_dict().keys():  # as a GRU of two layers has
                raise VifidelError(
                    f"{checkpoint}: {min(surplus)} has no place in SCAN's encoders; {_REMEDY}."
                )
        if words != len(self.vocabulary):
            raise VifidelError(
                f"{checkpoint}: embeddings of {words} words, but {vocabulary} has "
                f"{len(self.vocabulary)}; give the vocabulary that the checkpoint was trained with."
            )
        image, text = (
            load_weights(network, part, str(checkpoint), _REMEDY, self._device, torch.float64)
            for network, part in networks
        )
        self._image, self._embedding, self._gru = image["fc"], text["embed"], text["rnn"]
        self.width = self._image.in_features
        listed = "\n".join(sorted(self.vocabulary, key=self.vocabulary.__getitem__))
        self.digests = {
            "checkpoint": digest[:8],
            "vocabulary": hashlib.sha256(listed.encode(errors="replace")).hexdigest()[:8],
        }

    def tokens(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of a caption's words, as `Tokenizer` finds them, and of its ends."""
        return [_START, *(self.vocabulary.get(word, _UNKNOWN) for word in words), _END]

    def regions(self, images: Sequence[Regions]) -> list[Any]:
        """Return the vectors of images' regions, (regions, size) float32 each, of length 1."""
        encoded: list[Any] = []
        with torch.inference_mode():
            for start in range(0, len(images), _IMAGES):
                some = [image.features for image in images[start : start + _IMAGES]]
                stacked = torch.from_numpy(np.concatenate(some)).to(self._device).double()
                vectors = _normalised(self._image(stacked)).float().cpu()
                # Copies: a part of the whole would keep all of it.
                encoded += [part.clone() for part in vectors.split([len(f) for f in some])]
        return encoded

    def words(self, captions: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Return the vectors of captions' words, (captions, longest, size), and where words are."""
        lengths = torch.tensor([len(caption) for caption in captions])
        padded = rnn.pad_sequence([torch.tensor(caption) for caption in captions], batch_first=True)
        with torch.inference_mode():
            embedded = self._embedding(padded.to(self._device))
            # Packed: the backward direction starts at each caption's own end.
            packed = rnn.pack_padded_sequence(
                embedded, lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = rnn.pad_packed_sequence(self._gru(packed)[0], batch_first=True)
            forward, backward = states.chunk(2, dim=2)
            vectors = _normalised((forward + backward) / 2)
            is_word = torch.arange(vectors.shape[1]) < lengths[:, None]
        return vectors, is_word.to(self._device)

    def groundings(
        self, regions: Sequence[Any], captions: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float64]]:
        """Return how well the regions of its image are grounded in a caption: (regions,) each."""
        tokens = [self.tokens(caption) for caption in captions]
        vectors: list[Any] = [None] * len(captions)
        for batch in length_sorted([len(caption) for caption in tokens], _TOKENS):
            words, is_word = self.words([tokens[at] for at in batch])
            # Regions of zeros, where other images have more, change nothing.
            padded = rnn.pad_sequence([regions[at] for at in batch], batch_first=True)
            grounded = ground(padded.to(self._device).double(), words, is_word).cpu()
            for at, row in zip(batch, grounded.numpy(), strict=True):
                vectors[at] = row[: len(regions[at])].copy()
        return vectors


def _normalised(vectors: Any) -> Any:
    return vectors / (vectors.norm(dim=-1, keepdim=True) + _EPSILON)


def ground(regions: Any, words: Any, is_word: Any) -> Any:
    """Return the cosine of each region and the words that it attends to: (captions, regions)."""
    with torch.inference_mode():
        cosines = regions @ words.mT
        clipped = torch.nn.functional.leaky_relu(cosines, _NEGATIVE_SLOPE)
        # Of each word over the regions, not of each region over the words.
        scaled = clipped / (clipped.norm(dim=1, keepdim=True) + _EPSILON)
        logits = (_ATTENTION * scaled).masked_fill(~is_word[:, None], -np.inf)
        attended = logits.softmax(dim=2) @ words
        norms = regions.norm(dim=2) * attended.norm(dim=2)
        return (regions * attended).sum(dim=2) / norms.clamp(min=_EPSILON)
