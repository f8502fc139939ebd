"""What the optimal-transport metrics share: word vectors, the gold side, the batch loop."""

from __future__ import annotations

import unicodedata
import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import VifidelError, VifidelWarning
from ..image_ids import ImageId
from ..kernels.bags import Bags, Floats, Integers, Lexicon, Tally
from ..kernels.distances import WordDistances
from ..text.words import stop_words_signature
from ..vectors.sources import load_vectors
from .base import Evaluation, Scorer, candidates, check_known_words, check_references

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

    def signature(self) -> str:
        return self._pinned(
            *self._settings(),
            f"p:{self._p}",
            f"norm:{'yes' if self._normalize else 'no'}",
            f"vectors:{self._vectors.signature()}",
            f"stop:{stop_words_signature(self._stop_words)}",
            package="POT",
        )

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        captions = candidates(gts, res)
        scores: list[Floats] = [np.empty(0)]
        nothing = Tally(0, Counter())
        read: dict[str, Tally] = {}
        wordless = unweighted = start = 0
        for gold in self._gold(gts):
            words, of_words = self._lexicon.bags_of_captions(captions[start : start + gold.images])
            of_batch, unweighted_of_batch = self._score(gold, words)
            scores.append(of_batch)
            wordless += int((words.sizes == 0).sum())
            unweighted += unweighted_of_batch
            for what, tally in (*gold.tallies().items(), ("captions", of_words)):
                read[what] = read.get(what, nothing) + tally
            start += gold.images
            if on_progress is not None:
                on_progress(gold.images)
        for what, tally in read.items():
            check_known_words(tally, what, self._vectors)
        evaluation = Evaluation(
            list(gts), np.concatenate(scores), read.get("captions", nothing), wordless, unweighted
        )
        if evaluation.undefined == len(evaluation.ids) > 0:
            warnings.warn(
                f"none of the {len(evaluation.ids)} images has {self._needed}: {self.method()} "
                "is not defined for any.",
                VifidelWarning,
                stacklevel=3,
            )
        return evaluation

    def _gold(self, gts: Mapping[ImageId, Sequence[str]]) -> Iterable[GoldT]:
        """Return the shared side of all images, some at a time.

        It is prepared once for all systems, unless there are so many images that it would fill
        the memory: then it is prepared anew for each.
        """
        ids = list(gts)
        references = [gts[image_id] if self._use_references else () for image_id in ids]
        if self._gold_of[0] == (ids, references):
            return self._gold_of[1]
        for image_id, of_image in zip(ids, references, strict=True):
            check_references(image_id, of_image)
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
