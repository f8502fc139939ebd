"""Metrics that explain captions, and the base of those that hold them against evidence."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any, TypeAlias, cast

from ..annotations import ObjectLabels
from ..annotations.categories import Declared, LookedFor, read_declared
from ..annotations.labels import AttributeSource
from ..captions.rows import LabelCounts, Rows, coco_rows, make_rows
from ..doors.arguments import constructor
from ..errors import warn
from ..explain.by_evidence import explained_by_vectors, with_answers, with_attributes
from ..explain.explanation import Explanation
from ..io.image_ids import ImageId
from ..kernels.bags import Batch, ImageSide, ImageSideT
from ..kernels.grounding import Grounding
from ..kernels.known import Names
from ..kernels.support import Evidence
from ..words.content_words import STOP_WORDS, content_words
from ..words.english import lemmatizer
from ..words.settings import SUPPORT, Settings, Thresholds
from ..words.synonyms import ClassList, ListSource, read_things
from ..words.word_vectors import VectorSource
from .base import Scorer
from .mean import Mean
from .registry import METRICS
from .word_vectors import Objects, Score, Words, WordVectorScorer, asked_of, attributes_of

_MOST_SHOWN = 5  # labels in a warning

#: A list of classes, or its file.
Things: TypeAlias = ListSource | None

_EDITION = 3  # of the rules by which captions are read and judged; version 0.3 had the second


class Explainer(Scorer):
    """A metric that can say which words of a caption are in the image."""

    _objects: ObjectLabels | None = None
    _looked_for: LookedFor | None = None

    @property
    def objects(self) -> ObjectLabels | None:
        """The source of object labels; None if they come with the rows, or there are none."""
        return self._objects

    @property
    def looked_for(self) -> LookedFor | None:
        """What a user says was looked for in every image."""
        return self._looked_for

    @property
    def _declared(self) -> list[str]:
        """What signatures say of what a user declares."""
        declared = self._looked_for
        return [] if declared is None else [f"looked-for:{declared.signature()}"]

    @abstractmethod
    def explained(
        self,
        of_systems: Sequence[Rows],
        thresholds: Thresholds | None = None,
        with_plans: Container[ImageId] | None = None,
    ) -> Iterator[tuple[list[Explanation] | None, ...]]:
        """Yield the explanations of several systems, some rows at a time.

        They come as a list of each system, None where it has no more rows. Captions of other images
        than those `with_plans`, by default all, have verdicts only: no matches, and words without
        costs and supports. Raises a VifidelError if an image is unknown.
        """

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
        return next(
            self.explain_rows(
                make_rows([caption], [image_id], [references], as_written=self.takes_texts),
                thresholds,
            )
        )

    def explanations(
        self,
        gts: Mapping[Any, Sequence[str]],
        res: Mapping[Any, Sequence[str]],
        thresholds: Thresholds | None = None,
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each caption, in the order of `gts`.

        References and candidates are given as `compute_score` takes them, and ids or captions that
        are not so raise a VifidelError. Explanations are made while they are read, so that memory
        stays flat.
        """
        return self.explain_rows(coco_rows(gts, res, self.takes_texts), thresholds)

    def explain_rows(
        self, rows: Rows, thresholds: Thresholds | None = None
    ) -> Iterator[Explanation]:
        """Return what `explain` returns for each row, made while they are read."""
        of_parts = (part or () for (part,) in self.explained([rows], thresholds))
        return chain.from_iterable(of_parts)


