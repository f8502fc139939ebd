"""The registry: every metric by name, this package's own and those of other packages.

A metric joins it with the last line of its own file, ``register(Metric(...))``. The files in this
folder are imported with the package; a file of another package when its metric is first named, by
the package's entry point of the group ``vifidel_eval.metrics``, which has the metric's name.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points

from ..errors import VifidelError, VifidelWarning
from .base import Scorer
from .record import Metric, Option

#: The group of entry points.
GROUP = "vifidel_eval.metrics"

# What joins and separates the names of metrics, in --metrics and in signatures.
_PUNCTUATION = re.compile(r"[\s,+|()]")


class Registry(Mapping[str, Metric]):
    """Metrics by name, in the order of their ranks, then of their names.

    As a mapping it has the metrics that have been imported; `find` and `load` import others.
    """

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._problems: dict[EntryPoint, str] = {}  # "" of what is usable

    def __getitem__(self, name: str) -> Metric:
        return self._metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    @property
    def spellings(self) -> dict[str, str]:
        """Every spelling of a metric, in lower case, with the metric's name."""
        return {
            spelling.lower(): metric.name
            for metric in self._metrics.values()
            for spelling in (metric.name, *metric.spellings)
        }

    def options(self) -> list[Option]:
        """Return the options that metrics have of their own, each once."""
        return list(dict.fromkeys(o for metric in self._metrics.values() for o in metric.options))

    def register(self, metric: Metric) -> None:
        """Add a metric to those that have names; with an entry point, the command knows it too.

        docs/architecture.md has the whole example.

        Parameters
        ----------
        metric : Metric
            Its record. Its module may register it again, as a notebook's cell does.

        Raises
        ------
        VifidelError
            If it has a name or an option of another metric, or is not as `Metric` describes it.
        """
        if not isinstance(metric, Metric):
            raise VifidelError(f"register takes a Metric, not {metric!r:.40}.")
        others = {
            name: other
            for name, other in self._metrics.items()
            if (name, other.module) != (metric.name, metric.module)
        }
        _check(metric, others)
        ranked = sorted([*others.values(), metric], key=lambda one: (one.rank, one.name))
        self._metrics = {one.name: one for one in ranked}

    def waiting(self) -> dict[str, list[EntryPoint]]:
        """Return the entry points that have not been imported, by the metric's name.

        Each name has one, unless packages are at odds about it.
        """
        found: dict[str, list[EntryPoint]] = {}
        spelled: dict[str, str] = {}
        for entry in sorted(entry_points(group=GROUP), key=lambda one: (one.name, _package(one))):
            if entry not in self._problems:
                name = spelled.setdefault(entry.name.lower(), entry.name)
                found.setdefault(name, []).append(entry)
        return found

    def find(self, spelling: str) -> str | None:
        """Return the name of the metric that is spelled so, in any case; None if there is none.

        Raises
        ------
        VifidelError
            If there is one and its package is broken.
        """
        wanted = spelling.lower()
        if wanted not in self.spellings:
            for name, entries in self.waiting().items():
                if name.lower() == wanted:
                    self._import(entries)
        if wanted not in self.spellings:
            for entry, problem in self._problems.items():
                if entry.name.lower() == wanted:
                    raise VifidelError(problem)
            self.load()
        return self.spellings.get(wanted)

    def load(self) -> dict[str, str]:
        """Import the metrics of all packages, and return what is wrong with some, by name.

        Warns
        -----
        VifidelWarning
            For each that is broken, the first time.
        """
        for entries in self.waiting().values():
            problem = self._import(entries)
            if problem:
                warnings.warn(problem, VifidelWarning, stacklevel=3)
        return {entry.name: problem for entry, problem in self._problems.items() if problem}

    def _import(self, entries: list[EntryPoint]) -> str:
        """Import what registers a metric, and return what is wrong with it."""
        problem = _problem(entries, self)
        self._problems = {**self._problems, **dict.fromkeys(entries, problem)}
        return problem


METRICS = Registry()
register = METRICS.register


def _check(metric: Metric, others: Mapping[str, Metric]) -> None:
    """Raise a VifidelError if a metric cannot be registered beside others."""
    if not (isinstance(metric.scorer, type) and issubclass(metric.scorer, Scorer)):
        raise VifidelError(f"{metric.name}: scorer is a Scorer's class, not {metric.scorer!r:.40}.")
    if not isinstance(metric.columns, tuple):
        raise VifidelError(
            f"{metric.name}: columns is a tuple of its class, so that help knows it."
        )
    taken = {
        spelling.lower(): other
        for other in others.values()
        for spelling in (other.name, *other.spellings)
    }
    for spelling in (metric.name, *metric.spellings):
        if not spelling or _PUNCTUATION.search(spelling):
            raise VifidelError(
                f"a metric cannot be called {spelling!r}: a name has no blank, comma, plus, bar or "
                "parenthesis."
            )
        if spelling.lower() in taken:
            other = taken[spelling.lower()]
            raise VifidelError(
                f"there is a metric {spelling} already ({other.module}); give that of "
                f"{metric.module} another name."
            )
    ours = _is_ours(metric)
    if metric.default and not ours:
        raise VifidelError(
            f"{metric.name} cannot be a default metric, since its package would change everybody's "
            "tables when it is installed; leave default out."
        )
    known = {option.name: option for other in others.values() for option in other.options}
    own = re.sub(r"\W", "_", metric.name.lower()) + "_"
    for option in metric.options:
        is_shared = known.get(option.name) == option
        if not is_shared and (option.name in known or not (ours or option.name.startswith(own))):
            raise VifidelError(
                f"{metric.name}: the option {option.name!r} may be another's; begin it by {own!r}."
            )


def _problem(entries: list[EntryPoint], metrics: Registry) -> str:
    """Import what registers a metric; return why it cannot be used, in one sentence, or ``""``."""
    entry, *others = entries
    packages = " and ".join(map(_package, entries))
    if others:
        return (
            f"the packages {packages} each have a metric {entry.name}; uninstall all but one of "
            "them to use it."
        )
    try:
        entry.load()
    except (Exception, SystemExit) as problem:  # whatever somebody else's module may raise
        said = str(problem).partition("\n")[0].rstrip(".")
        why = f"importing {entry.value} fails ({type(problem).__name__}: {said})"
    else:
        if entry.name in metrics and not _is_ours(metrics[entry.name]):
            return ""
        why = f"importing {entry.value} registers no metric of that name"
    return (
        f"the metric {entry.name} of the package {packages} cannot be used: {why}; update or "
        "uninstall that package."
    )


def _is_ours(metric: Metric) -> bool:
    return metric.module.startswith(f"{__package__}.")


def _package(entry: EntryPoint) -> str:
    return entry.value if entry.dist is None else entry.dist.name
