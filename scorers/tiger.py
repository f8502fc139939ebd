"""TIGEr: whether a caption describes the regions of its image that the references describe."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..bags import Floats, Tally
from ..errors import CaptionError, VifidelError, VifidelWarning
from ..image_ids import ImageId
from ..networks.scan import Scan
from ..networks.scan_features import read_regions
from ..networks.scan_words import Tokenizer
from .base import Evaluation, Scorer, candidates, check_references

_COLUMNS = ("TIGEr-RRS", "TIGEr-WDS", "TIGEr")

_TAU = 1.5  # as the published program has it

_IMAGES_AT_ONCE = 128
# What is kept for the next system: the vectors of regions, of 7 000 images at the published sizes,
_MOST_BYTES_KEPT = 1 << 30
# and the vectors of captions, .6 kB each.
_MOST_VECTORS_KEPT = 1 << 19

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


class Tiger(Scorer):
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
        Region features, as `vifidel_eval.networks.scan_features.read_regions` takes them.
    device : str, optional
        Where to compute, as PyTorch calls it (``"cuda"``); by default the processor.

    Raises
    ------
    MetricUnavailable
        If PyTorch or NLTK is not installed: ``pip install 'vifidel-eval[tiger]'``.
    VifidelError
        If a file cannot be read, is damaged or something else, or they do not fit together.
    """

    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        features: Any,
        device: str | None = None,
    ) -> None:
        self._tokenizer = Tokenizer()
        self._scan = Scan(checkpoint, vocabulary, device)
        self._features = read_regions(features)
        if self._features.width != self._scan.width:
            raise VifidelError(
                f"{checkpoint} takes regions of {self._scan.width} numbers, the features have "
                f"{self._features.width}; give the features that SCAN was trained with."
            )
        self._regions: dict[ImageId, Any] = {}
        self._bytes_kept = 0
        self._groundings: dict[_Pair, Floats] = {}
        self._has_warned = False

    def method(self) -> str:
        return _COLUMNS[-1]

    def signature(self) -> str:
        return self._pinned(
            *(f"{what}:{digest}" for what, digest in self._scan.digests.items()),
            f"features:{self._features.signature()}",
            f"tok:{self._tokenizer.name}",
            package="torch",
        )

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        return self.evaluate_columns(gts, res, on_progress)[_COLUMNS[-1]]

    def evaluate_columns(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> dict[str, Evaluation]:
        captions = candidates(gts, res)
        for image_id, references in gts.items():
            if not check_references(image_id, references):
                raise CaptionError(
                    f"image {image_id!r}: no reference; TIGEr compares the candidate with one or "
                    "more."
                )
        images = list(zip(self._features.ids_of(list(gts)), gts.values(), captions, strict=True))
        rows: list[tuple[float, float, float]] = []
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            some = images[start : start + _IMAGES_AT_ONCE]
            vector_of = self._grounded(
                [(i, text) for i, references, own in some for text in (*references, own)]
            )
            for i, references, own in some:
                reference = np.mean([vector_of[i, text] for text in references], axis=0)
                rrs = region_rank_similarity(reference, vector_of[i, own])
                wds = weight_distribution_similarity(reference, vector_of[i, own])
                rows.append((rrs, wds, 0.5 * rrs + 0.5 * wds))
            if on_progress is not None:
                on_progress(len(some))
        words = [word for caption in captions for word in self._tokenizer(caption)]
        unknown = Counter(word for word in words if word not in self._scan.vocabulary)
        columns = np.array(rows, dtype=np.float64).reshape(-1, len(_COLUMNS)).T
        return {
            name: Evaluation(list(gts), column.copy(), Tally(len(words), unknown))
            for name, column in zip(_COLUMNS, columns, strict=True)
        }

    def _grounded(self, pairs: Sequence[_Pair]) -> dict[_Pair, Floats]:
        """Return the vector of each caption of an image; as many as fit are kept.

        References are thus read once for all systems, and for all choices among them.

        Parameters
        ----------
        pairs : sequence of (image id in the features, caption)
        """
        found = {pair: self._groundings[pair] for pair in pairs if pair in self._groundings}
        new = [pair for pair in dict.fromkeys(pairs) if pair not in found]
        words = [self._tokenizer(caption) for _, caption in new]
        unsplit = next(filter(None, map(self._tokenizer.unsplit, words)), None)
        if unsplit is not None and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"some captions have several sentences, such as the one with {unsplit!r}; without "
                "NLTK's punkt data such a word is unknown: python -c \"import nltk; "
                "nltk.download('punkt_tab')\".",
                VifidelWarning,
                stacklevel=4,
            )
        regions = self._regions_of(list(dict.fromkeys(image_id for image_id, _ in new)))
        vectors = self._scan.groundings([regions[image_id] for image_id, _ in new], words)
        for pair, vector in zip(new, vectors, strict=True):
            found[pair] = vector
            if len(self._groundings) < _MOST_VECTORS_KEPT:
                self._groundings[pair] = vector
        return found

    def _regions_of(self, ids: Sequence[ImageId]) -> dict[ImageId, Any]:
        """Return the vectors of images' regions; as many as fit are kept."""
        found = {image_id: self._regions[image_id] for image_id in ids if image_id in self._regions}
        new = [image_id for image_id in ids if image_id not in found]
        encoded = self._scan.regions([self._features.of_image(image_id) for image_id in new])
        for image_id, vectors in zip(new, encoded, strict=True):
            found[image_id] = vectors
            if self._bytes_kept + vectors.nbytes <= _MOST_BYTES_KEPT:
                self._regions[image_id] = vectors
                self._bytes_kept += vectors.nbytes
        return found
