"""VIFIDEL: how faithful a caption is to what its image shows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectSource, read_objects
from ..evaluation import Column, Floats, Integers
from ..explain.explanation import PEOPLE, CaptionWord, Explanation, Match, Thresholds
from ..explain.judging import Grounding, Labels, ground
from ..image_ids import ImageId
from ..kernels.bags import Bags, meetings
from ..kernels.penalties import penalties
from ..kernels.transport import (
    check_exponent,
    sums_of_bags,
    transport_plans,
    travel_costs,
    travel_distances,
)
from ..rows import Rows, coco_rows, make_rows
from ..text.words import STOP_WORDS, content_words
from ..vectors import VectorSource
from .record import Metric, Settings
from .word_vectors import Gold, Part, TransportScorer, similarities

_THRESHOLDS = Thresholds()


@dataclass(frozen=True, eq=False)
class _WeightedGold(Gold):
    """Objects and references of some rows, and what the references say of the objects."""

    label_penalties: Floats
    weighted: NDArray[np.bool_]  # (rows,): has a usable reference


class Vifidel(TransportScorer[_WeightedGold]):
    """Visual fidelity of captions (Madhyastha, Wang & Specia, ACL 2019).

    The bag of an image's object labels is moved onto the bag of the caption's content words by
    optimal transport in a word-vector space; the score is exp(-distance), in [0, 1].

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it; a list is a union.
        Without it the objects are given to `score`, caption by caption.
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
    undefined : float
        What stands for an undefined score, where a script takes plain means.

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

    _sees_objects = True

    def __init__(
        self,
        objects: ObjectSource | None = None,
        vectors: VectorSource = None,
        references: bool = True,
        p: int = 2,
        counts: bool = True,
        normalize: bool = True,
        threshold: float | None = None,
        stop_words: Collection[str] = STOP_WORDS,
        undefined: float = math.nan,
    ) -> None:
        source = None if objects is None else read_objects(objects, threshold)
        super().__init__(vectors, references, normalize, stop_words, undefined, source)
        self._p = check_exponent(p)
        self._counts = counts
        self._threshold = threshold
        self._needed = f"a usable object label{'' if source is None else f' in {source.where}'}"

    def method(self) -> str:
        return "VIFIDEL"

    def _signature(self, objects: str) -> str:
        return self._pinned(
            f"refs:{'yes' if self._use_references else 'no'}",
            f"counts:{'yes' if self._counts else 'no'}",
            f"objects:{objects}",
            f"p:{self._p}",
            *self._space.signature(),
            package="POT",
        )

    def _counts_labels(self) -> bool:
        return self._counts

    def _score(self, gold: _WeightedGold, words: Bags) -> tuple[Floats, int]:
        distances = travel_distances(
            gold.lexicon.distances,
            gold.objects,
            words,
            self._p,
            gold.label_penalties,
            self._penalties(words, gold),
        )
        unweighted = int((~np.isnan(distances) & ~gold.weighted).sum())
        scores = similarities(gold.objects.sizes > 0, words, distances)
        return scores, unweighted if self._use_references else 0

    def objects_of(self, ids: Sequence[ImageId]) -> dict[ImageId, Mapping[str, int]]:
        """Return the object labels of images with their counts.

        Raises
        ------
        ImageIdError
            If an image is unknown.
        """
        return dict(
            zip(ids, self._labels_of(Rows([""] * len(ids), [()] * len(ids), ids)), strict=True)
        )

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
        return next(self.explain_rows(make_rows([caption], [image_id], [references]), thresholds))

    def explanations(
        self,
        gts: Mapping[Any, Sequence[str]],
        res: Mapping[Any, Sequence[str]],
        thresholds: Thresholds = _THRESHOLDS,
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each caption, in the order of `gts`.

        Parameters
        ----------
        gts, res : mapping
            References and candidates, as `compute_score` takes them.
        thresholds : Thresholds
            As for `explain`.

        Raises
        ------
        VifidelError
            If ids or captions are not as described.
        """
        return self.explain_rows(coco_rows(gts, res), thresholds)

    def explain_rows(
        self, rows: Rows, thresholds: Thresholds = _THRESHOLDS
    ) -> Iterator[Explanation]:
        """Yield what `explain` returns for each row.

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
            If an image is unknown.
        """
        vocabulary = sorted(frozenset() if self._objects is None else self._objects.vocabulary())
        for part in self._read(rows, also=vocabulary):
            numbers = np.array(part.gold.lexicon.numbers(vocabulary), dtype=np.int64)
            yield from self._explained(part, numbers, thresholds)

    def _explained(
        self, part: Part[_WeightedGold], vocabulary: Integers, thresholds: Thresholds
    ) -> Iterator[Explanation]:
        gold, words = part.gold, part.words
        word_of = gold.lexicon.word
        word_penalties = self._penalties(words, gold)
        costs = self._costs(gold, words, word_penalties)
        plans = transport_plans(gold.objects, words, costs)
        distances = sums_of_bags(plans * costs, gold.objects, words)
        scores = similarities(gold.objects.sizes > 0, words, distances)
        matches = self._matches(gold, words, word_penalties, plans, costs)
        grounding = ground(
            gold.lexicon.distances,
            gold.objects,
            words,
            gold.references,
            gold.row_of_reference,
            Labels(gold.lexicon.distances, vocabulary[gold.lexicon.known[vocabulary]], word_of),
            thresholds,
        )
        standings = self._standings(gold, words, grounding)
        labels = [word_of(label) for label in gold.objects.atoms.tolist()]
        of_labels = gold.tallies["object labels"]
        unknown = (of_labels + part.of_words).unknown
        pairs = np.concatenate([[0], np.cumsum(gold.objects.sizes * words.sizes)]).tolist()
        rows = part.rows
        for i, (image_id, caption) in enumerate(zip(rows.ids, rows.captions, strict=True)):
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
                unknown_words=self._unknown(unknown, rows.part(i, i + 1)) if unknown else (),
            )

    def _matches(
        self, gold: _WeightedGold, words: Bags, word_penalties: Floats, plans: Floats, costs: Floats
    ) -> list[Match]:
        """Return every pair that meets; those that move no mass are no matches yet."""
        left, right = meetings(gold.objects, words)
        return [
            Match(gold.lexicon.word(label), gold.lexicon.word(word), *numbers)
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
        self, gold: _WeightedGold, words: Bags, grounding: Grounding
    ) -> list[tuple[Any, ...]]:
        """Return the attributes of `CaptionWord`, without the cost, for every word."""
        word_of = gold.lexicon.word
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

    def _unknown(self, unknown: Collection[str], row: Rows) -> tuple[str, ...]:
        words = content_words(row.captions[0], self._space.stop_words)
        read = (*self._labels_of(row)[0], *words)
        return tuple(dict.fromkeys(word for word in read if word in unknown))

    def _prepared(self, gold: Gold) -> _WeightedGold:
        weighted = np.zeros(gold.rows, dtype=bool)
        weighted[gold.row_of_reference[gold.references.sizes > 0]] = True
        return _WeightedGold(
            **vars(gold), label_penalties=self._penalties(gold.objects, gold), weighted=weighted
        )

    def _penalties(self, bags: Bags, gold: Gold) -> Floats:
        return penalties(gold.lexicon.distances, bags, gold.references, gold.row_of_reference)

    def _costs(self, gold: _WeightedGold, words: Bags, word_penalties: Floats) -> Floats:
        distances, of_labels = gold.lexicon.distances, gold.label_penalties
        return travel_costs(distances, gold.objects, words, self._p, of_labels, word_penalties)


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
