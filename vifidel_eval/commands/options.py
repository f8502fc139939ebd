"""Options of commands, most of them declared by records, and help that has them in sections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from ..doors.arguments import INPUT, METRICS, OUTPUT, Option, options_of
from ..doors.arguments import option as declared
from ..errors import VifidelError
from ..io.text_tables import FORMATS
from .paths import NAMED, Between, Read, Stated, Written, guard
from .printing import Helping, show_help, shows_all, size_of, tell

if TYPE_CHECKING:
    from ..words.settings import Settings

# A command with fewer options lists them all, in one section.
_MANY = 12
_OWN = "Options"
_UNBROKEN = "\u2011"  # a hyphen at which no line ends

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Param(click.Option):
    """An option with its place in the help; `rare` ones and those of `metrics` are left out."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        help: str | Callable[[], str] | None = None,
        section: str = _OWN,
        rare: bool = False,
        metrics: Sequence[str] = (),
        **attrs: Any,
    ) -> None:
        super().__init__(names, help=help if isinstance(help, str) else None, **attrs)
        self._describe = help if callable(help) else None
        self.section, self.rare, self.metrics = section, rare or bool(metrics), metrics

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        if self._describe is not None:
            self.help = self._describe()
        return super().get_help_record(ctx)


#: What ``click.option`` is, for a `Param`.
param = partial(click.option, cls=Param)


def flag(name: str) -> str:
    """Return the option of a setting: ``--tiger-features`` of ``tiger_features``."""
    return f"--{name.replace('_', '-')}"


def _param(option: Option, metrics: Sequence[str] = ()) -> Param:
    """Return a declared option as option of a command."""
    has_default = not (
        option.default in (None, (), "") or option.kind is bool or option.read is not None
    )
    kind = option.kind
    if kind is bool:
        kind = None
    elif option.choices:
        kind = click.Choice(list(map(str, option.choices)))
    elif kind is float:
        kind = Between(option.lowest, 1)
    elif kind == (Path, str):
        kind = NAMED
    elif kind is Path:
        kind = Read(option.companion)
    return Param(
        [option.off or flag(option.name)],
        type=kind,
        is_flag=option.kind is bool,
        default=False if option.kind is bool else option.default if has_default else None,
        show_default=has_default,
        multiple=option.several,
        metavar=option.metavar,
        help=partial(option.says, flag),
        section=option.section or _OWN,
        rare=option.rare,
        metrics=metrics,
    )


class Record(Param):
    """Stands for the options of a record, which is imported only where they are shown or given."""

    def __init__(
        self,
        names: Sequence[str],
        record: str | type[Any],
        only: Collection[str] | None = None,
        omit: Collection[str] = (),
        defaults: Mapping[str, Any] | None = None,
        **attrs: Any,
    ) -> None:
        super().__init__(names, expose_value=False, **attrs)
        self._record, self._only, self._omit = record, only, omit
        self._defaults = defaults or {}

    @property
    def options(self) -> dict[str, Option]:
        """The options, by the fields of the record."""
        options = options_of(self._kind(), self._only, self._omit)
        return options | {at: replace(options[at], default=d) for at, d in self._defaults.items()}

    def _kind(self) -> Any:
        return resolve_name(self._record) if isinstance(self._record, str) else self._record

    def params(self) -> list[click.Parameter]:
        """Return the options as those of a command."""
        return [_param(option) for option in self.options.values()]

    def build(self, parameters: dict[str, Any]) -> Any:
        """Take the values of the options out of a command's parameters; return the record."""
        values = {}
        for field, option in self.options.items():
            value = parameters.pop((option.off or option.name).lstrip("-").replace("-", "_"))
            if option.off:
                value = not value
            if value is not None and not (option.several and not value):
                values[field] = value if option.read is None else option.read(value)
        return self._kind()(**values)


