"""Scoring what was planned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ..io.progress import is_seen, phase, progress_bar
from ..scores.lengths import WORDS
from ..scores.run_warnings import warn_of_scores
from ..scores.samples import floor_of, score_samples, signed
from ..scores.systems import score_aligned, together
from .plan import Plan
from .run import Run


def score(planned: Plan, progress: bool | None = None) -> Run:
    """Score what was planned, with a progress bar as `evaluate` shows it."""
    aligned, scorers = planned.aligned, planned.scorers
    has_samples = aligned.has_samples
    work = sum(len(system.captions) for system in aligned.systems) * len(scorers)
    on_progress: Callable[[int], object] | None = None
    on_metric: Callable[[str], object] | None = None
    with ExitStack() as watched:
        if is_seen(progress):
            bar = watched.enter_context(progress_bar(work, shown=progress))
            # The name of a metric shows when the bar next moves.
            on_progress, on_metric = bar.update, partial(bar.set_description_str, refresh=False)
        score_all = score_samples if has_samples else score_aligned
        scores = score_all(
            aligned,
            scorers,
            on_progress=on_progress,
            unavailable=planned.unavailable,
            on_metric=on_metric,
        )
        if not has_samples:  # else they were warned of one by one
            warn_of_scores(scores, aligned, scorers)
    if scores.unavailable:
        lengths = {name for name, metric in planned.columns.items() if metric == WORDS}
        if scores.signatures.keys() == lengths:
            raise together(scores.unavailable.values())
    if aligned.people is not None:
        scores = signed(scores, aligned.people)
    elif not has_samples:
        rating = {name: scorer for name, scorer in scorers.items() if scorer.rates_inventions}
        if rating:
            with phase("Scoring what people make up", progress):
                scores = replace(scores, people=floor_of(aligned, rating))
    return Run(replace(scores, uncaptioned=aligned.uncaptioned, inputs=planned.inputs), planned)
