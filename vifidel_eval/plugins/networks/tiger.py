"""TIGEr: whether a caption describes the regions of its image that the references describe."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...captions.rows import Rows, image_ids_of
from ...errors import CaptionError, VifidelWarning
from ...evaluation import Column, Evaluation, Floats, Tally
from ...io.image_ids import ImageId
from ...io.options import Option
from ...scorers.base import Progress, Scorer
from ...scorers.papers import JIANG_2019
from ...scorers.record import DEVICE, Metric
from ...scorers.registry import register
from ..pytorch import MadeAgain
from .features import ImageSide, Kept
from .scan import Scan
from .scan_features import RegionSource, ids_path, read_regions
from .scan_words import Tokenizer

_TAU = 1.5  # as the published program has it

_IMAGES_AT_ONCE = 128
# Up to so many bytes are kept for the next system: the regions of 7 000 images at the published
# sizes, and the vectors of 460 000 captions.
_IMAGE_BYTES, _CAPTION_BYTES = 1 << 30, 1 << 27

# An image, by its id in the features, and a caption.
_Pair = tuple[ImageId, str]


def region_rank_similarity(reference: Floats, candidate: Floats) -> float:
    """Return RRS: how well the candidate orders the regions by the reference's values.

    Parameters
    ----------
    reference, candidate : (regions,) float64
        Grounding vectors; equal values keep the order of the regions.

    Returns
    -------
    float
        From 0 to 1, and 1 if the reference's values are all the same: every order is right then.
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
    the mean of the two. RRS, WDS and TIGEr lie between 0 and 1; a candidate that equals the only
    reference has RRS 1, WDS .5 and TIGEr .75, and one that is grounded more strongly scores
    higher.

    The metric reads raw captions, with their punctuation: tokenised ones, as pycocoevalcap hands
    them to its scorers, have lost it and score differently. `add_to` and ``vifidel-eval`` give it
    the raw ones.

    Parameters
    ----------
    checkpoint : path
        SCAN's ``model_best.pth``; read without running code in it.
    vocabulary : path
        SCAN's ``coco_precomp_vocab.json``.
    features : path, mapping or RegionFeatures
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
        features: RegionSource,
        device: str | None = None,
    ) -> None:
        super().__init__()
        self._tokenizer = Tokenizer()
        self._scan = Scan(checkpoint, vocabulary, device)
        self._images = ImageSide(
            read_regions(features), self._scan.width, self._scan.regions, _IMAGE_BYTES
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
        # References first: what all systems share is then no system's own.
        unsplit: list[list[str]] = [[], []]
        for start in range(0, len(described), _IMAGES_AT_ONCE):
            some = described[start : start + _IMAGES_AT_ONCE]
            grounding_of = self._grounded(
                [(i, text) for i, references, own in some for text in (*references, own)]
            )
            for i, references, own in some:
                of_references = [grounding_of[i, text] for text in references]
                of_candidate = grounding_of[i, own]
                reference = np.mean([of_text.vector for of_text in of_references], axis=0)
                rrs = region_rank_similarity(reference, of_candidate.vector)
                wds = weight_distribution_similarity(reference, of_candidate.vector)
                scores.append((rrs, wds, 0.5 * rrs + 0.5 * wds))
                for found, of_texts in zip(unsplit, (of_references, [of_candidate]), strict=True):
                    found += [of_text.unsplit for of_text in of_texts if of_text.unsplit]
            on_progress(len(some))
        _warn_of_sentences([*unsplit[0], *unsplit[1]])
        words = [word for caption in rows.captions for word in self._tokenizer(caption)]
        unknown = Counter(word for word in words if word not in self._scan.vocabulary)
        counts = {"unknown_words": unknown.total()}
        tallies = {"captions": Tally(len(words), unknown)}
        columns = np.array(scores, dtype=np.float64).reshape(-1, len(self.columns)).T
        return {
            column.name: Evaluation(rows.ids, of_column.copy(), counts=counts, tallies=tallies)
            for column, of_column in zip(self.columns, columns, strict=True)
        }

    def _grounded(self, pairs: Sequence[_Pair]) -> dict[_Pair, _Grounding]:
        """Return how each caption is grounded in its image; as many as fit are kept.

        References are thus read once for all systems, and for all choices among them.

        Parameters
        ----------
        pairs : sequence of (image id in the features, caption)
        """
        found = self._groundings.find(pairs)
        new = [pair for pair in dict.fromkeys(pairs) if pair not in found]
        words = [self._tokenizer(caption) for _, caption in new]
        regions = self._images.encoded(image for image, _ in new)
        vectors = self._scan.groundings([regions[image] for image, _ in new], words)
        grounded = {
            pair: _Grounding(vector, self._tokenizer.unsplit(tokens))
            for pair, vector, tokens in zip(new, vectors, words, strict=True)
        }
        self._groundings.keep(grounded)
        return found | grounded


class _Grounding(NamedTuple):
    """How the regions of an image are grounded in a caption, as `Scan.groundings` returns it."""

    vector: Floats
    unsplit: str | None  # the end of a sentence that was not found

    @property
    def nbytes(self) -> int:
        return self.vector.nbytes


def _warn_of_sentences(unsplit: Sequence[str]) -> None:
    """Warn of captions of several sentences, by the first end of one that was not found."""
    if unsplit:
        warnings.warn(
            f"some captions have several sentences, such as the one with {unsplit[0]!r}; without "
            "NLTK's punkt data such a word is unknown: python -c \"import nltk; "
            "nltk.download('punkt_tab')\".",
            VifidelWarning,
            stacklevel=4,
        )


register(
    Metric(
        "TIGEr",
        "Whether a caption describes the image regions that the references describe",
        Tiger,
        lambda settings: Tiger(
            settings.options["tiger_checkpoint"],
            settings.options["tiger_vocabulary"],
            settings.options["tiger_features"],
            settings.options["device"],
        ),
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