class ExplainingScorer(Explainer, WordVectorScorer[ImageSideT]):
    """A metric that holds captions against object labels, references, or both, and explains them.

    `Vifidel`, `VifidelH` and `VifidelPRF` are such metrics. Whatever they compute, the verdicts are
    those of the grounding, and the transport plan is VIFIDEL's.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it.
        Without it the objects are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; only their directions
        count.
    references : bool
        Whether the references are evidence.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    stop_words : collection of str
        Words of captions that are left out.
    things : path or ClassList, optional
        More names of things, as `vifidel_eval.words.synonyms.read_classes` reads them; they join
        the object vocabulary.
    only_things : path or ClassList, optional
        The object vocabulary instead of the package's own list. What the objects of an image list,
        or say was looked for, is a name in that image even if no list has it.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    uncertain : float, optional
        As `vifidel_eval.annotations.read_objects` takes it.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, if the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (whatever is not listed is not there), a file with one label per line, or labels.
    attributes : mapping, path, or list of paths, optional
        As `vifidel_eval.annotations.read_objects` takes it.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If another argument is not as described.
    """

    _sees_objects = True
    _support = SUPPORT
    _p = 2
    _normalize = True
    _references_suffice = True

    @constructor
    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        references: bool = True,
        *,
        threshold: Score = None,
        stop_words: Words = STOP_WORDS,
        things: Things = None,
        only_things: Things = None,
        undefined: float = math.nan,
        uncertain: Score = None,
        looked_for: Declared = None,
        attributes: AttributeSource = None,
    ) -> None:
        super().__init__(
            objects,
            vectors,
            references,
            threshold=threshold,
            normalize=self._normalize,
            stop_words=stop_words,
            undefined=undefined,
            uncertain=uncertain,
            attributes=attributes,
        )
        self._things = read_things(things, only_things)
        self._looked_for = None if looked_for is None else read_declared(looked_for)

    @property
    def _names(self) -> ClassList:
        """The object vocabulary that scores depend on."""
        return self._things

    def _pin_evidence(self, objects: str, *settings: str) -> str:
        return self._pinned(
            f"refs:{'yes' if self._use_references else 'no'}",
            f"objects:{objects}",
            f"things:{self._names.signature()}",
            *self._declared,
            f"edition:{_EDITION}",
            *settings,
            lemmatizer(),
            *self._space.signature(),
            package="numpy",
        )

    @property
    def evidence(self) -> dict[str, Any]:
        """The arguments with which another metric has the same evidence, names and vectors."""
        return {
            "objects": self._objects,
            "references": self._use_references,
            "only_things": self._things,
            "looked_for": self._looked_for,
            "vectors": self._space.vectors,
            "stop_words": self._space.stop_words,
        }

    @cached_property
    def _grounding(self) -> Grounding:
        return self._grounding_by(self._things)

    def _grounding_by(self, things: ClassList) -> Grounding:
        """Return what grounds mentions of a vocabulary in labels and what is declared of them."""
        return Grounding(things, self._space.stop_words, self._objects, self._looked_for)

    def _read_for_grounding(self, rows: Rows) -> Iterator[Batch[ImageSideT]]:
        """Yield rows with their image side, whose lexicon knows all that the grounding reads."""
        return self._read(rows, vocabulary=self._all_texts)

    def _all_texts(self, rows: Rows) -> list[str]:
        """Return the words and terms of captions and references."""
        texts: list[str] = []
        names: list[Names] = []  # by which each text is read
        references, readers = self._references_of(rows), self._names_of(rows, self._grounding)
        for caption, of_row, reader in zip(rows.captions, references, readers, strict=True):
            texts += [caption, *of_row]
            names += [reader] * (1 + len(of_row))
        return self._grounding.texts(texts, names)

    def _warn_of_codes(self, grounding: Grounding) -> None:
        """Warn of labels that cannot be found in captions, whatever these say."""
        source, declared = self._objects, self._looked_for
        labels: set[str] = set()
        if source is not None:
            labels |= source.vocabulary() | source.names_denied()
        if declared is not None:
            labels |= declared.labels or frozenset()
        codes = grounding.unmentionable(labels)
        if codes:
            shown, rest = codes[:_MOST_SHOWN], len(codes) - _MOST_SHOWN
            warn(
                f"no caption can mention {', '.join(map(repr, shown))}"
                f"{f' and {rest} more' if rest > 0 else ''}: such labels are codes or stop words; "
                "write names (--categories gives those of class ids)."
            )

    def _names_of(self, rows: Rows, grounding: Grounding) -> list[Names]:
        """Return the names by which the image of each row is read."""
        return grounding.all_names(self._labels_of(rows), asked_of(rows, self._objects))

    def explained(
        self,
        of_systems: Sequence[Rows],
        thresholds: Thresholds | None = None,
        with_plans: Container[ImageId] | None = None,
    ) -> Iterator[tuple[list[Explanation] | None, ...]]:
        thresholds = thresholds or Thresholds(self._support)
        for parts in zip_longest(*map(self._read_for_grounding, of_systems)):
            # Systems that share an image side share the evidence that is made from it.
            evidence: dict[ImageSide, Evidence] = {}
            for part in filter(None, parts):
                if part.image_side not in evidence:
                    evidence[part.image_side] = self._evidence(part.image_side, part.rows)
            yield tuple(
                None
                if part is None
                else self._explained_part(part, evidence[part.image_side], thresholds, with_plans)
                for part in parts
            )

    def _explained_part(
        self,
        part: Batch[ImageSideT],
        evidence: Evidence,
        thresholds: Thresholds,
        with_plans: Container[ImageId] | None,
    ) -> list[Explanation]:
        """Return the explanations of rows that were read."""
        rows = part.rows
        explanations = explained_by_vectors(
            part,
            self._grounding,
            evidence,
            self._p,
            thresholds,
            self._unknown_words(part),
            self._denied(rows),
            with_plans,
        )
        explanations = with_attributes(
            explanations,
            self._names_of(rows, self._grounding),
            self._labels_of(rows),
            attributes_of(rows, self._objects),
        )
        return with_answers(explanations, rows.answers)

    def objects_of(self, ids: Sequence[ImageId]) -> dict[ImageId, LabelCounts]:
        """Return the object labels of images with their counts; an unknown image is an error."""
        return dict(zip(ids, self._labels_of(_without_captions(ids)), strict=True))

    def denied_in(self, ids: Sequence[ImageId]) -> dict[ImageId, tuple[str, ...]]:
        """Return what was looked for in each image and is not there, of those that say it."""
        denied = self._denied(_without_captions(ids))
        return {image_id: labels for image_id, labels in zip(ids, denied, strict=True) if labels}

    def _denied(self, rows: Rows) -> list[tuple[str, ...]]:
        """Return what was looked for in each row's image and is not there."""
        asked = asked_of(rows, self._objects)
        if asked is None:
            return [()] * len(rows)
        return [
            tuple(sorted((of_image or frozenset()) - labels.keys()))
            for of_image, labels in zip(asked, self._labels_of(rows), strict=True)
        ]

    def _references_of(self, rows: Rows) -> Sequence[Sequence[str]]:
        return rows.references if self._use_references else [()] * len(rows)

    def _evidence(self, image_side: ImageSide, rows: Rows) -> Evidence:
        """Return what is known of the images of rows whose image side is given."""
        labels, references = self._labels_of(rows), self._references_of(rows)
        asked = asked_of(rows, self._objects)
        return self._grounding.evidence(image_side.lexicon, labels, references, asked)

    def _unknown_words(self, part: Batch[ImageSideT]) -> list[tuple[str, ...]]:
        """Return the labels and words without a vector of each row; most rows have none."""
        rows, of_labels = part.rows, part.image_side.tallies["object labels"].unknown
        unknown = of_labels.keys() | part.word_tally.unknown.keys()
        if not unknown:
            return [()] * len(rows)
        of_captions = (content_words(caption, self._space.stop_words) for caption in rows.captions)
        return [
            tuple(dict.fromkeys(word for word in (*labels, *words) if word in unknown))
            for labels, words in zip(self._labels_of(rows), of_captions, strict=True)
        ]


