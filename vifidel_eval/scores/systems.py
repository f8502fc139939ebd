"""Systems, scored under metrics; and the lengths of their captions, with the column Words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import numpy as np

from ..captions.rows import Rows, run_scope
from ..errors import (
    CaptionError,
    MetricFailed,
    MetricUnavailable,
    VifidelError,
    VifidelWarning,
    warn,
)
from ..evaluation import Column, Evaluation
from ..io.image_ids import ImageId
from ..scorers import Mean, Scorer
from ..scorers.base import Progress
from ..scorers.registry import named_failures
from .alignment import Aligned
from .scores import Scores

_Columns = dict[str, dict[str, Evaluation]]  # system, column


def score_aligned(
    aligned: Aligned,
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score every system under every metric, on the images that it has."""
    names = [system.name for system in aligned.systems]
    if len(set(names)) < len(names):
        raise CaptionError(f"two systems have the same name: {', '.join(sorted(names))}.")
    scores = score_rows(aligned.rows(), scorers, on_progress, unavailable, on_metric)
    for of_column in scores.evaluations.values():
        for column, e in of_column.items():
            missing = len(aligned.images) - len(e.ids)
            of_column[column] = replace(e, counts={**e.counts, "missing": missing})
    return scores


def score_rows(
    systems: Mapping[str, Rows],
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score the rows of every system under every metric: what all evaluations go through."""
    evaluator = _Evaluator(systems, on_progress)
    signatures: dict[str, str] = {}
    evaluations: _Columns = {name: {} for name in systems}
    unavailable = dict(unavailable or {})
    with run_scope():
        for metric, scorer in scorers.items():
            if on_metric is not None:
                on_metric(metric)
            try:
                columns_by_system = evaluator.columns(scorer)
            except MetricUnavailable as problem:
                unavailable[metric] = problem
                continue
            for name, columns in columns_by_system.items():
                for column, evaluation in columns.items():
                    shown = _shown_name(metric, column, len(columns), evaluations[name])
                    evaluations[name][shown] = evaluation
                    signatures[shown] = evaluation.signature
    if not signatures:
        raise together(unavailable.values())
    return Scores(signatures, evaluations, unavailable)


def together(problems: Iterable[MetricUnavailable]) -> MetricUnavailable:
    """Return the error for a run without any score: its only problem, or the sentences of all."""
    sentences = {str(problem): problem for problem in problems}
    if len(sentences) == 1:
        return next(iter(sentences.values()))
    return MetricUnavailable(" ".join(sentences) or "no metric was asked for.")


def raise_failures(unavailable: Mapping[str, MetricUnavailable]) -> None:
    """Raise what broke in metrics of other packages; all else is printed and saved before."""
    failed = [problem for problem in unavailable.values() if isinstance(problem, MetricFailed)]
    if failed:
        raise together(failed)


def column_names(scorers: Mapping[str, Scorer]) -> dict[str, str]:
    """Return every column that the scores of these metrics will have, with its metric's name."""
    metric_of: dict[str, str] = {}
    for metric, scorer in scorers.items():
        for column in scorer.columns:
            metric_of[_shown_name(metric, column.name, len(scorer.columns), metric_of)] = metric
    return metric_of


def _shown_name(metric: str, column: str, columns: int, taken: Container[str]) -> str:
    """Return what a column of a metric that has so many is called; no name is given twice."""
    shown = metric if columns == 1 else column
    # Another scorer of the same metric may have taken it.
    return f"{metric} {shown}" if shown in taken else shown


@dataclass(frozen=True)
class _Evaluator:
    """Evaluates each scorer once for every system, however many combinations it is part of."""

    systems: Mapping[str, Rows]
    on_progress: Callable[[int], object] | None
    results: dict[int, _Columns | MetricUnavailable] = field(default_factory=dict)  # by scorer
    warnings: set[str] = field(default_factory=set)  # that were given

    def columns(self, scorer: Scorer) -> _Columns:
        """Return, for each system, the columns of a scorer; what failed once is not tried again."""
        if id(scorer) not in self.results:
            try:
                with _named(scorer):
                    self.results[id(scorer)] = self._signed(scorer)
            except MetricUnavailable as problem:
                self.results[id(scorer)] = problem
        result = self.results[id(scorer)]
        if isinstance(result, MetricUnavailable):
            raise result
        return result

    def _signed(self, scorer: Scorer) -> _Columns:
        """Return columns with one signature, which is of the images of all systems."""
        evaluated = self._combined(scorer) if isinstance(scorer, Mean) else self._evaluated(scorer)
        signature = scorer.signature_of(self.systems.values())
        if not isinstance(signature, str) or not signature.strip() or "\n" in signature:
            raise VifidelError(f"a signature must be one line of text, not {signature!r:.60}.")
        return {
            name: {column: replace(e, signature=signature) for column, e in columns.items()}
            for name, columns in evaluated.items()
        }

    def _evaluated(self, scorer: Scorer) -> _Columns:
        evaluated: _Columns = {}
        images = list(dict.fromkeys(i for rows in self.systems.values() for i in rows.ids))
        with _collected_warnings() as messages:
            scorer.check_images(images)
        systems_of = {message: list(self.systems) for message in messages}
        with scorer.in_run(list(self.systems.values())) as prepared:
            for name, rows in self.systems.items():
                with _collected_warnings() as messages, _named(scorer, name):
                    evaluated[name] = prepared.evaluate(rows, self.on_progress, signed=False)
                for message in messages:
                    systems_of.setdefault(message, []).append(name)
        scorer.judge([columns[scorer.main] for columns in evaluated.values()])
        for message, names in systems_of.items():
            text = message
            if len(names) < len(evaluated):  # else it is about no system more than another
                plural = "s" if len(names) > 1 else ""
                text = f"system{plural} {', '.join(map(repr, names))}: {message}"
            if text not in self.warnings:  # several metrics may say the same of ids
                self.warnings.add(text)
                warn(text)
        return evaluated

    def _combined(self, mean: Mean) -> _Columns:
        of_parts = [(part, self.columns(part)) for part in mean.parts]
        evaluations = mean.combine(
            [[columns[name][part.main] for part, columns in of_parts] for name in self.systems]
        )
        return {
            name: {mean.main: evaluation}
            for name, evaluation in zip(self.systems, evaluations, strict=True)
        }


def _named(scorer: Scorer, system: str = "") -> AbstractContextManager[None]:
    return named_failures(scorer.method(), type(scorer).__module__, system)


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect the messages of our warnings, each as often as it is given; others pass."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VifidelWarning)
        yield messages
    for w in caught:
        if issubclass(w.category, VifidelWarning):
            messages.append(str(w.message))
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


WORDS = "Words"  #: the column of words per caption

_DIFFER = 1.5  # from this factor between their means on, lengths differ: by half


class WordsPerCaption(Scorer):
    """Words per caption, as separated by blanks; more are neither better nor worse."""

    columns = (Column(WORDS, ranked=False),)

    def method(self) -> str:
        return WORDS

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return f"{WORDS}|between:blanks|version:{version('vifidel-eval')}"

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        words = np.array(lengths(rows.captions), dtype=np.float64)
        words[rows.claims_nothing] = np.nan
        on_progress(len(rows))
        return {WORDS: Evaluation(rows.ids, words)}


def lengths(texts: Iterable[str]) -> list[int]:
    """Return the number of words of each text."""
    return [len(text.split()) for text in texts]


def differ(mean: float, other: float) -> bool:
    """Return whether two mean lengths differ by 50 % or more of the shorter one."""
    return max(mean, other) >= _DIFFER * min(mean, other) and mean != other
