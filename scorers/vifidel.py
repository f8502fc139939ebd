"""VIFIDEL: how faithful a caption is to what its image shows."""

from __future__ import annotations

import importlib.metadata
import math
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels, read_objects
from ..bags import Bags, Floats, Integers, Lexicon, Tally
from ..distances import WordDistances, meetings
from ..errors import VifidelError, VifidelWarning
from ..explanation import Explanation, Match
from ..image_ids import ImageId
from ..importance import penalties
from ..transport import transport_distances, transport_plan, travel_costs
from ..vectors import load_vectors
from ..words import STOP_WORDS, stop_words_signature
from .base import Evaluation, Scorer, candidates, check_known_words, check_references

_IMAGES_AT_ONCE = 1024
_MOST_IMAGES_KEPT = 1 << 16


@dataclass(frozen=True)
class _Gold:
    """The side of some images that all systems share: objects, references and their weights."""

    images: int
    objects: Bags
    references: Bags
    image_of_reference: Integers
    label_penalties: Floats
    weighted: NDArray[np.bool_]  # (images,): has a usable reference
    of_labels: Tally
    of_references: Tally


class Vifidel(Scorer):
    """Visual fidelity of captions (Madhyastha, Wang & Specia, ACL 2019).

    The bag of an image's object labels is moved onto the bag of the caption's content words by
    optimal transport in a word-vector space; the score is exp(-distance), in [0, 1].

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these
        The image side, as `vifidel_eval.annotations.read_objects` takes it; a list is a union.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them.
    references : bool
        Weight words by references (Eq. 4 and 5). False is Eq. 3: the references only give the
        image ids.
    p : 1 or 2
        Exponent of the travel cost (Eq. 1); the paper's is 2.
    counts : bool
        Whether two dogs weigh twice as much as one; False is the paper's presence only
        (Table 3). Caption words always count as often as they occur.
    normalize : bool
        Whether word vectors are scaled to length 1.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    stop_words : collection of str
        Words of captions that are left out.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If `p` is neither 1 nor 2.

    Examples
    --------
    >>> scorer = Vifidel({1: ["dog", "frisbee"]}, references=False)
    >>> score, scores = scorer.compute_score({1: []}, {1: ["a dog catches a frisbee"]})
    """

    def __init__(
        self,
        objects: Any,
        vectors: Any = None,
        references: bool = True,
        p: int = 2,
        counts: bool = True,
        normalize: bool = True,
        threshold: float | None = None,
        stop_words: Collection[str] = STOP_WORDS,
    ) -> None:
        if not isinstance(p, int | float | np.integer) or p not in (1, 2):
            raise VifidelError(f"p must be 1 or 2, not {p!r}.")
        if isinstance(stop_words, str) or not isinstance(stop_words, Iterable):
            raise VifidelError(f"stop_words must be a collection of words, not {stop_words!r:.40}.")
        self._objects: ObjectLabels = read_objects(objects, threshold)
        self._vectors = load_vectors(vectors)
        self._use_references = references
        self._p = int(p)
        self._counts = counts
        self._normalize = normalize
        self._stop_words = frozenset(
            unicodedata.normalize("NFC", str(word)).lower() for word in stop_words
        )
        self._lexicon = Lexicon(self._vectors, normalize, self._stop_words)
        self._distances = WordDistances(self._lexicon)
        self._gold_of: tuple[Any, list[_Gold]] = (None, [])

    def method(self) -> str:
        return "VIFIDEL"

    def signature(self) -> str:
        version = importlib.metadata.version
        return "|".join(
            [
                self.method(),
                f"refs:{'yes' if self._use_references else 'no'}",
                f"p:{self._p}",
                f"counts:{'yes' if self._counts else 'no'}",
                f"norm:{'yes' if self._normalize else 'no'}",
                f"objects:{self._objects.signature()}",
                f"vectors:{self._vectors.signature()}",
                f"stop:{stop_words_signature(self._stop_words)}",
                f"pot:{version('POT')}",
                f"version:{version('vifidel-eval')}",
            ]
        )

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        captions = candidates(gts, res)
        scores: list[Floats] = [np.empty(0)]
        of_captions = of_labels = of_references = Tally(0, Counter())
        wordless = unweighted = start = 0
        for gold in self._gold(gts):
            words, of_words = self._lexicon.bags_of_captions(captions[start : start + gold.images])
            costs = self._costs(gold, words, self._penalties(words, gold))
            distances = transport_distances(gold.objects, words, costs)
            scores.append(_scores(gold.objects, words, distances))
            wordless += int((words.sizes == 0).sum())
            if self._use_references:
                unweighted += int((~np.isnan(distances) & ~gold.weighted).sum())
            of_captions += of_words
            of_labels += gold.of_labels
            of_references += gold.of_references
            start += gold.images
            if on_progress is not None:
                on_progress(gold.images)
        check_known_words(of_labels, "object labels", self._vectors)
        check_known_words(of_references, "references", self._vectors)
        check_known_words(of_captions, "captions", self._vectors)
        evaluation = Evaluation(
            list(gts), np.concatenate(scores), of_captions, wordless, unweighted
        )
        if evaluation.undefined == len(evaluation.ids) > 0:
            warnings.warn(
                f"none of the {len(evaluation.ids)} images has a usable object label in "
                f"{self._objects.where}: no score is defined.",
                VifidelWarning,
                stacklevel=3,
            )
        return evaluation

    def explain(
        self, image_id: ImageId, caption: str, references: Sequence[str] = ()
    ) -> Explanation:
        """Return who was matched with what for one caption, at what cost.

        Parameters
        ----------
        image_id : hashable
            An image that the objects know.
        caption : str
            The candidate.
        references : sequence of str
            Weight words by these; none are needed, and a scorer without references ignores them.

        Raises
        ------
        VifidelError
            If the image is unknown or a caption is not a string.
        """
        check_references(image_id, references)
        gold = self._prepare([image_id], [references if self._use_references else ()])
        words, of_words = self._lexicon.bags_of_captions(
            candidates({image_id: ()}, {image_id: [caption]})
        )
        word_penalties = self._penalties(words, gold)
        costs = self._costs(gold, words, word_penalties)
        distance, matches = math.nan, []
        if len(costs):
            plan = transport_plan(
                gold.objects.masses,
                words.masses,
                costs.reshape(len(gold.objects.atoms), len(words.atoms)),
            ).ravel()
            distance = math.fsum((plan * costs).tolist())
            matches = [
                Match(
                    label=self._lexicon.word(int(gold.objects.atoms[label])),
                    word=self._lexicon.word(int(words.atoms[word])),
                    mass=float(mass),
                    cost=float(cost),
                    label_penalty=float(gold.label_penalties[label]),
                    word_penalty=float(word_penalties[word]),
                )
                for label, word, mass, cost in zip(
                    *meetings(gold.objects, words), plan, costs, strict=True
                )
                if mass > 0
            ]
        return Explanation(
            image_id=image_id,
            caption=caption,
            score=float(_scores(gold.objects, words, np.array([distance]))[0]),
            distance=distance,
            matches=tuple(sorted(matches, key=lambda match: -match.contribution)),
            unknown_words=tuple((gold.of_labels + of_words).unknown),
        )

    def _gold(self, gts: Mapping[ImageId, Sequence[str]]) -> Iterable[_Gold]:
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

    def _prepare(self, ids: list[ImageId], references: Sequence[Sequence[str]]) -> _Gold:
        objects, of_labels = self._lexicon.bags_of_labels(
            self._objects.of_images(ids), self._counts
        )
        bags, of_references = self._lexicon.bags_of_captions(
            reference for of_image in references for reference in of_image
        )
        image_of_reference = np.repeat(np.arange(len(ids)), [len(r) for r in references])
        weighted = np.zeros(len(ids), dtype=bool)
        weighted[image_of_reference[bags.sizes > 0]] = True
        return _Gold(
            images=len(ids),
            objects=objects,
            references=bags,
            image_of_reference=image_of_reference,
            label_penalties=penalties(self._distances, objects, bags, image_of_reference),
            weighted=weighted,
            of_labels=of_labels,
            of_references=of_references,
        )

    def _penalties(self, words: Bags, gold: _Gold) -> Floats:
        return penalties(self._distances, words, gold.references, gold.image_of_reference)

    def _costs(self, gold: _Gold, words: Bags, word_penalties: Floats) -> Floats:
        return travel_costs(
            self._distances, gold.objects, words, self._p, gold.label_penalties, word_penalties
        )


def _scores(objects: Bags, words: Bags, distances: Floats) -> Floats:
    """Return exp(-distance) (Eq. 3); 0 for a caption without words, NaN without objects."""
    speechless = (objects.sizes > 0) & (words.sizes == 0)
    return np.where(speechless, 0.0, np.exp(-distances))