def _without_captions(ids: Sequence[ImageId]) -> Rows:
    return Rows([""] * len(ids), [()] * len(ids), ids)


def explainer_of(scorers: Iterable[Scorer], settings: Settings) -> ExplainingScorer[Any] | None:
    """Return the scorer that explains the captions of a run; None if nothing is known of images.

    It is VIFIDEL where objects are known, whether it was computed or not.
    """
    vifidel = METRICS["VIFIDEL"]
    explainers = [part for part in uncombined(scorers) if isinstance(part, Explainer)]
    explaining = [part for part in explainers if isinstance(part, ExplainingScorer)]
    for part in explaining:
        if isinstance(part, vifidel.scorer):
            return part
    if settings.labels is None:
        with_objects = [part for part in explainers if part.objects is not None]
        # CHAIR, which explains no words, lends its objects to VIFIDEL.
        for explainer in with_objects or explaining:
            if isinstance(explainer, ExplainingScorer):
                return explainer
        if not with_objects:
            return None
        chair = with_objects[0]
        declared = chair.looked_for or settings.looked_for
        settings = replace(settings, labels=chair.objects, looked_for=declared)
    return cast("ExplainingScorer[Any]", vifidel.scorer_for(settings))


def uncombined(scorers: Iterable[Scorer]) -> list[Scorer]:
    """Return scorers, the parts of combinations instead of these."""
    of_each = (uncombined(s.parts) if isinstance(s, Mean) else [s] for s in scorers)
    return list(chain.from_iterable(of_each))
