"""How systems compare under one metric: standings, pairs, and who beats whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..io.text_tables import DIFFERENCE_DECIMALS, Cell, Table, counted, gain
from .significance import EqualLength


@dataclass(frozen=True)
class Standing:
    """How a system does under a metric: its score on the images compared, and the interval of that.

    Its rank is 1 + the number of systems that beat it significantly; None where no system is better
    than another by the metric, or no difference can be significant (`Comparisons.too_few`).
    """

    score: float
    low: float
    high: float
    rank: int | None


@dataclass(frozen=True)
class Pair:
    """Two systems under a metric.

    The difference is the score of the first less that of the second, with its bootstrap interval;
    two-sided p-values are those of both tests, and the same after Holm's correction over the pairs
    of the metric. The winner, if there is one, is significantly better (`randomisation_holm`).
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    bootstrap_p: float
    randomisation_p: float
    bootstrap_holm: float
    randomisation_holm: float
    winner: str | None
    equal_length: EqualLength | None = None

    @property
    def loser(self) -> str | None:
        """The other one than the winner, where there is one."""
        if self.winner is None:
            return None
        return self.second if self.winner == self.first else self.first

    @property
    def depends_on_length(self) -> bool:
        """Whether the winner is not better, as far as one can tell, at equal length."""
        remains = self.equal_length
        if self.winner is None or remains is None:
            return False
        return not (remains.low > 0 if self.difference > 0 else remains.high < 0)

    def turned(self) -> Pair:
        """Return the pair with its systems exchanged: two-sided tests say the same of both."""
        equal_length = self.equal_length
        if equal_length is not None:
            equal_length = replace(equal_length, **_negated(equal_length))
        return replace(
            self, first=self.second, second=self.first, equal_length=equal_length, **_negated(self)
        )


def _negated(change: Pair | EqualLength) -> dict[str, Any]:
    """Return a difference and its interval with the other sign, without -0.0."""
    return {
        "difference": 0.0 - change.difference,
        "low": 0.0 - change.high,
        "high": 0.0 - change.low,
    }


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Systems under one metric.

    `images` is the number of images compared: those that every system has and the metric defines
    for all. Without `own_score`, what was compared is the mean of the image scores, because the
    metric's corpus score cannot be computed for some of the images (METEOR).
    """

    metric: str = field(metadata={"is_key": True})
    images: int
    lower_is_better: bool = False
    ranked: bool = True
    own_score: bool
    systems: dict[str, Standing]
    pairs: tuple[Pair, ...]

    def with_pairs(self, pairs: Sequence[Pair], alpha: float) -> Comparison:
        """Return this with other pairs, Holm's correction over them, and who is better at alpha."""
        bootstrap = holm([pair.bootstrap_p for pair in pairs])
        randomisation = holm([pair.randomisation_p for pair in pairs])
        corrected = []
        for pair, bootstrap_p, randomisation_p in zip(pairs, bootstrap, randomisation, strict=True):
            first_is_better = (pair.difference > 0) != self.lower_is_better
            better = pair.first if first_is_better else pair.second
            corrected.append(
                replace(
                    pair,
                    bootstrap_holm=bootstrap_p,
                    randomisation_holm=randomisation_p,
                    winner=better if self.ranked and randomisation_p <= alpha else None,
                )
            )
        return replace(self, pairs=tuple(corrected))

    def with_ranks(self, baseline: str | None = None) -> Comparison:
        """Return this with the ranks that follow from its pairs; none if nothing can be better.

        The `baseline`, as people are, has no rank and takes none from others.
        """
        if not self.ranked:
            return self
        losers = Counter(pair.loser for pair in self.pairs if pair.winner != baseline)
        systems = {
            name: replace(standing, rank=None if name == baseline else 1 + losers[name])
            for name, standing in self.systems.items()
        }
        return replace(self, systems=systems)

    @property
    def both_ways(self) -> dict[tuple[str, str], Pair]:
        """The pairs by their first and second system, each also with its systems exchanged."""
        pairs = [*self.pairs, *(pair.turned() for pair in self.pairs)]
        return {(pair.first, pair.second): pair for pair in pairs}

    def matrix(
        self,
        shown: Callable[[float, str], float | None] = lambda score, _: score,
        digits: int | None = None,
        numbered: bool = False,
    ) -> Table:
        """Return the system of each row less that of each column, the best first."""
        sign = 1 if self.lower_is_better else -1
        names = sorted(self.systems, key=lambda name: sign * self.systems[name].score)
        cells: dict[tuple[str, str], Cell] = {
            systems: "*" * (pair.winner is not None and pair.winner == systems[0])
            + gain(shown(pair.difference, self.metric), digits or DIFFERENCE_DECIMALS)
            + "†" * pair.depends_on_length
            for systems, pair in self.both_ways.items()
        }
        rows: list[list[Cell]] = [
            [f"{at} {name}" if numbered else name, self.systems[name].rank]
            + [cells.get((name, other)) for other in names]
            for at, name in enumerate(names, 1)
        ]
        heads = map(str, range(1, len(names) + 1)) if numbered else names
        notes = ["Differences: the system of the row minus that of the column."]
        if any(pair.winner for pair in self.pairs):
            notes[0] += " *: significantly better."
        if any(pair.depends_on_length for pair in self.pairs):
            notes.append(
                "†: mean lengths differ by 50 % or more, and at equal length no difference can "
                "be shown."
            )
        title = f"{self.metric}: who beats whom ({counted(self.images, 'image')})"
        return Table([self.metric, "Place", *heads], rows, notes, title=title)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after the step-down correction of Holm (1979), in the order given."""
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max((len(p_values) - done) * p_values[at], largest)  # a NaN stays
        corrected[at] = min(largest, 1.0)
    return corrected