class _Settings(Record):
    """Stands for the options of `Settings` and for own options of metrics, by default of all."""

    def __init__(self, *args: Any, own: Sequence[Option] | None = None, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self._own = own

    def params(self) -> list[click.Parameter]:
        if self._own is not None:
            return [*map(_param, self._own), *super().params()]
        from ..scorers.registry import DEFAULTS
        from ..scorers.registry import METRICS as REGISTRY

        own = []
        for option in REGISTRY.options():
            metrics = [metric for metric in REGISTRY.values() if option in metric.options]
            usual = any(metric.name in DEFAULTS for metric in metrics)
            own.append(_param(option, [] if usual else [metric.name for metric in metrics]))
        return [_METRICS, *own, *super().params()]

    def build(self, parameters: dict[str, Any]) -> Settings:
        own = self._own
        if own is None:
            from ..scorers.registry import METRICS as REGISTRY

            own = REGISTRY.options()
        # A metric that was imported by its name has options that were not parsed: none was given.
        options = {o.name: parameters.pop(o.name, o.default) for o in own}
        settings: Settings = replace(super().build(parameters), options=options)
        return settings


def record(kind: str | type[Any], name: str, **attrs: Any) -> _Decorator:
    """Return a decorator that gives a `Command` the options of a record, which it gets by a name.

    The record is a dataclass with options as fields, or where it is: ``"package.module:Name"``.
    """
    return click.option(f"--{name}", cls=Record, record=kind, **attrs)


def settings_options(own: Sequence[Option] | None = (), **attrs: Any) -> _Decorator:
    """Return the decorator of the options of `Settings`, and of metrics' `own`; None for all."""
    kind = "vifidel_eval.words.settings:Settings"
    return click.option("--settings", cls=_Settings, record=kind, own=own, **attrs)


_FIELDS = partial(record, "vifidel_eval.captions.fields:CaptionFields", "fields")
#: Add the options of result files, of references, or of both; a command gets them as ``fields``.
field_options = _FIELDS(only=("id_fields", "caption_fields"))
reference_options = _FIELDS(only=("id_fields", "reference_fields", "splits"))
file_options = _FIELDS(only=("id_fields", "caption_fields", "reference_fields", "splits"))
#: Adds the options of words, distances and metrics, to a `MetricCommand`.
metric_options = settings_options(None, omit=("detector", "weighted"))


def style_of(says: str) -> Any:
    """Return the field of a record that is the option ``--format``."""
    says = f"{says or 'As'} {', '.join(FORMATS)}."
    kind = click.Choice(FORMATS)
    return declared("table", says, kind, name="format", section=OUTPUT, metavar="FORMAT")


def format_option(says: str) -> _Decorator:
    """Return the option ``--format``; the command gets what the user chose as ``style``."""
    return param(
        "--format",
        "style",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        metavar="FORMAT",
        help=f"{says} One of {', '.join(FORMATS)}.",
        section=OUTPUT,
    )


class _Formatter(click.HelpFormatter):
    """Ends no line within the name of an option or a metric."""

    def write_dl(self, rows: Iterable[tuple[str, str]], *sizes: int, **named: int) -> None:
        whole = [(name, says.replace("-", _UNBROKEN)) for name, says in rows]
        super().write_dl(whole, *sizes, **named)
        self.buffer[:] = [text.replace(_UNBROKEN, "-") for text in self.buffer]


class _Context(click.Context):
    formatter_class = _Formatter


class Command(Helping):
    """A command that runs only if none of its outputs can destroy what it reads."""

    context_class = _Context

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, those of records one by one; with many, also ``--help-all``."""
        params: list[click.Parameter] = []
        for param in super().get_params(ctx):
            params += param.params() if isinstance(param, Record) else [param]
        return [*params[:-1], _HELP_ALL, *params[-1:]] if len(params) > _MANY else params

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; of the first edition of VIFIDEL-PRF, say where it is."""
        if any(argument.startswith("--prf-edition") for argument in args):
            raise click.UsageError("VIFIDEL-PRF has one edition; version 0.2.0 computes the first.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Check all outputs as `guard` does, make the records, then run."""
        parameters: list[tuple[click.ParamType[Any], Any]] = []
        for param in self.get_params(ctx):
            chosen = ctx.params.get(param.name or "")
            values = chosen if isinstance(chosen, tuple) else (chosen,)
            parameters += [(param.type, value) for value in values if value is not None]
        guard(parameters)
        for param in self.params:
            if isinstance(param, Record) and param.name is not None:
                ctx.params[param.name] = ctx.invoke(param.build, ctx.params)
        result = super().invoke(ctx)
        for kind, value in parameters:
            if isinstance(kind, Written) and value.is_file():
                tell(f"{value}: {size_of(value)}")
        return result

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, and in the end which are left out."""
        params = self.get_params(ctx)
        if _HELP_ALL not in params:
            super().format_options(ctx, formatter)
            return
        sections: dict[str, list[tuple[str, str]]] = {
            title: [] for title in (_OWN, INPUT, METRICS, OUTPUT)
        }
        left_out: list[str] = []
        metrics: dict[str, None] = {}
        for param in params[:-1]:
            if not isinstance(param, click.Option) or param is _HELP_ALL:
                continue
            if getattr(param, "rare", False) and not shows_all(ctx):
                metrics |= dict.fromkeys(getattr(param, "metrics", ()))
                left_out += [] if getattr(param, "metrics", ()) else [param.opts[0]]
            elif (shown := param.get_help_record(ctx)) is not None:
                sections[getattr(param, "section", _OWN)].append(shown)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if metrics:
            left_out.append(f"options of {', '.join(metrics)}")
        with formatter.section("Help"):
            also = f"Also show {', '.join(left_out)}." if left_out else "Show all options."
            formatter.write_dl([("-h, --help", "Show the usual options."), ("--help-all", also)])


class MetricCommand(Command):
    """A command with ``--metrics`` and the options that registered metrics have of their own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; for an unknown option the metrics of all packages are imported."""
        from ..scorers.registry import METRICS as REGISTRY

        try:
            return super().parse_args(ctx, list(args))
        except click.NoSuchOption:
            REGISTRY.load()
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; ``--help-all`` has those of other packages' metrics too."""
        from ..scorers.registry import METRICS as REGISTRY

        if shows_all(ctx):
            REGISTRY.load()
        super().format_options(ctx, formatter)


def chosen_metrics(
    metrics: tuple[str, ...] | None,
    settings: Settings,
    by_default: bool = True,
    beside: Collection[str] = (),
    references: str = "--references",
) -> list[str]:
    """Return the metrics to compute: those named, else the defaults, if there are to be any.

    `references` is the option that gives references, which metrics may lack.
    """
    from ..scorers.registry import to_compute

    if metrics is None and not by_default:
        return []

    def spelled(name: str) -> str:
        return references if name == "references" else flag(name)

    try:
        return to_compute(metrics or None, settings, spelled, beside)
    except VifidelError as problem:
        raise click.UsageError(str(problem)) from None


def _parsed(listed: str) -> tuple[str, ...]:
    from ..scorers.registry import parse

    return tuple(parse(listed))


#: The kind of ``--metrics``.
METRIC_NAMES = Stated(_parsed, "text")


def _metrics_there_are() -> str:
    """Return what ``--metrics`` takes; metrics of other packages are not imported."""
    from ..scorers.registry import DEFAULTS
    from ..scorers.registry import METRICS as REGISTRY

    waiting = [name for name in REGISTRY.waiting() if name.lower() not in REGISTRY.spellings]
    defaults = [name for name in DEFAULTS if name in {*REGISTRY, *waiting}]
    others = []
    for metric in REGISTRY.values():
        if metric.name not in defaults:
            needs = ", ".join([*metric.needs, *metric.packages])
            others.append(f"{metric.name} ({needs})" if needs else metric.name)
    others += [name for name in waiting if name not in defaults]
    return (
        "Comma-separated; VIFIDEL+CIDEr is the mean of both, and default,CHAIR adds CHAIR.  "
        f"[default: {', '.join(defaults)}, if their references or objects are given]  Others: "
        f"{', '.join(others)}."
    )


_METRICS = Param(["--metrics"], type=METRIC_NAMES, help=_metrics_there_are, section=METRICS)
_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_help,
    help="Show all options.",
)
