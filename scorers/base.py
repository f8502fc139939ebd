"""The base of all scorers: rows in, evaluations out, pycocoevalcap's protocol."""

from __future__ import annotations

import copy
import importlib.metadata
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from ..annotations import ObjectLabels, label_rows
from ..captions.generated import AS_WRITTEN, RULE
from ..captions.rows import Rows, coco_rows, make_rows
from ..doors.arguments import name_wrong_argument
from ..errors import CaptionError, VifidelError
from ..evaluation import Column, Evaluation, Floats, checked_evaluations
from ..io.image_ids import ImageId

Progress = Callable[[int], object]
S = TypeVar("S", bound="Scorer")

# Reading a package's metadata takes longer than scoring some captions.
_version = cache(importlib.metadata.version)

# What those call who run scorers. Completion lists the other names, which are for users.
_FOR_RUNS = {
    "check_images", "denied_in", "evaluate", "evidence", "explain_rows", "explained",
    "extra_vocabulary", "in_run", "judge", "main", "objects_of", "prepare", "rates_inventions",
    "read", "rows", "score_part", "scored", "signature_of", "signature_with", "space",
    "takes_texts",
}  # fmt: skip


class Scorer(ABC):
    """A metric that scores candidate captions.

    Settings never change after the constructor, and no evaluation depends on an earlier one:
    several threads can use a scorer, and its pickle has only its settings.

    Parameters
    ----------
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    #: Whether its columns in which lower is better are rates of inventions, which tables show of
    #: people's captions too.
    rates_inventions: bool = False
    #: The lowest detection score that counts among the objects given to `score`.
    _threshold: float | None = None
    _uncertain: float | None = None
    #: Whether texts are captions as they stand, with all that a language model wrote around them.
    takes_texts = False

    def __init__(self, undefined: float = math.nan) -> None:
        if not isinstance(undefined, Real) or isinstance(undefined, bool) or math.isinf(undefined):
            raise VifidelError(f"undefined must be NaN or a finite number, not {undefined!r:.40}.")
        self._undefined: float = float(undefined)

    @abstractmethod
    def method(self) -> str:
        """Return the name of the metric, e.g. ``"VIFIDEL"``."""

    def _own_column(self) -> tuple[Column, ...]:
        return (Column(self.method()),)

    #: The columns of the metric; by default one that has its name, in which higher is better. Most
    #: classes have a tuple here, which type checkers take for the same.
    columns: tuple[Column, ...] = cached_property(_own_column)  # type: ignore[assignment]

    @property
    def main(self) -> str:
        """The column to use if the metric must be one number."""
        return main_column(self.columns).name

    @abstractmethod
    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        """Return one line that pins everything that changes the scores.

        A metric that pins what it knows about images does so for these; by default, for all it
        knows.
        """

    def signature_of(self, systems: Iterable[Rows]) -> str:
        """Return the signature of a run: of the rows of all its systems together."""
        ids = [image_id for rows in systems for image_id in rows.image_ids or ()]
        signature = self.signature(list(dict.fromkeys(ids)) or None)
        # Metrics of other packages do not write how captions are read.
        if not isinstance(signature, str) or f"|{self._pinned_captions}" in signature:
            return signature
        return f"{signature}|{self._pinned_captions}"

    def _pinned(self, *settings: str, package: str, splitter: str | None = None) -> str:
        """Return a signature: name, settings, the packages that compute, and this one."""
        computed_by = [
            f"{name.lower()}:{_version(name).partition('+')[0]}"  # without +cpu
            for name in (splitter, package)
            if name is not None
        ]
        ours = f"version:{_version('vifidel-eval')}"
        pinned = [*settings, self._pinned_captions, *self._pinned_undefined()]
        return "|".join([self.method(), *pinned, *computed_by, ours])

    @property
    def _pinned_captions(self) -> str:
        return f"captions:{AS_WRITTEN if self.takes_texts else RULE}"

    def _pinned_undefined(self) -> list[str]:
        return [] if math.isnan(self._undefined) else [f"undefined:{self._undefined:g}"]

    def check_images(self, image_ids: Sequence[ImageId]) -> None:  # noqa: B027 - most see no image
        """Raise a VifidelError if an image of a run is unknown, or what is known cannot be used."""

    def in_run(self, systems: Sequence[Rows]) -> AbstractContextManager[Scorer]:
        """Return a scorer that makes once what systems share; one thread scores them in order."""
        return nullcontext(self)

    @abstractmethod
    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        """Return an evaluation per column without signature, undefined scores being NaN."""

    def evaluate(
        self, rows: Rows, on_progress: Progress | None = None, signed: bool = True
    ) -> dict[str, Evaluation]:
        """Score rows and return, for each column, the scores with everything that was counted.

        The rows may be a part of a run: `judge` is for whole ones.

        Parameters
        ----------
        rows : Rows
            As `rows` or `vifidel_eval.captions.rows.coco_rows` returns them. A VifidelError is
            raised if the metric cannot score such rows.
        on_progress : callable, optional
            Called with the number of rows just scored.
        signed : bool
            Whether the evaluations have their signature, for which a digest of all objects takes
            time; a caller that scores several systems signs them together.
        """
        returned = self._evaluate(rows, on_progress or (lambda _: None))
        evaluations = checked_evaluations(returned, self.columns, rows.ids)
        if rows.answers is not None:
            for name, evaluation in evaluations.items():
                counts, details = {**evaluation.counts, **rows.counted}, {**evaluation.details}
                if name == self.main:
                    details["written"] = [answer and answer.written for answer in rows.answers]
                evaluations[name] = replace(evaluation, counts=counts, details=details)
        signature = self.signature_of([rows]) if signed else ""
        return {c.name: self._finished(c, evaluations[c.name], signature) for c in self.columns}

    def _finished(self, column: Column, evaluation: Evaluation, signature: str = "") -> Evaluation:
        """Return an evaluation with what its column and its undefined scores say."""
        statistics = evaluation.statistics
        if statistics is not None and not math.isnan(self._undefined):
            # A row without a score adds nothing to the corpus score.
            statistics = replace(statistics, of_rows=np.nan_to_num(statistics.of_rows))
        return replace(
            evaluation,
            scores=self._defined(evaluation.scores),
            statistics=statistics,
            counts={"undefined": int(evaluation.missing.sum()), **evaluation.counts},
            lower_is_better=column.lower_is_better,
            ranked=column.ranked,
            signature=signature,
        )

    def _defined(self, scores: Floats) -> Floats:
        """Return scores with what stands for undefined ones."""
        if math.isnan(self._undefined):
            return scores
        return np.where(np.isnan(scores), self._undefined, scores)

    @name_wrong_argument
    def score(
        self,
        captions: Sequence[str],
        *,
        image_ids: Sequence[ImageId] | None = None,
        objects: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
    ) -> Floats:
        """Return the main column's score of each caption, (n,) float64.

        Parameters
        ----------
        captions : sequence of str
            The candidates; an image may have any number of them.
        image_ids : sequence, optional
            The image of each caption, for scorers that have a source of objects; ids repeat
            freely.
        objects : sequence, optional
            What the image of each caption shows, for scorers without a source: names,
            ``[name, score]`` pairs, or ``{name: count}``; a count of 0 says that the thing was
            looked for and is not there.
        references : sequence of lists of str, optional
            The references of each caption's image.

        Raises
        ------
        VifidelError
            If a sequence is of another length or kind, or the metric needs something else.
        """
        rows = self.rows(captions, image_ids=image_ids, objects=objects, references=references)
        return self._scores(rows)[self.main]

    @name_wrong_argument
    def score_columns(
        self,
        captions: Sequence[str],
        *,
        image_ids: Sequence[ImageId] | None = None,
        objects: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
    ) -> dict[str, Floats]:
        """Return the scores of each caption in every column: ``{column: (n,) float64}``.

        The arguments are those of `score`.
        """
        rows = self.rows(captions, image_ids=image_ids, objects=objects, references=references)
        return self._scores(rows)

    def _scores(self, rows: Rows) -> dict[str, Floats]:
        """Return the scores of rows in every column, and nothing of what was counted."""
        evaluations = self.evaluate(rows, signed=False)
        return {name: evaluation.scores for name, evaluation in evaluations.items()}

    @name_wrong_argument
    def rows(
        self,
        captions: Sequence[str],
        *,
        image_ids: Sequence[ImageId] | None = None,
        objects: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
    ) -> Rows:
        """Return rows for `evaluate`; the arguments are those of `score`."""
        if objects is None:
            return make_rows(captions, image_ids, references, as_written=self.takes_texts)
        labels = label_rows(objects, self._threshold, self._uncertain)
        return make_rows(
            captions,
            image_ids,
            references,
            labels.counts,
            labels.signature(),
            labels.asked,
            self.takes_texts,
        )

    @name_wrong_argument
    def compute_score(
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[float, Floats]:
        """Return the corpus score and the score of each image, in the order of `gts`.

        The arguments are pycocoevalcap's: raw or tokenised captions, a list of references and
        a list of one candidate for each image id. Undefined scores are NaN, and left out of the
        corpus score. Raises a VifidelError if ids or captions are not as described.
        """
        evaluation = self._evaluate_run(coco_rows(gts, res, self.takes_texts))[self.main]
        return evaluation.score, evaluation.scores

    def _evaluate_run(self, rows: Rows) -> dict[str, Evaluation]:
        """Score and judge a whole run."""
        self.check_images(list(rows.ids))
        evaluations = self.evaluate(rows, signed=False)
        self.judge([evaluations[self.main]])
        return evaluations

    def judge(self, evaluations: Iterable[Evaluation]) -> None:  # noqa: B027
        """Refuse a whole run, or warn of it, for what the main column's evaluations counted."""

    def add_to(self, coco_eval: Any) -> float:
        """Add this metric to a finished ``COCOEvalCap`` run and return its main corpus score.

        The captions are taken as written from ``coco_eval.coco`` and ``coco_eval.cocoRes`` for
        the images of ``coco_eval.params["image_id"]``. The score joins ``coco_eval.eval``, the
        scores of the images join ``imgToEval`` and ``evalImgs``. An undefined score is NaN in
        ``eval``, whose numbers scripts print, and None for an image. Raises a VifidelError if it is
        something else, or an image does not have exactly one candidate.
        """
        if not all(hasattr(coco_eval, name) for name in ("params", "coco", "cocoRes", "setEval")):
            raise VifidelError(
                "add_to: coco_eval must be a finished COCOEvalCap run of pycocoevalcap, after its "
                f"evaluate(), not {type(coco_eval).__name__} {coco_eval!r:.40}."
            )
        ids = list(coco_eval.params["image_id"])
        gts = {i: _captions(coco_eval.coco, i) for i in ids}
        res = {i: _captions(coco_eval.cocoRes, i) for i in ids}
        evaluations = self._evaluate_run(coco_rows(gts, res, self.takes_texts))
        for column, evaluation in evaluations.items():
            coco_eval.setEval(evaluation.score, column)
            per_image = [None if math.isnan(s) else s for s in evaluation.scores.tolist()]
            coco_eval.setImgToEvalImgs(per_image, gts.keys(), column)
        coco_eval.setEvalImgs()
        return evaluations[self.main].score

    def as_written(self: S) -> S:
        """Return this metric for texts as they stand: all of a text is its caption.

        By default, reasoning and what else language models write around captions is left out, and
        refusals claim nothing (docs/captions.md).
        """
        scorer = copy.copy(self)
        scorer.takes_texts = True
        return scorer

    def by_column(self) -> ByColumn:
        """Return this metric for a loop that names its columns in order: ``(it, ["P", "R"])``."""
        return ByColumn(self)

    def __str__(self) -> str:
        return self.method()  # which programs such as M2 call its column

    def __repr__(self) -> str:
        arguments, objects = dict(getattr(self, "_given", {})), getattr(self, "_objects", None)
        if isinstance(objects, ObjectLabels):
            images = f"{len(objects)} image{'s' * (len(objects) != 1)}"
            arguments["objects"] = f"<{objects.where}: {images}>"
        listed = ", ".join(f"{name}={value}" for name, value in arguments.items())
        as_written = ".as_written()" if self.takes_texts else ""
        return f"{type(self).__name__}({listed}){as_written}"

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__()} - _FOR_RUNS)


