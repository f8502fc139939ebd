"""The command ``vifidel-eval table``."""

from __future__ import annotations

from pathlib import Path

import click

from .paths import FILE, Command
from .table_options import TableOptions, table_options


@click.command(cls=Command)
@click.argument("file", metavar="SCORES.json", type=FILE)
@table_options
def table(file: Path, tables: TableOptions) -> None:
    """Print the scores that score --output wrote, without computing them again.

    If score had --compare or --baseline, the comparison is printed too: in short with --baseline.
    CSV holds one table: there, --compare-output writes the comparison.
    """
    tables.check()
    from ..errors import VifidelError
    from ..runs.scores_file import read_scores

    scores, comparisons = read_scores(file)
    tables.check_columns(scores.metric_of_columns())
    if tables.compare_output is not None and comparisons is None:
        raise VifidelError(
            f"{file}: holds no comparison for --compare-output; score with --compare and --output."
        )
    if tables.baseline is not None and comparisons is None:
        raise VifidelError(
            f"{file}: holds no comparison for --baseline; score with --baseline and --output."
        )
    tables.check_baseline(list(scores.evaluations))
    try:
        tables.deliver(scores, comparisons)
    finally:
        tables.write(scores, comparisons)
