"""Correlation of metrics' scores with people's ratings.

Kilickaya et al. (EACL 2017, section 3.1), VIFIDEL (Tables 2, 3), TIGEr and ViLBERTScore each report
some of these coefficients.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...evaluation import Floats, Integers
from ...io.digits import from_json, rounded
from ...io.image_ids import to_json_value
from ...io.records import Parts
from ...io.text_tables import Cell, Table
from .coefficients import COEFFICIENTS, RatedScores, williams_matrix
from .judgements import AS_GIVEN, Ratings
from .result import Agreement, Resampled
from .trials import Trials

#: Every judge's rating of a caption is a judgement of its own, as many published figures have it.
EACH = "each"
#: The mean of a caption's ratings is the judgement.
MEAN = "mean"


def correlate(
    ratings: Ratings,
    trials: Trials,
    parts: Parts,
    on_progress: Callable[[int], object] = lambda _: None,
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

    Returns
    -------
    Agreement
        ``"correlations"``: of each metric, number of ``references``, ``rating`` (what people were
        asked), ``judges`` (`EACH` or `MEAN`) and subset of ``captions`` the number of
        ``judgements``, those of captions without a score left out; the ``coefficients``, means over
        draws of references, in [-1, 1], NaN if all scores or all ratings are the same; and their
        ``intervals``. ``"williams"``: what `williams_matrix` returns for each number of references
        and view on the means of the judges.
    """
    rated = {
        rating: np.flatnonzero(~np.isnan(given).all(axis=1))
        for rating, given in ratings.ratings.items()
    }
    resampled = {
        rating: Resampled([ratings.judged[at] for at in places], trials.seed)
        for rating, places in rated.items()
    }
    images = [to_json_value(one.image_id) for one in ratings.judged]
    settings = json.dumps([trials.seed, images]).encode()  # with the scores all that counts
    correlations: list[dict[str, Any]] = []
    for rating, judges, captions, judgements in views(ratings):
        of_rated = judgements[rated[rating]]
        for metric, number, draws in trials.columns():
            scores = draws[:, 0, rated[rating]]
            content = b"".join(part.tobytes() for part in (rated[rating], scores, of_rated))
            key = hashlib.sha256(settings + content).hexdigest()
            if key not in parts:
                parts.add(key, _correlation(of_rated, scores, resampled[rating]))
            part = parts[key]
            intervals = {name: tuple(map(from_json, r)) for name, r in part["intervals"].items()}
            correlations.append(
                {
                    "metric": metric,
                    "references": number,
                    "rating": rating,
                    "judges": judges,
                    "captions": captions,
                    "judgements": part["judgements"],
                    "coefficients": {n: from_json(r) for n, r in part["coefficients"].items()},
                    "intervals": intervals,
                }
            )
            on_progress(1)
    matrices = _matrices(ratings, trials)
    return Agreement(
        ratings.name,
        {"correlations": correlations, "williams": matrices},
        list(_rows(correlations, matrices)),
        [*_tables(ratings.name, correlations), *map(_williams_table, matrices)],
        [],
        trials,
    )


def views(ratings: Ratings) -> Iterator[tuple[str, str, str, Floats]]:
    """Yield rating, judges, captions and the judgements: (captions, judges), NaN if left out."""
    for rating, given in ratings.ratings.items():
        for captions, mask in ratings.subsets.items():
            masked = np.where(mask[:, None], given, np.nan)
            if given.shape[1] > 1:
                yield rating, EACH, captions, masked
            yield rating, MEAN, captions, masked.mean(axis=1, keepdims=True)


