"""ViLBERTScore: a caption's words against the references' words, all in the light of the image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import Rows, image_ids_of
from ...errors import CaptionError, VifidelError
from ...evaluation import Column, Evaluation
from ...io.image_ids import ImageId
from ...io.options import Option
from ...scorers.base import Progress, Scorer
from ...scorers.papers import LEE_2020
from ...scorers.record import DEVICE, Metric
from ...scorers.registry import register
from ..pytorch import MadeAgain, find_device, length_sorted, load_torch
from .features import ImageSide, Kept
from .vilbert import Floats32, Vilbert
from .vilbert_features import DetectorFeatures, DetectorSource, Regions
from .vilbert_sizes import MOST_TOKENS, Architecture, read_architecture
from .vilbert_words import WordPieces

# How many captions' images are in memory at once, beside those that are kept.
_CAPTIONS_AT_ONCE = 64
# Tokens and regions of a batch.
_BATCH = 2048
# Up to so many bytes of images and of captions are kept for the next system: 2 500 images of 100
# regions and 50 000 captions of 12 tokens. What does not fit is read and encoded again.
_IMAGE_BYTES, _CAPTION_BYTES = 1 << 30, 1 << 31

_Pair = tuple[ImageId, str]  # an image, as the features call it, and a caption


class ViLBERTScore(MadeAgain, Scorer):
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
    features : path, mapping, or DetectorFeatures
        The regions of the images, as
        `vifidel_eval.plugins.networks.vilbert_features.DetectorFeatures` takes them.
    layer : int
        The co-attention block after which states are compared, from 0; negative from the last.
    device : str, optional
        Where PyTorch computes, e.g. ``"cuda"``; by default the processor.
    config : path, optional
        The JSON configuration of a checkpoint that has other sizes than the published ones.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If a file is missing, damaged, or does not belong to the others.
    """

    columns = (Column("ViLBERTScore-P"), Column("ViLBERTScore-R"), Column("ViLBERTScore-F"))

    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        features: DetectorSource | DetectorFeatures,
        layer: int = -1,
        device: str | None = None,
        config: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        torch = load_torch("ViLBERTScore")
        place = find_device(torch, device)
        source = features if isinstance(features, DetectorFeatures) else DetectorFeatures(features)
        self._sizes = Architecture() if config is None else read_architecture(config)
        self._pieces = WordPieces(vocabulary, self._sizes.vocabulary)
        self._encoder = Vilbert(torch, checkpoint, self._sizes, layer, place)
        self._images = ImageSide(source, self._sizes.features, self._embedded, _IMAGE_BYTES)
        self._captions = Kept(_CAPTION_BYTES)  # by image and caption

    def method(self) -> str:
        return "ViLBERTScore"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        config = self._sizes.digest
        return self._pinned(
            f"checkpoint:{self._encoder.digest[:8]}",
            *([] if self._encoder.has_tasks else ["rule:inferred"]),
            *([f"config:{config[:8]}"] if config else []),
            f"vocabulary:{self._pieces.digest[:8]}",
            f"layer:{self._encoder.layer}",
            f"features:{self._images.signature(image_ids)}",
            package="torch",
            splitter="tokenizers",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        self._images.find(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        for row, references in enumerate(rows.references):
            if not references:
                raise CaptionError(f"{rows.name(row)}: no reference; ViLBERTScore needs one.")
        images = self._images.find(image_ids_of(rows, "ViLBERTScore"))
        scores = np.empty((len(rows), len(self.columns)))
        for start in range(0, len(rows), _CAPTIONS_AT_ONCE):
            chosen = range(start, min(start + _CAPTIONS_AT_ONCE, len(rows)))
            progress = _Progress(len(chosen), on_progress)
            of_candidates = [(images[at], rows.captions[at]) for at in chosen]
            of_references = [[(images[at], text) for text in rows.references[at]] for at in chosen]
            states = self._states(of_candidates, of_references, progress)
            for at, candidate, pairs in zip(chosen, of_candidates, of_references, strict=True):
                matched = [greedy_matching(states[candidate], states[pair]) for pair in pairs]
                scores[at] = np.mean(matched, axis=0)
            progress.finish()
        return {
            column.name: Evaluation(rows.ids, np.ascontiguousarray(of_column))
            for column, of_column in zip(self.columns, scores.T, strict=True)
        }

    def _embedded(self, images: Sequence[Regions]) -> list[Any]:
        return [self._encoder.image_states(*regions.inputs()) for regions in images]

    def _states(
        self,
        of_candidates: Sequence[_Pair],
        of_references: Sequence[Sequence[_Pair]],
        progress: _Progress,
    ) -> dict[_Pair, Floats32]:
        """Return the states of the compared words of each caption with its image."""
        references = dict.fromkeys(pair for pairs in of_references for pair in pairs)
        candidates = [pair for pair in dict.fromkeys(of_candidates) if pair not in references]
        wanted = [*references, *candidates]
        states = self._captions.find(wanted)
        progress.expect(len(wanted) - len(states))
        images: dict[ImageId, Any] = {}
        # Apart, so that a reference's states do not depend on the candidates.
        for pairs in (references, candidates):
            new = [pair for pair in pairs if pair not in states]
            encoded = self._encoded(new, images, progress)
            self._captions.keep(encoded)
            states |= encoded
        return states

    def _encoded(
        self, pairs: Sequence[_Pair], images: dict[ImageId, Any], progress: _Progress
    ) -> dict[_Pair, Floats32]:
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
            progress.advance(len(batch))
        return encoded


def greedy_matching(
    candidate: NDArray[np.floating[Any]], reference: NDArray[np.floating[Any]]
) -> tuple[float, float, float]:
    """Return precision, recall and F of a candidate's words against a reference's.

    BERTScore's matching (Zhang et al., ICLR 2020). Where one side has fewer words than the
    longest caption, the best cosine with it is not less than 0: in the published program the
    places of the missing words count as such.

    Parameters
    ----------
    candidate, reference : (words, width)
        The states of their words; at least one each.

    Returns
    -------
    precision, recall, f : float
        Precision and recall from -1 to 1; F is 0 where they add up to 0.
    """
    units = [
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
        for rows in (np.asarray(candidate, np.float64), np.asarray(reference, np.float64))
    ]
    cosines = units[0] @ units[1].T
    best = [cosines.max(axis=1), cosines.max(axis=0)]
    floors = [0.0 if 1 + len(other) < MOST_TOKENS else -1.0 for other in (reference, candidate)]
    precision, recall = (
        float(np.maximum(cosine, floor).mean()) for cosine, floor in zip(best, floors, strict=True)
    )
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


class _Progress:
    """Reports captions as scored in proportion to the encoding that is done."""

    def __init__(self, captions: int, on_progress: Progress) -> None:
        self._captions = captions
        self._on_progress = on_progress
        self._reported = self._done = self._expected = 0

    def expect(self, encodings: int) -> None:
        self._expected = encodings

    def advance(self, encodings: int) -> None:
        self._done += encodings
        self._report(self._captions * self._done // self._expected)

    def finish(self) -> None:
        self._report(self._captions)

    def _report(self, captions: int) -> None:
        if captions > self._reported:
            self._on_progress(captions - self._reported)
        self._reported = captions


register(
    Metric(
        "ViLBERTScore",
        "Words matched with the references' words by states that have seen the image",
        ViLBERTScore,
        lambda settings: ViLBERTScore(
            settings.options["vilbert_checkpoint"],
            settings.options["vilbert_vocabulary"],
            settings.options["vilbert_features"],
            settings.options["vilbert_layer"],
            settings.options["device"],
            settings.options["vilbert_config"],
        ),
        rank=130,
        options=(
            Option(
                "vilbert_checkpoint",
                "multi_task_model.bin of vilbert-multi-task, for ViLBERTScore.",
                required=True,
            ),
            Option(
                "vilbert_vocabulary",
                "vocab.txt of bert-base-uncased, for ViLBERTScore.",
                required=True,
            ),
            Option(
                "vilbert_features",
                "Region features for ViLBERTScore: a folder with one .npz file per image, as "
                "convert-features writes them.",
                required=True,
            ),
            Option(
                "vilbert_layer",
                "Co-attention block whose states ViLBERTScore compares, from 0 or from the end.",
                int,
                default=-1,
            ),
            Option(
                "vilbert_config",
                "JSON configuration of a ViLBERT of other sizes than the published one.",
            ),
            DEVICE,
        ),
        packages=("torch",),
        papers=(LEE_2020,),
    )
)
