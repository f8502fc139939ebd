"""Records of metrics, as the registry holds them, and the settings that a run makes them from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..annotations import ObjectLabels, read_objects
from ..annotations.instances import check_thresholds
from ..annotations.read import LookedFor, read_looked_for
from ..errors import VifidelWarning
from ..evaluation import Column
from ..words.content_words import STOP_WORDS
from ..words.word_vectors import load_vectors
from .base import Scorer, main_column
from .papers import Paper

T = TypeVar("T")


@dataclass(frozen=True)
class Option:
    """A setting that only some metrics have, such as a file of their own.

    Attributes
    ----------
    name : str
        As in Python: ``"tiger_features"``; the command has it as ``--tiger-features``.
    help : str
        What it is, in one sentence.
    kind : type
        `Path` for a file or folder that is read, `str`, `int`, or `bool` for a switch.
    default
        Its value where the user gives none.
    required : bool
        Whether the metric cannot be computed without it.
    companion : callable, optional
        From the file's path to that of another file, which is read with it.
    """

    name: str
    help: str
    kind: type = Path
    default: Any = None
    required: bool = False
    companion: Callable[[Path], Path] | None = None


#: Where the metrics that PyTorch computes are computed.
DEVICE = Option("device", "Where PyTorch computes, such as cuda.  [default: cpu]", str)


@dataclass(frozen=True)
class Settings:
    """What the metrics of a run are made from; what has to be read is read once, when needed.

    Attributes
    ----------
    objects : optional
        What the images show, as `vifidel_eval.annotations.read_objects` takes it; None where that
        is not known, or comes with the rows.
    threshold, categories, uncertain : optional
        As `read_objects` takes them.
    looked_for : optional
        What was looked for in every image, as `read_looked_for` takes it.
    detector : str or path, optional
        The model that finds the objects where they are given as pictures.
    agree : bool
        Whether several sources of objects must agree, instead of being united.
    counts : bool
        Whether two dogs in an image count twice as much as one.
    vectors, trust_pickles : optional
        As `vifidel_eval.vectors.load_vectors` takes them.
    normalize : bool
        Whether word vectors are scaled to length 1.
    stop_words : collection of str
        Words that are left out of captions.
    p : 1 or 2, optional
        Exponent of the travel cost; by default each metric's own.
    references : bool
        Whether there are references.
    weighted : bool
        Whether metrics that work without references use them where there are some.
    options : mapping
        The values of `Metric.options` by name.

    Raises
    ------
    AnnotationError
        If the threshold or what is uncertain is no score from 0 to 1.
    """

    objects: Any = None
    threshold: float | None = None
    categories: Any = None
    uncertain: float | None = None
    looked_for: Any = None
    detector: Any = None
    agree: bool = False
    counts: bool = True
    vectors: Any = None
    trust_pickles: bool = False
    normalize: bool = True
    stop_words: Collection[str] = STOP_WORDS
    p: int | None = None
    references: bool = True
    weighted: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    _made: dict[Callable[[], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check_thresholds(self.threshold, self.uncertain)

    @cached_property
    def labels(self) -> ObjectLabels | None:
        """The object labels of the images, if they are known."""
        if self.objects is None:
            return None
        labels = read_objects(
            self.objects, self.threshold, self.categories, self.uncertain, self.agree
        )
        if self.threshold and not labels.leaves_out:
            what = "no label has a score"
            if labels.threshold is not None:
                what += f" below {self.threshold:g}"
            warnings.warn(
                f"{labels.where}: {what}, so that the threshold leaves nothing out.",
                VifidelWarning,
                stacklevel=2,
            )
        return labels

    @cached_property
    def declared(self) -> LookedFor | None:
        """What a user says was looked for in every image."""
        return read_looked_for(self.looked_for)

    @cached_property
    def words(self) -> dict[str, Any]:
        """The arguments that all optimal-transport metrics take."""
        settings = {
            "vectors": load_vectors(self.vectors, self.trust_pickles),
            "normalize": self.normalize,
            "stop_words": self.stop_words,
        }
        return settings if self.p is None else {**settings, "p": self.p}

    @property
    def evidence(self) -> dict[str, Any]:
        """The arguments that all metrics take which hold captions against evidence."""
        return {
            "objects": self.labels,
            "references": self.weighted,
            "things": self.options.get("things"),
            "uncertain": self.uncertain,
            "looked_for": self.declared,
            "vectors": self.words["vectors"],
            "stop_words": self.stop_words,
        }

    def shared(self, make: Callable[[], T]) -> T:
        """Return what several metrics share: what `make` returned when it was first called."""
        if make not in self._made:
            self._made[make] = make()
        found: T = self._made[make]
        return found


@dataclass(frozen=True)
class Metric:
    """A metric of the registry."""

    #: As papers write it.
    name: str
    #: What it measures, in one line.
    summary: str
    #: The class of its scorer, which says its `columns` with their directions.
    scorer: type[Scorer]
    #: From `Settings` to its scorer.
    make: Callable[[Settings], Scorer]
    #: Its place in help, defaults and ``info``; metrics of other packages follow this package's.
    rank: int = 1000
    #: Other names that users know it by.
    spellings: tuple[str, ...] = ()
    #: Whether it needs references; the objects of the images; one of the two, whichever.
    references: bool = True
    objects: bool = False
    either: bool = False
    #: Whether it is computed when no metric is named; none of another package is.
    default: bool = False
    #: Whether it scores tables; its scorer is a `WordVectorScorer` then.
    tables: bool = False
    #: Its own settings; those of another package begin with the metric's name.
    options: tuple[Option, ...] = ()
    #: What else it needs of the machine: ``"Java"``.
    needs: tuple[str, ...] = ()
    #: What it needs of packages that are not installed with this one: ``"torch"``.
    packages: tuple[str, ...] = ()
    #: Raises `MetricUnavailable` if the metric cannot run here, else returns what it found; quick.
    check: Callable[[], object] | None = None
    #: What a paper that reports it cites.
    papers: tuple[Paper, ...] = ()
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