def _correlation(judgements: Floats, scores: Floats, resampled: Resampled) -> dict[str, Any]:
    """Return what a finding holds under the same names, None for what is undefined."""
    scores = np.where(np.isnan(scores).any(axis=0), np.nan, scores)  # the same in all draws
    of_draws = [RatedScores(of_draw, judgements) for of_draw in scores]
    once = np.ones(len(judgements), dtype=np.int64)

    def coefficients(places: Integers, draw: int) -> list[float]:
        return of_draws[draw].coefficients(np.bincount(places, minlength=len(judgements)))

    means = np.array([of_draw.coefficients(once) for of_draw in of_draws]).mean(axis=0)
    values = np.array(resampled.values(len(scores), coefficients))
    intervals = [[rounded(end) for end in resampled.interval(column)] for column in values.T]
    return {
        "judgements": int((~np.isnan(scores[:1]).T & ~np.isnan(judgements)).sum()),
        "coefficients": dict(zip(COEFFICIENTS, map(rounded, means.tolist()), strict=True)),
        "intervals": dict(zip(COEFFICIENTS, intervals, strict=True)),
    }


def _matrices(ratings: Ratings, trials: Trials) -> list[dict[str, Any]]:
    """Return a matrix for each number of references and view on the means of the judges."""
    matrices = []
    for number in [n for n in trials.references if n != AS_GIVEN] or [AS_GIVEN]:
        draws = {
            metric: by_number.get(number, by_number.get(AS_GIVEN))
            for metric, by_number in trials.scores.items()
        }
        known = {metric: of_metric for metric, of_metric in draws.items() if of_metric is not None}
        scores = {metric: of_metric[0, 0] for metric, of_metric in known.items()}
        first = ", first draw" if any(len(of_metric) > 1 for of_metric in known.values()) else ""
        for rating, judges, captions, judgements in views(ratings):
            if judges == MEAN and len(scores) > 1:
                title = (
                    f"{ratings.name}: Williams' test, {rating}, captions: {captions}, references: "
                    f"{number}{first}"
                )
                matrices.append(williams_matrix(title, judgements[:, 0], scores))
    return matrices


def _rows(
    correlations: Iterable[dict[str, Any]], matrices: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for one in correlations:
        shared = {name: one[name] for name in ("metric", "references", "rating", "judges")}
        shared |= {"n": one["judgements"], "subset": one["captions"]}
        for name, value in one["coefficients"].items():
            low, high = one["intervals"][name]
            yield {**shared, "statistic": name, "value": value, "low": low, "high": high}
    for matrix in matrices:
        for first, p_values in matrix["p_values"].items():
            of_first = {"metric": first, "statistic": "Williams p", "subset": matrix["title"]}
            for second, p in p_values.items():
                if first != second:
                    yield {**of_first, "value": p, "against": second}


def _tables(data: str, correlations: Iterable[dict[str, Any]]) -> Iterator[Table]:
    """Yield a table for each view on the ratings."""
    rows: dict[str, list[list[Cell]]] = {}
    for one in correlations:
        title = (
            f"{data}: correlation with the ratings, {one['rating']}, judges: {one['judges']}, "
            f"captions: {one['captions']}"
        )
        row: list[Cell] = [one["metric"], one["references"], one["judgements"]]
        for name, r in one["coefficients"].items():
            low, high = one["intervals"][name]
            row.append(None if math.isnan(r) else f"{r:.3f} ({low:.3f}, {high:.3f})")
        rows.setdefault(title, []).append(row)
    for title, of_view in rows.items():
        yield Table(["Metric", "References", "Judgements", *COEFFICIENTS], of_view, title=title)


def _williams_table(matrix: dict[str, Any]) -> Table:
    """Return the p-values: a small one says that the row's metric is better."""
    correlations, p_values = matrix["correlations"], matrix["p_values"]
    rows = [
        [name, rounded(r), *(rounded(p) for p in p_values[name].values())]
        for name, r in correlations.items()
    ]
    notes = [
        "one-sided p-values: small where the metric of the row correlates better (Pearson) than "
        "the one of the column",
        "the captions of an image count as independent here: where it has several, p is too small",
    ]
    return Table(["Metric", "Pearson", *correlations], rows, notes, title=matrix["title"])
