"""The command ``vifidel-eval``."""

from __future__ import annotations

import errno
import warnings
from typing import Any

import click

from ..errors import VifidelError, VifidelWarning
from ..files import reason
from .agreement import agreement
from .convert_features import convert_features
from .explain import explain
from .leaderboard import leaderboard
from .printing import show
from .score import score
from .submission import submission
from .train_lm import train_lm


class _Group(click.Group):
    """Shows errors of the package as one sentence and its warnings as one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `VifidelError` ends it with status 1."""
        said = set()

        def warn(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in said:  # what concerns all systems is said once
                said.add(str(message))
                click.echo(f"Warning: {message}", err=True)

        with warnings.catch_warnings():
            warnings.simplefilter("always", VifidelWarning)
            warnings.showwarning = warn
            try:
                return super().invoke(ctx)
            except VifidelError as problem:
                raise click.ClickException(str(problem)) from None
            except OSError as problem:  # of a file: `show` has its own for the output
                if problem.errno == errno.EPIPE:  # click ends quietly
                    raise
                where = f"{problem.filename}: " if problem.filename else ""
                raise click.ClickException(f"{where}{reason(problem)}.") from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="vifidel-eval")
def main() -> None:
    """Score image captions against what their images show."""


@main.command()
def info() -> None:
    """Print versions, and which metrics run here and what they need."""
    from .environment import environment

    for name, value in environment().items():
        show(f"{name}: {value}")


@main.command("clear-cache")
def clear_cache_command() -> None:
    """Remove converted word vectors."""
    from ..vectors.store import cache_folder, clear_cache

    show(f"{clear_cache() / 1e6:.1f} MB removed from {cache_folder()}")


for command in (
    score,
    explain,
    leaderboard,
    agreement,
    submission,
    train_lm,
    convert_features,
):
    main.add_command(command)
