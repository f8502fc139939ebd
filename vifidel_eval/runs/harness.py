"""Scores of many systems under many metrics: rows and scorers in, one result object out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..digits import for_json, in_full, rounded
from ..errors import CaptionError, MetricUnavailable, VifidelError, VifidelWarning
from ..evaluation import COUNTS, Column, Evaluation
from ..image_ids import ImageId, to_json_value
from ..remembered import one_run
from ..rows import Rows
from ..scorers import Mean, Scorer
from .calibrated import Calibrated
from .pairing import System, all_images, paired
from .people import People

#: The form of the file that ``--output`` writes; another one would get another number.
FORM = 1


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of systems under metrics.

    Attributes
    ----------
    signatures : dict
        Column to signature.
    evaluations : dict
        System name to column to `Evaluation`.
    unavailable : dict
        Metric name to the reason why it could not be computed here.
    people : People, optional
        How references were scored as captions are: as one of the systems, or for the floor of rates
        of inventions.
    calibrated : dict
        System name to its rate of inventions without the errors of the answers, where that was
        estimated.
    """

    signatures: dict[str, str]
    evaluations: dict[str, dict[str, Evaluation]]
    unavailable: dict[str, str] = field(default_factory=dict)
    people: People | None = None
    calibrated: dict[str, Calibrated] = field(default_factory=dict)

    def columns(self) -> list[Column]:
        """Return the columns with their directions."""
        some_system = next(iter(self.evaluations.values()), {})
        return [
            Column(name, some_system[name].lower_is_better, some_system[name].ranked)
            if name in some_system
            else Column(name)
            for name in self.signatures
        ]

    def notes(self) -> list[str]:
        """Return what has to be said of people's captions, and estimates, in sentences."""
        of_people = [] if self.people is None else self.people.notes(self.signatures)
        return of_people + [rate.note(system) for system, rate in self.calibrated.items()]

    def only(self, columns: Iterable[str]) -> Scores:
        """Return these scores with some of the columns, in the order given."""
        columns = list(columns)
        return replace(
            self,
            signatures={name: self.signatures[name] for name in columns},
            evaluations={
                system: {name: of_column[name] for name in columns}
                for system, of_column in self.evaluations.items()
            },
        )

    def counts(self, system: str) -> dict[str, int]:
        """Return the counts of a system over all metrics, by `Count.key`, after ``"scored"``.

        A row counts as scored if every column's corpus score counts it, and otherwise as undefined;
        of every other count it is the largest of any metric. What no metric counts is missing.
        """
        evaluations = list(self.evaluations[system].values())
        undefined = int(np.any([e.missing for e in evaluations], axis=0).sum())
        of_metrics = [counts_of(evaluation) for evaluation in evaluations]
        keys = [c.key for c in COUNTS if any(c.key in counts for counts in of_metrics)]
        most = {key: max(counts.get(key, 0) for counts in of_metrics) for key in keys}
        scored = {"scored": len(evaluations[0].ids) - undefined}
        return scored | most | {"undefined": max(undefined, most["undefined"])}

    def to_json(
        self, per_image: Callable[[Mapping[str, Evaluation]], Any] | None = None
    ) -> dict[str, Any]:
        """Return what ``--output`` writes; undefined scores are None.

        ``{"scores": 1, "signatures": {COLUMN: signature}, "systems": {NAME: {"overall": {COLUMN:
        score}, "counts": {COLUMN: {"scored": 5, "undefined": 1, ...}}, "imgToEval": {"ID":
        {"image_id": ID, COLUMN: score}}}}}``; ``"overall"`` has all digits of the scores, all else
        ten, and ``"scores"`` is the number of this form. Columns where lower is
        better are listed under ``"lower_is_better"``, those by which no system is better under
        ``"unranked"``, metrics that could not be computed under ``"unavailable"``, with the reason.
        A metric may say more of an image: CHAIR its words and categories, under ``"CHAIR"``.
        Where the images that a corpus score leaves out are not those without a score, their ids
        are under ``"left_out"`` of the system: ``{COLUMN: [ID]}``.
        How people's captions were made, and their rates, is under ``"people"``; what was estimated
        of the errors of answers is under ``"calibrated"``, by system.
        `vifidel_eval.runs.scores_file.read_scores` reads it.

        Parameters
        ----------
        per_image : callable, optional
            From the evaluations of a system to what stands for its images instead.
        """
        lower = [column.name for column in self.columns() if column.lower_is_better]
        unranked = [column.name for column in self.columns() if not column.ranked]
        document: dict[str, Any] = {"scores": FORM, "signatures": self.signatures}
        if lower:
            document["lower_is_better"] = lower
        if unranked:
            document["unranked"] = unranked
        document["systems"] = {
            name: {
                "overall": {column: in_full(e.score) for column, e in of_column.items()},
                "counts": {column: counts_of(e) for column, e in of_column.items()},
                **_left_out(of_column),
                "imgToEval": (per_image or _per_image)(of_column),
            }
            for name, of_column in self.evaluations.items()
        }
        if self.people is not None:
            document["people"] = self.people.to_json()
        if self.calibrated:
            document["calibrated"] = {
                system: rate.to_json() for system, rate in self.calibrated.items()
            }
        if self.unavailable:
            document["unavailable"] = self.unavailable
        return document


