"""CHAIR: what captions mention and their images do not show."""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..annotations import ObjectSource, read_objects
from ..annotations.categories import Declared, read_declared
from ..captions.rows import Asked, LabelCounts, Rows
from ..errors import VifidelWarning
from ..evaluation import Column, DetailsOfParts, Evaluation, Statistics
from ..explain.by_evidence import explained_by_classes
from ..explain.explanation import Explanation, with_answers
from ..io.image_ids import ImageId, digest_of_ids, to_json_value
from ..io.options import check_thresholds
from ..kernels.mention_counts import (
    CAPTION_COUNTS,
    CORPUS,
    caption_counts,
    details_of,
    image_categories,
)
from ..words.english import drop_incomplete
from ..words.mentions import MentionFinder, Mentions, Unit, finder_of
from ..words.settings import DROP_INCOMPLETE, SYNONYMS, Thresholds
from ..words.synonyms import ClassList, class_names, coco_synonyms, read_things, term_of, unnumbered
from .base import Progress
from .explaining import Explainer
from .papers import ROHRBACH_2018
from .record import Metric
from .registry import register
from .word_vectors import asked_of, gold_key, labels_of

_ROWS_AT_ONCE = 256


class _Gold(NamedTuple):
    """What rows are held against: categories that are there, and those that can be absent."""

    finder: MentionFinder
    there: tuple[frozenset[str], ...]
    deniable: tuple[Asked, ...] | None


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
        Column(name, name in ("CHAIRs", "CHAIRi"), name != "CHAIR-Len", name == "CHAIRi", formula)
        for name, formula in CORPUS.items()
    )
    rates_inventions = True

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
        self._synonyms = coco_synonyms() if synonyms is None else read_things(synonyms)
        check_thresholds(threshold, uncertain)
        if objects is not None:
            self._objects = read_objects(objects, threshold, uncertain=uncertain)
        self._threshold, self._uncertain = threshold, uncertain
        self._looked_for = read_declared(looked_for)
        self._drop_incomplete = drop_incomplete
        self._use_references = references
        # What the rows that were evaluated last say of their images, and what follows from it.
        self._kept: tuple[object, _Gold] | None = None

    def method(self) -> str:
        return "CHAIR"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        objects = "rows" if self._objects is None else self._objects.signature()
        references = "+references" if self._use_references else ""
        return self._signature(self._classes(()), f"{objects}{references}", image_ids)

    def signature_of(self, systems: Iterable[Rows]) -> str:
        systems = list(systems)
        objects = {rows.objects_signature: None for rows in systems if rows.objects_signature}
        if self._objects is not None:
            objects = {self._objects.signature(): None}
        references = _digest_of_references(systems) if self._use_references else ""
        classes = self._classes(labels for rows in systems for labels in rows.objects or ())
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
        captions, _, mentions, _, there, *_ = sum(
            (np.nansum(rows, axis=0) for rows in counted), np.zeros(len(CAPTION_COUNTS))
        )
        nothing = "has an image with an object" if mentions else "mentions an object"
        if captions and not (mentions and there):
            warnings.warn(
                f"none of the captions {nothing} that the synonyms ({self._synonyms.name}) or "
                "the object labels contain: CHAIR says nothing about them.",
                VifidelWarning,
                stacklevel=4,
            )

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        gold = self._gold(rows)
        counts = np.empty((len(rows), len(CAPTION_COUNTS)))
        details = DetailsOfParts()
        incomplete = unconfirmed = 0
        claims_nothing = rows.claims_nothing
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows.captions[start : start + _ROWS_AT_ONCE]
            there = gold.there[start : start + len(part)]
            judged: list[Mentions] = []
            for at, caption in enumerate(part, start):
                read = self._complete(caption)
                incomplete += read != caption
                mentions, of_image = gold.finder.find(read), gold.there[at]
                deniable = None if gold.deniable is None else gold.deniable[at]
                if deniable is not None:
                    known = of_image | deniable
                    found = tuple(m for m in mentions.found if m.category in known)
                    unconfirmed += len(mentions.found) - len(found)
                    mentions = mentions._replace(found=found)
                counts[at] = caption_counts(mentions, of_image, not claims_nothing[at])
                if deniable is not None and not deniable:
                    counts[at] = np.nan
                judged.append(mentions)
            details.add(len(part), partial(details_of, judged, there))
            on_progress(len(part))
        mute = counts[:, CAPTION_COUNTS.index("mentions")] == 0
        of_run = {
            "no_mentions": int((mute & ~np.array(claims_nothing, dtype=bool)).sum()),
            "incomplete": incomplete,
        }
        if gold.deniable is not None:
            of_run["unconfirmed"] = unconfirmed
        sums = np.nansum(counts, axis=0)
        return {
            column: Evaluation(
                rows.ids,
                formula(counts),
                corpus_score=float(formula(sums)),
                statistics=Statistics(counts, formula),
                counts=of_run,
                details={self.method(): details} if column == self.main else {},
            )
            for column, formula in CORPUS.items()
        }

    def explained(
        self, of_systems: Sequence[Rows], thresholds: Thresholds | None = None
    ) -> Iterator[tuple[list[Explanation] | None, ...]]:
        """Yield explanations, some rows at a time; thresholds of cosines change nothing."""
        for start in range(0, max(map(len, of_systems), default=0), _ROWS_AT_ONCE):
            yield tuple(
                self._explained(rows.part(start, start + _ROWS_AT_ONCE))
                if start < len(rows)
                else None
                for rows in of_systems
            )

    def _explained(self, rows: Rows) -> list[Explanation]:
        gold = self._gold(rows)
        explanations = map(
            explained_by_classes,
            rows.ids,
            rows.captions,
            (gold.finder.find(self._complete(caption)).found for caption in rows.captions),
            gold.there,
            gold.deniable or [None] * len(rows),
            self._scores(rows)["CHAIRi"].tolist(),
        )
        return with_answers(explanations, rows.answers)

    def units(self, caption: str) -> Sequence[Unit]:
        finder = finder_of(self._classes(()))
        mentions = finder.find(self._complete(caption)).found
        units = finder.units(caption, (), grammar=False)
        named = [unit.words for unit in units if unit.category is not None]
        # The words between tell where a mention is: *an orange cat eats an orange*.
        return units if named == [unit.words for unit in mentions] else mentions

    def _complete(self, caption: str) -> str:
        """Return what of a caption is read."""
        return drop_incomplete(caption) if self._drop_incomplete else caption

    def _gold(self, rows: Rows) -> _Gold:
        """Return what the rows are held against, prepared once for all systems of a run."""
        given, kept = gold_key(rows, self._use_references), self._kept
        if kept is not None and kept[0] == given:
            return kept[1]
        labels = labels_of(rows, self._objects, self)
        finder = finder_of(self._classes(rows.objects or ()))
        terms = self._terms(chain.from_iterable(labels))
        references = rows.references if self._use_references else [()] * len(rows)
        there = tuple(
            image_categories((terms.get(x, x) for x in of_image), mentioned, finder)
            for of_image, mentioned in zip(labels, references, strict=True)
        )
        gold = _Gold(finder, there, self._deniable(rows, finder))
        if rows.are_kept:
            self._kept = given, gold
        return gold

    def _deniable(self, rows: Rows, finder: MentionFinder) -> tuple[Asked, ...] | None:
        """Return the classes that can be absent from each row's image; None for all."""
        source, declared, by_row = self._objects, self._looked_for, asked_of(rows, self._objects)
        declares = source is not None and source.says_what_was_asked
        everything = declared is not None and declared.labels is None
        if everything or (declared is None and by_row is None and not declares):
            return None
        everywhere = source.categories if source is not None and declares else frozenset()
        if declared is not None:
            everywhere |= declared.labels or frozenset()
        class_of = finder.classes.class_of

        @lru_cache(maxsize=1 << 12)
        def classes(asked: Asked) -> Asked:
            if asked is None and source is None and declared is None:
                return None
            return frozenset(class_of.get(label, label) for label in everywhere | (asked or set()))

        return tuple(map(classes, [None] * len(rows) if by_row is None else by_row))

    def _terms(self, labels: Iterable[str]) -> dict[str, str]:
        """Return what labels name that are phrases and on no list: the class that ends each."""
        if self._synonyms.published:
            return {}
        own, whole = self._synonyms.terms, class_names().terms
        known = own | whole
        unknown = {x: unnumbered(x, known.__contains__) for x in {*labels} - known}
        terms = {}
        for label, name in unknown.items():
            term = term_of(name, own)
            # What no category ends is called as the object vocabulary calls it.
            term = term if term in own else term_of(name, whole)
            if term != label:
                terms[label] = term
        return terms

    def _classes(self, objects: Iterable[LabelCounts]) -> ClassList:
        """Return the synonyms, and the labels that they lack as classes of their own."""
        source = self._objects
        labels = set(chain.from_iterable(objects)) if source is None else source.vocabulary()
        terms = self._terms(labels)
        return self._synonyms.with_names(terms.get(label, label) for label in labels)

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
            looked_for=settings.declared,
        ),
        rank=80,
        references=False,
        objects=True,
        options=(SYNONYMS, DROP_INCOMPLETE),
        papers=(ROHRBACH_2018,),
    )
)
