"""ViLBERTScore: a caption's words against the references' words, all in the light of the image."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import Rows
from ...doors.arguments import Option, constructor
from ...errors import VifidelError
from ...evaluation import Column, Evaluation, evaluations_of
from ...io.files import read_text
from ...io.image_ids import ImageId
from ...scorers.base import Progress, Scorer
from ...scorers.record import LEE_2020, Metric
from ...scorers.registry import register
from ...words.settings import DEVICE
from ..pytorch import PickledArguments, find_device, length_sorted, load_libraries
from . import MOST_TOKENS
from .regions import BoundedCache, FeatureSource, Floats32, ImageSide, read_boxed_regions

# How many captions' images are in memory at once, beside those that are kept.
_CAPTIONS_AT_ONCE = 64
# Tokens and regions of a batch.
_BATCH = 2048
# Up to so many bytes of images and of captions are kept for the next system: 2 500 images of 100
# regions and 50 000 captions of 12 tokens. What does not fit is read and encoded again.
_IMAGE_BYTES, _CAPTION_BYTES = 1 << 30, 1 << 31

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
# What BERT base uncased's vocabulary, and no other of its size, makes of a caption.
_PUBLISHED_SIZE = 30522
_PUBLISHED = ("a dog.", [101, 1037, 3899, 1012, 102])

_Pair = tuple[ImageId, str]  # an image, as the features call it, and a caption


class WordPieces:
    """The tokenizer of BERT base uncased over its ``vocab.txt`` of `size` pieces, one per line."""

    def __init__(self, path: str | os.PathLike[str], size: int) -> None:
        # Its import takes time, so it waits until it is needed.
        from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

        text = read_text(path, VifidelError).removesuffix("\n")
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        tokens = {piece: token for token, piece in enumerate(text.split("\n"))}
        problem = ""
        if missing := [piece for piece in _SPECIAL if piece not in tokens]:
            problem = f"not a BERT vocabulary, because it has no {missing[0]}"
        elif len(tokens) != size:
            problem = f"{len(tokens)} pieces in the vocabulary, but the checkpoint knows {size}"
        else:
            self._tokenizer = BertWordPieceTokenizer(tokens, lowercase=True)
            caption, expected = _PUBLISHED
            (first,) = self.tokens([caption])
            if size == _PUBLISHED_SIZE and first != expected:
                problem = f"{caption!r} gets the tokens {first} instead of {expected}"
        if problem:
            raise VifidelError(f"{path}: {problem}; give the vocab.txt of bert-base-uncased.")

    def tokens(self, captions: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each caption between ``[CLS]`` and ``[SEP]``."""
        # Lower case first, as published: "[SEP]" in a caption is then no special token.
        # JSON can spell a lone surrogate, UTF-8 cannot.
        texts = [caption.lower().encode(errors="replace").decode() for caption in captions]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]