@dataclass(frozen=True)
class ByColumn:
    """A metric whose ``compute_score`` returns all its columns, as pycocoevalcap's BLEU does."""

    scorer: Scorer

    def method(self) -> str:
        """Return the name of the metric."""
        return self.scorer.method()

    def compute_score(
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[list[float], list[list[float]]]:
        """Return what `Scorer.compute_score` does, as lists with an entry for each column."""
        rows = coco_rows(gts, res, self.scorer.takes_texts)
        columns = self.scorer._evaluate_run(rows).values()
        return [column.score for column in columns], [column.scores.tolist() for column in columns]


def check_columns(metric: str, columns: Any) -> None:
    """Raise a VifidelError unless these can be the columns of a metric's class."""
    if not isinstance(columns, tuple) or not all(isinstance(column, Column) for column in columns):
        raise VifidelError(
            f"{metric}: columns is a tuple of Columns, of its class, so that help knows it; found "
            f"{columns!r:.60}."
        )
    names = [column.name for column in columns]
    if not names or len(set(names)) < len(names):
        raise VifidelError(f"{metric}: columns need names that differ, not {names!r:.60}.")


def main_column(columns: Sequence[Column]) -> Column:
    """Return the column that stands for a metric where it must be one number."""
    return next((column for column in columns if column.main), columns[-1])


def _captions(coco: Any, image_id: ImageId) -> list[str]:
    # imgToAnns is a defaultdict: indexing it would add the image.
    annotations = coco.imgToAnns.get(image_id, [])
    if not all("caption" in annotation for annotation in annotations):
        raise CaptionError(
            f"image {image_id!r}: its annotations have no 'caption'; COCOEvalCap takes captions."
        )
    return [annotation["caption"] for annotation in annotations]