def counts_of(evaluation: Evaluation) -> dict[str, int]:
    """Return how many rows were scored, and what was counted in the order of `COUNTS`."""
    counts = {"undefined": evaluation.undefined, **evaluation.counts}
    return {
        "scored": len(evaluation.ids) - evaluation.undefined,
        **{count.key: counts[count.key] for count in COUNTS if count.key in counts},
    }


def score_systems(
    systems: Iterable[System],
    scorers: Mapping[str, Scorer],
    references: Mapping[ImageId, Sequence[str]] | None = None,
    allow_subset: bool = False,
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, str] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score every system under every metric.

    Parameters
    ----------
    systems : iterable of System
        The candidates.
    scorers : mapping
        Metric name to scorer.
    references : mapping, optional
        Image id to references; without them the images are those of all systems together.
    allow_subset : bool
        Whether a system may caption only some of the images; it is then scored on those.
    on_progress : callable, optional
        Called with the number of captions just scored.
    unavailable : mapping, optional
        Metrics that are known not to be available, with the reason; they join those that turn
        out not to be.

    Raises
    ------
    MetricUnavailable
        If no metric can be computed here; as long as one can, the others are named in the result.
    VifidelError
        If ids do not match or the input is not as the scorers need it.
    """
    systems = list(systems)
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise CaptionError(f"two systems have the same name: {', '.join(sorted(names))}.")
    references = all_images(systems, references)
    # All ids are checked before the first system is scored: nothing computed gets lost.
    rows = {system.name: paired(system, references, allow_subset) for system in systems}
    scores = score_rows(rows, scorers, on_progress, unavailable, on_metric)
    evaluations = {
        name: {
            column: replace(e, counts={**e.counts, "missing": len(references) - len(rows[name])})
            for column, e in of_column.items()
        }
        for name, of_column in scores.evaluations.items()
    }
    return replace(scores, evaluations=evaluations)


def score_rows(
    systems: Mapping[str, Rows],
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, str] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score the rows of every system under every metric: what all evaluations go through.

    Parameters
    ----------
    systems : mapping
        System name to `Rows`.
    scorers, on_progress, unavailable, on_metric
        As for `score_systems`.

    Raises
    ------
    MetricUnavailable, VifidelError
        As `score_systems` raises them.
    """
    run = _Evaluator(systems, on_progress)
    signatures: dict[str, str] = {}
    evaluations: dict[str, dict[str, Evaluation]] = {name: {} for name in systems}
    unavailable = dict(unavailable or {})
    with one_run():
        for metric, scorer in scorers.items():
            if on_metric is not None:
                on_metric(metric)
            try:
                columns_of = run.columns(scorer)
            except MetricUnavailable as problem:
                unavailable[metric] = str(problem)
                continue
            for name, columns in columns_of.items():
                for column, evaluation in columns.items():
                    shown = _shown(metric, column, len(columns), evaluations[name])
                    _check_finite(shown, name, evaluation)
                    evaluations[name][shown] = evaluation
                    signatures[shown] = evaluation.signature
    if not signatures:
        raise MetricUnavailable(" ".join(unavailable.values()) or "no metric was asked for.")
    return Scores(signatures, evaluations, unavailable)


def column_names(scorers: Mapping[str, Scorer]) -> dict[str, str]:
    """Return every column that scores will have, with the name of its metric.

    Parameters
    ----------
    scorers : mapping
        As for `score_systems`.
    """
    metric_of: dict[str, str] = {}
    for metric, scorer in scorers.items():
        for column in scorer.columns:
            metric_of[_shown(metric, column.name, len(scorer.columns), metric_of)] = metric
    return metric_of


def _shown(metric: str, column: str, columns: int, taken: Container[str]) -> str:
    """Return what a column of a metric is called beside those that are taken."""
    shown = metric if columns == 1 else column
    # Taken by another scorer of the same metric.
    return f"{metric} {shown}" if shown in taken else shown


