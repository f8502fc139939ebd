"""The base of the metrics on word vectors: word settings, the image side, the loop over rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels, ObjectSource, read_objects
from ..annotations.labels import AttributeSource, ImageAttributes
from ..captions.rows import Asked, LabelCounts, Rows, image_ids_of
from ..doors.arguments import check_switches, check_thresholds, constructor, real_numbers
from ..errors import CaptionError, VifidelError, warn
from ..evaluation import DetailsOfParts, Evaluation, Floats, Integers, Statistics
from ..io.image_ids import ImageId
from ..kernels.bags import Batch, ImageSide, ImageSideT, bags_of_captions, bags_of_labels
from ..kernels.lexicon import Lexicon, WordSpace, word_space
from ..words.content_words import STOP_WORDS, checked_stop_words
from ..words.word_vectors import Tally, VectorSource, add_tallies, load_vectors
from .base import Progress, Scorer

#: What users give, in few words: objects, a score from 0 to 1, and words.
Objects: TypeAlias = ObjectSource | None
Score: TypeAlias = float | None
Words: TypeAlias = Collection[str]

_ROWS_AT_ONCE = 1024
#: Transport takes more than the square of the number of words, in time and in memory.
MOST_DIFFERENT = 2000
#: Each of them is held against each sentence of the caption.
MOST_REFERENCES = 1 << 16
_VANISHING, _ALMOST_ALL = 1e-6, 0.9  # if so many scores are lower, they say nothing


@dataclass(frozen=True, eq=False)
class Scored:
    """The result of a metric for some rows."""

    scores: Floats  # (rows, columns); NaN where undefined
    counts: Mapping[str, Integers | NDArray[np.bool_]]  # by key of `COUNTS`, (rows,)
    distances: Floats | None = None  # (rows,): of transport, NaN where there is none
    of_rows: Floats | None = None  # (rows, k): `Statistics.of_rows`
    details: Callable[[], Any] | None = None  # what the metric's `DetailsOfParts` take
    made_up: Callable[[], Counter[str]] | None = None  # what `Evaluation.made_up` has of them


# From rows to what is looked up of them beside content words.
_Vocabulary = Callable[[Rows], Iterable[str]]


class WordVectorScorer(Scorer, Generic[ImageSideT]):
    """A metric on bags of content words in a space of word vectors.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it.
        Without it the objects are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them.
    references : bool
        Whether the references are read.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    normalize : bool
        Whether word vectors are scaled to length 1.
    stop_words : collection of str
        Words of captions that are left out.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    uncertain : float, optional
        As `vifidel_eval.annotations.read_objects` takes it.
    attributes : mapping, path, or list of paths, optional
        As `vifidel_eval.annotations.read_objects` takes it.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If another argument is not as described.
    """

    _needed: str  # what a row without a score lacks
    _sees_objects: bool
    _references_suffice = False  # as evidence, where no objects are known
    _counts = True  # whether two dogs weigh more than one
    _attributes_are_labels = False  # whether the bag of an image has its attributes too
    _scores_words = True  # whether scores depend on the bags of words of the captions
    _details: type[DetailsOfParts] | None = None  # what holds the details of `Scored`

    @constructor
    def __init__(
        self,
        objects: ObjectSource | None = None,
        vectors: VectorSource = None,
        references: bool = True,
        threshold: float | None = None,
        normalize: bool = True,
        stop_words: Collection[str] = STOP_WORDS,
        undefined: float = math.nan,
        uncertain: float | None = None,
        attributes: AttributeSource = None,
    ) -> None:
        check_thresholds(threshold, uncertain)
        check_switches(references=references, normalize=normalize)
        self._objects = None
        if objects is not None:
            self._objects = read_objects(
                objects, threshold, uncertain=uncertain, attributes=attributes
            )
        elif attributes is not None:
            raise VifidelError("attributes describe objects: give objects too.")
        self._threshold, self._uncertain = threshold, uncertain
        super().__init__(undefined)
        self._space = word_space(load_vectors(vectors), normalize, checked_stop_words(stop_words))
        self._use_references = references
        # What the image side of the last rows depends on, and that image side, part by part.
        self._kept: tuple[object, tuple[ImageSideT, ...]] = None, ()

    @property
    def space(self) -> WordSpace:
        """How words become vectors; metrics that read words alike share it."""
        return self._space

    def prepare(self, image_side: ImageSide, rows: Rows) -> ImageSideT:
        """Return the image side of rows, just read, with what else this metric derives from it."""
        return cast(ImageSideT, image_side)

    @abstractmethod
    def score_part(self, part: Batch[ImageSideT]) -> Scored:
        """Return the result of the metric for rows that were read."""

    def scored(self, part: Batch[ImageSideT]) -> Scored:
        """Return what `score_part` does, after a check: a number for each row and column."""
        scored = self.score_part(part)
        scores = real_numbers(scored.scores, f"{self.method()}: the score", part.rows.ids, axes=2)
        if scores.shape[1] != len(self.columns):
            raise VifidelError(
                f"{self.method()}: has {len(self.columns)} columns, and score_part returned "
                f"{scores.shape[1]}."
            )
        return replace(scored, scores=scores)

    def extra_vocabulary(self, rows: Rows) -> Iterable[str]:
        """Return the words and terms that `score_part` looks up beside the content words."""
        return ()

    @abstractmethod
    def signature_with(self, objects: str) -> str:
        """Return the signature; `objects` is what it says of the object labels."""

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self.signature_with("rows" if self._objects is None else self._objects.signature())

    def signature_of(self, systems: Iterable[Rows]) -> str:
        of_rows = dict.fromkeys(rows.objects_signature for rows in systems)
        objects = [signature for signature in of_rows if signature]
        return self.signature_with("+".join(objects)) if objects else self.signature()

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        if self._sees_objects and self._objects is not None:
            self._objects.check_images(image_ids)

    def judge(self, evaluations: Iterable[Evaluation]) -> None:
        evaluations = list(evaluations)
        for kind, tally in add_tallies(e.tallies for e in evaluations).items():
            tally.check_known(kind, self._space.vectors)
        rows = sum(len(evaluation.ids) for evaluation in evaluations)
        if sum(evaluation.undefined for evaluation in evaluations) == rows > 0:
            warn(
                f"none of the {rows} captions has {self._needed}: {self.method()} is undefined "
                "for all of them."
            )
        scores = np.concatenate([np.empty(0), *(e.scores for e in evaluations)])
        wordless = sum(evaluation.counts.get("no_words", 0) for evaluation in evaluations)
        with_words = (~np.isnan(scores)).sum() - wordless
        vanished = (scores < _VANISHING).sum() - wordless
        if not self._space.normalize and vanished >= _ALMOST_ALL * with_words > 0:
            warn(
                f"{self.method()} is below {_VANISHING:g} for {vanished} of {with_words} captions, "
                f"because the raw vectors of {self._space.vectors.signature()} are long and "
                "exp(-distance) vanishes: scale them to length 1, as by default."
            )

    def _scores(self, rows: Rows) -> dict[str, Floats]:
        parts = self._read(rows, words=self._scores_words)
        together = self._by_column([self.scored(part).scores for part in parts])
        return {name: self._defined(scores) for name, scores in together.items()}

    def _by_column(self, parts: Sequence[Floats]) -> dict[str, Floats]:
        """Return the scores of all parts of some rows, each (rows, columns), column by column."""
        together = np.concatenate([np.empty((0, len(self.columns))), *parts])
        names = (column.name for column in self.columns)
        return dict(zip(names, np.ascontiguousarray(together.T), strict=True))

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        scores: list[Floats] = []
        of_rows: list[Floats] = []
        details = None if self._details is None else self._details()
        counts: Counter[str] = Counter()
        made_up: Counter[str] | None = None
        tallies_of_parts: list[Mapping[str, Tally]] = []
        for part in self._read(rows):
            scored = self.scored(part)
            scores.append(scored.scores)
            if scored.of_rows is not None:
                of_rows.append(scored.of_rows)
            if details is not None and scored.details is not None:
                details.add(part.image_side.rows, scored.details)
            if scored.made_up is not None:
                made_up = (made_up or Counter()) + scored.made_up()
            for key, values in scored.counts.items():
                counts[key] += int(values.sum())
            tallies_of_parts.append({**part.image_side.tallies, "captions": part.word_tally})
            on_progress(part.image_side.rows)
        tallies = add_tallies(tallies_of_parts)
        counts["unknown_words"] = tallies["captions"].without_vector if tallies_of_parts else 0
        evaluations = {}
        together = self._by_column(scores)
        for column in self.columns:
            statistics = None
            if of_rows and column.of_sums is not None:
                statistics = Statistics(np.concatenate(of_rows), column.of_sums)
            evaluations[column.name] = Evaluation(
                rows.ids,
                together[column.name],
                corpus_score=None if statistics is None else statistics.corpus_score,
                statistics=statistics,
                counts=dict(counts),
                tallies=tallies,
            )
        of_rows_details = {} if details is None else {self.method(): details}
        main = evaluations[self.main]
        evaluations[self.main] = replace(main, details=of_rows_details, made_up=made_up)
        return evaluations

    def _read(
        self, rows: Rows, vocabulary: _Vocabulary | None = None, words: bool = True
    ) -> Iterator[Batch[ImageSideT]]:
        """Yield all rows with their image side, some at a time, as `read` does."""
        # The next system of a run has the same references: with their image side, VIFIDEL takes
        # half the time and VIFIDEL-H a tenth (`benchmarks/speed.py`). Of very many references it
        # would fill the memory.
        key = image_side_key(rows, self._use_references) if rows.are_kept else None
        kept_key, sides = self._kept
        if key is None or key != kept_key:
            sides = ()
        image_sides: list[ImageSideT] = []
        for number, start in enumerate(range(0, len(rows), _ROWS_AT_ONCE)):
            part = rows.part(start, start + _ROWS_AT_ONCE)
            batch = self.read(part, sides[number] if sides else None, vocabulary, words)
            _check_sizes(batch)
            image_sides.append(batch.image_side)
            yield batch
            if key is None:
                image_sides.clear()
        if key is not None and tuple(image_sides) != sides:
            self._kept = key, tuple(image_sides)

    def read(
        self,
        rows: Rows,
        image_side: ImageSideT | None = None,
        vocabulary: _Vocabulary | None = None,
        words: bool = True,
    ) -> Batch[ImageSideT]:
        """Return some rows with their image side: the given one if its words still stand.

        The lexicon gets their `vocabulary`, by default `extra_vocabulary`. Without `words`, the
        bags of the captions are empty.
        """

        def batch(lexicon: Lexicon) -> Batch[ImageSideT]:
            side = image_side
            if side is None or side.lexicon is not lexicon:
                side = self.prepare(self._image_side(rows, lexicon), rows)
            lexicon.numbers((vocabulary or self.extra_vocabulary)(rows))
            captions = rows.captions
            if not words and max(map(len, captions)) <= MOST_DIFFERENT:  # none has more words
                captions = [""] * len(rows)
            bags, tally = bags_of_captions(lexicon, captions)
            return Batch(rows, side, bags, tally)

        return self._space.with_room(batch, None if image_side is None else image_side.lexicon)

    def _image_side(self, part: Rows, lexicon: Lexicon) -> ImageSide:
        rows = len(part.captions)
        labels = self._bags_of_labels(part) if self._sees_objects else [{}] * rows
        objects, of_labels = bags_of_labels(lexicon, labels, self._counts)
        of_rows = part.references if self._use_references else [()] * rows
        references, of_references = bags_of_captions(lexicon, chain.from_iterable(of_rows))
        row_of_reference = np.arange(rows).repeat(list(map(len, of_rows)))
        tallies = {"object labels": of_labels} if self._sees_objects else {}
        tallies["references"] = of_references
        return ImageSide(lexicon, rows, objects, references, row_of_reference, tallies)

    def _bags_of_labels(self, rows: Rows) -> Sequence[LabelCounts]:
        """Return what is in the bag of each row's image."""
        labels = self._labels_of(rows)
        attributes = attributes_of(rows, self._objects) if self._attributes_are_labels else None
        if attributes is None:
            return labels
        pairs = zip(labels, attributes, strict=True)
        return [Counter(of_row) + Counter(listed.words) for of_row, listed in pairs]

    def _labels_of(self, rows: Rows) -> Sequence[LabelCounts]:
        if self._references_suffice and self._objects is None and rows.objects is None:
            return [{}] * len(rows)
        return labels_of(rows, self._objects, self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": (None, ())}


def labels_of(rows: Rows, objects: ObjectLabels | None, scorer: Scorer) -> Sequence[LabelCounts]:
    """Return the object labels of each row's image: the scorer's own, or those of the rows."""
    if rows.objects is not None:
        if objects is not None:
            raise VifidelError(
                f"this scorer has its own objects ({objects.where}): give image_ids, not objects, "
                f"or make {type(scorer).__name__} without objects."
            )
        return rows.objects
    if objects is None:
        raise VifidelError(
            f"{scorer.method()} needs to know what the images show: give objects, one entry per "
            f"caption, or make {type(scorer).__name__} with a source of objects."
        )
    return objects.of_images(image_ids_of(rows, scorer))


def image_side_key(rows: Rows, references: bool) -> tuple[object, ...]:
    """Return all that the image side of rows depends on, copied into tuples of tuples."""
    return (
        None if rows.image_ids is None else tuple(rows.image_ids),
        tuple(map(tuple, rows.references)) if references else None,
        None if rows.objects is None else tuple(tuple(o.items()) for o in rows.objects),
        None if rows.asked is None else tuple(rows.asked),
    )


def asked_of(rows: Rows, objects: ObjectLabels | None) -> Sequence[Asked] | None:
    """Return what was looked for in each row's image, by the rows or a scorer's own objects."""
    if objects is None:
        return rows.asked
    if not objects.says_what_was_asked or rows.image_ids is None:
        return None
    return objects.asked_of(rows.image_ids)


def attributes_of(rows: Rows, objects: ObjectLabels | None) -> list[ImageAttributes] | None:
    """Return the attributes of each row's image, if a scorer's own objects have any."""
    if objects is None or rows.image_ids is None:
        return None
    return objects.attributes_of(rows.image_ids)


def _check_sizes(batch: Batch[Any]) -> None:
    """Raise a CaptionError for more words or references than can be compared."""
    image_side, rows = batch.image_side, range(len(batch.rows))
    if len(image_side.row_of_reference) > MOST_REFERENCES:
        references = np.bincount(image_side.row_of_reference)
        if references.max() > MOST_REFERENCES:
            where = batch.rows.name(int(references.argmax()))
            raise CaptionError(
                f"{where}: {references.max()} references; metrics on word vectors take at most "
                f"{MOST_REFERENCES} of an image."
            )
    for bags, row_of_bag, has, advice in (
        (image_side.objects, rows, "the image has", "object labels"),
        (image_side.references, image_side.row_of_reference, "a reference has", "words"),
        (batch.words, rows, "the caption has", "words"),
    ):
        if len(bags.atoms) > MOST_DIFFERENT and bags.sizes.max() > MOST_DIFFERENT:
            bag = int(np.argmax(bags.sizes > MOST_DIFFERENT))
            raise CaptionError(
                f"{batch.rows.name(int(row_of_bag[bag]))}: {has} {bags.sizes[bag]} different "
                f"{advice}; metrics on word vectors take at most {MOST_DIFFERENT}; shorten it."
            )
