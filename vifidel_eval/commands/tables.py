"""How scores are shown, and the command ``vifidel-eval table``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..doors.arguments import OUTPUT, option
from ..errors import VifidelError
from ..show.layout import TableLayout, line_width
from .options import Command, record, style_of
from .paths import FILE, Stated
from .paths import OUTPUT as OUTPUT_FILE
from .printing import show, tell

if TYPE_CHECKING:
    from ..run.run import Run
    from ..scores.comparison import Comparisons
    from ..scores.scores import Scores


def _names(listed: str) -> tuple[str, ...]:
    """Return the columns of ``--columns``."""
    names = tuple(name.strip() for name in listed.split(","))
    if "" in names:
        raise VifidelError(f"{listed!r} lacks the name of a column before or after a comma.")
    return names


_option = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class TableOptions(TableLayout):
    """How a user wants scores shown; each field is an option."""

    style: str = style_of("")
    columns: tuple[str, ...] | None = _option(
        None, "Show only these columns or metrics, in this order.", Stated(_names), metavar="A,B"
    )
    per_image: Path | None = _option(
        None,
        "Write the scores of images, one row per system and image.",
        OUTPUT_FILE,
        metavar="CSV",
    )
    comparing: bool = _option(
        False, "Test every two systems: differences, p, places.", bool, name="compare"
    )
    compare_output: Path | None = _option(
        None,
        "Write the comparison of all systems as one table.",
        OUTPUT_FILE,
        metavar="CSV",
        rare=True,
    )

    def __post_init__(self) -> None:
        if self.style == "json" and (self.percent or self.digits is not None):
            raise click.UsageError(
                "--format json holds the scores as they are; leave --percent and --digits out."
            )
        if self.scores_only and self.baseline is not None:
            raise click.UsageError(
                "--scores-only leaves out what --baseline shows: give one of them."
            )
        if self.comparing and self.baseline is not None:
            raise click.UsageError("--baseline is the short form of --compare: give one of them.")

    @property
    def wants_comparison(self) -> bool:
        """Whether what is shown or written needs a comparison of systems."""
        return self.comparing or (self.compare_output, self.baseline) != (None, None)

    def check(self, metric_of: Mapping[str, str] | None, systems: Sequence[str]) -> None:
        """Raise a BadParameter for a column or baseline that a run lacks, where it is known."""
        from ..scores.scores import chosen_columns, unknown

        hint = "'--columns'"
        try:
            if metric_of is not None:
                chosen_columns(self.columns or (), metric_of)
            hint = "'--baseline'"
            if self.baseline is not None and self.baseline not in systems:
                raise unknown("system", self.baseline, systems)
            if self.baseline is not None and len(systems) == 1:
                raise VifidelError(
                    f"{self.baseline!r} is the only system; give another one to compare with it."
                )
        except VifidelError as problem:
            raise click.BadParameter(str(problem), param_hint=hint) from None

    def without(self, lost: Collection[str]) -> TableOptions:
        """Return these options without columns that could not be computed."""
        from ..scores.scores import means_by_plain_name

        names = {name.lower() for name in (*lost, *means_by_plain_name(lost))}
        columns = tuple(name for name in self.columns or () if name.lower() not in names)
        return replace(self, columns=columns or None)

    def deliver(
        self, run: Run, comparisons: Comparisons | None, seed: int = 0, resamples: int | None = None
    ) -> None:
        """Print scores on standard output, and notes of CSV and JSON beside it."""
        from ..show.first_screen import first_screen, next_steps
        from ..show.score_tables import beside, render

        scores, layout = run.detail, replace(self, width=line_width())
        intervals = None
        in_terminal, alone = self.style == "table", self.scores_only and self.style != "table"
        if self.style in ("table", "markdown", "latex") and comparisons is None and not alone:
            every_column = not (in_terminal and self.first_screen)
            intervals = run.intervals(seed, resamples, every_column)
            if in_terminal and self.first_screen:
                further = [next_steps(len(scores.evaluations))]
                show(first_screen(scores, intervals, layout.width, further))
                return
        show(render(scores, self.style, comparisons, layout, intervals))
        for line in beside(scores, self.style, comparisons, layout):
            tell(line)

    def write(self, scores: Scores, comparisons: Comparisons | None) -> None:
        """Write the files that were asked for."""
        from ..io.files import write_whole
        from ..show.score_tables import comparison_csv, per_image_csv

        if self.per_image is not None:
            write_whole(self.per_image, per_image_csv(scores, self) + "\n")
        if self.compare_output is not None and comparisons is not None:
            write_whole(self.compare_output, comparison_csv(scores, comparisons, self) + "\n")


@click.command(
    cls=Command,
    examples=(
        "table scores.json",
        "table scores.json --columns VIFIDEL-F,CIDEr --format latex",
        "table scores.json --baseline mine",
    ),
)
@click.argument("file", metavar="SCORES.json", type=FILE)
@record(TableOptions, "tables")
def table(file: Path, tables: TableOptions) -> None:
    """Print tables from a file written by score --output, without scoring again.

    If the file contains a comparison of the systems, it is printed too. --compare and --baseline
    NAME compare in any case. CSV contains only the scores; --compare-output writes the rest.
    """
    from ..run import load

    run = load(file)
    tables.check(run.detail.metric_of_columns(), run.systems)
    comparisons = run.saved_comparison
    if tables.wants_comparison and (
        comparisons is None or comparisons.baseline not in (None, tables.baseline)
    ):
        comparisons = run.compare()
    try:
        tables.deliver(run, comparisons)
    finally:
        tables.write(run.detail, comparisons)
