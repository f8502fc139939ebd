"""Records of metrics, as the registry holds them, and what is checked when one joins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..doors.options import Option
from ..errors import VifidelError
from ..evaluation import Column
from ..words.settings import Settings
from .base import Scorer, check_columns, main_column
from .papers import Paper

DEFAULT = "default"  #: what stands for the default metrics in a list of metrics

_PUNCTUATION = re.compile(r"[\s,+|()]")  # what joins and separates names of metrics


@dataclass(frozen=True)
class Metric:
    """A metric of the registry."""

    name: str  # as papers write it
    summary: str  # what it measures, in one line
    scorer: type[Scorer]  # its class, which says its `columns` with their directions
    make: Callable[[Settings], Scorer]
    #: Its place in help, defaults and ``info``; metrics of other packages follow this package's.
    rank: int = 1000
    spellings: tuple[str, ...] = ()  # other names that users know it by
    #: Whether it needs references; the objects of the images; one of the two, whichever.
    references: bool = True
    objects: bool = False
    either: bool = False
    images: bool = False  # whether it looks at the pictures
    #: Whether it is computed when no metric is named; none of another package is.
    default: bool = False
    tables: bool = False  #: whether it scores tables; its scorer is a `WordVectorScorer` then
    #: Its own settings; those of another package begin with the metric's name.
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()  # of the machine: ``"Java"``
    packages: tuple[str, ...] = ()  # that are not installed with this one: ``"torch"``
    #: Raises `MetricUnavailable` if the metric cannot run here, else returns what it found; quick.
    check: Callable[[], object] | None = None
    papers: tuple[Paper, ...] = ()  # what a paper that reports it cites
    #: How far corpus scores on COCO val2017 are from the published program's at most where tokens
    #: are made without Java (``tok:python`` in the signature).
    without_java: float | None = None

    def scorer_for(self, settings: Settings) -> Scorer:
        """Return the metric's scorer, which reads captions as the settings say."""
        scorer = self.make(settings)
        # What is no scorer is refused by those who know whose metric it is.
        is_one = isinstance(scorer, Scorer)
        return scorer.as_written() if settings.as_written and is_one else scorer

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What it reports, with directions: what its scorer's class says, else one column."""
        columns: Any = self.scorer.columns  # of the class
        return (Column(self.name),) if columns is Scorer.columns else columns

    @cached_property
    def module(self) -> str:
        """The module that makes its scorer."""
        return str(getattr(self.make, "func", self.make).__module__)  # that of a partial's function

    @cached_property
    def main(self) -> Column:
        """The column that stands for the metric where it must be one number."""
        return main_column(self.columns)


def check_beside(metric: Metric, others: Iterable[Metric], taken: Mapping[str, Metric]) -> None:
    """Raise a VifidelError if a metric cannot be registered beside others, by their spellings."""
    if not (isinstance(metric.scorer, type) and issubclass(metric.scorer, Scorer)):
        raise VifidelError(f"{metric.name}: scorer is a Scorer's class, not {metric.scorer!r:.40}.")
    for spelling in (metric.name, *metric.spellings):
        if not spelling or _PUNCTUATION.search(spelling):
            raise VifidelError(
                f"a metric cannot be called {spelling!r}: a name has no blank, comma, plus, bar or "
                "parenthesis."
            )
        if spelling.lower() == DEFAULT:
            raise VifidelError(f"a metric cannot be called {spelling!r}: that means the defaults.")
        if spelling.lower() in taken:
            other = taken[spelling.lower()]
            raise VifidelError(
                f"there is a metric or column {spelling} already ({other.module}); give that of "
                f"{metric.module} another name."
            )
    check_columns(metric.name, metric.columns)
    ours = is_of_this_package(metric.module)
    if metric.default and not ours:
        raise VifidelError(
            f"{metric.name} cannot be a default metric, because installing its package would "
            "change everybody's tables; leave default out."
        )
    known = {option.name: option for other in others for option in other.options}
    own = re.sub(r"\W", "_", metric.name.lower()) + "_"
    for option in metric.options:
        is_shared = known.get(option.name) == option
        if not is_shared and (option.name in known or not (ours or option.name.startswith(own))):
            raise VifidelError(
                f"{metric.name}: the option {option.name!r} could clash with another's; begin it "
                f"with {own!r}."
            )


def is_of_this_package(module: str) -> bool:
    """Return whether a module is one of this package."""
    return module.partition(".")[0] == __package__.partition(".")[0]
