"""The registry: every metric by name, this package's own and those of other packages.

A metric joins `METRICS` with the last line of its own file, ``register(Metric(...))``. That of a
plug-in or of another package is imported when it is first named, by an entry point of its name.
"""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from collections import UserDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import EntryPoint
from itertools import chain
from typing import Any, TypeAlias

from ..doors.arguments import Option
from ..doors.entry_points import METRICS as GROUP
from ..doors.entry_points import declared, is_ours, loaded, not_installed, unusable
from ..errors import MetricFailed, MetricUnavailable, VifidelError, warn
from ..evaluation import Column
from ..io.text_tables import in_a_row
from ..kernels.lexicon import LexiconFull
from ..words.settings import Settings
from .base import Scorer, check_columns
from .mean import Mean
from .record import DEFAULT, Metric, check_beside, is_of_this_package

#: Names of metrics, scorers, or a mapping of name to scorer.
Metrics: TypeAlias = str | Scorer | Iterable[str | Scorer] | Mapping[str, Scorer]

#: The metrics that are computed when none is named; installing another package changes no table.
DEFAULTS = ("VIFIDEL", "VIFIDEL-PRF", "WMD", "BLEU", "ROUGE_L", "CIDEr")

# Kilickaya et al. (2017) scale each metric of this combination to [0, 1].
_SCALED = frozenset({"WMD", "SPICE", "METEOR"})


class Registry(UserDict[str, Metric]):
    """The metrics that have been imported by name; `find` and `load` import others."""

    def __init__(self) -> None:
        super().__init__()
        self._problems: dict[EntryPoint, str] = {}  # "" of what is usable

    @property
    def spellings(self) -> dict[str, str]:
        """Every spelling of a metric, in lower case, with its name; its columns are some."""
        return {s: metric.name for s, metric in _by_spelling(self.values()).items()}

    def options(self) -> list[Option]:
        """Return the options that metrics have of their own, each once."""
        return list(dict.fromkeys(o for metric in self.values() for o in metric.options))

    def of_tables(self) -> list[str]:
        """Return the names of those metrics that score tables, of those that were imported."""
        return [metric.name for metric in self.values() if metric.tables]

    def packages(self, names: Collection[str]) -> dict[str, str]:
        """Return the versions of the packages whose entry points metrics are from."""
        distributions = [entry.dist for entry in self._problems if entry.name in names]
        return {dist.name: dist.version for dist in distributions if dist is not None}

    def register(self, metric: Metric) -> None:
        """Add a metric to those that have names; its module may register it again.

        Raises a VifidelError if it has a name or an option of another metric, or is not as `Metric`
        describes it. docs/python.md has the whole example.
        """
        if not isinstance(metric, Metric):
            raise VifidelError(f"register takes a Metric, not {metric!r:.40}.")
        others = {
            name: other
            for name, other in self.items()
            if (name, other.module) != (metric.name, metric.module)
        }
        check_beside(metric, others.values(), _by_spelling(others.values()))
        ranked = sorted([*others.values(), metric], key=lambda m: (m.rank, m.name))
        self.data = {m.name: m for m in ranked}

    def waiting(self) -> dict[str, list[EntryPoint]]:
        """Return the entry points that have not been imported, by the metric's name."""
        waiting = {}
        for name, entries in declared(GROUP).items():
            if missing := not_installed(entries[0]):
                self._problems.setdefault(entries[0], missing)
            if entries[0] not in self._problems:
                waiting[name] = entries
        return waiting

    def find(self, spelling: str) -> str:
        """Return the name of the metric that is spelled so or has such a column, in any case."""
        lower = spelling.lower()
        if lower not in self.spellings:
            for name, entries in self.waiting().items():
                if name.lower() == lower:
                    self._import(entries)
        if lower not in self.spellings:
            for entry, problem in self._problems.items():
                if entry.name.lower() == lower:
                    raise VifidelError(problem)
            self.load()
        spellings = self.spellings
        if lower not in spellings:
            listed = [spellings.get(word, "") for word in lower.split()]
            close = difflib.get_close_matches(lower, spellings, n=1)
            meant = f" Did you mean {spellings[close[0]]}?" if close else ""
            if len(listed) > 1 and all(listed):
                meant = f" Put commas between metrics: {','.join(spelling.split())}."
            raise VifidelError(
                f"there is no metric {spelling!r}.{meant} The metrics are {', '.join(self)}; a "
                "plus sign combines them: VIFIDEL+CIDEr."
            )
        return spellings[lower]

    def knows(self, spelling: str) -> bool:
        """Return whether an installed metric is spelled so, or has such a column."""
        try:
            self.find(spelling)
        except VifidelError:
            return False
        return True

    def column(self, shown: str, signature: str) -> Column | None:
        """Return a column of an installed metric by its shown name and the signature, else None."""
        try:
            columns = self[self.find(signature.partition("|")[0])].columns
        except VifidelError:
            return None
        matching = (
            column for column in columns if len(columns) == 1 or f" {column.name} " in f" {shown} "
        )
        return next(matching, None)

    def load(self) -> dict[str, str]:
        """Import the metrics of all packages; return, and warn once of, those that are broken."""
        for entries in self.waiting().values():
            problem = self._import(entries)
            if problem:
                warn(problem)
        return {entry.name: problem for entry, problem in self._problems.items() if problem}

    def _import(self, entries: list[EntryPoint]) -> str:
        """Import what registers a metric; return why it cannot be used, or ``""``."""
        entry, problem = entries[0], ""
        try:
            loaded("metric", entries)
            mine = self.get(entry.name)
            if mine is None or is_of_this_package(mine.module) != is_ours(entry):
                why = f"importing {entry.value} registers no metric of that name"
                raise unusable("metric", entry, why)
        except VifidelError as error:
            problem = str(error)
        self._problems = {**self._problems, **dict.fromkeys(entries, problem)}
        return problem


