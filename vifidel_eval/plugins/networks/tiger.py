"""TIGEr: whether a caption describes the regions of its image that the references describe."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from ...captions.rows import Rows, image_ids_of
from ...errors import CaptionError, VifidelWarning
from ...evaluation import Column, Evaluation, Floats, Tally
from ...io.image_ids import ImageId
from ...io.options import Option
from ...scorers.base import Progress, Scorer
from ...scorers.papers import JIANG_2019
from ...scorers.record import Metric
from ...scorers.registry import register
from ...words.settings import DEVICE
from ..pytorch import MadeAgain, load_libraries
from .regions import FeatureSource, ImageSide, Kept
from .scan_features import ids_path, read_regions

_TAU = 1.5  # as the published program has it

_IMAGES_AT_ONCE = 128
# Up to so many bytes are kept for the next system: the regions of 7 000 images at the published
# sizes, and the vectors of 460 000 captions.
_IMAGE_BYTES, _CAPTION_BYTES = 1 << 30, 1 << 27

# An image, by its id in the features, and a caption.
_Pair = tuple[ImageId, str]


def region_rank_similarity(reference: Floats, candidate: Floats) -> float:
    """Return RRS, from 0 to 1: how well the candidate orders the regions by the reference's values.

    Equal values keep the order of the regions; if all of the reference's are equal, RRS is 1.
    """
    lowest, highest = reference.min(), reference.max()
    if lowest == highest:
        return 1.0
    gains = (reference - lowest) / (highest - lowest)
    discounts = 1 / np.log2(np.arange(len(gains)) + 2)
    in_order = gains[np.argsort(-candidate, kind="stable")]
    ideal = gains[np.argsort(-gains, kind="stable")]
    return float((in_order * discounts).sum() / (ideal * discounts).sum())


def divergence(reference: Floats, candidate: Floats) -> float:
    """Return the Kullback-Leibler divergence of the candidate's softmax from the reference's."""
    of_reference = reference - np.log(np.exp(reference).sum())
    of_candidate = candidate - np.log(np.exp(candidate).sum())
    return float((np.exp(of_reference) * (of_reference - of_candidate)).sum())


def relative_norm(reference: Floats, candidate: Floats) -> float:
    """Return the logarithm of the ratio of the norms; 0 if one of them is 0."""
    norms = float(np.linalg.norm(reference)), float(np.linalg.norm(candidate))
    return math.log(norms[0] / norms[1]) if all(norms) else 0.0


def weight_distribution_similarity(reference: Floats, candidate: Floats) -> float:
    """Return WDS, from 0 to 1: .5 for equal vectors, more for a candidate of greater norm."""
    x = _TAU * (divergence(reference, candidate) + relative_norm(reference, candidate))
    return 1 / (1 + math.exp(x))


class Tiger(MadeAgain, Scorer):
    """TIGEr (Jiang et al., EMNLP 2019), as its published program computes it.

    SCAN's encoders give every region of an image a cosine to a caption: how well the region is
    grounded in it. The candidate's vector of these is compared with the mean vector of the
    references in two ways. RRS, region rank similarity, is the normalised discounted cumulative
    gain of the candidate's order of the regions. WDS, weight distribution similarity, is a
    sigmoid of the divergence between the two vectors and of the ratio of their norms. TIGEr is
    the mean of the two. All lie between 0 and 1; a candidate that equals the only reference has
    RRS 1, WDS .5 and TIGEr .75, and one that is grounded more strongly scores higher.

    The metric reads raw captions: tokenised ones, as pycocoevalcap hands them to its scorers, have
    lost their punctuation and score differently.

    Parameters
    ----------
    checkpoint : path
        SCAN's ``model_best.pth``; read without running code in it.
    vocabulary : path
        SCAN's ``coco_precomp_vocab.json``.
    features : path, mapping or Features
        Region features, as `vifidel_eval.plugins.networks.scan_features.read_regions` takes them.
    device : str, optional
        Where to compute, as PyTorch calls it (``"cuda"``); by default the processor.

    Raises
    ------
    MetricUnavailable
        If PyTorch or NLTK is not installed.
    VifidelError
        If a file cannot be read, is damaged or something else, or they do not fit together.
    """

    columns = (Column("TIGEr-RRS"), Column("TIGEr-WDS"), Column("TIGEr"))

    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        features: FeatureSource,
        device: str | None = None,
    ) -> None:
        super().__init__()
        load_libraries("TIGEr", {"PyTorch": "torch", "NLTK": "nltk.tokenize"})
        from .scan import Scan, Tokenizer

        self._tokenizer = Tokenizer()
        self._scan = Scan(checkpoint, vocabulary, device)
        self._images = ImageSide(
            read_regions(features), self._scan.width, self._scan.regions, Kept(_IMAGE_BYTES)
        )
        self._groundings = Kept(_CAPTION_BYTES)  # by image and caption

    def method(self) -> str:
        return "TIGEr"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(
            *(f"{what}:{digest}" for what, digest in self._scan.digests.items()),
            f"features:{self._images.signature(image_ids)}",
            f"tok:{self._tokenizer.name}",
            package="torch",
            splitter="nltk",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        self._images.find(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        for row, references in enumerate(rows.references):
            if not references:
                raise CaptionError(
                    f"{rows.name(row)}: no reference; TIGEr compares the candidate with one or "
                    "more."
                )
        images = self._images.find(image_ids_of(rows, "TIGEr"))
        described = list(zip(images, rows.references, rows.captions, strict=True))
        scores: list[tuple[float, float, float]] = []
        for start in range(0, len(described), _IMAGES_AT_ONCE):
            some = described[start : start + _IMAGES_AT_ONCE]
            # References are read once for all systems, and for all choices among them.
            grounding_of = self._groundings.complete(
                [(i, text) for i, references, own in some for text in (*references, own)],
                self._grounded,
            )
            for i, references, own in some:
                vector = grounding_of[i, own]
                reference = np.mean([grounding_of[i, text] for text in references], axis=0)
                rrs = region_rank_similarity(reference, vector)
                wds = weight_distribution_similarity(reference, vector)
                scores.append((rrs, wds, 0.5 * rrs + 0.5 * wds))
            on_progress(len(some))
        # References first: what all systems share is then no system's own.
        if end := self._tokenizer.unsplit(chain(*rows.references, rows.captions)):
            warnings.warn(
                f"some captions have several sentences, such as the one with {end!r}; without "
                "NLTK's punkt data such a word is unknown: python -c \"import nltk; "
                "nltk.download('punkt_tab')\".",
                VifidelWarning,
                stacklevel=3,
            )
        words = [word for caption in rows.captions for word in self._tokenizer(caption)]
        unknown = Counter(word for word in words if word not in self._scan.vocabulary)
        counts = {"unknown_words": unknown.total()}
        tallies = {"captions": Tally(len(words), unknown)}
        columns = np.array(scores, dtype=np.float64).reshape(-1, len(self.columns)).T
        return {
            column.name: Evaluation(rows.ids, of_column.copy(), counts=counts, tallies=tallies)
            for column, of_column in zip(self.columns, columns, strict=True)
        }

    def _grounded(self, pairs: Sequence[_Pair]) -> dict[_Pair, Floats]:
        """Return how the regions of images are grounded in captions."""
        regions = self._images.encoded(image for image, _ in pairs)
        words = [self._tokenizer(caption) for _, caption in pairs]
        vectors = self._scan.groundings([regions[image] for image, _ in pairs], words)
        return dict(zip(pairs, vectors, strict=True))


_OPTIONS = ("tiger_checkpoint", "tiger_vocabulary", "tiger_features", "device")

register(
    Metric(
        "TIGEr",
        "Whether a caption describes the image regions that the references describe",
        Tiger,
        lambda settings: Tiger(*map(settings.options.__getitem__, _OPTIONS)),
        rank=120,
        options=(
            Option("tiger_checkpoint", "SCAN's model_best.pth, for TIGEr.", required=True),
            Option("tiger_vocabulary", "SCAN's coco_precomp_vocab.json, for TIGEr.", required=True),
            Option(
                "tiger_features",
                "Region features for TIGEr: SCAN's NAME_ims.npy beside NAME_ids.txt, or "
                "bottom-up-attention TSV.",
                required=True,
                companion=ids_path,
            ),
            DEVICE,
        ),
        packages=("torch", "nltk"),
        papers=(JIANG_2019,),
    )
)
