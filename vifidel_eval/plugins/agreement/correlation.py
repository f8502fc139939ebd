"""Correlation of metrics' scores with people's ratings.

Kilickaya et al. (EACL 2017, section 3.1), VIFIDEL (Tables 2, 3), TIGEr and ViLBERTScore each report
some of these coefficients.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...evaluation import Floats, Integers
from ...io.digits import rounded
from ...io.image_ids import to_json_value
from ...io.records import Parts
from ...io.text_tables import Cell, Table
from .coefficients import COEFFICIENTS, RatedScores
from .draws import AS_GIVEN, References
from .judgements import Ratings
from .resampling import interval, resampled
from .result import Agreement, Estimate
from .trials import Trials
from .williams import WilliamsMatrix, williams_matrix

#: Every judge's rating of a caption is a judgement of its own, as many published figures have it.
EACH = "each"
#: The mean of a caption's ratings is the judgement.
MEAN = "mean"


@dataclass(frozen=True)
class Correlation:
    """A metric's correlation with ratings.

    Attributes
    ----------
    metric : str
        Its name.
    references : int or str
        How many references the metric had, as `trials` says it.
    rating : str
        What people were asked.
    judges : str
        `EACH` or `MEAN`.
    captions : str
        Which captions.
    judgements : int
        How many judgements, those of captions without a score left out.
    coefficients : dict
        Name to the coefficient: the mean over draws of references, in [-1, 1]; NaN if all scores
        or all ratings are the same.
    intervals : dict
        Name to the 95 % interval over images and draws.
    """

    metric: str
    references: References
    rating: str
    judges: str
    captions: str
    judgements: int
    coefficients: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    def estimates(self) -> Iterator[Estimate]:
        """Yield the coefficients."""
        for name, value in self.coefficients.items():
            yield Estimate(
                self.metric,
                name,
                value,
                *self.intervals[name],
                self.judgements,
                self.references,
                self.rating,
                self.judges,
                self.captions,
            )


def correlate(
    ratings: Ratings,
    trials: Trials,
    parts: Parts,
    on_progress: Callable[[int], object] | None = None,
) -> Agreement:
    """Correlate scores with people's ratings.

    Parameters
    ----------
    ratings : Ratings
        What people said.
    trials : Trials
        Scores of the captions.
    parts : Parts
        What is in it is not computed again.
    on_progress : callable, optional
        Called with 1 after each of ``len(list(views(ratings)))`` times the scored columns.
    """
    rated = {
        rating: np.flatnonzero(~np.isnan(given).all(axis=1))
        for rating, given in ratings.ratings.items()
    }

    @lru_cache(maxsize=2)  # the same resamples for every metric
    def resamples(rating: str, draws: int) -> list[tuple[Integers, int]]:
        judged = [ratings.judged[at] for at in rated[rating]]
        return [
            (np.bincount(rows, minlength=len(judged)), draw)
            for rows, draw in resampled(judged, draws, trials.seed)
        ]

    images = [to_json_value(one.image_id) for one in ratings.judged]
    settings = json.dumps([trials.seed, images]).encode()  # with the scores all that counts
    found = []
    for rating, judges, captions, judgements in views(ratings):
        of_rated = judgements[rated[rating]]
        for metric in trials.signatures:
            for number in trials.numbers():
                draws = trials.scores(metric, number)
                if not draws:
                    continue
                scores = np.array([of_sides[0][rated[rating]] for of_sides in draws])
                parts_of_key = rated[rating], scores, of_rated
                content = settings + b"".join(part.tobytes() for part in parts_of_key)
                key = hashlib.sha256(content).hexdigest()
                if key not in parts:
                    parts.add(key, _correlation(of_rated, scores, resamples(rating, len(draws))))
                part = parts[key]
                found.append(
                    Correlation(
                        metric,
                        number,
                        rating,
                        judges,
                        captions,
                        part["judgements"],
                        {name: _number(r) for name, r in part["coefficients"].items()},
                        {
                            name: (_number(low), _number(high))
                            for name, (low, high) in part["intervals"].items()
                        },
                    )
                )
                if on_progress is not None:
                    on_progress(1)
    matrices = _matrices(ratings, trials)
    tables = [*_tables(ratings.name, found), *(matrix.table() for matrix in matrices)]
    findings: dict[str, Sequence[Any]] = {"correlations": found, "williams": matrices}
    return Agreement(ratings.name, findings, tables, [], trials)


def _tables(data: str, correlations: Iterable[Correlation]) -> Iterator[Table]:
    """Yield a table for each view on the ratings."""
    rows: dict[str, list[list[Cell]]] = {}
    for one in correlations:
        title = (
            f"{data}: correlation with the ratings, {one.rating}, judges: {one.judges}, "
            f"captions: {one.captions}"
        )
        row: list[Cell] = [one.metric, one.references, one.judgements]
        for name, r in one.coefficients.items():
            low, high = one.intervals[name]
            row.append(None if math.isnan(r) else f"{r:.3f} ({low:.3f}, {high:.3f})")
        rows.setdefault(title, []).append(row)
    for title, of_view in rows.items():
        yield Table(["Metric", "References", "Judgements", *COEFFICIENTS], of_view, title=title)


def views(ratings: Ratings) -> Iterator[tuple[str, str, str, Floats]]:
    """Yield rating, judges, captions and the judgements: (captions, judges), NaN if left out."""
    for rating, given in ratings.ratings.items():
        for captions, mask in ratings.subsets.items():
            masked = np.where(mask[:, None], given, np.nan)
            if given.shape[1] > 1:
                yield rating, EACH, captions, masked
            yield rating, MEAN, captions, masked.mean(axis=1, keepdims=True)


def _correlation(
    judgements: Floats, scores: Floats, resamples: Iterable[tuple[Integers, int]]
) -> dict[str, Any]:
    """Return what `Correlation` holds under the same names, None for what is undefined."""
    scores = np.where(np.isnan(scores).any(axis=0), np.nan, scores)  # the same in all draws
    of_draws = [RatedScores(of_draw, judgements) for of_draw in scores]
    once = np.ones(len(judgements), dtype=np.int64)
    points = np.array([of_draw.coefficients(once) for of_draw in of_draws])
    resampled_points = np.array([of_draws[draw].coefficients(counts) for counts, draw in resamples])
    defined = ~np.isnan(scores[:1]).T & ~np.isnan(judgements)
    return {
        "judgements": int(defined.sum()),
        "coefficients": dict(
            zip(COEFFICIENTS, map(rounded, points.mean(axis=0).tolist()), strict=True)
        ),
        "intervals": {
            name: [rounded(end) for end in interval(values)]
            for name, values in zip(COEFFICIENTS, resampled_points.T, strict=True)
        },
    }


def _matrices(ratings: Ratings, trials: Trials) -> list[WilliamsMatrix]:
    """Return a matrix for each number of references and view on the means of the judges."""
    matrices = []
    for number in [n for n in trials.numbers() if n != AS_GIVEN] or [AS_GIVEN]:
        draws = {
            metric: trials.scores(metric, number) or trials.scores(metric, AS_GIVEN)
            for metric in trials.signatures
        }
        # With several draws, the first one.
        scores = {metric: of_metric[0][0] for metric, of_metric in draws.items() if of_metric}
        for rating, judges, captions, judgements in views(ratings):
            if judges == MEAN and len(scores) > 1:
                first = ", first draw" if any(len(d) > 1 for d in draws.values()) else ""
                title = (
                    f"{ratings.name}: Williams' test, {rating}, captions: {captions}, references: "
                    f"{number}{first}"
                )
                matrices.append(williams_matrix(title, judgements[:, 0], scores))
    return matrices


def _number(value: float | None) -> float:
    return math.nan if value is None else value
