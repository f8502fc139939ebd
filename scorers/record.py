"""Records of metrics, as the registry holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..evaluation import Column
from ..io.options import Option
from ..words.settings import Settings
from .base import Scorer, main_column
from .papers import Paper


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
    #: Whether it scores tables; its scorer is a `WordVectorScorer` then.
    tables: bool = False
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

    @property
    def columns(self) -> tuple[Column, ...]:
        """What it reports, with directions: what its scorer's class says, else one column."""
        return self.scorer.columns or (Column(self.name),)

    @property
    def module(self) -> str:
        """The module that makes its scorer."""
        return str(getattr(self.make, "func", self.make).__module__)  # that of a partial's function

    @property
    def main(self) -> Column:
        """The column that stands for the metric where it must be one number."""
        return main_column(self.columns)
