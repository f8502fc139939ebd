"""Scores of judged captions under drawn references, part by part, so that none is lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..bags import Floats
from ..harness import System, rounded, score_systems
from ..image_ids import ImageId, to_json_value
from ..metrics import needs_references
from ..scorers import Scorer
from .judgements import Judged
from .parts import Parts
from .resampling import LEVEL, RESAMPLES

#: A number of references, or one of the two words below.
References = int | str
#: All references of an image.
ALL_REFERENCES = "all"
#: Whatever references another tool's scores were computed with.
AS_GIVEN = "as given"


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
        How often references were drawn, where there was something to draw.
    trials : list of Trial
        Number by number, draw by draw.
    signatures : dict
        Metric name to signature.
    unavailable : dict
        Metric name to the reason why it could not be computed here.
    short : dict
        Number of references to how many judgements have fewer.
    """

    seed: int
    draws: int
    trials: list[Trial]
    signatures: dict[str, str]
    unavailable: dict[str, str]
    short: dict[int, int]

    def scores(self, metric: str, references: References) -> list[Floats]:
        """Return a metric's scores of each draw; none if it was not computed there."""
        return [
            trial.scores[metric]
            for trial in self.trials
            if trial.references == references and metric in trial.scores
        ]

    def numbers(self) -> list[References]:
        """Return the numbers of references, in their order."""
        return list(dict.fromkeys(trial.references for trial in self.trials))

    def and_given(self, metric: str, scores: Floats) -> Trials:
        """Return these trials with the scores of another tool among them."""
        return replace(
            self,
            trials=[*self.trials, Trial(AS_GIVEN, 0, {metric: scores})],
            signatures=self.signatures | {metric: f"{metric}|scores:given"},
        )

    def notes(self) -> list[str]:
        """Return what a table of these trials must say: how they were made, and signatures."""
        was_drawn = any(trial.draw for trial in self.trials)
        drawn = f"references drawn {self.draws} times; " if was_drawn else ""
        few = [
            f"{judgements} judgements have fewer than {number} references"
            for number, judgements in self.short.items()
            if judgements
        ]
        return [
            f"{drawn}intervals: {100 * LEVEL:g} %, {RESAMPLES} resamples of the images; "
            f"seed {self.seed}",
            *few,
            *dict.fromkeys(self.signatures.values()),
            *(f"{name} not available: {why}" for name, why in self.unavailable.items()),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return how the trials were made; the scores are not in it."""
        return {
            "seed": self.seed,
            "draws": self.draws,
            "resamples": RESAMPLES,
            "level": LEVEL,
            "fewer_references": {str(number): n for number, n in self.short.items() if n},
            "signatures": self.signatures,
        } | ({"unavailable": self.unavailable} if self.unavailable else {})


def run_trials(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
    seed: int,
    parts: Parts,
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, str] | None = None,
) -> Trials:
    """Score judged captions, with each number of references, under every metric.

    A caption is never among its own references. The references of an image are put into a
    random order for each draw; the first ones are taken, so that the references of a smaller
    number are among those of a larger one.

    Parameters
    ----------
    judged : sequence of Judged
        The ids that scorers see are places in it.
    scorers : mapping
        Metric name to scorer.
    numbers : sequence of int or str
        Numbers of references, or `ALL_REFERENCES`.
    draws : int
        How often references are drawn, where there are more than the number.
    seed : int
        Of the draws.
    parts : Parts
        What is in it is not computed again.
    on_progress : callable, optional
        Called with the number of scores just computed; together as `work` says.
    unavailable : mapping, optional
        Metrics that are known not to be available, with the reason.
    """
    signatures: dict[str, str] = {}
    reasons = dict(unavailable or {})
    trials = []
    of_run = {name: scorer.signature() for name, scorer in scorers.items()}
    for number, draw in _plan(judged, numbers, draws):
        usable = _usable(scorers, number)
        gts = _drawn(judged, number, np.random.default_rng([seed, draw]))
        key = _key(judged, gts, {name: of_run[name] for name in usable})
        todo = len(usable) * sum(len(one.captions) for one in judged)
        if usable and key not in parts:
            parts.add(key, _part(judged, gts, usable, _Meter(on_progress, todo)))
        elif on_progress is not None:
            on_progress(todo)
        if usable:
            part = parts[key]
            arrays = {n: np.array(rows, dtype=np.float64) for n, rows in part["scores"].items()}
            trials.append(Trial(number, draw, arrays))
            signatures |= part["signatures"]
            reasons |= part["unavailable"]
    short = {
        number: sum(len(one.others(one.references)) < number for one in judged)
        for number in numbers
        if isinstance(number, int)
    }
    return Trials(seed, draws, trials, signatures, reasons, short)


def work(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
) -> int:
    """Return how many scores `run_trials` will compute."""
    captions = sum(len(one.captions) for one in judged)
    plan = _plan(judged, numbers, draws)
    return sum(len(_usable(scorers, number)) * captions for number, _ in plan)


def _plan(
    judged: Sequence[Judged], numbers: Sequence[References], draws: int
) -> list[tuple[References, int]]:
    """Return number and draw of each trial; where nothing is left to chance there is one draw."""
    most = max(len(one.references) for one in judged)
    return [
        (number, draw)
        for number in numbers
        for draw in range(draws if isinstance(number, int) and 0 < number < most else 1)
    ]


def _usable(scorers: Mapping[str, Scorer], number: References) -> dict[str, Scorer]:
    return {n: s for n, s in scorers.items() if number != 0 or not needs_references(n)}


def _drawn(
    judged: Sequence[Judged], number: References, random: np.random.Generator
) -> dict[ImageId, list[str]]:
    if not isinstance(number, int):
        return {at: one.others(one.references) for at, one in enumerate(judged)}
    shuffled: dict[tuple[str, ...], list[str]] = {}
    gts: dict[ImageId, list[str]] = {}
    for at, one in enumerate(judged):
        if one.references not in shuffled:
            order = random.permutation(len(one.references))
            shuffled[one.references] = [one.references[place] for place in order]
        gts[at] = one.others(shuffled[one.references])[:number]
    return gts


def _key(
    judged: Sequence[Judged], gts: Mapping[ImageId, list[str]], signatures: Mapping[str, str]
) -> str:
    content = [
        signatures,
        [[to_json_value(one.image_id), one.captions] for one in judged],
        list(gts.values()),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _part(
    judged: Sequence[Judged],
    gts: Mapping[ImageId, list[str]],
    scorers: Mapping[str, Scorer],
    meter: _Meter,
) -> dict[str, Any]:
    systems = [
        System(f"caption {side + 1}", {at: one.captions[side] for at, one in enumerate(judged)})
        for side in range(len(judged[0].captions))
    ]
    scores = score_systems(systems, scorers, gts, on_progress=meter.advance)
    meter.finish()
    return {
        "scores": {
            metric: [
                [rounded(score) for score in of_metric[metric].scores.tolist()]
                for of_metric in scores.evaluations.values()
            ]
            for metric in scores.signatures
        },
        "signatures": scores.signatures,
        "unavailable": scores.unavailable,
    }


class _Meter:
    """Passes progress on; a part counts in full, also what combinations did not compute anew."""

    def __init__(self, on_progress: Callable[[int], object] | None, todo: int) -> None:
        self._on_progress = on_progress
        self._todo = todo

    def advance(self, scores: int) -> None:
        self._todo -= scores
        if self._on_progress is not None:
            self._on_progress(scores)

    def finish(self) -> None:
        self.advance(self._todo)
