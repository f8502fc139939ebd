"""The metrics that score tables, made from a table's settings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import VifidelError
from ..metrics import METRICS, parse
from ..scorers import Vifidel, VifidelH, VifidelPRF, Wmd
from ..scorers.record import Metric
from ..scorers.word_vectors import WordVectorScorer
from ..things.synonyms import ClassList
from ..vectors import WordVectors

_AGAINST = {"WMD": "best", "WMD-worst": "worst", "WMD-mean": "mean"}

#: Their names.
TABLE_METRICS = ("VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", *_AGAINST)


@dataclass(frozen=True)
class MetricSettings:
    """What the metrics of a table are made from, as `TableScorer` takes it."""

    vectors: WordVectors
    stop_words: Collection[str]
    p: int | None
    counts: bool
    normalize: bool
    things: ClassList | str | None


class TableMetric(NamedTuple):
    """A metric and what the registry says of it."""

    record: Metric
    scorer: WordVectorScorer[Any]

    @property
    def sees_objects(self) -> bool:
        """Whether it reads the labels of a row."""
        return self.record.objects or self.record.either


def metric_names(metrics: Collection[str]) -> tuple[str, ...]:
    """Return metrics in their own spelling, each once.

    Raises
    ------
    VifidelError
        If one is unknown or does not score tables, or there is none.
    """
    if isinstance(metrics, str):
        metrics = [metrics]
    names: list[str] = []
    for name in metrics:
        if not isinstance(name, str):
            raise VifidelError(f"metrics are names, not {name!r:.40}.")
        names += parse(name)
    for name in names:
        if name not in TABLE_METRICS:
            raise VifidelError(
                f"{name} does not score tables; these do: {', '.join(TABLE_METRICS)}."
            )
    if not names:
        raise VifidelError(f"name at least one metric: {', '.join(TABLE_METRICS)}.")
    return tuple(dict.fromkeys(names))


def make_metric(name: str, weighted: bool, settings: MetricSettings) -> TableMetric:
    """Return a metric for tables with references (`weighted`), or for those without."""
    record = METRICS[name]
    words: dict[str, Any] = {"vectors": settings.vectors, "stop_words": settings.stop_words}
    travel: dict[str, Any] = {"normalize": settings.normalize}
    if settings.p is not None:
        travel["p"] = settings.p
    scorer: WordVectorScorer[Any]
    if record.either:
        kind = VifidelPRF if name == "VIFIDEL-PRF" else VifidelH
        scorer = kind(None, references=weighted, things=settings.things, **words)
    elif record.objects:
        scorer = Vifidel(None, references=weighted, counts=settings.counts, **travel, **words)
    else:
        scorer = Wmd(_AGAINST[name], **travel, **words)
    return TableMetric(record, scorer)
