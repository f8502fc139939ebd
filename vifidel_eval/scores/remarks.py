"""Remarks beside scores, in tables, reports and files: people's part, and calibrated rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

#: What people are called among the systems.
PEOPLE = "people"
# The column that is calibrated.
_RATE = "VIFIDEL-Hi"


def four_decimals(score: float, column: str) -> str:
    """Return a score of whatever column as sentences show it."""
    return f"{score:.4f}"


@dataclass(frozen=True)
class People:
    """How people's captions were made, and what they get where they are no system of the run.

    So many references of an image, `joined`, are its caption, or fewer where it has no more; it has
    so many `words` on average. Of the images, `too_few` have fewer than two references with a word,
    and so no caption. `rates` are people's rates of inventions by column, where they are no system
    of the run: the floor of the systems' rates.
    """

    joined: int
    words: float
    images: int
    too_few: int = 0
    rates: Mapping[str, float] = field(default_factory=dict)

    def notes(
        self, columns: Container[str], shown: Callable[[float, str], str] = four_decimals
    ) -> list[str]:
        """Return what a table with these columns says of people, in sentences."""
        made = "one reference" if self.joined == 1 else f"{self.joined} references joined"
        made = f"{made} of each image ({self.words:.1f} words on average)"
        rates = [f"{name} {shown(r, name)}" for name, r in self.rates.items() if name in columns]
        if self.rates and not rates:
            return []
        if rates:
            said = [f"People: {', '.join(rates)} for {made}, judged without these references."]
        else:
            said = [f"{PEOPLE}: {made}; every system is scored against the other references."]
        if self.too_few:
            where = " of these rates" if rates else ""
            said.append(
                f"{self.too_few} of {self.images + self.too_few} images have fewer than two "
                f"references and are left out{where}, as {PEOPLE} need two."
            )
        return said


@dataclass(frozen=True)
class Calibrated:
    """A rate of inventions as measured and without the errors of the answers: an estimate.

    `vifidel_eval.plugins.detect.calibration.calibrated` makes it. Shares are from 0 to 1, and NaN
    where they are
    undefined. `measured` is the share of the judged mentions that the answers deny; `corrected` the
    estimate without the answers' errors, undefined without controls or things that several
    references name, and where the answers are no better than chance; `interval` is of that, at
    95 %, by bootstrap over images. The answers say *yes* and *no* wrongly in the shares `false_yes`
    and `false_no`, of so many controls and things that are named.
    """

    measured: float
    corrected: float
    interval: tuple[float, float]
    false_yes: float
    false_no: float
    controls: int
    named: int

    def note(self, system: str, shown: Callable[[float, str], str] = four_decimals) -> str:
        """Return what tables and reports say of a system's rate, in a sentence."""
        measured = "undefined" if math.isnan(self.measured) else shown(self.measured, _RATE)
        said = f"Estimate for {system}: {_RATE} by the answers alone is {measured} as measured"
        if math.isnan(self.corrected):
            return f"{said}, and cannot be corrected: {self._lacking()}."
        low, high = self.interval
        interval = (
            "no interval" if math.isnan(low) else f"{shown(low, _RATE)} to {shown(high, _RATE)}"
        )
        return (
            f"{said} and {shown(self.corrected, _RATE)} ({interval}) corrected for wrong answers: "
            f"yes to {self.false_yes:.1%} of controls ({self.controls}), no to "
            f"{self.false_no:.1%} of what three references name ({self.named}); both are "
            "easier than the rest."
        )

    def _lacking(self) -> str:
        if not self.controls:
            return "no control was answered"
        if not self.named:
            return "no answer is about a thing that three references name"
        if math.isnan(self.measured):
            return "no answer is about what its captions mention"
        return "the answers are no better than chance"
