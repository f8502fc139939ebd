"""The command ``vifidel-eval leaderboard``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ...commands.options import Command, format_option
from ...commands.paths import FILE
from ...commands.printing import show
from ...errors import VifidelError
from ...show.layout import fitted, in_brief, line_width, printed


@click.command(
    cls=Command,
    examples=(
        "leaderboard board.json",
        "leaderboard board.json --sort CIDEr",
        "leaderboard board.json --history --format markdown",
    ),
)
@click.argument("file", type=FILE)
@click.option(
    "--sort",
    metavar="METRIC",
    help="Metric to sort by, best first.  [default: VIFIDEL-F or the first]",
)
@click.option("--history", is_flag=True, help="Show all runs of each system, not only the last.")
@format_option("How to print the leaderboard.")
def leaderboard(file: Path, sort: str | None, history: bool, style: str) -> None:
    """Print the runs in a leaderboard file.

    `score --leaderboard FILE` adds runs to it.
    """
    from ...io.files import json_text
    from .board import read

    board = read(file)
    if not board.runs:
        raise VifidelError(
            f"{file}: there is no such file, or it has no runs; score --leaderboard {file} adds "
            "runs."
        )
    board = board.ranked(sort, history)
    if style == "json":
        show(json_text(board.to_json()))
    else:
        signatures = list(dict.fromkeys(board.signatures.values()))
        if style == "table":
            signatures = [in_brief(signatures, "with --format json")]
        runs, width = board.table(), line_width()
        runs = replace(runs, notes=[*runs.notes, *signatures])
        show(printed(fitted(runs, style, width), style, width))
