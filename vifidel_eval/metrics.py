"""Metrics by name: which there are, which can be computed, and the scorers of a run."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from .errors import MetricUnavailable, VifidelError
from .scorers import Mean, Scorer
from .scorers.record import Metric, Settings
from .scorers.registry import METRICS

__all__ = [
    "METRICS",
    "build",
    "check_needs",
    "defaults",
    "lacking",
    "needs_references",
    "parse",
    "parts_of",
]

# Kilickaya et al. (2017) scale each metric of this combination to [0, 1].
_SCALED = frozenset({"WMD", "SPICE", "METEOR"})


def parse(text: str) -> list[str]:
    """Return the metrics of a comma-separated list in their own spelling.

    >>> parse("vifidel, CIDER+Vifidel")
    ['VIFIDEL', 'CIDEr+VIFIDEL']

    Raises
    ------
    VifidelError
        If a name is unknown, its package is broken, or metrics cannot be combined.
    """
    names = []
    for combination in text.split(","):
        parts = [part.strip() for part in combination.split("+")]
        if "" in parts:
            raise VifidelError(f"{text!r} lacks the name of a metric before or after a separator.")
        known = list(map(_name, parts))
        names.append("+".join(known))
        if len(set(known)) < len(known):
            raise VifidelError(f"{names[-1]} names a metric twice.")
        lower = [name for name in known if METRICS[name].main.lower_is_better]
        if 0 < len(lower) < len(known):
            higher = [name for name in known if name not in lower]
            raise VifidelError(
                f"{names[-1]}: lower is better for {' and '.join(lower)}, but higher for "
                f"{' and '.join(higher)}; combine metrics of one direction."
            )
    return list(dict.fromkeys(names))


def _name(spelling: str) -> str:
    name = METRICS.find(spelling)
    if name is not None:
        return name
    spellings = METRICS.spellings
    close = difflib.get_close_matches(spelling.lower(), spellings, n=1)
    meant = f" Did you mean {spellings[close[0]]}?" if close else ""
    raise VifidelError(
        f"there is no metric {spelling!r}.{meant} The metrics are {', '.join(METRICS)}; a plus "
        "sign combines them: VIFIDEL+CIDEr."
    )


def parts_of(name: str) -> list[Metric]:
    """Return the metrics that a name stands for: several if it is a combination."""
    return [METRICS[part] for part in name.split("+")]


def needs_references(name: str) -> bool:
    """Return whether a metric, or a part of a combination, compares with references.

    Names that are not in the registry, such as those of an ablation, do not.
    """
    return any(METRICS[part].references for part in name.split("+") if part in METRICS)


def lacking(metric: Metric, settings: Settings) -> list[str]:
    """Return the names of the settings that a metric needs and that are not given."""
    has_objects = settings.objects is not None
    given = {
        "references": settings.references or not metric.references,
        "objects": has_objects
        or not (metric.objects or (metric.either and not settings.references)),
    }
    given |= {
        option.name: settings.options.get(option.name) is not None
        for option in metric.options
        if option.required
    }
    return [name for name, is_given in given.items() if not is_given]


def defaults(settings: Settings) -> list[str]:
    """Return the metrics to compute where the user names none: those that have what they need."""
    return [m.name for m in METRICS.values() if m.default and not lacking(m, settings)]


def check_needs(names: Iterable[str], settings: Settings, spelled: Callable[[str], str]) -> None:
    """Check that metrics have the settings that they need.

    Parameters
    ----------
    names : iterable of str
        As `parse` returns them.
    settings : Settings
        What they would be made from.
    spelled : callable
        From a setting's name to what the user calls it: ``--tiger-features``.

    Raises
    ------
    VifidelError
        If one lacks something.
    """
    for metric in dict.fromkeys(part for name in names for part in parts_of(name)):
        if missing := [spelled(name) for name in lacking(metric, settings)]:
            *most, last = missing
            listed = f"{', '.join(most)} and {last}" if most else last
            raise VifidelError(
                f"{metric.name} needs {listed}; give {'them' if most else 'it'}, or name other "
                "metrics."
            )


def build(names: Iterable[str], settings: Settings) -> tuple[dict[str, Scorer], dict[str, str]]:
    """Return scorers by name, and why the others are not available.

    Parameters
    ----------
    names : iterable of str
        As `parse` returns them; a combination joins names by ``+``.
    settings : Settings
        What they are made from; a metric that occurs several times is made once.

    Raises
    ------
    VifidelError
        If a file cannot be read or is not what a metric needs.
    """
    made: dict[str, Scorer] = {}
    failed: dict[str, str] = {}
    scorers: dict[str, Scorer] = {}
    unavailable: dict[str, str] = {}
    for name in names:
        try:
            parts = [_made(metric, settings, made, failed) for metric in parts_of(name)]
        except MetricUnavailable as problem:
            unavailable[name] = str(problem)
            continue
        scaled = set(name.split("+")) == _SCALED
        scorers[name] = parts[0] if len(parts) == 1 else Mean(*parts, scaled=scaled)
    return scorers, unavailable


def _made(
    metric: Metric, settings: Settings, made: dict[str, Scorer], failed: dict[str, str]
) -> Scorer:
    """Return a metric's scorer; what could not be made once is not tried again."""
    if metric.name in failed:
        raise MetricUnavailable(failed[metric.name])
    if metric.name not in made:
        try:
            made[metric.name] = metric.make(settings)
        except MetricUnavailable as problem:
            failed[metric.name] = str(problem)
            raise
    return made[metric.name]