class ViLBERTScore(PickledArguments, Scorer):
    """ViLBERTScore (Lee et al., Eval4NLP 2020), as its published program computes it.

    A candidate and each reference are encoded by ViLBERT with the same image; every word of the
    one is matched with the most similar word of the other by the cosine of their states. P is
    the mean over the candidate's words, R over the reference's, F their harmonic mean. With
    several references each is the mean over them. As one number it is F.

    Captions are meant to be given as written: without their punctuation they have other words.
    Beyond 37 tokens the rest of a caption does not count. An empty caption is compared as the
    token that tells the model its task.

    Parameters
    ----------
    checkpoint : path
        ``multi_task_model.bin`` of ``vilbert-multi-task``. With ``pretrained_model.bin``, for
        which the published program fails, the rule is inferred, and the signature says so.
    vocabulary : path
        The ``vocab.txt`` of ``bert-base-uncased``.
    features : path, mapping, or Features
        The regions of the images, as `vifidel_eval.plugins.networks.regions.read_boxed_regions`
        takes them.
    layer : int
        The co-attention block after which states are compared, from 0; negative from the last.
    device : str, optional
        Where PyTorch computes, e.g. ``"cuda"``; by default the processor.
    config : path, optional
        The JSON configuration of a checkpoint that has other sizes than the published ones.

    Without PyTorch that is a `MetricUnavailable`; a file that is missing, damaged, or does not
    belong to the others is a `VifidelError`.
    """

    columns = (Column("ViLBERTScore-P"), Column("ViLBERTScore-R"), Column("ViLBERTScore-F"))

    @constructor
    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        features: FeatureSource,
        layer: int = -1,
        device: str | None = None,
        config: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        load_libraries("ViLBERTScore", {"PyTorch": "torch"})
        from .vilbert import Architecture, Vilbert, read_architecture

        place = find_device(device)
        source = read_boxed_regions(features)
        self._sizes = Architecture() if config is None else read_architecture(config)
        self._pieces = WordPieces(vocabulary, self._sizes.vocab_size)
        self._encoder = Vilbert(checkpoint, self._sizes, layer, place)
        encode = partial(map, self._encoder.image_states)
        self._images = ImageSide(
            source, self._sizes.v_feature_size, encode, BoundedCache(_IMAGE_BYTES)
        )
        self._captions = BoundedCache(_CAPTION_BYTES)  # by image and caption

    def method(self) -> str:
        return "ViLBERTScore"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        config = self._sizes.digest
        return self._pinned(
            f"checkpoint:{self._encoder.digest[:8]}",
            *["rule:inferred"] * (not self._encoder.has_tasks),
            *[f"config:{config[:8]}"] * bool(config),
            f"vocabulary:{self._pieces.digest[:8]}",
            f"layer:{self._encoder.layer}",
            f"features:{self._images.signature(image_ids)}",
            package="torch",
            splitter="tokenizers",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        self._images.find(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        images = self._images.described(rows, self.method())
        scores = np.empty((len(rows), len(self.columns)))
        for start in range(0, len(rows), _CAPTIONS_AT_ONCE):
            chosen = range(len(rows))[start : start + _CAPTIONS_AT_ONCE]
            of_candidates = [(images[at], rows.captions[at]) for at in chosen]
            of_references = [[(images[at], text) for text in rows.references[at]] for at in chosen]
            # Apart, so that a reference's states do not depend on the candidates.
            encoded = partial(self._encoded, {})
            states = self._captions.complete(chain.from_iterable(of_references), encoded)
            missing = [pair for pair in of_candidates if pair not in states]
            states |= self._captions.complete(missing, encoded)
            for at, candidate, pairs in zip(chosen, of_candidates, of_references, strict=True):
                matched = [greedy_matching(states[candidate], states[pair]) for pair in pairs]
                scores[at] = np.mean(matched, axis=0)
            on_progress(len(chosen))
        return evaluations_of(self.columns, rows.ids, scores)

    def _encoded(self, images: dict[ImageId, Any], pairs: Sequence[_Pair]) -> dict[_Pair, Floats32]:
        """Return the states of captions with their images, some of which may be encoded already."""
        images |= self._images.encoded(image for image, _ in pairs if image not in images)
        tokens = [t[:MOST_TOKENS] for t in self._pieces.tokens([text for _, text in pairs])]
        lengths = [
            len(of_caption) + len(images[image])
            for of_caption, (image, _) in zip(tokens, pairs, strict=True)
        ]
        encoded: dict[_Pair, Floats32] = {}
        for batch in length_sorted(lengths, _BATCH):
            states = self._encoder.word_states(
                [tokens[at] for at in batch], [images[pairs[at][0]] for at in batch]
            ).numpy()
            for at, rows in zip(batch, states, strict=True):
                # Without [CLS]; as many rows as the program's shifted masks leave: with the
                # task's token [SEP] is out, without it is in.
                compared = rows[1 : len(tokens[at])].copy()
                if not np.isfinite(compared).all():
                    raise VifidelError(
                        f"image {pairs[at][0]!r}: ViLBERT's states are not finite; are its "
                        "features those of the detector that belongs to the checkpoint?"
                    )
                encoded[pairs[at]] = compared
        return encoded


def greedy_matching(
    candidate: NDArray[np.floating[Any]], reference: NDArray[np.floating[Any]]
) -> tuple[float, float, float]:
    """Return precision, recall and F of words, (words, width), matched as BERTScore does."""
    units = [
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
        for rows in (np.asarray(candidate, np.float64), np.asarray(reference, np.float64))
    ]
    cosines = units[0] @ units[1].T
    best = [cosines.max(axis=1), cosines.max(axis=0)]
    # As published: the places of words that a side lacks, up to the most, have cosine 0.
    floors = [0.0 if 1 + len(tokens) < MOST_TOKENS else -1.0 for tokens in (reference, candidate)]
    precision, recall = (
        float(np.maximum(cosine, floor).mean()) for cosine, floor in zip(best, floors, strict=True)
    )
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


_FILES = {
    "checkpoint": "For ViLBERTScore: multi_task_model.bin of vilbert-multi-task.",
    "vocabulary": "For ViLBERTScore: vocab.txt of bert-base-uncased.",
    "features": "For ViLBERTScore: a folder of region features with one .npz file per image (see "
    "convert-features).",
}

register(
    Metric(
        "ViLBERTScore",
        "Words matched with those of the references by their states in a network that has seen "
        "the image",
        ViLBERTScore,
        lambda settings: ViLBERTScore(
            device=settings.options["device"],
            **{name: settings.options[f"vilbert_{name}"] for name in (*_FILES, "layer", "config")},
        ),
        rank=130,
        options=(
            *(Option(f"vilbert_{name}", says, required=True) for name, says in _FILES.items()),
            Option(
                "vilbert_layer",
                "For ViLBERTScore: the co-attention block to compare, counted from 0, or from -1 "
                "at the end.",
                int,
                default=-1,
            ),
            Option(
                "vilbert_config",
                "For ViLBERTScore: JSON configuration, if the model's size is not the published "
                "one.",
            ),
            DEVICE,
        ),
        packages=("torch",),
        papers=(LEE_2020,),
    )
)