METRICS = Registry()
register = METRICS.register


def parse(text: str) -> list[str]:
    """Return the metrics of a comma-separated list in their own spelling, `DEFAULT` as it is.

    >>> parse("vifidel, CIDER+Vifidel"), parse("default, Bleu_4")
    (['VIFIDEL', 'CIDEr+VIFIDEL'], ['default', 'BLEU'])
    """
    names = []
    for combination in text.split(","):
        parts = [part.strip() for part in combination.split("+")]
        if "" in parts:
            raise VifidelError(f"{text!r} lacks the name of a metric before or after a separator.")
        if [part.lower() for part in parts] == [DEFAULT]:
            names.append(DEFAULT)
            continue
        metrics = [METRICS[METRICS.find(part)] for part in parts]
        name = "+".join(metric.name for metric in metrics)
        names.append(name)
        if len(set(metrics)) < len(metrics):
            raise VifidelError(f"{name} names a metric twice.")
        for part, metric in zip(parts, metrics, strict=True):
            others = {column.name.lower() for column in metric.columns if column != metric.main}
            if len(metrics) > 1 and part.lower() in others - {metric.name.lower()}:
                raise VifidelError(
                    f"{combination.strip()}: {metric.name} is combined by its {metric.main.name}, "
                    f"not by {part}; write {name}."
                )
        lower = [metric.name for metric in metrics if metric.main.lower_is_better]
        if 0 < len(lower) < len(metrics):
            higher = [metric.name for metric in metrics if metric.name not in lower]
            raise VifidelError(
                f"{name}: lower is better for {' and '.join(lower)}, but higher for "
                f"{' and '.join(higher)}; combine only metrics of the same direction."
            )
    return list(dict.fromkeys(names))


def named_metrics(metrics: Metrics | None) -> tuple[list[str], dict[str, Scorer]]:
    """Return names of registered metrics, and scorers by name; nothing by default."""
    names: list[str] = []
    scorers: dict[str, Scorer] = {}
    if isinstance(metrics, Mapping):
        pairs: list[tuple[Any, Any]] = list(metrics.items())
    else:
        listed = [metrics] if isinstance(metrics, str | Scorer) else metrics
        if listed is not None and not isinstance(listed, Iterable):
            raise VifidelError(_no_metric(listed))
        pairs = [(item.method() if isinstance(item, Scorer) else "", item) for item in listed or ()]
    for name, scorer in pairs:
        if isinstance(scorer, str) and not isinstance(metrics, Mapping):
            names += parse(scorer)
            continue
        if not isinstance(name, str) or not isinstance(scorer, Scorer):
            raise VifidelError(_no_metric(scorer))
        check_scorer(scorer)
        if name in scorers:
            raise VifidelError(
                f"there are two scorers of {name}; name them: "
                "metrics={'first': ..., 'second': ...}."
            )
        scorers[name] = scorer
    if metrics is not None and not names and not scorers:
        raise VifidelError("metrics is empty; leave it out for the default metrics.")
    for name in names:
        if name in scorers:
            raise VifidelError(f"{name} is among the metrics by name and as a scorer; keep one.")
    return list(dict.fromkeys(names)), scorers


def _no_metric(value: Any) -> str:
    return (
        "metrics are names, scorers of vifidel_eval.scorers, or {name: scorer}; found "
        f"{type(value).__name__} {value!r:.40}."
    )


def parts_of(name: str) -> list[Metric]:
    """Return the metrics that a name stands for: several if it is a combination."""
    return [METRICS[part] for part in name.split("+")]


def lacking(metric: Metric, settings: Settings) -> list[str]:
    """Return the names of the settings that a metric needs and that are not given."""
    needs_objects = metric.objects or (metric.either and not settings.references)
    is_missing = {
        "references": metric.references and not settings.references,
        "objects": needs_objects and settings.objects is None,
        "images": metric.images and settings.images is None,
    }
    own = [option.name for option in metric.options if option.required]
    is_missing |= {name: settings.options.get(name) is None for name in own}
    return [name for name, missing in is_missing.items() if missing]


