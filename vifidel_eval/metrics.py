"""The metrics of ``--metrics`` by name, and what each needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import MetricUnavailable, VifidelError

if TYPE_CHECKING:
    from .scorers import Scorer

#: Every metric's name, as papers write it, and what it needs beside captions and references.
METRICS: Mapping[str, str] = {
    "VIFIDEL": "objects",
    "WMD": "",
    "WMD-worst": "",
    "WMD-mean": "",
    "BLEU": "",
    "ROUGE_L": "",
    "CIDEr": "",
    "METEOR": "Java",
    "SPICE": "Java 8 to 14 and a download of 385 MB",
    "LM": "--language-model FILE from train-lm",
    "TIGEr": "--tiger-checkpoint, --tiger-vocabulary and --tiger-features",
    "ViLBERTScore": "--vilbert-checkpoint, --vilbert-vocabulary and --vilbert-features",
}

#: What is computed without Java or downloads.
DEFAULT = ("VIFIDEL", "WMD", "BLEU", "ROUGE_L", "CIDEr")

#: Metrics that compare a candidate with references.
NEEDS_REFERENCES = frozenset(METRICS) - {"VIFIDEL", "LM"}

# Kilickaya et al. (2017) scale each metric of this combination to [0, 1].
_SCALED = frozenset({"WMD", "SPICE", "METEOR"})


def parse(text: str) -> list[str]:
    """Return the metrics of a comma-separated list in their own spelling.

    >>> parse("vifidel, CIDER+Vifidel")
    ['VIFIDEL', 'CIDEr+VIFIDEL']

    Raises
    ------
    VifidelError
        If a name is unknown.
    """
    spelling = {name.lower(): name for name in METRICS}
    spelling |= {"rouge-l": "ROUGE_L", "wmd-best": "WMD"}
    names = []
    for combination in text.split(","):
        parts = [part.strip().lower() for part in combination.split("+")]
        if "" in parts:
            raise VifidelError(f"{text!r} has an empty place where a metric's name should be.")
        unknown = [part for part in parts if part not in spelling]
        if unknown:
            raise VifidelError(
                f"no metric {unknown[0]!r}; there is {', '.join(METRICS)}, and combinations such "
                "as VIFIDEL+CIDEr."
            )
        names.append("+".join(spelling[part] for part in parts))
        if len(set(parts)) < len(parts):
            raise VifidelError(f"{names[-1]} names a metric twice.")
    return list(dict.fromkeys(names))


def needs_references(name: str) -> bool:
    """Return whether a metric, or a part of a combination, compares with references."""
    return not NEEDS_REFERENCES.isdisjoint(name.split("+"))


def left_out(names: Iterable[str]) -> str:
    """Return a sentence on the metrics that are not among `names` and what they need."""
    others = [
        f"{name} (needs {need})" if need else name
        for name, need in METRICS.items()
        if name not in names
    ]
    return (
        f"Also to be had with --metrics: {', '.join(others)}, combinations such as VIFIDEL+CIDEr."
    )


def build(
    names: Iterable[str], makers: Mapping[str, Callable[[], Scorer]]
) -> tuple[dict[str, Scorer], dict[str, str]]:
    """Return scorers by name, and the reasons of those that are not available.

    Parameters
    ----------
    names : iterable of str
        As `parse` returns them; a combination joins names by ``+``.
    makers : mapping
        Metric name to what makes its scorer; each is made once.
    """
    from .scorers import Mean

    made: dict[str, Scorer] = {}
    unavailable: dict[str, str] = {}
    scorers: dict[str, Scorer] = {}
    for name in names:
        parts = name.split("+")
        try:
            for part in parts:
                if part in unavailable:
                    raise MetricUnavailable(unavailable[part])
                if part not in made:
                    made[part] = makers[part]()
        except MetricUnavailable as problem:
            unavailable[part] = unavailable[name] = str(problem)
            continue
        if len(parts) == 1:
            scorers[name] = made[name]
        else:
            scaled = set(parts) == _SCALED
            scorers[name] = Mean(*(made[part] for part in parts), scaled=scaled)
    return scorers, {name: unavailable[name] for name in names if name in unavailable}
