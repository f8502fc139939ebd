"""VIFIDEL: how faithful a caption is to what its image shows."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels, read_objects
from ..evaluation import Column, Floats, Tally
from ..explain.explanation import PEOPLE, CaptionWord, Explanation, Match, Thresholds
from ..explain.judging import Grounding, Labels, ground
from ..image_ids import ImageId
from ..kernels.bags import Bags
from ..kernels.distances import meetings
from ..kernels.penalties import penalties
from ..kernels.transport import sums_of_bags, transport_distances, transport_plans, travel_costs
from ..rows import Rows, make_rows
from ..text.words import STOP_WORDS, content_words
from .record import Metric, Settings
from .transport import Gold, TransportScorer, similarities

_THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class _ObjectGold(Gold):
    """Objects and references of some images, and what the references say of the objects."""

    objects: Bags
    label_penalties: Floats
    weighted: NDArray[np.bool_]  # (images,): has a usable reference
    of_labels: Tally

    def tallies(self) -> dict[str, Tally]:
        return {"object labels": self.of_labels, **super().tallies()}


class Vifidel(TransportScorer[_ObjectGold]):
    """Visual fidelity of captions (Madhyastha, Wang & Specia, ACL 2019).

    The bag of an image's object labels is moved onto the bag of the caption's content words by
    optimal transport in a word-vector space; the score is exp(-distance), in [0, 1].

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these
        The image side, as `vifidel_eval.annotations.read_objects` takes it; a list is a union.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.sources.load_vectors` takes them.
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
        super().__init__(vectors, references, p, normalize, stop_words)
        self._counts = counts
        self._objects: ObjectLabels = read_objects(objects, threshold)
        self._needed = f"a usable object label in {self._objects.where}"

    def method(self) -> str:
        return "VIFIDEL"

    def _settings(self) -> list[str]:
        return [
            f"refs:{'yes' if self._use_references else 'no'}",
            f"counts:{'yes' if self._counts else 'no'}",
            f"objects:{self._objects.signature()}",
        ]

    def _score(self, gold: _ObjectGold, words: Bags) -> tuple[Floats, int]:
        costs = self._costs(gold, words, self._penalties(words, gold))
        distances = transport_distances(gold.objects, words, costs)
        unweighted = int((~np.isnan(distances) & ~gold.weighted).sum())
        scores = similarities(gold.objects.sizes > 0, words, distances)
        return scores, unweighted if self._use_references else 0

    def objects_of(self, ids: Sequence[ImageId]) -> dict[ImageId, Counter[str]]:
        """Return the object labels of images with their counts.

        Raises
        ------
        ImageIdError
            If an image is unknown.
        """
        return dict(zip(ids, self._objects.of_images(ids), strict=True))

    def explain(
        self,
        image_id: ImageId,
        caption: str,
        references: Sequence[str] = (),
        thresholds: Thresholds = _THRESHOLDS,
    ) -> Explanation:
        """Return what of a caption is in the image, and who was matched with what, at what cost.

        Parameters
        ----------
        image_id : hashable
            An image that the objects know.
        caption : str
            The candidate.
        references : sequence of str
            Weight words by these; none are needed, and a scorer without references ignores them.
        thresholds : Thresholds
            From which cosine on a word names a label or is near an object; other word vectors
            may need others.

        Raises
        ------
        VifidelError
            If the image is unknown or a caption is not a string.
        """
        rows = make_rows([caption], [image_id], [references])
        gold = self._prepare([image_id], [references if self._use_references else ()])
        return next(self._explained([image_id], list(rows.captions), gold, thresholds))

    def explanations(
        self,
        rows: Rows,
        thresholds: Thresholds = _THRESHOLDS,
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each row.

        References and objects are prepared once for all systems, as for `compute_score`; the
        explanations are made while they are read, so that memory stays flat.

        Parameters
        ----------
        rows : Rows
            Captions with image ids and references.
        thresholds : Thresholds
            As for `explain`.

        Raises
        ------
        VifidelError
            If ids or captions are not as described.
        """
        captions, ids = iter(rows.captions), iter(rows.ids)
        batches = self._gold(rows)
        return itertools.chain.from_iterable(
            self._explained(
                list(islice(ids, gold.images)),
                list(islice(captions, gold.images)),
                gold,
                thresholds,
            )
            for gold in batches
        )

    def _explained(
        self,
        ids: list[ImageId],
        captions: list[str],
        gold: _ObjectGold,
        thresholds: Thresholds,
    ) -> Iterator[Explanation]:
        words, of_words = self._lexicon.bags_of_captions(captions)
        word_penalties = self._penalties(words, gold)
        costs = self._costs(gold, words, word_penalties)
        plans = transport_plans(gold.objects, words, costs)
        distances = sums_of_bags(plans * costs, gold.objects, words)
        scores = similarities(gold.objects.sizes > 0, words, distances)
        matches = self._matches(gold, words, word_penalties, plans, costs)
        grounding = ground(
            self._distances,
            gold.objects,
            words,
            gold.references,
            gold.image_of_reference,
            self._labels,
            thresholds,
        )
        standings = self._standings(gold, words, grounding, thresholds)
        labels = [self._lexicon.word(label) for label in gold.objects.atoms.tolist()]
        unknown = (gold.of_labels + of_words).unknown
        pairs = np.concatenate([[0], np.cumsum(gold.objects.sizes * words.sizes)]).tolist()
        for i, (image_id, caption) in enumerate(zip(ids, captions, strict=True)):
            moved = [match for match in matches[pairs[i] : pairs[i + 1]] if match.mass > 0]
            amounts: dict[str, list[float]] = {}
            for match in moved:
                amounts.setdefault(match.word, []).append(match.contribution)
            of_image = slice(*gold.objects.starts[i : i + 2])
            caption_words = [
                CaptionWord(word, math.fsum(amounts[word]) if moved else math.nan, *standing)
                for word, *standing in standings[slice(*words.starts[i : i + 2])]
            ]
            spoken = [word.word for word in caption_words]
            yield Explanation(
                image_id=image_id,
                caption=caption,
                score=float(scores[i]),
                distance=float(distances[i]),
                matches=tuple(sorted(moved, key=lambda match: -match.contribution)),
                words=tuple(sorted(caption_words, key=lambda word: -word.cost)),
                unmentioned=tuple(
                    label
                    for label, mentioned in zip(
                        labels[of_image], grounding.mentioned[of_image].tolist(), strict=True
                    )
                    if not (mentioned or (label in PEOPLE and PEOPLE.intersection(spoken)))
                ),
                unknown_words=self._unknown(unknown, image_id, caption) if unknown else (),
            )

    def _matches(
        self, gold: _ObjectGold, words: Bags, word_penalties: Floats, plans: Floats, costs: Floats
    ) -> list[Match]:
        """Return every pair that meets; those that move no mass are no matches yet."""
        left, right = meetings(gold.objects, words)
        return [
            Match(self._lexicon.word(label), self._lexicon.word(word), *numbers)
            for label, word, *numbers in zip(
                gold.objects.atoms[left].tolist(),
                words.atoms[right].tolist(),
                plans.tolist(),
                costs.tolist(),
                gold.label_penalties[left].tolist(),
                word_penalties[right].tolist(),
                strict=True,
            )
        ]

    def _standings(
        self, gold: _ObjectGold, words: Bags, grounding: Grounding, thresholds: Thresholds
    ) -> list[tuple[Any, ...]]:
        """Return the attributes of `CaptionWord`, without the cost, for every word."""
        word_of = self._lexicon.word
        return [
            (
                word_of(word),
                None if nearest < 0 else word_of(int(gold.objects.atoms[nearest])),
                similarity,
                near,
                None if named < 0 else word_of(named),
                hallucinated,
            )
            for word, nearest, similarity, near, named, hallucinated in zip(
                words.atoms.tolist(),
                grounding.nearest.tolist(),
                grounding.similarities.tolist(),
                grounding.near.tolist(),
                grounding.names.tolist(),
                grounding.hallucinated.tolist(),
                strict=True,
            )
        ]

    def _unknown(
        self, unknown: Collection[str], image_id: ImageId, caption: str
    ) -> tuple[str, ...]:
        labels = self._objects.of_images([image_id])[0]
        words = content_words(caption, self._stop_words)
        return tuple(dict.fromkeys(word for word in (*labels, *words) if word in unknown))

    @cached_property
    def _labels(self) -> Labels:
        every = Counter(self._objects.vocabulary())
        numbers = self._lexicon.bags_of_labels([every])[0].atoms
        return Labels(self._distances, numbers, self._lexicon.word)

    def _prepare(self, ids: list[ImageId], references: Sequence[Sequence[str]]) -> _ObjectGold:
        objects, of_labels = self._lexicon.bags_of_labels(
            self._objects.of_images(ids), self._counts
        )
        gold = self._bags_of_references(references)
        weighted = np.zeros(len(ids), dtype=bool)
        weighted[gold.image_of_reference[gold.references.sizes > 0]] = True
        return _ObjectGold(
            **vars(gold),
            objects=objects,
            label_penalties=penalties(
                self._distances, objects, gold.references, gold.image_of_reference
            ),
            weighted=weighted,
            of_labels=of_labels,
        )

    def _penalties(self, words: Bags, gold: _ObjectGold) -> Floats:
        return penalties(self._distances, words, gold.references, gold.image_of_reference)

    def _costs(self, gold: _ObjectGold, words: Bags, word_penalties: Floats) -> Floats:
        return travel_costs(
            self._distances, gold.objects, words, self._p, gold.label_penalties, word_penalties
        )


def make_vifidel(settings: Settings) -> Vifidel:
    """Return VIFIDEL as the settings of a run have it."""
    return Vifidel(
        settings.labels,
        references=settings.weighted,
        counts=settings.counts,
        **settings.words,
    )


VIFIDEL = Metric(
    "VIFIDEL",
    "Faithfulness to the objects in the image, weighted by references where there are some",
    (Column("VIFIDEL"),),
    make_vifidel,
    references=False,
    objects=True,
    default=True,
)