_Columns = dict[str, dict[str, Evaluation]]  # system, column


class _Evaluator:
    """Evaluates each scorer once for every system, however many combinations it is part of."""

    def __init__(
        self, systems: Mapping[str, Rows], on_progress: Callable[[int], object] | None
    ) -> None:
        self._systems = systems
        self._on_progress = on_progress
        self._done: dict[int, _Columns | MetricUnavailable] = {}

    def columns(self, scorer: Scorer) -> _Columns:
        """Return, for each system, the columns of a scorer; what failed once is not tried again.

        All have one signature, which is of the images of all systems.
        """
        done = self._done.get(id(scorer))
        if done is None:
            try:
                if isinstance(scorer, Mean):
                    columns_of = self._combined(scorer)
                else:
                    columns_of = self._evaluated(scorer)
                signature = scorer.signature_of(self._systems.values())
            except MetricUnavailable as problem:
                done = problem
            else:
                done = {
                    name: {column: replace(e, signature=signature) for column, e in columns.items()}
                    for name, columns in columns_of.items()
                }
            self._done[id(scorer)] = done
        if isinstance(done, MetricUnavailable):
            raise done
        return done

    def _evaluated(self, scorer: Scorer) -> _Columns:
        evaluated: _Columns = {}
        heard = _Warnings()
        scorer.check_images(list(dict.fromkeys(i for r in self._systems.values() for i in r.ids)))
        with scorer.in_run(list(self._systems.values())) as of_run:
            for name, rows in self._systems.items():
                with heard.of(name):
                    evaluated[name] = of_run.unsigned(rows, self._on_progress)
        main = {name: columns[scorer.main] for name, columns in evaluated.items()}
        scorer.judge(main.values())
        heard.pass_on(list(evaluated))
        return evaluated

    def _combined(self, mean: Mean) -> _Columns:
        of_parts = [(part, self.columns(part)) for part in mean.parts]
        evaluations = mean.combine(
            [[columns[name][part.main] for part, columns in of_parts] for name in self._systems]
        )
        return {
            name: {mean.main: evaluation}
            for name, evaluation in zip(self._systems, evaluations, strict=True)
        }


class _Warnings:
    """Warnings heard while systems were scored, each said once with the systems it is about."""

    def __init__(self) -> None:
        self._systems: dict[str, list[str]] = {}

    @contextmanager
    def of(self, system: str) -> Iterator[None]:
        """Listen while a system is scored."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", VifidelWarning)
            yield
        for warning in caught:
            if issubclass(warning.category, VifidelWarning):
                self._systems.setdefault(str(warning.message), []).append(system)
            else:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )

    def pass_on(self, systems: Sequence[str]) -> None:
        """Say what was heard; what all systems have in common is no system's own."""
        for message, names in self._systems.items():
            whose = f"system{'s' * (len(names) > 1)} {', '.join(map(repr, names))}: "
            whose = "" if len(names) == len(systems) else whose
            warnings.warn(f"{whose}{message}", VifidelWarning, stacklevel=6)


def _check_finite(column: str, system: str, evaluation: Evaluation) -> None:
    places = np.flatnonzero(np.isinf(evaluation.scores)).tolist()
    infinite = [f"of image {evaluation.ids[at]!r}" for at in places]
    if infinite or math.isinf(evaluation.score):
        raise VifidelError(
            f"{column}: the score {(infinite or ['of the corpus'])[0]} of system {system!r} is "
            "infinite; a scorer returns finite numbers, and NaN where a score is undefined."
        )


def _left_out(of_column: Mapping[str, Evaluation]) -> dict[str, dict[str, list[Any]]]:
    """Return what a file says of the images that corpus scores leave out, if it must."""
    left_out = {
        column: [to_json_value(e.ids[at]) for at in np.flatnonzero(e.missing).tolist()]
        for column, e in of_column.items()
        if not np.array_equal(e.missing, np.isnan(e.scores))
    }
    return {"left_out": left_out} if left_out else {}


def _per_image(of_column: Mapping[str, Evaluation]) -> dict[str, dict[str, Any]]:
    images: dict[str, dict[str, Any]] = {}
    for column, evaluation in of_column.items():
        for at, (image_id, score) in enumerate(
            zip(evaluation.ids, evaluation.scores.tolist(), strict=True)
        ):
            row = images.setdefault(str(image_id), {"image_id": to_json_value(image_id)})
            row[column] = rounded(score)
            row |= {name: for_json(values[at]) for name, values in evaluation.details.items()}
    return images
