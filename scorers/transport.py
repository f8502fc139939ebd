"""What the optimal-transport metrics share: word vectors, the gold side, the batch loop."""

from __future__ import annotations

import unicodedata
import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import VifidelError, VifidelWarning
from ..evaluation import NOTHING_READ, Evaluation, Floats, Integers, Tally, add_tallies
from ..image_ids import ImageId
from ..kernels.bags import Bags, Lexicon
from ..kernels.distances import WordDistances
from ..kernels.verdicts import check_known_words
from ..rows import Rows
from ..text.words import stop_words_signature
from ..vectors.sources import load_vectors
from .base import Progress, Scorer

_IMAGES_AT_ONCE = 1024
_MOST_IMAGES_KEPT = 1 << 16


@dataclass(frozen=True)
class Gold:
    """The side of some images that all systems share.

    Attributes
    ----------
    images : int
        How many images.
    references : Bags
        One bag a reference, the references of an image one after the other.
    image_of_reference : (number of references,) int64
        Place of each reference's image among the images.
    of_references : Tally
        Words of the references.
    """

    images: int
    references: Bags
    image_of_reference: Integers
    of_references: Tally

    def tallies(self) -> dict[str, Tally]:
        """Return what was read, by what it is."""
        return {"references": self.of_references}


GoldT = TypeVar("GoldT", bound=Gold)


class TransportScorer(Scorer, Generic[GoldT]):
    """A metric that moves a bag of the gold side onto the bag of the caption's content words.

    Parameters
    ----------
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.sources.load_vectors` takes them.
    references : bool
        Whether the references are read; if not, they only give the image ids.
    p : 1 or 2
        Exponent of the travel cost (Eq. 1).
    normalize : bool
        Whether word vectors are scaled to length 1.
    stop_words : collection of str
        Words of captions that are left out.

    Raises
    ------
    VectorsError
        If the vectors cannot be read.
    VifidelError
        If `p` is neither 1 nor 2, or `stop_words` is no collection of words.
    """

    #: What an image without a score lacks.
    _needed: str

    def __init__(
        self,
        vectors: Any,
        references: bool,
        p: int,
        normalize: bool,
        stop_words: Collection[str],
    ) -> None:
        if not isinstance(p, int | float | np.integer) or p not in (1, 2):
            raise VifidelError(f"p must be 1 or 2, not {p!r}.")
        if isinstance(stop_words, str) or not isinstance(stop_words, Iterable):
            raise VifidelError(f"stop_words must be a collection of words, not {stop_words!r:.40}.")
        super().__init__()
        self._vectors = load_vectors(vectors)
        self._use_references = references
        self._p = int(p)
        self._normalize = normalize
        self._stop_words = frozenset(
            unicodedata.normalize("NFC", str(word)).lower() for word in stop_words
        )
        self._lexicon = Lexicon(self._vectors, normalize, self._stop_words)
        self._distances = WordDistances(self._lexicon)
        self._gold_of: tuple[Any, list[GoldT]] = (None, [])

    @abstractmethod
    def _prepare(self, ids: list[ImageId], references: Sequence[Sequence[str]]) -> GoldT:
        """Return the gold side of some images."""

    @abstractmethod
    def _score(self, gold: GoldT, words: Bags) -> tuple[Floats, int]:
        """Return a score for each image, NaN where undefined, and how many lack weights."""

    @abstractmethod
    def _settings(self) -> list[str]:
        """Return the settings of this metric alone, for the signature."""

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(
            *self._settings(),
            f"p:{self._p}",
            f"norm:{'yes' if self._normalize else 'no'}",
            f"vectors:{self._vectors.signature()}",
            f"stop:{stop_words_signature(self._stop_words)}",
            package="POT",
        )

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        scores: list[Floats] = [np.empty(0)]
        read: list[dict[str, Tally]] = []
        no_words = unweighted = start = 0
        for gold in self._gold(rows):
            words, of_words = self._lexicon.bags_of_captions(
                rows.captions[start : start + gold.images]
            )
            of_batch, unweighted_of_batch = self._score(gold, words)
            scores.append(of_batch)
            no_words += int((words.sizes == 0).sum())
            unweighted += unweighted_of_batch
            read.append({**gold.tallies(), "captions": of_words})
            start += gold.images
            on_progress(gold.images)
        tallies = add_tallies(read)
        counts = {
            "no_words": no_words,
            "unknown_words": tallies.get("captions", NOTHING_READ).unknown.total(),
            "unweighted": unweighted,
        }
        signature = self.signature(rows.image_ids)
        evaluation = Evaluation(
            rows.ids, np.concatenate(scores), counts=counts, tallies=tallies, signature=signature
        )
        return {self.main: evaluation}

    def judge(self, evaluations: Iterable[Evaluation]) -> None:
        evaluations = list(evaluations)
        for what, tally in add_tallies(e.tallies for e in evaluations).items():
            check_known_words(tally, what, self._vectors)
        rows = sum(len(evaluation.ids) for evaluation in evaluations)
        if sum(evaluation.undefined for evaluation in evaluations) == rows > 0:
            warnings.warn(
                f"none of the {rows} images has {self._needed}: {self.method()} is not defined "
                "for any.",
                VifidelWarning,
                stacklevel=4,
            )

    def _gold(self, rows: Rows) -> Iterable[GoldT]:
        """Return the shared side of all images, some at a time.

        It is prepared once for all systems, unless there are so many images that it would fill
        the memory: then it is prepared again for each.
        """
        ids = list(rows.ids)
        references = [of_row if self._use_references else () for of_row in rows.references]
        if self._gold_of[0] == (ids, references):
            return self._gold_of[1]
        prepared = (
            self._prepare(ids[i : i + _IMAGES_AT_ONCE], references[i : i + _IMAGES_AT_ONCE])
            for i in range(0, len(ids), _IMAGES_AT_ONCE)
        )
        if len(ids) > _MOST_IMAGES_KEPT:
            return prepared
        # Copies of the lists: the caller may change them afterwards.
        self._gold_of = ((ids, [of_image[:] for of_image in references]), list(prepared))
        return self._gold_of[1]

    def _bags_of_references(self, references: Sequence[Sequence[str]]) -> Gold:
        bags, tally = self._lexicon.bags_of_captions(
            reference for of_image in references for reference in of_image
        )
        image_of_reference = np.repeat(np.arange(len(references)), [len(r) for r in references])
        return Gold(len(references), bags, image_of_reference, tally)


def similarities(gold_is_usable: Any, words: Bags, distances: Floats) -> Floats:
    """Return exp(-distance) (Eq. 3); 0 for a caption without words, NaN without a gold side."""
    speechless = gold_is_usable & (words.sizes == 0)
    return np.where(speechless, 0.0, np.exp(-distances))
