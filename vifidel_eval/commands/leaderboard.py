"""The command ``vifidel-eval leaderboard``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from .options import format_option
from .paths import FILE, Command
from .printing import show


@click.command(cls=Command)
@click.argument("file", type=FILE)
@click.option(
    "--sort", metavar="METRIC", help="Metric to sort by, best first.  [default: the first]"
)
@click.option("--history", is_flag=True, help="Show all runs of a system, not only the last one.")
@format_option("How to print the leaderboard.")
def leaderboard(file: Path, sort: str | None, history: bool, style: str) -> None:
    """Print the runs that a file has collected.

    `score --leaderboard FILE` collects them.
    """
    from ..errors import VifidelError
    from ..io.files import json_text
    from ..scores.leaderboard import read
    from ..show.layout import folded, line_width

    board = read(file)
    if not board.runs:
        raise VifidelError(
            f"{file}: there is no such file, or no run in it; score --leaderboard {file} adds runs."
        )
    board = board.ranked(sort, history)
    if style == "json":
        show(json_text(board.to_json()))
    else:
        signatures = list(dict.fromkeys(board.signatures.values()))
        if style == "table":
            signatures = folded(signatures, line_width())
        found = board.table()
        show(replace(found, notes=[*found.notes, *signatures]).render(style))
