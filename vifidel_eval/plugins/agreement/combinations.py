"""The best mean of several metrics, as Kilickaya et al. (EACL 2017) look for it.

They choose and judge a combination on the same captions. Here it is also chosen without the images
on which it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import VifidelError
from ...evaluation import Floats, Integers
from ...io.image_ids import ImageId
from .correlation import mean_views
from .judgements import ALL, Choices, Ratings, References, numbered
from .result import Agreement, row_of, table_of

_MOST = 12  # columns; 4 095 combinations
_FOLDS = 5
_DIGITS = 10  # sums that differ by less are the same but for rounding
_NOTE = (
    "combinations: means of metrics scaled to [0, 1]; held out: chosen without the images on "
    f"which it is judged, {_FOLDS} folds; chosen: in how many of these"
)


def with_combinations(result: Agreement, data: Ratings | Choices) -> Agreement:
    """Return a result with the best combination and the best single metric.

    Found are ``"combinations"``: by number of ``references``, ``rating`` and ``captions`` the
    ``metric`` and the ``value`` of its ``statistic`` on all captions, the mean ``held_out`` of the
    choices without each fifth of the images, in how many of them it was ``chosen``, and over how
    many judgements ``n`` that all metrics score. A `VifidelError` says that there are too many or
    too few metrics.
    """
    findings = [
        {**combination, "references": number}
        for number, draws in result.trials.by_number()
        for combination in _best(draws, data, number, result.trials.seed)
    ]
    columns = "Kind Metric References Rating Captions Statistic Value".split()
    columns += ["Held out", "Chosen", "N"]
    rows = [
        row_of(
            best, f"{best['kind']}: {best['statistic']}{held}", key, "n", subset=best["captions"]
        )
        for best in findings
        for key, held in (("value", ""), ("held_out", ", held out"))
    ]
    table = table_of(f"{data.name}: combinations", findings, columns, 2)
    combined = result.with_findings("combinations", findings, rows, [table], [_NOTE])
    return replace(combined, first=[*result.first, [table]] if result.first else ())


def _best(
    draws: Mapping[str, Floats], data: Ratings | Choices, number: References, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the best combination and the best single metric in each view of the judgements."""
    means = {name: of_name.mean(axis=0) for name, of_name in draws.items() if "+" not in name}
    if not 2 <= len(means) <= _MOST:
        raise VifidelError(
            f"--combinations takes 2 to {_MOST} columns, and with {number} references there are "
            f"{len(means)}: name others with --metrics."
        )
    scores = np.stack([*means.values()], axis=-1)  # (captions judged together, judgements, metrics)
    low, high = np.nanmin(scores, axis=(0, 1)), np.nanmax(scores, axis=(0, 1))
    scaled = (scores - low) / np.where(high > low, high - low, 1)
    sizes = range(1, len(means) + 1)
    members = [chosen for size in sizes for chosen in combinations(range(len(means)), size)]
    weights = np.zeros((len(means), len(members)))
    for at, chosen in enumerate(members):
        weights[list(chosen), at] = 1 / len(chosen)
    names = ["+".join(np.array([*means])[list(chosen)]) for chosen in members]
    folds = _folds([judged.image_id for judged in data.judged], seed)
    for statistic, rating, captions, judgements in _views(data):
        usable = ~np.isnan(judgements) & ~np.isnan(scaled).any(axis=(0, 2))

        def agreement(places: Any, judgements: Floats = judgements) -> Floats:
            return _agreement(scaled[:, places] @ weights, judgements[places])

        tests = [usable & (folds == fold) for fold in range(_FOLDS)]
        of_all = agreement(usable)
        trained = [agreement(usable & ~test) for test in tests]
        tested = [agreement(test) for test in tests]
        for kind, end in (("combination", len(members)), ("single", len(means))):
            best = int(np.argmax(np.nan_to_num(of_all[:end], nan=-2)))
            picks = [int(np.argmax(np.nan_to_num(of_fold[:end], nan=-2))) for of_fold in trained]
            held_out = [of_test[pick] for of_test, pick in zip(tested, picks, strict=True)]
            held_out = [value for value in held_out if not np.isnan(value)]
            yield {
                "metric": names[best],
                "kind": kind,
                "rating": rating,
                "captions": captions,
                "statistic": statistic,
                "value": float(of_all[best]),
                "held_out": float(np.mean(held_out)) if held_out else float("nan"),
                "chosen": picks.count(best),
                "n": int(usable.sum()),
            }


def _views(data: Ratings | Choices) -> Iterator[tuple[str, str, str, Floats]]:
    """Yield a statistic, what people were asked, of which captions, and what they said."""
    if isinstance(data, Choices):
        yield "accuracy", "", ALL, np.where(data.preferred == 0, np.nan, data.preferred)
        return
    for rating, captions, judgements in mean_views(data):
        yield "Pearson", rating, captions, judgements


def _folds(images: Sequence[ImageId], seed: int) -> Integers:
    """Return the fold of each judgement; those of an image are in one."""
    numbers, distinct = numbered(images)
    folds: Integers = np.random.default_rng(seed).permutation(distinct) % _FOLDS
    return folds[numbers]


def _agreement(scores: Floats, judgements: Floats) -> Floats:
    """Return how combinations agree with people: (captions judged together, judgements, many).

    Of pairs, it is the share in which the preferred caption scores higher, a tie counting half; of
    rated captions Pearson's correlation. It is NaN where nothing can be said.
    """
    if not len(judgements):
        return np.full(scores.shape[-1], np.nan)
    if len(scores) == 2:
        agrees = np.sign(np.round(scores[0] - scores[1], _DIGITS)) * judgements[:, None]
        shares: Floats = (agrees > 0).mean(axis=0) + (agrees == 0).mean(axis=0) / 2
        return shares
    x = scores[0] - scores[0].mean(axis=0)
    y = judgements - judgements.mean()
    spread = np.sqrt((x**2).sum(axis=0) * (y @ y))
    return np.where(spread > 0, y @ x / np.where(spread > 0, spread, 1), np.nan)
