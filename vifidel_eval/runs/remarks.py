"""Remarks beside scores, in tables, reports and files: people's part, and calibrated rates."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

#: What people are called among the systems.
PEOPLE = "people"


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

    def notes(self, columns: Container[str]) -> list[str]:
        """Return what a table with these columns says of people, in sentences."""
        made = "one reference" if self.joined == 1 else f"{self.joined} references joined"
        made = f"{made} of each image ({self.words:.1f} words on average)"
        rates = [f"{name} {r:.4f}" for name, r in self.rates.items() if name in columns]
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

    `vifidel_eval.asking.calibrated` makes it. Shares are from 0 to 1, and NaN where they are
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

    def note(self, system: str) -> str:
        """Return what tables and reports say of a system's rate, in a sentence."""
        measured = "undefined" if math.isnan(self.measured) else f"{self.measured:.4f}"
        said = f"Estimate for {system}: VIFIDEL-Hi by the answers alone is {measured} as measured"
        if math.isnan(self.corrected):
            return f"{said}, and cannot be corrected: {self._lacking()}."
        low, high = self.interval
        interval = "no interval" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
        return (
            f"{said} and {self.corrected:.4f} ({interval}) corrected for wrong answers: yes to "
            f"{self.false_yes:.1%} of controls ({self.controls}), no to {self.false_no:.1%} of "
            f"what three references name ({self.named}); both are easier than the rest."
        )

    def _lacking(self) -> str:
        if not self.controls:
            return "no control was answered"
        if not self.named:
            return "no answer is about a thing that three references name"
        if math.isnan(self.measured):
            return "no answer is about what its captions mention"
        return "the answers are no better than chance"
