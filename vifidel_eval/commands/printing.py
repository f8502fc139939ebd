"""Standard output and error of commands: everything that they print."""

from __future__ import annotations

import errno
import re
import sys

import click

from ..errors import VifidelError
from ..files import printable, reason

_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def show(text: str, coloured: bool = False) -> None:
    r"""Print a result on standard output, whatever it holds without harm to a terminal.

    Parameters
    ----------
    text : str
        Control characters and what the output's encoding lacks become escapes such as ``\u001b``.
    coloured : bool
        Whether colours of `click.style` in it are kept.

    Raises
    ------
    VifidelError
        If it cannot be printed, as on a full disk.
    """
    parts = _COLOUR.split(text) if coloured else [text]
    # Every second part is what was split at.
    clean = "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))
    try:
        click.echo(_encodable(clean, sys.stdout))
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # the reader has seen enough: click ends quietly
            raise
        raise VifidelError(f"the output cannot be printed: {reason(problem)}.") from None


def tell(text: str) -> None:
    """Print what is beside the result on standard error, as harmless as `show`."""
    click.echo(_encodable(harmless(text), sys.stderr), err=True)


def harmless(text: str) -> str:
    r"""Return text that no terminal obeys, with escapes for lone surrogates too.

    >>> harmless("\x9b1m")
    '\\u009b1m'
    """
    return printable(text).encode("utf-8", errors="backslashreplace").decode("utf-8")


def one_sentence(text: str) -> str:
    """Return an error's message in one line: line breaks are those of a name in it."""
    return harmless(text.replace("\n", "\\n"))


def _encodable(text: str, stream: object) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)
