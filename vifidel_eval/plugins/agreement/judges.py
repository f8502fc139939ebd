"""Judges audited: how another tool's scores move with length, inventions and the system.

A language model that judges captions may like what is long, or what its own kind wrote (Zheng et
al., NeurIPS 2023). What is known of the images says what a caption makes up, whoever judges it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import VifidelError
from ...evaluation import Floats
from ...io.image_ids import ImageId
from ...run import Run
from ...scores.scores import PEOPLE, unknown
from ...scores.significance import Bootstrap, Sample, exact, ratio
from ...scores.systems import lengths
from .result import Agreement, interval, row_of, table_of
from .trials import Trials

#: How many words more are one step.
STEP = 50
#: Captions whose lengths differ by no more than this share of the longer one are matched.
SAME_LENGTH = 0.1
#: The column that says how many things a caption makes up.
MADE_UP = "VIFIDEL-Hn"

#: The kinds of effects; another one is that of a system.
WORDS_MORE = f"{STEP} words more"
ONE_MORE = "one more made-up thing"

_NOTES = [
    "change: by linear regression, at the same number of made-up things, the same length and the "
    "same system, apart from what the row is about",
    "matched: the same between captions of one image alike in made-up things, in length "
    f"({SAME_LENGTH:.0%}) or both",
]
_SINGULAR = 1e-10  # the smallest eigenvalue of cross products, of the largest
_GIVEN = "|scores:given|"


def audit_judges(
    run: Run, judges: Sequence[str] = (), made_up: str = MADE_UP, seed: int = 0
) -> Agreement:
    """Compare judges' scores with what captions make up.

    `judges` are columns that came with ``--scores``, by default all; `made_up` is the column of
    what captions make up. Found are ``"effects"``: for each judge and ``kind`` of effect

    - ``change``: of the score, for `STEP` words more at the same number of made-up things, for one
      made-up thing more at the same length, and for being written by a system rather than by
      another at the same of both: coefficients of linear regression. Those of words and made-up
      things are at the same system, too;
    - ``partial_r``: the partial correlation, in [-1, 1];
    - ``matched``: the same between captions of one image, which have the same number of made-up
      things, lengths within `SAME_LENGTH`, or both, and differ in what the effect is of;

    each with its interval over images, and of how many ``captions`` and ``pairs`` they are. A
    VifidelError says which column is missing or never varies.
    """
    scores = run.detail
    computed = [name for name, text in scores.signatures.items() if _GIVEN in text]
    chosen = list(judges or computed)
    for name in chosen:
        if name not in computed:
            raise unknown("judge", name, computed)
    if not chosen:
        raise VifidelError(
            "no column is the scores of a judge; give them to score with --scores SYSTEM=FILE."
        )
    if made_up not in scores.signatures:
        raise VifidelError(f"the run has no column {made_up!r}; score with --metrics VIFIDEL-H.")
    signatures = {name: scores.signatures[name] for name in (*chosen, made_up)}
    trials = Trials(seed, signatures=signatures)
    effects = [
        effect
        for name in chosen
        for effect in _JudgeScores(run, name, made_up).effects(trials.bootstrap)
    ]
    columns = ["Metric", "Kind", "Change", "Interval", "Partial r", "Matched", "Matched interval"]
    shown = [{**effect, "matched_interval": interval(*effect["of_matched"])} for effect in effects]
    return Agreement(
        "judges",
        {"effects": effects},
        [row for effect in effects for row in _rows(effect)],
        [table_of("What moves a judge's score", shown, [*columns, "Pairs"], texts=2)],
        [*map(_sentence, (e for e in effects if e["kind"] == WORDS_MORE)), *_NOTES],
        trials,
    )


def _sentence(effect: Mapping[str, Any]) -> str:
    change, low, high = (effect[key] for key in ("change", "low", "high"))
    is_lower = change < 0
    ends = sorted((-low, -high)) if is_lower else (low, high)
    return (
        f"{effect['metric']} gives {abs(change):.2g} {'less' if is_lower else 'more'} "
        f"({ends[0]:.2g} to {ends[1]:.2g}) for {WORDS_MORE}, at the same number of made-up things."
    )


def _rows(effect: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the tidy table for an effect."""
    for key, ends, n in (
        ("change", (effect["low"], effect["high"]), "captions"),
        ("partial_r", effect["of_partial_r"], "captions"),
        ("matched", effect["of_matched"], "pairs"),
    ):
        row = row_of(effect, key.replace("_", " "), key, n, subset=effect["kind"])
        yield {**row, "low": ends[0], "high": ends[1]}


