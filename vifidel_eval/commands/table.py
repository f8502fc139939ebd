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

    If score had --compare, the comparison is printed too; --baseline NAME compares with one system,
    whether or not score compared. CSV holds one table: there, --compare-output writes the
    comparison.
    """
    tables.check()
    from ..run.loading import load

    run = load(file)
    tables.check_columns(run.detail.metric_of_columns())
    tables.check_baseline(run.systems)
    comparisons = run.saved_comparison
    wanted = (tables.baseline, tables.compare_output) != (None, None)
    if wanted and (comparisons is None or comparisons.baseline not in (None, tables.baseline)):
        comparisons = run.compare()
    try:
        tables.deliver(run.detail, comparisons)
    finally:
        tables.write(run.detail, comparisons)
