"""Standard output and error of commands: everything that they print, their help too."""

from __future__ import annotations

import codecs
import contextlib
import difflib
import errno
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ..errors import VifidelError
from ..io.files import printable, reason

_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def show(text: str, coloured: bool = False) -> None:
    """Print a result with escapes for control characters, except colours if it is `coloured`.

    A VifidelError says that standard output takes nothing, as on a full disk.
    """
    parts = _COLOUR.split(text) if coloured else [text]
    # Every second part is what was split at.
    clean = "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))
    try:
        click.echo(_encodable(clean, sys.stdout))
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # the reader has seen enough: click ends quietly
            raise
        raise VifidelError(cannot_be_printed(problem)) from None


def cannot_be_printed(problem: OSError) -> str:
    """Return the sentence for a standard output that takes nothing."""
    return f"the output cannot be printed: {reason(problem)}."


def tell(text: str) -> None:
    """Print what is beside the result on standard error, if that takes anything."""
    with contextlib.suppress(OSError):
        click.echo(_encodable(harmless(text), sys.stderr), err=True)


@contextlib.contextmanager
def continued_by_the_same_command(unfinished: Path, where: str) -> Iterator[None]:
    """Say of an interrupted run, if it left something, where the same command continues."""
    try:
        yield
    except KeyboardInterrupt:
        if unfinished.exists():
            tell(f"Interrupted; the same command continues {where}.")
        raise


def size_of(path: Path) -> str:
    """Return how large a file is, as people say it."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


class _Nowhere(io.RawIOBase):
    """A standard output that is closed."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> NoReturn:
        raise OSError(errno.EBADF, "standard output is closed")


@contextlib.contextmanager
def streams_that_are_there() -> Iterator[None]:
    """Make writing to a standard output that is closed or None an error; lose what is told."""
    with contextlib.ExitStack() as streams:
        if sys.stdout is None or sys.stdout.closed:
            # It is never closed, which would be one more error.
            nowhere = io.TextIOWrapper(_Nowhere(), encoding="utf-8", write_through=True)  # type: ignore[type-var]
            streams.enter_context(contextlib.redirect_stdout(nowhere))
        if sys.stderr is None or sys.stderr.closed:
            lost = streams.enter_context(open(os.devnull, "w", encoding="utf-8"))
            streams.enter_context(contextlib.redirect_stderr(lost))
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:  # Python would try again at its end, and say so in its own words
                    with contextlib.suppress(OSError), open(os.devnull, "wb") as nothing:
                        os.dup2(nothing.fileno(), stream.fileno())


def harmless(text: str) -> str:
    r"""Return text that no terminal obeys, with escapes for lone surrogates too.

    >>> harmless("\x9b1m")
    '\\u009b1m'
    """
    return printable(text).encode("utf-8", errors="backslashreplace").decode("utf-8")


def _encodable(text: str, stream: object) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, errors=_ALIKE).decode(encoding)


# The signs of our tables, which code pages of Windows lack, in ASCII and as wide if possible.
_IN_ASCII = dict(zip("●─↓≤±†…", ("o", "-", "v", "<=", "+-", "+", "..."), strict=True))
_ALIKE = f"{__name__}.alike"


def _alike(problem: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that an encoding lacks, and where they end."""
    assert isinstance(problem, UnicodeEncodeError)
    lacking = problem.object[problem.start : problem.end]
    alike = (_IN_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking)
    return "".join(alike), problem.end


codecs.register_error(_ALIKE, _alike)


_ALL = f"{__name__}.all"


def shows_all(ctx: click.Context) -> bool:
    """Return whether the help that is shown is that of ``--help-all``."""
    return bool(ctx.meta.get(_ALL))


def show_help(ctx: click.Context, param: click.Parameter, is_asked: Any) -> None:
    """Print the help of a command, as ``--help`` and ``--help-all`` do, and end."""
    if is_asked and not ctx.resilient_parsing:
        ctx.meta[_ALL] = "--help-all" in param.opts
        show(ctx.get_help())
        ctx.exit()


class Helping(click.Command):
    """A command whose help is printed as results are, and ends with examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, whose lines are not broken: they can be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  vifidel-eval {line}\n" for line in self.examples))

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option ``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = show_help
        return option


class Group(Helping, click.Group):
    """A group of commands of which each explains itself."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; without any, tell the help and end with status 2, as a usage error."""
        if not args and not ctx.resilient_parsing:
            tell(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments name; for an unknown one, say which may be meant."""
        unknown = self.get_command(ctx, args[0]) is None and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:
            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)