def defaults(settings: Settings) -> list[str]:
    """Return the default metrics that are installed and have what they need."""
    names = []
    for name in DEFAULTS:
        with suppress(VifidelError):  # the folder of its plug-in is missing
            if not lacking(METRICS[METRICS.find(name)], settings):
                names.append(name)
    return names


def expanded(names: Iterable[str], by_default: Iterable[str]) -> list[str]:
    """Return metrics with others in the place of `DEFAULT`, each once.

    >>> expanded(["default", "CHAIR"], ["CIDEr", "CHAIR"])
    ['CIDEr', 'CHAIR']
    """
    by_default = list(by_default)
    listed = (by_default if name == DEFAULT else [name] for name in names)
    return list(dict.fromkeys(chain.from_iterable(listed)))


def check_needs(names: Iterable[str], settings: Settings, spelled: Callable[[str], str]) -> None:
    """Raise a VifidelError if a metric lacks a setting that it needs, as the user spells it."""
    for metric in dict.fromkeys(part for name in names for part in parts_of(name)):
        if missing := [spelled(name) for name in lacking(metric, settings)]:
            raise VifidelError(
                f"{metric.name} needs {in_a_row(missing)}; give "
                f"{'them' if len(missing) > 1 else 'it'}, or name other metrics."
            )


def to_compute(
    names: Sequence[str] | None,
    settings: Settings,
    spelled: Callable[[str], str] = str,
    scorers: Collection[str] = (),
) -> list[str]:
    """Return the metrics to compute: those named, by default all that have what they need.

    A VifidelError says that one lacks something, or that there is nothing to compute, not even
    `scorers` of the user's own; `spelled` returns what the user calls an argument.
    """
    names = [DEFAULT] if names is None else names
    names = expanded(names, defaults(settings) if DEFAULT in names else ())
    if not names and not scorers:
        raise VifidelError(
            f"nothing to score against: give {spelled('references')}, {spelled('objects')}, or "
            f"both; some {spelled('metrics')} need neither."
        )
    check_needs(names, settings, spelled)
    return names


@contextmanager
def named_failures(metric: str, module: str, system: str = "") -> Iterator[None]:
    """Let whatever breaks in a metric of another package be a `MetricFailed` that names it."""
    try:
        yield
    except (KeyboardInterrupt, MetricUnavailable, LexiconFull):
        raise
    except BaseException as problem:
        if is_of_this_package(module):
            raise
        packages = METRICS.packages([metric]).items()
        whose = next((f"of the package {name} {n}" for name, n in packages), f"of {module}")
        of_system = f" for the system {system!r:.60}" if system else ""
        why = str(problem)
        if not isinstance(problem, VifidelError):
            line = why.partition("\n")[0].rstrip(".")
            raised = f"{type(problem).__name__}{f' ({line})' if line else ''}"
            why = f"{raised}{_place(problem, module)}; correct or update it, or leave it out."
        raise MetricFailed(f"the metric {metric} {whose} failed{of_system}: {why}") from problem


def _place(problem: BaseException, module: str) -> str:
    """Return the last line of a metric's own module that an exception came through."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if file and frame.filename == file]
    return f" in line {lines[-1]} of {os.path.basename(file)}" if lines else ""


def check_scorer(scorer: Any) -> Scorer:
    """Return what somebody else made as a scorer; a VifidelError unless it is one, with columns."""
    if not isinstance(scorer, Scorer):
        raise VifidelError(f"a scorer was expected, not {scorer!r:.60}.")
    check_columns(scorer.method(), scorer.columns)
    return scorer


def build(
    names: Iterable[str], settings: Settings
) -> tuple[dict[str, Scorer], dict[str, MetricUnavailable]]:
    """Return scorers by names that `parse` returns, and why the others are not available."""
    scorers: dict[str, Scorer] = {}
    unavailable: dict[str, MetricUnavailable] = {}

    scorer_of = cache(partial(_scorer_of, settings))
    for name in names:
        try:
            parts = list(map(scorer_of, parts_of(name)))
        except MetricUnavailable as problem:
            unavailable[name] = problem
            continue
        scaled = set(name.split("+")) == _SCALED
        scorers[name] = parts[0] if len(parts) == 1 else Mean(*parts, scaled=scaled)
    return scorers, unavailable


def _scorer_of(settings: Settings, metric: Metric) -> Scorer:
    """Return the scorer of a metric, whoever wrote it."""
    with named_failures(metric.name, metric.module):
        return check_scorer(metric.scorer_for(settings))


def _by_spelling(metrics: Iterable[Metric]) -> dict[str, Metric]:
    """Return metrics by their spellings and, unless these are taken, the names of their columns."""
    metrics = list(metrics)
    of_columns = {c.name.lower(): metric for metric in reversed(metrics) for c in metric.columns}
    return of_columns | {s.lower(): m for m in metrics for s in (m.name, *m.spellings)}
