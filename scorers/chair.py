"""CHAIR: what captions mention and their images do not show."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..annotations import ObjectSource, read_objects
from ..annotations.categories import Declared, read_declared
from ..captions.rows import Asked, Rows
from ..doors.arguments import check_switches, check_thresholds, constructor
from ..errors import warn
from ..evaluation import Column, DetailsOfParts, Evaluation, Statistics
from ..explain.by_evidence import explained_by_classes, with_answers
from ..explain.explanation import Explanation
from ..io.image_ids import ImageId, digest_of_ids, to_json_value
from ..kernels.mention_counts import (
    CAPTION_COUNTS,
    CORPUS,
    LabelClasses,
    caption_counts,
    details_of,
)
from ..words.english import drop_incomplete
from ..words.mentions import MentionFinder, Mentions
from ..words.settings import DROP_INCOMPLETE, SYNONYMS, Thresholds
from ..words.synonyms import ClassList, coco_synonyms, read_list
from .base import Progress
from .explaining import Explainer
from .record import ROHRBACH_2018, Metric
from .registry import register
from .word_vectors import asked_of, image_side_key, labels_of

_ROWS_AT_ONCE = 256


class _ImageSide(NamedTuple):
    """What rows are held against: categories that are there, and those that can be absent."""

    finders: tuple[MentionFinder, ...]  # which differ where rows have names of their own
    there: tuple[frozenset[str], ...]
    deniable: tuple[Asked, ...] | None  # None where all that is not there is absent

    def judged(self, mentions: Mentions, row: int) -> Mentions:
        """Return those mentions of a row's caption that are there or can be absent."""
        deniable = None if self.deniable is None else self.deniable[row]
        if deniable is None:
            return mentions
        judgeable = self.there[row] | deniable
        return mentions._replace(found=tuple(m for m in mentions.found if m.category in judgeable))


