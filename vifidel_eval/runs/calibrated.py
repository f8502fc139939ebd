"""Calibrated rates: what is left of a rate of inventions without the errors of the answers.

They are estimates, made by `vifidel_eval.asking.calibrated`; tables, files and reports show them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..digits import rounded


@dataclass(frozen=True)
class Calibrated:
    """A rate of inventions as measured and as estimated; each is NaN where it is undefined.

    Attributes
    ----------
    measured : float
        Share of the judged mentions that the answers deny, from 0 to 1.
    corrected : float
        The estimate without the answers' errors, from 0 to 1; undefined without controls or things
        that several references name, and where the answers are no better than chance.
    interval : (float, float)
        Of `corrected`, at 95 %, by bootstrap over images.
    false_yes, false_no : float
        How often the answers say *yes* and *no* wrongly.
    controls, named : int
        How many answers these two come from.
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

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name; None where one is undefined."""
        shares = ("measured", "corrected", "false_yes", "false_no")
        return {
            **asdict(self),
            **{name: rounded(getattr(self, name)) for name in shares},
            "interval": [rounded(end) for end in self.interval],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Calibrated:
        """Return what `to_json` gave.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is damaged.
        """
        low, high = map(_share, content["interval"])
        counts = [content[name] for name in ("controls", "named")]
        if not all(type(number) is int and number >= 0 for number in counts):
            raise ValueError(f"a calibrated rate is {content!r:.60}")
        return cls(
            _share(content["measured"]),
            _share(content["corrected"]),
            (low, high),
            _share(content["false_yes"]),
            _share(content["false_no"]),
            *counts,
        )


def _share(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError(f"the share {value!r:.40}")
    return float(value)
