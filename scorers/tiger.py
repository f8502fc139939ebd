"""TIGEr: whether a caption describes the regions of its image that the references describe."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bags import Floats, Tally
from ..errors import CaptionError, VifidelError, VifidelWarning
from ..image_ids import ImageId
from ..region_features import read_regions
from ..scan import Scan
from ..scan_words import Tokenizer
from .base import Evaluation, Scorer, candidates, check_references

_COLUMNS = ("TIGEr-RRS", "TIGEr-WDS", "TIGEr")

_TAU = 1.5  # as the published program has it

_IMAGES_AT_ONCE = 128
# The vectors of regions that are kept for the next system: 7 000 images of the published size.
_MOST_BYTES_KEPT = 1 << 30


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


@dataclass
class _Gold:
    """The side that all systems share.

    Attributes
    ----------
    means : list of (regions,) float64
        The mean vector of the references, of the first images so far.
    regions : dict
        Vectors of regions by the image's id in the features.
    bytes_kept : int
        The size of `regions`.
    """

    ids: list[ImageId]
    references: list[Sequence[str]]
    means: list[Floats] = field(default_factory=list)
    regions: dict[ImageId, Any] = field(default_factory=dict)
    bytes_kept: int = 0


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
        Region features of the images, as `vifidel_eval.region_features.read_regions` takes them.
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
        self._gold_of = _Gold([], [])

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
        unsplit: list[str] = []
        captions = self._words(candidates(gts, res), unsplit)
        gold = self._gold(gts)
        ids = self._features.ids_of(gold.ids)
        rows: list[tuple[float, float, float]] = []
        for start in range(0, len(ids), _IMAGES_AT_ONCE):
            some = slice(start, start + _IMAGES_AT_ONCE)
            regions = self._regions(gold, ids[some])
            if start == len(gold.means):
                gold.means += self._means(ids[some], regions, gold.references[some], unsplit)
            found = self._groundings(ids[some], regions, captions[some])
            for reference, candidate in zip(gold.means[some], found, strict=True):
                rrs = region_rank_similarity(reference, candidate)
                wds = weight_distribution_similarity(reference, candidate)
                rows.append((rrs, wds, 0.5 * rrs + 0.5 * wds))
            if on_progress is not None:
                on_progress(len(found))
        if unsplit:
            warnings.warn(
                f"{len(unsplit)} captions seem to have several sentences, such as the one with "
                f"{unsplit[0]!r}; without NLTK's punkt data such a word is unknown: python -c "
                "\"import nltk; nltk.download('punkt_tab')\".",
                VifidelWarning,
                stacklevel=3,
            )
        unknown = Counter(w for words in captions for w in words if w not in self._scan.vocabulary)
        tally = Tally(sum(map(len, captions)), unknown)
        columns = np.array(rows, dtype=np.float64).reshape(-1, len(_COLUMNS)).T
        return {
            name: Evaluation(list(gts), column.copy(), tally)
            for name, column in zip(_COLUMNS, columns, strict=True)
        }

    def _gold(self, gts: Mapping[ImageId, Sequence[str]]) -> _Gold:
        """Return the side that all systems share, with what is known of it."""
        ids, references = list(gts), list(gts.values())
        if (self._gold_of.ids, self._gold_of.references) != (ids, references):
            for image_id, of_image in gts.items():
                if not check_references(image_id, of_image):
                    raise CaptionError(
                        f"image {image_id!r}: no reference; TIGEr compares the candidate with one "
                        "or more."
                    )
            # Copies of the lists: the caller may change them afterwards.
            self._gold_of = _Gold(ids, [of_image[:] for of_image in references])
        return self._gold_of

    def _regions(self, gold: _Gold, ids: Sequence[ImageId]) -> dict[ImageId, Any]:
        """Return the vectors of images' regions; as many as fit are kept."""
        new = [image_id for image_id in dict.fromkeys(ids) if image_id not in gold.regions]
        encoded = self._scan.regions([self._features.of_image(image_id) for image_id in new])
        found = dict(zip(new, encoded, strict=True))
        found |= {i: gold.regions[i] for i in ids if i in gold.regions}
        for image_id, vectors in zip(new, encoded, strict=True):
            if gold.bytes_kept + vectors.nbytes <= _MOST_BYTES_KEPT:
                gold.regions[image_id] = vectors
                gold.bytes_kept += vectors.nbytes
        return found

    def _means(
        self,
        ids: Sequence[ImageId],
        regions: Mapping[ImageId, Any],
        references: Sequence[Sequence[str]],
        unsplit: list[str],
    ) -> list[Floats]:
        """Return the mean of the vectors of each image's references."""
        words = self._words([text for of_image in references for text in of_image], unsplit)
        image_of = [i for i, of_image in zip(ids, references, strict=True) for _ in of_image]
        vectors = iter(self._groundings(image_of, regions, words))
        return [np.mean([next(vectors) for _ in of_image], axis=0) for of_image in references]

    def _words(self, captions: Sequence[str], unsplit: list[str]) -> list[list[str]]:
        """Tokenise captions and note the ends of sentences that were not found."""
        tokenised = [self._tokenizer(caption) for caption in captions]
        unsplit += filter(None, map(self._tokenizer.unsplit, tokenised))
        return tokenised

    def _groundings(
        self,
        ids: Sequence[ImageId],
        regions: Mapping[ImageId, Any],
        captions: Sequence[Sequence[str]],
    ) -> list[Floats]:
        """Return the vector of each caption; equal captions of an image are encoded once."""
        asked = [(i, tuple(caption)) for i, caption in zip(ids, captions, strict=True)]
        once = list(dict.fromkeys(asked))
        vectors = self._scan.groundings([regions[i] for i, _ in once], [text for _, text in once])
        found = dict(zip(once, vectors, strict=True))
        return [found[pair] for pair in asked]
