"""The options of commands that compute metrics, as the registry has them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import VifidelError
from .help import shows_all
from .options import TRANSPORT, Described, gathered, settings_of
from .paths import Command, Read

if TYPE_CHECKING:
    from ..scorers.record import Metric, Option, Settings


def chosen_metrics(
    metrics: tuple[str, ...] | None, settings: Settings, by_default: bool = True
) -> list[str]:
    """Return the metrics to compute: those named, else the defaults.

    Parameters
    ----------
    metrics : tuple of str, optional
        Those that the user named, as `vifidel_eval.scorers.registry.parse` returns them.
    settings : Settings
        What they would be made from.
    by_default : bool
        Whether there are metrics to compute where the user names none.

    Raises
    ------
    click.UsageError
        If a metric lacks what it needs, or there is none to compute.
    """
    from ..scorers.registry import DEFAULT, check_needs, defaults, expanded

    if metrics is None and not by_default:
        return []
    names = expanded(metrics or [DEFAULT], defaults(settings))
    if not names:
        raise click.UsageError(
            "there is nothing to score with; give --references, --objects or both, or name "
            "--metrics that need neither."
        )
    try:
        check_needs(names, settings, flag)
    except VifidelError as problem:
        raise click.UsageError(str(problem)) from None
    return names


class MetricCommand(Command):
    """A command with ``--metrics`` and the options that registered metrics have of their own.

    They are read when the command runs or shows its help: no other command loads the registry.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, those of the metrics before ``--objects``."""
        from ..scorers.registry import METRICS

        params = super().get_params(ctx)
        at = next(at for at, param in enumerate(params) if param.name == "objects")
        return [*params[:at], *_options(tuple(METRICS.options())), *params[at:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; for an unknown option the metrics of all packages are imported."""
        from ..scorers.registry import METRICS

        try:
            return super().parse_args(ctx, list(args))
        except click.NoSuchOption:
            METRICS.load()
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; ``--help-all`` has those of other packages' metrics too."""
        from ..scorers.registry import METRICS

        if shows_all(ctx):
            METRICS.load()
        super().format_options(ctx, formatter)

    def of_metrics(self) -> Mapping[str, Collection[str]]:
        """Return the options of metrics; those of no default metric are rarely needed."""
        from ..scorers.registry import METRICS

        having: dict[str, list[Metric]] = {}
        for metric in METRICS.values():
            for option in metric.options:
                having.setdefault(option.name, []).append(metric)
        return {
            name: [] if any(metric.default for metric in metrics) else [m.name for m in metrics]
            for name, metrics in having.items()
        } | {name: ["CHAIR"] for name in ("uncertain", "looked_for")}


def _settings(given: dict[str, Any]) -> Settings:
    """Take the options of words, distances and metrics out of what a command was given."""
    from ..scorers.registry import METRICS

    # A metric that was imported by its name has options that were not parsed: none was given.
    own = {option.name: given.pop(option.name, option.default) for option in METRICS.options()}
    return replace(settings_of(given), options=own)


#: Adds the options of words, distances and metrics. The command, a `MetricCommand`, gets them
#: together as ``settings``, and beside them ``metrics``.
metric_options = gathered("settings", _settings, TRANSPORT)


@cache
def _options(own: tuple[Option, ...]) -> list[click.Parameter]:
    metrics = Described(["--metrics"], callback=parsed_metrics, describe=_metrics_there_are)
    return [metrics, *map(_own, own)]


def _metrics_there_are() -> str:
    """Return what ``--metrics`` takes; metrics of other packages are not imported."""
    from ..scorers.registry import METRICS

    defaults = [metric.name for metric in METRICS.values() if metric.default]
    others = [_needing(metric) for metric in METRICS.values() if not metric.default]
    others += [name for name in METRICS.waiting() if name.lower() not in METRICS.spellings]
    return (
        f"Comma-separated; VIFIDEL+CIDEr: mean of both; default,CHAIR: CHAIR too.  [default: "
        f"{', '.join(defaults)}, as far as references and objects are given]  Others: "
        f"{', '.join(others)}."
    )


def _own(option: Option) -> click.Option:
    if option.kind is bool:
        return click.Option([flag(option.name)], is_flag=True, help=option.help)
    return click.Option(
        [flag(option.name)],
        type=Read(option.companion) if option.kind is Path else option.kind,
        default=option.default,
        show_default=option.default is not None,
        help=option.help,
    )


def flag(name: str) -> str:
    """Return the option of a setting: ``--tiger-features`` of ``tiger_features``."""
    return f"--{name.replace('_', '-')}"


def _needing(metric: Metric) -> str:
    needs = [*metric.needs, *metric.packages]
    return f"{metric.name} ({', '.join(needs)})" if needs else metric.name


def parsed_metrics(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Return the metrics of ``--metrics``."""
    if value is None:
        return None
    from ..scorers.registry import parse

    try:
        return tuple(parse(value))
    except VifidelError as problem:
        raise click.BadParameter(str(problem)) from None
