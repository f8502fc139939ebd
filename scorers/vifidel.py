"""VIFIDEL: how faithful a caption is to what its image shows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectSource, read_objects
from ..evaluation import Column, Floats
from ..explain.evidence import Evidence, Sought
from ..explain.explained import Explained
from ..explain.explaining import Weighed, columns_of
from ..explain.explanation import Explanation, Thresholds
from ..explain.judging import Judge, make_judge
from ..image_ids import ImageId
from ..kernels.bags import Bags
from ..kernels.penalties import penalties
from ..kernels.transport import (
    check_exponent,
    similarities,
    travel_costs,
    travel_distances,
)
from ..rows import Rows, coco_rows, make_rows
from ..text.words import STOP_WORDS
from ..things.synonyms import ClassList, read_things
from ..vectors import VectorSource
from .papers import MADHYASTHA_2019
from .record import Metric, Settings
from .word_vectors import Gold, Part, Scored, WordVectorScorer

_THRESHOLDS = Thresholds()


@dataclass(frozen=True, eq=False)
class _WeightedGold(Gold):
    """Objects and references of some rows, and what the references say of the objects."""

    label_penalties: Floats
    weighted: NDArray[np.bool_]  # (rows,): has a usable reference


class Vifidel(WordVectorScorer[_WeightedGold]):
    """Visual fidelity of captions (Madhyastha, Wang & Specia, ACL 2019).

    The bag of an image's object labels is moved onto the bag of the caption's content words by
    optimal transport in a word-vector space; the score is exp(-distance), in [0, 1].

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it; a list is a union.
        Without it the objects are given to `score`, caption by caption.
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
    things : path or ClassList, optional
        Names of things, as `VifidelH` takes them: what `explain` judges. Scores do not depend on
        them.
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
    _counted = ("no_words", "unknown_words", "unweighted")

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
        things: ClassList | str | None = None,
        undefined: float = math.nan,
    ) -> None:
        source = None if objects is None else read_objects(objects, threshold)
        super().__init__(vectors, references, normalize, stop_words, undefined, source)
        self._p = check_exponent(p)
        self._counts = counts
        self._threshold = threshold
        self._things = None if things is None else read_things(things)
        self._needed = f"a usable object label{'' if source is None else f' in {source.where}'}"

    def method(self) -> str:
        return "VIFIDEL"

    def signature_with(self, objects: str) -> str:
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

    def score_part(self, part: Part[_WeightedGold]) -> Scored:
        gold, words = part.gold, part.words
        distances = travel_distances(
            gold.lexicon.distances,
            gold.objects,
            words,
            self._p,
            gold.label_penalties,
            self._penalties(words, gold),
        )
        unweighted = ~np.isnan(distances) & ~gold.weighted & self._use_references
        scores = similarities(gold.objects.sizes > 0, words, distances)
        counts = {"no_words": words.sizes == 0, "unweighted": unweighted}
        return Scored(scores[:, None], counts, distances)

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
            The cosines that decide; other word vectors may need others.

        Raises
        ------
        VifidelError
            If the image is unknown or a caption is not a string.
        """
        rows = make_rows([caption], [image_id], [references])
        return next(self.explain_rows(rows, thresholds))

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
        self,
        rows: Rows,
        thresholds: Thresholds = _THRESHOLDS,
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
        for (part,) in self.explained([rows], thresholds):
            yield from part or ()

    def explained(
        self, of_systems: Sequence[Rows], thresholds: Thresholds = _THRESHOLDS
    ) -> Iterator[tuple[Explained | None, ...]]:
        """Yield what `explain_rows` says of several systems, as columns, some rows at a time.

        What is known of the images is read once for the systems that have the same images, where
        the scorer has it from scoring one of them.

        Parameters
        ----------
        of_systems : sequence of Rows
            The captions of each system.
        thresholds : Thresholds
            As for `explain`.

        Yields
        ------
        tuple of Explained
            The next rows of each system; None for a system that has no more.

        Raises
        ------
        VifidelError
            If an image is unknown.
        """
        judge = self._judge(thresholds)

        @lru_cache(maxsize=len(of_systems))  # which have most references in common
        def said_by(references: tuple[str, ...]) -> list[str]:
            return list(dict.fromkeys(judge.texts(references)))

        def texts(part: Rows) -> list[str]:
            references = part.references if self._use_references else ()
            said = said_by(tuple(chain.from_iterable(references)))
            return [*judge.texts(part.captions), *said]

        readers = [self._read(rows, also=texts) for rows in of_systems]
        for parts in zip_longest(*readers):
            evidence: dict[Gold, Evidence] = {}  # of systems that share the gold side
            for part in filter(None, parts):
                if part.gold not in evidence:
                    references = part.rows.references if self._use_references else None
                    evidence[part.gold] = judge.evidence(
                        part.gold.lexicon,
                        self._labels_of(part.rows),
                        references or [()] * part.gold.rows,
                        self._sought,
                    )
            yield tuple(
                None
                if part is None
                else columns_of(self._weighed(part), judge, evidence[part.gold], thresholds.far)
                for part in parts
            )

    def _judge(self, thresholds: Thresholds) -> Judge:
        return make_judge(read_things(self._things), self._space.stop_words, thresholds.support)

    @cached_property
    def _sought(self) -> Sought | None:
        return self._judge(_THRESHOLDS).sought_by(self._objects)

    def _weighed(self, part: Part[_WeightedGold]) -> Weighed:
        gold, words = part.gold, part.words
        word_penalties = self._penalties(words, gold)
        return Weighed(
            part.rows,
            self._labels_of(part.rows),
            gold.lexicon,
            gold.objects,
            words,
            gold.label_penalties,
            word_penalties,
            self._costs(gold, words, word_penalties),
            gold.tallies["object labels"].unknown,
            part.of_words.unknown,
        )

    def prepare(self, gold: Gold, rows: Rows) -> _WeightedGold:
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
        None if settings.objects is None else settings.labels,
        references=settings.weighted,
        counts=settings.counts,
        things=settings.options.get("things"),
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
    tables=True,
    papers=(MADHYASTHA_2019,),
)
