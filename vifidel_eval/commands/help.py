"""Help of commands with many options: in sections, and the rare ones only with ``--help-all``."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

import click

from .printing import show, tell

# Commands with fewer options list them all, in one section.
_MANY = 12

# Options by the name of their parameter; those of no section are the command's own and come first.
_SECTIONS = {
    "Input": """
        caption labels no_labels label_scores id_column references no_references objects threshold
        categories uncertain looked_for agree detector calibrate id_field caption_field
        reference_field split image_ids allow_subset people samples max_words strict
    """.split(),
    "Metrics": """
        metrics metric things synonyms drop_incomplete vectors trust_pickles stop_words
        p presence normalize
    """.split(),
    "Output": """
        keep workers inventions style columns percent digits counts output per_image baseline
        scores_only comparing compare_output requirements seed resamples leaderboard date report
        title images images_mb write_candidates figure
    """.split(),
}
_SECTION_OF = {name: title for title, names in _SECTIONS.items() for name in names}
_OWN = "Options"

# What few runs need: names of columns, the paper's settings, pickles, what has a good default.
_RARE = frozenset(
    """
    requirements synonyms drop_incomplete far categories uncertain looked_for agree detector
    calibrate id_field caption_field reference_field split trust_pickles stop_words p presence
    normalize seed resamples counts scores_only compare_output date title images_mb draws ablation
    ablation_vectors
    """.split()
)


class Helping(click.Command):
    """A command whose help is printed as results are."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option ``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
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


class CommandInSections(Helping):
    """A command whose help is in sections if it has many options."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; with many, ``--help-all`` is among them."""
        params = super().get_params(ctx)
        return [*params[:-1], _HELP_ALL, *params[-1:]] if len(params) > _MANY else params

    def of_metrics(self) -> Mapping[str, Collection[str]]:
        """Return the options that registered metrics have of their own.

        They are names of parameters; with each come the metrics that only ``--help-all`` explains,
        none if the option is always shown.
        """
        return {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, and in the end which are left out."""
        params = self.get_params(ctx)
        if _HELP_ALL not in params:
            super().format_options(ctx, formatter)
            return
        of_metrics = self.of_metrics()
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in (_OWN, *_SECTIONS)}
        left_out: list[str] = []
        metrics: list[str] = []
        for param in params:
            name, record = param.name or "", param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument) or _is_help(param):
                continue
            if not shows_all(ctx) and (name in _RARE or of_metrics.get(name)):
                metrics += of_metrics.get(name, ())
                left_out += [param.opts[0]] if name not in of_metrics else []
                continue
            title = _SECTION_OF.get(name, "Metrics" if name in of_metrics else _OWN)
            sections[title].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if metrics:
            left_out.append(f"options of {', '.join(dict.fromkeys(metrics))}")
        with formatter.section("Help"):
            also = f"Also show {', '.join(left_out)}." if left_out else "Show all options."
            formatter.write_dl([("-h, --help", "Show the usual options."), ("--help-all", also)])


def shows_all(ctx: click.Context) -> bool:
    """Return whether a help has all options."""
    return bool(ctx.meta.get(_ALL))


def _is_help(param: click.Parameter) -> bool:
    return param is _HELP_ALL or "--help" in param.opts


_ALL = f"{__name__}.all"


def _show_help(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        show(ctx.get_help())
        ctx.exit()


def _show_all(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        show(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options.",
)
