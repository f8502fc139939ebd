"""The options that say how scores are shown, for ``score`` and ``table``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import VifidelError
from .options import fields_of, format_option, gathered
from .paths import OUTPUT
from .printing import show, tell

if TYPE_CHECKING:
    from ..scores.comparison import Comparisons
    from ..scores.scores import Scores
    from ..show.layout import TableLayout


@dataclass(frozen=True)
class TableOptions:
    """What a user chose; one field per option."""

    style: str
    columns: tuple[str, ...] | None
    percent: bool
    digits: int | None
    per_image: Path | None
    compare_output: Path | None
    counts: bool
    baseline: str | None
    scores_only: bool

    def check(self) -> None:
        """Raise a UsageError for options that contradict each other, before any work."""
        if self.style == "json" and (self.percent or self.digits is not None):
            raise click.UsageError(
                "--format json holds the scores as they are; leave --percent and --digits out."
            )
        if self.scores_only and self.baseline is not None:
            raise click.UsageError("--scores-only leaves out what --baseline shows: give one.")

    def check_columns(self, metric_of: Mapping[str, str]) -> None:
        """Raise a BadParameter unless all columns that a user named are among those of a run.

        `metric_of` has every column, with the name of its metric.
        """
        from ..scores.scores import chosen_columns

        try:
            chosen_columns(self.columns or (), metric_of)
        except VifidelError as problem:
            raise click.BadParameter(str(problem), param_hint="'--columns'") from None

    def without(self, lost: Collection[str]) -> TableOptions:
        """Return these options without what could not be computed; all else is still shown."""
        names = {name.lower() for name in lost}
        kept = tuple(name for name in self.columns or () if name.lower() not in names)
        return replace(self, columns=kept or None)

    def check_baseline(self, systems: Sequence[str]) -> None:
        """Raise a BadParameter unless a baseline is one of several systems of a run."""
        if self.baseline is None:
            return
        if self.baseline not in systems:
            from ..scores.scores import unknown

            said = str(unknown("system", self.baseline, systems))
        elif len(systems) == 1:
            said = f"{self.baseline!r} is the only system; give another one to compare with it."
        else:
            return
        raise click.BadParameter(said, param_hint="'--baseline'")

    def deliver(self, scores: Scores, comparisons: Comparisons | None) -> None:
        """Print scores on standard output, and notes of CSV and JSON beside it."""
        from ..show.score_tables import beside, render

        layout = self._layout()
        show(render(scores, self.style, comparisons, layout))
        for line in beside(scores, self.style, comparisons, layout):
            tell(line)

    def write(self, scores: Scores, comparisons: Comparisons | None) -> None:
        """Write the files that were asked for."""
        from ..io.files import write_whole
        from ..show.score_tables import comparison_csv, per_image_csv

        layout = self._layout()
        if self.per_image is not None:
            write_whole(self.per_image, per_image_csv(scores, layout) + "\n")
        if self.compare_output is not None and comparisons is not None:
            text = comparison_csv(scores, comparisons, layout)
            write_whole(self.compare_output, text + "\n")

    def _layout(self) -> TableLayout:
        from ..show.layout import TableLayout, line_width

        return TableLayout(
            self.columns,
            self.percent,
            self.digits,
            line_width(),
            self.counts,
            self.baseline,
            self.scores_only,
        )


def _names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Return the columns of ``--columns``."""
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    if "" in names:
        raise click.BadParameter(f"{value!r} lacks the name of a column before or after a comma.")
    return names


#: Adds the options of `TableOptions`; the command gets them together as ``tables``.
table_options = gathered(
    "tables",
    partial(fields_of, TableOptions),
    [
        format_option("How to print the scores."),
        click.option(
            "--columns",
            callback=_names,
            metavar="A,B",
            help="Show these columns, or metrics, in this order.",
        ),
        click.option("--percent", is_flag=True, help="Show scores times 100."),
        click.option(
            "--digits",
            type=click.IntRange(0, 10),
            metavar="N",
            help="Decimals.  [default: 4; percent 2; CSV all]",
        ),
        click.option(
            "--per-image",
            type=OUTPUT,
            metavar="CSV",
            help="Write a row for each system and image.",
        ),
        click.option(
            "--compare-output",
            type=OUTPUT,
            metavar="CSV",
            help="Write what --compare finds, as one table.",
        ),
        click.option(
            "--counts",
            is_flag=True,
            help="Show what was counted in LaTeX and with --baseline too.",
        ),
        click.option(
            "--baseline",
            metavar="NAME",
            help="Compare with this system: differences, intervals, p.",
        ),
        click.option(
            "--scores-only",
            is_flag=True,
            help="Print the table of scores without the comparison.",
        ),
    ],
)