class _JudgeScores:
    """A judge's scores of all captions, their words and made-up things: (systems, images)."""

    def __init__(self, run: Run, judge: str, made_up: str) -> None:
        systems = {n: columns for n, columns in run.detail.evaluations.items() if n != PEOPLE}
        images: dict[ImageId, int] = {}
        for of_column in systems.values():
            for image_id in of_column[judge].ids:
                images.setdefault(image_id, len(images))
        self._judge, self._systems = judge, list(systems)
        columns = np.full((3, len(systems), len(images)), np.nan)
        for system, (name, of_column) in enumerate(systems.items()):
            captions = run.captions(name)
            evaluations = of_column[judge], of_column[made_up]
            for column, evaluation in zip((0, 2), evaluations, strict=True):
                columns[column, system, [images[i] for i in evaluation.ids]] = evaluation.scores
            columns[1, system, [images[i] for i in captions]] = lengths(captions.values())
        columns[:, np.isnan(columns).any(axis=0)] = np.nan
        self._score, self._words, self._made_up = columns
        for numbers, name in zip(columns, (judge, "the length", made_up), strict=True):
            if len(np.unique(numbers[~np.isnan(numbers)])) < 2:
                raise VifidelError(
                    f"{name} is the same in all captions that have a score of {judge}, so nothing "
                    "can be said of its effect."
                )

    def effects(self, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
        """Yield what is found of each effect."""
        of_system = np.eye(len(self._systems))[..., np.newaxis]
        by = list(np.broadcast_to(of_system, (*of_system.shape[:2], self._score.shape[1])))
        steps = self._words / STEP
        effects = {
            WORDS_MORE: (steps, [self._made_up, *by[1:]]),
            ONE_MORE: (self._made_up, [steps, *by[1:]]),
        }
        if len(by) > 1:
            effects |= {
                f"by {system}": (of_system, [steps, self._made_up])
                for system, of_system in zip(self._systems, by, strict=True)
            }
        samples = {}
        for kind, (cause, controls) in effects.items():
            products = _products([*controls, cause, self._score])
            samples[kind, "change"] = Sample(products, lambda sums: _regressed(sums)[0])
            samples[kind, "partial_r"] = Sample(products, _partial_r)
            samples[kind, "matched"] = Sample(self._matched(kind, cause), ratio)
        drawn = bootstrap.scores(samples)
        for kind in effects:
            effect: dict[str, Any] = {"metric": self._judge, "kind": kind}
            for name in ("change", "partial_r", "matched"):
                sample = samples[kind, name]
                effect[name] = float(sample.score_of(sample.rows[0].sum(axis=0)))
                effect[f"of_{name}"] = bootstrap.interval(drawn[kind, name][0])
            effect["low"], effect["high"] = effect.pop("of_change")
            effect["captions"] = int((~np.isnan(self._score)).sum())
            effect["pairs"] = int(samples[kind, "matched"].rows[0, :, 2].sum())
            yield effect

    def _matched(self, kind: str, cause: Floats) -> Floats:
        """Return sums over the matched pairs of each image: (1, images, 3).

        They are of products of the differences in cause and score, of squares of those in cause,
        and the number of pairs: the slope through the origin is the first by the second.
        """
        sums = np.zeros((3, self._score.shape[1]))
        for i, j in combinations(range(len(self._systems)), 2):
            words = self._words[[i, j]]
            with np.errstate(invalid="ignore"):  # NaN is no match
                alike = np.ptp(words, axis=0) <= SAME_LENGTH * words.max(axis=0)
                matched = (self._made_up[i] == self._made_up[j]) | (kind == ONE_MORE)
                matched &= (alike | (kind == WORDS_MORE)) & ~np.isnan(self._score[i])
            difference = np.where(matched, cause[i] - cause[j], 0.0)
            moved = np.where(difference != 0, self._score[i] - self._score[j], 0.0)
            sums += np.nan_to_num([difference * moved, difference**2, difference != 0])
        return exact(sums.T[np.newaxis])


def _products(columns: Sequence[Floats]) -> Floats:
    """Return the products of every two columns and a constant, by image: (1, images, k * k)."""
    defined = ~np.isnan(columns[-1])
    stacked = np.where(defined, [np.ones_like(columns[0]), *columns], 0.0)
    products = np.einsum("asi,bsi->iab", stacked, stacked)
    return exact(products.reshape(1, len(products), -1))


def _regressed(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return what the regression of the last column says of the last but one.

    Sums are products, (..., k * k). Returned are its coefficient, the entry of the inverse that its
    error follows from, and the sum of squares that remains; NaN where columns depend on others.
    """
    k = math.isqrt(sums.shape[-1])
    products = sums.reshape(*sums.shape[:-1], k, k)
    scale = np.sqrt(np.einsum("...ii->...i", products))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = products / scale[..., :, np.newaxis] / scale[..., np.newaxis, :]
    causes, moved = scaled[..., :-1, :-1], scaled[..., :-1, -1:]
    is_singular = np.linalg.eigvalsh(causes)[..., 0] < _SINGULAR
    causes = np.where(is_singular[..., np.newaxis, np.newaxis], np.eye(k - 1), causes)
    inverse = np.linalg.inv(causes)
    coefficients = inverse @ moved
    residual = scaled[..., -1, -1] - (coefficients * moved).sum(axis=(-2, -1))
    last = np.where(is_singular, np.nan, coefficients[..., -1, 0]) / scale[..., -2] * scale[..., -1]
    error = inverse[..., -1, -1] / scale[..., -2] ** 2
    return last, error, np.maximum(residual, 0) * scale[..., -1] ** 2


def _partial_r(sums: Floats) -> Floats:
    """Return the correlation of the last two columns, given the others; NaN without any left."""
    coefficient, error, residual = _regressed(sums)
    explained = coefficient**2 / error
    left = np.where(explained + residual > _SINGULAR * sums[..., -1], explained + residual, np.nan)
    return np.asarray(np.sign(coefficient) * np.sqrt(explained / left))
