"""Word Mover's Distance between a candidate and its references."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import partial

import numpy as np

from ..doors.arguments import constructor
from ..errors import VifidelError
from ..evaluation import Column
from ..kernels.bags import Batch, ImageSide, slices
from ..kernels.transport import check_exponent, similarities, travel_distances
from ..words.content_words import STOP_WORDS
from ..words.settings import Settings
from ..words.word_vectors import VectorSource
from .record import KILICKAYA_2017, KUSNER_2015, Metric
from .registry import register
from .word_vectors import Scored, WordVectorScorer

_REDUCE = {"best": np.minimum, "worst": np.maximum, "mean": np.add}


class Wmd(WordVectorScorer[ImageSide]):
    """Word Mover's Distance, as a similarity (Kusner et al., 2015; Kilickaya et al., 2017).

    The bag of a reference's content words is moved onto the bag of the candidate's; the score is
    exp(-distance), in [0, 1]: NaN for an image without a usable reference, 0 for a caption
    without a usable word.

    Parameters
    ----------
    against : "best", "worst" or "mean"
        Which distance is used if there are several references: to the closest, to the farthest, or
        the mean over all.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them.
    p : 1 or 2
        Exponent of the distances between words; Kusner's is 1, the distance itself.
    normalize : bool
        Whether word vectors are scaled to length 1.
    stop_words : collection of str
        Words of captions that are left out.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VectorsError
        If the vectors cannot be read.
    VifidelError
        If another argument is not as described.

    Examples
    --------
    >>> score, scores = Wmd().compute_score({1: ["a dog runs"]}, {1: ["the dog is running"]})
    """

    _needed = "a usable reference"
    _sees_objects = False

    @constructor
    def __init__(
        self,
        against: str = "best",
        vectors: VectorSource = None,
        p: int = 1,
        normalize: bool = True,
        stop_words: Collection[str] = STOP_WORDS,
        undefined: float = math.nan,
    ) -> None:
        if against not in _REDUCE:
            raise VifidelError(f"against must be one of {', '.join(_REDUCE)}, not {against!r}.")
        super().__init__(
            vectors=vectors, normalize=normalize, stop_words=stop_words, undefined=undefined
        )
        self._p = check_exponent(p)
        self._against = against
        self.columns = (Column(self.method()),)

    def method(self) -> str:
        return "WMD" if self._against == "best" else f"WMD-{self._against}"

    def signature_with(self, objects: str) -> str:
        return self._pinned(
            f"against:{self._against}",
            f"p:{self._p}",
            *self._space.signature(self._p == 1),
            package="POT",
        )

    def score_part(self, part: Batch[ImageSide]) -> Scored:
        image_side, words = part.image_side, part.words
        usable = np.flatnonzero(image_side.references.sizes)
        images = image_side.row_of_reference[usable]
        distances = np.empty(len(usable))
        for start, end in slices(words.sizes[images]):
            references = image_side.references.take(usable[start:end])
            candidates = words.take(images[start:end])
            distances[start:end] = travel_distances(
                image_side.lexicon.distances,
                references,
                candidates,
                self._p,
                np.ones(len(references.atoms)),
                np.ones(len(candidates.atoms)),
            )
        of_image = np.full(image_side.rows, np.nan)
        if len(images):  # the references of an image follow each other
            first = np.flatnonzero(np.diff(images, prepend=-1))
            numbers = np.diff(first, append=len(images)) if self._against == "mean" else 1
            of_image[images[first]] = _REDUCE[self._against].reduceat(distances, first) / numbers
        scores = similarities(image_side.usable_references > 0, words, of_image)
        return Scored(scores[:, None], {"no_words": words.sizes == 0})


def _make(against: str, settings: Settings) -> Wmd:
    return Wmd(against, **settings.words)


for _rank, _against, _name, _summary in (
    (40, "best", "WMD", "Word Mover's Distance to the closest reference, as a similarity"),
    (41, "worst", "WMD-worst", "Word Mover's Distance to the farthest reference, as a similarity"),
    (42, "mean", "WMD-mean", "Mean Word Mover's Distance to all references, as a similarity"),
):
    register(
        Metric(
            _name,
            _summary,
            Wmd,
            partial(_make, _against),
            rank=_rank,
            spellings=("WMD-best",) if _against == "best" else (),
            tables=True,
            papers=(KUSNER_2015, KILICKAYA_2017),
        )
    )
