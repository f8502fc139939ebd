"""Explanations by the metrics on word vectors that know what their images show."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels
from ..annotations.read import LookedFor
from ..evaluation import Floats
from ..explain.explained import (
    Explained,
    MatchColumns,
    MentionColumns,
    ObjectColumns,
    Texts,
    WordColumns,
)
from ..explain.explanation import Explanation, Thresholds
from ..explain.inventions import are_hedged
from ..image_ids import ImageId
from ..kernels.bags import Bags, meetings
from ..kernels.grounding import Evidence, GroundedMentions, Grounding
from ..kernels.standing import are_mentioned, standings
from ..kernels.support import NOTHING
from ..kernels.transport import penalties, similarities, sums_of_bags, transport_plans, travel_costs
from ..rows import LabelCounts, Rows, coco_rows, make_rows
from ..text.words import content_words
from ..things.grounded import SUPPORT, Verdict
from ..things.mentions import Unit
from ..things.synonyms import ClassList, read_things
from .base import Scorer, asked_of
from .word_vectors import Gold, GoldT, Part, WordVectorScorer


class Explainer(Scorer):
    """A metric that can say which words of a caption are in the image."""

    @abstractmethod
    def explained(
        self, of_systems: Sequence[Rows], thresholds: Thresholds | None = None
    ) -> Iterator[tuple[Explained | None, ...]]:
        """Yield the explanations of several systems as columns, some rows at a time.

        Parameters
        ----------
        of_systems : sequence of Rows
            The captions of each system.
        thresholds : Thresholds, optional
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

    @abstractmethod
    def units(self, caption: str) -> Sequence[Unit]:
        """Return the content words of a caption as the metric reads them, mentions among them."""

    def explain(
        self,
        image_id: ImageId,
        caption: str,
        references: Sequence[str] = (),
        thresholds: Thresholds | None = None,
    ) -> Explanation:
        """Return what of a caption is in the image, and who was matched with what, at what cost.

        CHAIR moves nothing: it tells only which mentions are there.

        Parameters
        ----------
        image_id : hashable
            An image that the objects know.
        caption : str
            The candidate.
        references : sequence of str
            Weight words by these, and what they mention is in the image; none are needed, and a
            scorer without references ignores them.
        thresholds : Thresholds, optional
            The cosines that decide; other word vectors may need others. By default those of the
            metric.

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
        thresholds: Thresholds | None = None,
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each caption, in the order of `gts`.

        They are made while they are read, so that memory stays flat.

        Parameters
        ----------
        gts, res : mapping
            References and candidates, as `compute_score` takes them.
        thresholds : Thresholds, optional
            As for `explain`.

        Raises
        ------
        VifidelError
            If ids or captions are not as described.
        """
        return self.explain_rows(coco_rows(gts, res), thresholds)

    def explain_rows(
        self, rows: Rows, thresholds: Thresholds | None = None
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each row, made while they are read."""
        return chain.from_iterable(part or () for (part,) in self.explained([rows], thresholds))


class ExplainingScorer(Explainer, WordVectorScorer[GoldT]):
    """A metric on word vectors that can say which words of a caption are in the image.

    `Vifidel`, `VifidelH` and `VifidelPRF` are such metrics. Whatever they compute, the verdicts are
    those of the grounding, and the transport plan is VIFIDEL's.
    """

    _things: ClassList | None
    _looked_for: LookedFor | None = None
    _support = SUPPORT
    _p = 2

    @property
    def objects(self) -> ObjectLabels | None:
        """The source of object labels; None if they come with the rows, or there are none."""
        return self._objects

    @property
    def evidence(self) -> dict[str, Any]:
        """The arguments with which another metric has the same evidence, names and vectors."""
        return {
            "objects": self._objects,
            "references": self._use_references,
            "things": self._things,
            "looked_for": self._looked_for,
            "vectors": self._space.vectors,
            "stop_words": self._space.stop_words,
        }

    @cached_property
    def _grounding(self) -> Grounding:
        things, stop_words = read_things(self._things), self._space.stop_words
        return Grounding(things, stop_words, self._objects, self._looked_for)

    def units(self, caption: str) -> Sequence[Unit]:
        return self._grounding.units(caption)

    def explained(
        self, of_systems: Sequence[Rows], thresholds: Thresholds | None = None
    ) -> Iterator[tuple[Explained | None, ...]]:
        """Yield the explanations of several systems as columns, some rows at a time.

        What is known of the images is read once for the systems that have the same images, where
        the scorer has it from scoring one of them.
        """
        grounding = self._grounding

        @lru_cache(maxsize=len(of_systems))  # which have most references in common
        def words_of(references: tuple[str, ...]) -> list[str]:
            return list(dict.fromkeys(grounding.texts(references)))

        def texts(part: Rows) -> list[str]:
            references = words_of(tuple(chain.from_iterable(self._references_of(part))))
            return [*grounding.texts(part.captions), *references]

        readers = [self._read(rows, also=texts) for rows in of_systems]
        for parts in zip_longest(*readers):
            known: dict[Gold, tuple[Evidence, Floats]] = {}  # of systems that share the gold side
            for part in filter(None, parts):
                gold = part.gold
                if gold not in known:
                    known[gold] = self._evidence(gold, part.rows), _penalties(gold.objects, gold)
            yield tuple(
                None if part is None else self._columns(part, *known[part.gold], thresholds)
                for part in parts
            )

    def objects_of(self, ids: Sequence[ImageId]) -> dict[ImageId, LabelCounts]:
        """Return the object labels of images with their counts.

        Raises
        ------
        ImageIdError
            If an image is unknown.
        """
        rows = Rows([""] * len(ids), [()] * len(ids), ids)
        return dict(zip(ids, self._labels_of(rows), strict=True))

    def denied_in(self, ids: Sequence[ImageId]) -> dict[ImageId, tuple[str, ...]]:
        """Return what was looked for in each image and is not there, of those that say it.

        Raises
        ------
        ImageIdError
            If an image is unknown.
        """
        denied = self._denied(Rows([""] * len(ids), [()] * len(ids), ids))
        return {image_id: labels for image_id, labels in zip(ids, denied, strict=False) if labels}

    def _denied(self, rows: Rows) -> list[tuple[str, ...]]:
        """Return what was looked for in the image of each row and is not there; [] of none."""
        asked = asked_of(rows, self._objects)
        if asked is None:
            return []
        labels = self._labels_of(rows)
        return [
            tuple(sorted((of_image or frozenset()) - there.keys()))
            for of_image, there in zip(asked, labels, strict=True)
        ]

    def _references_of(self, rows: Rows) -> Sequence[Sequence[str]]:
        return rows.references if self._use_references else [()] * len(rows)

    def _evidence(self, gold: Gold, rows: Rows) -> Evidence:
        """Return what is known of the images of rows whose gold side is given."""
        labels, references = self._labels_of(rows), self._references_of(rows)
        asked = asked_of(rows, self._objects)
        return self._grounding.evidence(gold.lexicon, labels, references, asked)

    def _columns(
        self,
        part: Part[GoldT],
        evidence: Evidence,
        label_penalties: Floats,
        thresholds: Thresholds | None,
    ) -> Explained:
        """Return the explanations of some rows."""
        thresholds = thresholds or Thresholds(self._support)
        rows, words, gold = part.rows, part.words, part.gold
        lexicon, objects = gold.lexicon, gold.objects
        penalty = _penalties(words, gold)
        costs = travel_costs(lexicon.distances, objects, words, self._p, label_penalties, penalty)
        plans = transport_plans(objects, words, costs)
        distances = sums_of_bags(plans * costs, objects, words)
        mentions = self._grounding.mentions(lexicon, rows.captions, evidence, thresholds.support)
        standing = standings(lexicon, words, evidence, mentions)
        mentioned = are_mentioned(
            self._grounding, lexicon, objects, words, mentions, thresholds.far
        )
        texts = Texts()
        by = texts.of(mentions.by)
        return Explained(
            ids=rows.ids,
            captions=rows.captions,
            scores=similarities(objects.sizes > 0, words, distances),
            distances=distances,
            known=evidence.is_there,
            objects=ObjectColumns(
                objects.starts,
                texts.of_numbers(lexicon, objects.atoms),
                label_penalties,
                ~mentioned,
            ),
            words=WordColumns(
                words.starts,
                texts.of_numbers(lexicon, words.atoms),
                penalty,
                standing.support,
                np.where(
                    standing.mentions == NOTHING,
                    texts.of_numbers(lexicon, standing.by),
                    np.append(by, NOTHING)[standing.mentions],
                ),
                standing.mentions,
            ),
            mentions=MentionColumns(
                np.searchsorted(mentions.rows, np.arange(len(rows) + 1)),
                texts.of([unit.words for unit in mentions.units]),
                texts.of([unit.category for unit in mentions.units]),
                mentions.support,
                by,
                mentions.verdicts,
                self._hedged(mentions, rows.captions),
            ),
            matches=_matches(objects, words, plans, costs),
            unknown_words=self._unknown_words(part),
            denied={row: labels for row, labels in enumerate(self._denied(part.rows)) if labels},
            texts=texts.listed,  # last: now all are listed
        )

    def _hedged(self, found: GroundedMentions, captions: Sequence[str]) -> NDArray[np.bool_]:
        """Return which mentions only a clause that claims nothing makes of what is not there."""
        hedged = np.zeros(len(found.units), dtype=bool)
        for row in np.unique(found.rows[found.verdicts == Verdict.ABSENT]).tolist():
            of_row = slice(*np.searchsorted(found.rows, [row, row + 1]).tolist())
            hedged[of_row] = are_hedged(captions[row], self.units, found.verdicts[of_row].tolist())
        return hedged

    def _unknown_words(self, part: Part[GoldT]) -> dict[int, tuple[str, ...]]:
        """Return the labels and words without a vector, by row; most rows have none."""
        of_labels = part.gold.tallies["object labels"].unknown
        unknown = of_labels.keys() | part.of_words.unknown.keys()
        if not unknown:
            return {}
        found = {}
        for row, labels in enumerate(self._labels_of(part.rows)):
            words = content_words(part.rows.captions[row], self._space.stop_words)
            if not (unknown.isdisjoint(labels) and unknown.isdisjoint(words)):
                found[row] = tuple(dict.fromkeys(w for w in (*labels, *words) if w in unknown))
        return found


def _penalties(bags: Bags, gold: Gold) -> Floats:
    return penalties(gold.lexicon.distances, bags, gold.references, gold.row_of_reference)


def _matches(objects: Bags, words: Bags, plans: Floats, costs: Floats) -> MatchColumns:
    """Return the matches of those pairs that move mass."""
    moving = np.flatnonzero(plans > 0)
    of_objects, of_words = (side[moving] for side in meetings(objects, words))
    masses, costs = plans[moving], costs[moving]
    rows = objects.owners[of_objects]
    order = np.lexsort((-masses * costs, rows))
    starts = np.searchsorted(rows, np.arange(len(objects) + 1))
    return MatchColumns(starts, of_objects[order], of_words[order], masses[order], costs[order])
