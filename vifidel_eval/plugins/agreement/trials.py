"""Scores of judged captions under drawn references, part by part, so that no part is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ...errors import MetricUnavailable, VifidelError
from ...evaluation import Floats
from ...io.arguments import check_whole
from ...io.caches import one_run
from ...io.records import Parts
from ...scorers import Scorer
from ...scorers.registry import METRICS
from .draws import AS_GIVEN, References, drawn, is_drawn, plan
from .judgements import Judged
from .resampling import LEVEL, RESAMPLES
from .scoring import JudgedRows, Scoring, bases


@dataclass(frozen=True)
class Trial:
    """The scores of all judged captions with one draw of references.

    Attributes
    ----------
    references : int or str
        How many references each image has, `ALL_REFERENCES` or `AS_GIVEN`.
    draw : int
        From 0.
    scores : dict
        Metric name to float64 of shape (captions judged together, number of judgements): ten
        significant digits, NaN where the score is undefined.
    """

    references: References
    draw: int
    scores: dict[str, Floats]


@dataclass(frozen=True)
class Trials:
    """All trials of an experiment.

    Attributes
    ----------
    seed : int
        Of the draws.
    draws : int
        How often references were drawn; 0 if there was nothing to draw.
    trials : list of Trial
        Number by number, draw by draw.
    signatures : dict
        Metric name to signature.
    unavailable : dict
        Metric name to the reason why it could not be computed here.
    short : dict
        Number of references to how many judgements have fewer.
    lower_is_better : frozenset of str
        The metrics in which the lower of two scores is the better one.
    """

    seed: int
    draws: int
    trials: list[Trial]
    signatures: dict[str, str]
    unavailable: dict[str, MetricUnavailable]
    short: dict[int, int]
    lower_is_better: frozenset[str] = frozenset()

    def scores(self, metric: str, references: References) -> list[Floats]:
        """Return a metric's scores of each draw; none if it was not computed there.

        Higher is better in all of them, as in what people say: where lower is better the sign is
        changed.
        """
        draws = [
            trial.scores[metric]
            for trial in self.trials
            if trial.references == references and metric in trial.scores
        ]
        return [-scores for scores in draws] if metric in self.lower_is_better else draws

    def numbers(self) -> list[References]:
        """Return the numbers of references, in their order."""
        return list(dict.fromkeys(trial.references for trial in self.trials))

    def and_given(self, metric: str, scores: Floats) -> Trials:
        """Return these trials with the scores of another tool among them.

        Raises
        ------
        VifidelError
            If a metric of that name is among them already.
        """
        if metric in self.signatures:
            raise VifidelError(f"{metric} is computed here too: give --scores another name.")
        return replace(
            self,
            trials=[*self.trials, Trial(AS_GIVEN, 0, {metric: scores})],
            signatures=self.signatures | {metric: f"{metric}|scores:given"},
        )

    def notes(self) -> list[str]:
        """Return what a table of these trials must say: how they were made, and signatures."""
        times = "once" if self.draws == 1 else f"{self.draws} times"
        drawn = f"references drawn {times}; " if self.draws else ""
        few = [
            f"{judgements} judgements have fewer than {number} references"
            for number, judgements in self.short.items()
            if judgements
        ]
        lower = [metric for metric in self.signatures if metric in self.lower_is_better]
        return [
            f"{drawn}intervals: {100 * LEVEL:g} %, {RESAMPLES} resamples of the images; "
            f"seed {self.seed}",
            *few,
            *([f"sign changed, as lower is better: {', '.join(lower)}"] if lower else []),
            *dict.fromkeys(self.signatures.values()),
            *(f"{name} not available: {why}" for name, why in self.unavailable.items()),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return how the trials were made; the scores are not in it."""
        unavailable = {name: str(why) for name, why in self.unavailable.items()}
        return {
            "seed": self.seed,
            "draws": self.draws,
            "resamples": RESAMPLES,
            "level": LEVEL,
            "fewer_references": {str(number): n for number, n in self.short.items() if n},
            "signatures": self.signatures,
            **({"lower_is_better": sorted(self.lower_is_better)} if self.lower_is_better else {}),
            **({"unavailable": unavailable} if unavailable else {}),
        }