class Chair(Explainer):
    """Hallucination (Rohrbach et al., EMNLP 2018): mentions of objects that are not there.

    Corpus scores are computed from counts over the run, not as means of the captions' scores:
    CHAIRs is captions with an absent mention / captions; CHAIRi is absent mentions / mentions;
    CHAIR-Recall is categories of the images that their captions mention / categories of the
    images; CHAIR-Precision is categories mentioned that are there / categories mentioned; CHAIR-F1
    is their harmonic mean. All are in [0, 1]. CHAIR-Len is the mean number of tokens, punctuation
    included. As one number, CHAIR is CHAIRi: the share of mentions that are not there, which grows
    less with the length of captions than CHAIRs.

    A caption's own CHAIRs is 0 or 1; its CHAIRi and CHAIR-Precision are undefined if it mentions
    nothing, its CHAIR-Recall if its image has no category. The corpus score counts it all the
    same. A caption that claims nothing, such as a refusal, counts in CHAIR-Recall and CHAIR-F1
    alone, where it misses all categories of its image.

    If the objects say what was looked for, only that can be absent: other mentions are counted as
    not judged, and an image in which nothing was looked for has no scores. A label that is a
    phrase belongs to the class of its last word: *a red double-decker bus* is a bus.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The instances of the images, as `vifidel_eval.annotations.read_objects` takes them.
        Without it, the objects are given to `score`, caption by caption. Labels that are not among
        the synonyms are classes of their own, found by their names.
    synonyms : path or ClassList, optional
        The names of each category, as `vifidel_eval.words.synonyms.read_classes` reads them; the
        list that was published with CHAIR is read by the published rules. The default is our own
        list for COCO's 80 categories.
    drop_incomplete : bool
        Whether an unfinished last sentence is left out of a caption if a complete one precedes
        it.
    references : bool
        Whether things that an image's references mention are there as well, as published. If
        False, or if an image has no references, only its instances are there.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    uncertain : float, optional
        As `vifidel_eval.annotations.read_objects` takes it.
    looked_for : optional
        What was looked for in every image, as `VifidelH` takes it.

    Raises
    ------
    AnnotationError, ImageIdError
        If the objects cannot be read.
    VifidelError
        If the synonyms cannot be read.

    Examples
    --------
    >>> scorer = Chair({1: ["dog", "frisbee"]})
    >>> scorer.score_columns(["a puppy and a cat"], image_ids=[1])["CHAIRi"].tolist()
    [0.5]
    """

    columns = tuple(
        Column(
            name,
            lower_is_better=name in ("CHAIRs", "CHAIRi"),
            ranked=name != "CHAIR-Len",
            main=name == "CHAIRi",
            of_sums=formula,
        )
        for name, formula in CORPUS.items()
    )
    rates_inventions = True

    @constructor
    def __init__(
        self,
        objects: ObjectSource | None = None,
        synonyms: str | os.PathLike[str] | ClassList | None = None,
        drop_incomplete: bool = False,
        references: bool = True,
        threshold: float | None = None,
        undefined: float = math.nan,
        uncertain: float | None = None,
        looked_for: Declared = None,
    ) -> None:
        super().__init__(undefined)
        check_switches(drop_incomplete=drop_incomplete, references=references)
        self._synonyms = coco_synonyms() if synonyms is None else read_list(synonyms)
        check_thresholds(threshold, uncertain)
        if objects is not None:
            self._objects = read_objects(objects, threshold, uncertain=uncertain)
        self._threshold, self._uncertain = threshold, uncertain
        self._looked_for = read_declared(looked_for)
        self._labels = LabelClasses(self._synonyms, self._objects, self._looked_for)
        self._drop_incomplete = drop_incomplete
        self._use_references = references
        # What the image side of the last rows depends on, and that image side: three systems with
        # the same references take less than half the time.
        self._kept: tuple[object, _ImageSide] | None = None

    def method(self) -> str:
        return "CHAIR"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        objects = "rows" if self._objects is None else self._objects.signature()
        references = "+references" if self._use_references else ""
        return self._signature(self._labels.classes(), f"{objects}{references}", image_ids)

    def signature_of(self, systems: Iterable[Rows]) -> str:
        systems = list(systems)
        objects = {rows.objects_signature: None for rows in systems if rows.objects_signature}
        if self._objects is not None:
            objects = {self._objects.signature(): None}
        references = _digest_of_references(systems) if self._use_references else ""
        with_objects = [rows for rows in systems if rows.objects is not None]
        labels = chain.from_iterable(rows.objects or () for rows in with_objects)
        asked = chain.from_iterable(rows.asked or [None] * len(rows) for rows in with_objects)
        classes = self._labels.classes(labels, asked)
        ids = [image_id for rows in systems for image_id in rows.image_ids or ()]
        return self._signature(classes, f"{'+'.join(objects) or 'rows'}{references}", ids or None)

    def _signature(
        self, classes: ClassList, objects: str, image_ids: Sequence[ImageId] | None
    ) -> str:
        images = [] if image_ids is None else [f"images:{digest_of_ids(image_ids)}"]
        return self._pinned(
            f"synonyms:{classes.signature()}",
            f"drop-incomplete:{'yes' if self._drop_incomplete else 'no'}",
            f"objects:{objects}",
            *self._declared,
            *images,
            package="textblob",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        if self._objects is not None:
            self._objects.check_images(image_ids)

    def judge(self, evaluations: Iterable[Evaluation]) -> None:
        counted = [e.statistics.of_rows for e in evaluations if e.statistics is not None]
        sums = sum((np.nansum(rows, axis=0) for rows in counted), np.zeros(len(CAPTION_COUNTS)))
        total = dict(zip(CAPTION_COUNTS, sums.tolist(), strict=True))
        nothing = "has an image with an object" if total["mentions"] else "mentions an object"
        if total["captions"] and not (total["mentions"] and total["categories of the image"]):
            warn(
                f"none of the captions {nothing} that the synonyms ({self._synonyms.name}) or "
                "the object labels contain: CHAIR says nothing about them."
            )

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        side = self._image_side(rows)
        counts = np.empty((len(rows), len(CAPTION_COUNTS)))
        details = DetailsOfParts()
        incomplete = unconfirmed = 0
        claims_nothing = rows.claims_nothing
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows.captions[start : start + _ROWS_AT_ONCE]
            judged: list[Mentions] = []
            for at, caption in enumerate(part, start):
                complete = self._complete(caption)
                incomplete += complete != caption
                found = side.finders[at].find(complete)
                mentions = side.judged(found, at)
                unconfirmed += len(found.found) - len(mentions.found)
                counts[at] = caption_counts(mentions, side.there[at], not claims_nothing[at])
                if side.deniable is not None and side.deniable[at] == frozenset():
                    counts[at] = np.nan
                judged.append(mentions)
            labels = side.there[start : start + len(part)]
            details.add(len(part), partial(details_of, judged, labels))
            on_progress(len(part))
        mute = counts[:, CAPTION_COUNTS.index("mentions")] == 0
        tallies = {
            "no_mentions": int((mute & ~np.array(claims_nothing, dtype=bool)).sum()),
            "incomplete": incomplete,
        }
        if side.deniable is not None:
            tallies["unconfirmed"] = unconfirmed
        sums = np.nansum(counts, axis=0)
        return {
            column: Evaluation(
                rows.ids,
                formula(counts),
                corpus_score=float(formula(sums)),
                statistics=Statistics(counts, formula),
                counts=tallies,
                details={self.method(): details} if column == self.main else {},
            )
            for column, formula in CORPUS.items()
        }

    def explained(
        self,
        of_systems: Sequence[Rows],
        thresholds: Thresholds | None = None,
        with_plans: Container[ImageId] | None = None,
    ) -> Iterator[tuple[list[Explanation] | None, ...]]:
        """Yield explanations, some rows at a time; it has no cosines and no plans."""
        for start in range(0, max(map(len, of_systems), default=0), _ROWS_AT_ONCE):
            yield tuple(
                self._explained(rows.part(start, start + _ROWS_AT_ONCE))
                if start < len(rows)
                else None
                for rows in of_systems
            )

    def _explained(self, rows: Rows) -> list[Explanation]:
        side = self._image_side(rows)
        explanations = map(
            explained_by_classes,
            rows.ids,
            rows.captions,
            (
                finder.find(self._complete(caption)).found
                for finder, caption in zip(side.finders, rows.captions, strict=True)
            ),
            side.there,
            side.deniable or [None] * len(rows),
            self._scores(rows)["CHAIRi"].tolist(),
        )
        return with_answers(explanations, rows.answers)

    def _complete(self, caption: str) -> str:
        """Return the part of a caption that is read."""
        return drop_incomplete(caption) if self._drop_incomplete else caption

    def _image_side(self, rows: Rows) -> _ImageSide:
        """Return what the rows are held against, prepared once for all systems of a run."""
        key, kept = image_side_key(rows, self._use_references), self._kept
        if kept is not None and kept[0] == key:
            return kept[1]
        labels = labels_of(rows, self._objects, self)
        asked = asked_of(rows, self._objects) or [None] * len(rows)
        finders = self._labels.finders(labels, asked)
        deniable = self._labels.deniable(asked, finders)
        references = rows.references if self._use_references else [()] * len(rows)
        classes = tuple(
            map(self._labels.there, labels, references, finders, deniable or [None] * len(rows))
        )
        side = _ImageSide(finders, classes, deniable)
        if rows.are_kept:
            self._kept = key, side
        return side

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}


def _digest_of_references(systems: Iterable[Rows]) -> str:
    """Return what a signature says of references, whatever their order; nothing without any."""
    lines = {
        json.dumps([to_json_value(image_id), sorted(references)])
        for rows in systems
        for image_id, references in zip(
            rows.image_ids or [""] * len(rows), rows.references, strict=True
        )
        if references
    }
    digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:8]
    return f"+references#{digest}" if lines else ""


register(
    Metric(
        "CHAIR",
        "Mentions of objects that are not in the image, by names of COCO's 80 categories",
        Chair,
        lambda settings: Chair(
            settings.labels,
            settings.options.get("synonyms"),
            bool(settings.options.get("drop_incomplete")),
            references=settings.weighted,
            uncertain=settings.uncertain,
            looked_for=settings.looked_for,
        ),
        rank=80,
        references=False,
        objects=True,
        options=(SYNONYMS, DROP_INCOMPLETE),
        papers=(ROHRBACH_2018,),
    )
)
