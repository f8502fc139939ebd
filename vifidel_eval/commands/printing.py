"""Results on standard output."""

from __future__ import annotations

import errno

import click

from ..errors import VifidelError
from ..files import reason


def show(text: str) -> None:
    """Print a result, with a question mark for what no encoding has (a lone surrogate).

    Raises
    ------
    VifidelError
        If it cannot be printed, as on a full disk.
    """
    try:
        click.echo(text.encode("utf-8", errors="replace").decode("utf-8"))
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # the reader has seen enough: click ends quietly
            raise
        raise VifidelError(f"the output cannot be printed: {reason(problem)}.") from None