def run_trials(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
    seed: int,
    parts: Parts,
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
) -> Trials:
    """Score judged captions, with each number of references, under every metric.

    A caption is never among its own references. The references of an image are put into a
    random order for each draw; the first ones are taken, so that the references of a smaller
    number are among those of a larger one.

    Parameters
    ----------
    judged : sequence of Judged
        What people judged.
    scorers : mapping
        Metric name to scorer.
    numbers : sequence of int or str
        Numbers of references, or `ALL_REFERENCES`.
    draws : int
        How often references are drawn, where there are more than the number.
    seed : int
        Of the draws.
    parts : Parts
        What is in it is not computed again; a part is one metric with one draw.
    on_progress : callable, optional
        Called with the number of scores just computed; together as `work` says.
    unavailable : mapping, optional
        Metrics that are known not to be available, with the reason.

    Raises
    ------
    VifidelError
        If there is no draw, or the seed is negative.
    """
    check_whole(0, seed=seed)
    check_whole(1, draws=draws)
    reasons = dict(unavailable or {})
    failed: dict[Scorer, MetricUnavailable] = {}
    needing = {
        base
        for name, scorer in scorers.items()
        for part, base in zip(name.split("+"), bases({name: scorer}), strict=False)
        if needs_references(part)
    }
    columns_of: dict[str, list[str]] = {}
    trials: list[Trial] = []
    planned = [
        (number, draw, JudgedRows(judged, drawn(judged, number, seed, draw), needing))
        for number, draw in plan(judged, numbers, draws)
    ]
    with ExitStack() as stack:
        in_run = {}
        for base in bases(scorers):
            rows = [
                of_side
                for number, _, of_draw in planned
                if base in bases(_usable(scorers, number))
                for of_side in of_draw.systems(base).values()
            ]
            in_run[base] = stack.enter_context(base.in_run(rows))
        for number, draw, of_draw in planned:
            scoring = Scoring(of_draw, in_run, parts, failed, on_progress)
            scores: dict[str, Floats] = {}
            with one_run():  # these references: the next draw has others
                for name, scorer in _usable(scorers, number).items():
                    try:
                        columns = scoring.columns(name, scorer)
                    except MetricUnavailable as problem:
                        reasons[name] = problem
                        continue
                    scores |= columns
                    columns_of[name] = list(columns)
            if scores:
                trials.append(Trial(number, draw, scores))
    signatures: dict[str, str] = {}
    images = list(dict.fromkeys(one.image_id for one in judged))
    lower: set[str] = set()
    for name, scorer in scorers.items():
        if name in columns_of:
            signatures |= dict.fromkeys(columns_of[name], scorer.signature(images))
            directions = zip(columns_of[name], scorer.columns, strict=True)
            lower |= {shown for shown, column in directions if column.lower_is_better}
    short = {
        number: sum(len(one.others(one.references)) < number for one in judged)
        for number in numbers
        if isinstance(number, int)
    }
    by_chance = any(is_drawn(judged, number) for number in numbers)
    return Trials(
        seed, draws if by_chance else 0, trials, signatures, reasons, short, frozenset(lower)
    )


def work(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
) -> int:
    """Return how many scores `run_trials` will compute."""
    captions = sum(len(one.captions) for one in judged)
    return sum(
        len(bases(_usable(scorers, number))) * captions
        for number, _ in plan(judged, numbers, draws)
    )


def _usable(scorers: Mapping[str, Scorer], number: References) -> dict[str, Scorer]:
    return {n: s for n, s in scorers.items() if number != 0 or not needs_references(n)}


def needs_references(name: str) -> bool:
    """Return whether a metric, or a part of a combination, compares with references.

    Names that are not in the registry, such as those of an ablation, do not.
    """
    return any(METRICS[part].references for part in name.split("+") if part in METRICS)
