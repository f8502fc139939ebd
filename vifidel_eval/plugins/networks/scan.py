"""SCAN's encoders (Lee et al., 2018) and how they ground image regions in a caption's words.

The vectors of an image's regions and of a caption's words, `<start>` and `<end>` among them, lie
in one space. Each region attends to the words that are like it; how well it is grounded in the
caption is the cosine between its vector and the mean of the words that it attends to. This is
what TIGEr's published program reads from a checkpoint of SCAN; `docs/tiger.md` says where that
differs from the papers.

PyTorch does the work and is loaded when first used.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ..pytorch import (
    check_weights,
    find_device,
    length_sorted,
    load_torch,
    read_checkpoint,
)
from .scan_words import END, NEEDED_BY, START, UNKNOWN, read_vocabulary

_REMEDY = "get SCAN's model_best.pth (docs/tiger.md says where)"

# As the published program has them.
_ATTENTION = 9.0  # lambda: how sharply a region attends to the words that are most like it
_NEGATIVE_SLOPE = 0.1
_EPSILON = 1e-8

# What is computed at once: bounds memory.
_TOKENS = 1024
_IMAGES = 32


class Scan:
    """SCAN's encoders with the weights of a checkpoint.

    The encoders compute in double precision, so that the batch, the machine and the number of
    threads leave no trace in the first ten digits of a score. The published program computes in
    single precision: its scores differ by some 1e-8.

    Parameters
    ----------
    checkpoint : path
        ``model_best.pth``: ``model`` in it is a list of two state dicts, of the image encoder
        and of the text encoder.
    vocabulary : path
        As `read_vocabulary` takes it.
    device : str, optional
        Where to compute, as PyTorch calls it; by default the processor.

    Attributes
    ----------
    width : int
        How many numbers a region's features have.
    vocabulary : dict
        Word to number.
    digests : dict
        What was read to the first eight digits of its SHA-256.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If a file cannot be read, is damaged or something else, or they do not fit together.
    """

    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        device: str | None = None,
    ) -> None:
        self._torch = torch = load_torch(NEEDED_BY)
        self._device = find_device(torch, device, double=True)
        self.vocabulary = read_vocabulary(vocabulary)
        # Its training options are an argparse.Namespace; nothing of them is used.
        content, digest = read_checkpoint(
            torch, checkpoint, "SCAN checkpoint", _REMEDY, [argparse.Namespace]
        )
        image, text = _state_dicts(torch, content, str(checkpoint))
        words, word_size = text["embed.weight"].shape
        if words != len(self.vocabulary):
            raise VifidelError(
                f"{checkpoint}: embeddings of {words} words, but {vocabulary} has "
                f"{len(self.vocabulary)}; give the vocabulary that the checkpoint was trained with."
            )
        size, self.width = image["fc.weight"].shape
        with torch.device("meta"):  # no memory and no random numbers before the weights come
            self._image = torch.nn.Linear(self.width, size)
            self._embedding = torch.nn.Embedding(words, word_size)
            self._gru = torch.nn.GRU(word_size, size, batch_first=True, bidirectional=True)
        self._load(self._image, image, "fc.")
        self._load(self._embedding, text, "embed.")
        self._load(self._gru, text, "rnn.")
        listed = "\n".join(sorted(self.vocabulary, key=self.vocabulary.__getitem__))
        self.digests = {
            "checkpoint": digest[:8],
            "vocabulary": hashlib.sha256(listed.encode(errors="replace")).hexdigest()[:8],
        }

    def _load(self, module: Any, weights: Mapping[str, Any], prefix: str) -> None:
        own = {
            name.removeprefix(prefix): weight.double()
            for name, weight in weights.items()
            if name.startswith(prefix)
        }
        module.load_state_dict(own, assign=True)
        module.to(self._device)

    def tokens(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of a caption's words, its start and its end.

        Parameters
        ----------
        words : sequence of str
            As `Tokenizer` returns them.
        """
        unknown = self.vocabulary[UNKNOWN]
        known = [self.vocabulary.get(word, unknown) for word in words]
        return [self.vocabulary[START], *known, self.vocabulary[END]]

    def regions(self, features: Sequence[NDArray[np.float32]]) -> list[Any]:
        """Return the vectors of images' regions.

        Parameters
        ----------
        features : sequence of (regions, width) float32
            Each image's, not normalised.

        Returns
        -------
        list of (regions, size) tensor
            Of length 1 each. In single precision, as the published program keeps them, and in
            the processor's memory.
        """
        torch = self._torch
        encoded: list[Any] = []
        with torch.inference_mode():
            for start in range(0, len(features), _IMAGES):
                some = features[start : start + _IMAGES]
                stacked = torch.from_numpy(np.concatenate(some)).to(self._device).double()
                vectors = self._normalised(self._image(stacked)).float().cpu()
                # Copies: a part of the whole would keep all of it.
                encoded += [part.clone() for part in vectors.split([len(f) for f in some])]
        return encoded

    def words(self, captions: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Return the vectors of captions' words.

        Parameters
        ----------
        captions : sequence of sequence of int
            As `tokens` returns them.

        Returns
        -------
        vectors : (captions, longest, size) float64 tensor
            Of length 1 each; 0 after the end of a caption.
        is_word : (captions, longest) bool tensor
        """
        torch = self._torch
        lengths = torch.tensor([len(caption) for caption in captions])
        padded = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(caption) for caption in captions], batch_first=True
        )
        with torch.inference_mode():
            # Packed: the backward direction starts at each caption's own end.
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                self._embedding(padded.to(self._device)),
                lengths,
                batch_first=True,
                enforce_sorted=False,
            )
            states, _ = torch.nn.utils.rnn.pad_packed_sequence(
                self._gru(packed)[0], batch_first=True
            )
            forward, backward = states.chunk(2, dim=2)
            vectors = self._normalised((forward + backward) / 2)
            is_word = torch.arange(vectors.shape[1]) < lengths[:, None]
        return vectors, is_word.to(self._device)

    def groundings(
        self, regions: Sequence[Any], captions: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float64]]:
        """Return how well each region is grounded in a caption.

        Parameters
        ----------
        regions : sequence of (regions, size) tensor
            The regions of each caption's image, as `regions` returns them.
        captions : sequence of sequence of str
            The words of each caption.

        Returns
        -------
        list of (regions,) float64
            Cosines, from -1 to 1.
        """
        torch = self._torch
        tokens = [self.tokens(caption) for caption in captions]
        found: list[Any] = [None] * len(captions)
        for batch in length_sorted([len(caption) for caption in tokens], _TOKENS):
            words, is_word = self.words([tokens[at] for at in batch])
            # Regions of zeros, where other images have more, change nothing.
            padded = torch.nn.utils.rnn.pad_sequence(
                [regions[at] for at in batch], batch_first=True
            )
            grounded = ground(torch, padded.to(self._device).double(), words, is_word).cpu()
            for at, row in zip(batch, grounded.numpy(), strict=True):
                found[at] = row[: len(regions[at])].copy()
        return found

    def _normalised(self, vectors: Any) -> Any:
        return vectors / (vectors.norm(dim=-1, keepdim=True) + _EPSILON)


def ground(torch: ModuleType, regions: Any, words: Any, is_word: Any) -> Any:
    """Return the cosine between each region and the words that it attends to.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    regions : (captions, regions, size) float64 tensor
    words : (captions, words, size) float64 tensor
    is_word : (captions, words) bool tensor

    Returns
    -------
    (captions, regions) float64 tensor
    """
    with torch.inference_mode():
        cosines = regions @ words.mT
        clipped = torch.nn.functional.leaky_relu(cosines, _NEGATIVE_SLOPE)
        # Of each word over the regions, not of each region over the words.
        scaled = clipped / (clipped.norm(dim=1, keepdim=True) + _EPSILON)
        logits = (_ATTENTION * scaled).masked_fill(~is_word[:, None], -np.inf)
        attended = logits.softmax(dim=2) @ words
        norms = regions.norm(dim=2) * attended.norm(dim=2)
        return (regions * attended).sum(dim=2) / norms.clamp(min=_EPSILON)


def _state_dicts(
    torch: ModuleType, content: Any, where: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the checked weights of the image encoder and of the text encoder."""
    model = content.get("model") if isinstance(content, Mapping) else None
    if (
        not isinstance(model, list | tuple)
        or len(model) != 2
        or not all(isinstance(part, Mapping) for part in model)
    ):
        raise VifidelError(
            f"{where}: not a SCAN checkpoint, which has a list of two state dicts under 'model'; "
            f"{_REMEDY}."
        )
    image, text = model
    if "fc.weight_g" in image:
        raise VifidelError(
            f"{where}: its image encoder is weight-normalised, which TIGEr does not use and this "
            f"package does not support; {_REMEDY}."
        )
    # Every size follows from three tensors; all others must agree with them.
    first = {"fc.weight": image, "embed.weight": text, "rnn.weight_hh_l0": text}
    sizes = {}
    for name, part in first.items():
        if getattr(part.get(name), "ndim", None) != 2:
            raise VifidelError(f"{where}: no matrix {name} in it; {_REMEDY}.")
        sizes[name] = part[name].shape
    size, width = sizes["fc.weight"]
    words, word_size = sizes["embed.weight"]
    hidden = sizes["rnn.weight_hh_l0"][1]
    if hidden != size:
        raise VifidelError(
            f"{where}: words of {hidden} numbers but regions of {size}; the encoders do not belong "
            f"together; {_REMEDY}."
        )
    of_image = {"fc.weight": (size, width), "fc.bias": (size,)}
    of_text: dict[str, tuple[int, ...]] = {"embed.weight": (words, word_size)}
    for direction in ("", "_reverse"):
        of_text |= {
            f"rnn.weight_ih_l0{direction}": (3 * size, word_size),
            f"rnn.weight_hh_l0{direction}": (3 * size, size),
            f"rnn.bias_ih_l0{direction}": (3 * size,),
            f"rnn.bias_hh_l0{direction}": (3 * size,),
        }
    for part, shapes in ((image, of_image), (text, of_text)):
        check_weights(torch, part, shapes, where, _REMEDY)
        more = [name for name in part if name not in shapes]
        if more:  # another network, such as a GRU of two layers
            raise VifidelError(f"{where}: {more[0]} has no place in SCAN's encoders; {_REMEDY}.")
    return image, text
