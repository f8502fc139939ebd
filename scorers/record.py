"""Records of metrics and papers, as the registry holds them, and what is checked when one joins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from ..doors.arguments import Option
from ..errors import VifidelError
from ..evaluation import Column
from ..project import ADDRESS
from ..words.settings import Settings
from .base import Scorer, check_columns, main_column

DEFAULT = "default"  #: what stands for the default metrics in a list of metrics

_PUNCTUATION = re.compile(r"[\s,+|()]")  # what joins and separates names of metrics


class Paper(NamedTuple):
    """A paper to cite."""

    cited: str  # as a sentence cites it
    bibtex: str  # its entry

    @property
    def key(self) -> str:
        """The key of its entry."""
        return re.split("[{,]", self.bibtex)[1]


# What could not be checked is left out of an entry.
_ENTRIES = {
    Paper("", entry).key: entry
    for entry in files(__package__).joinpath("papers.bib").read_text("utf-8").strip().split("\n\n")
}

_OURS = _ENTRIES["vifidel-eval"]
#: This project, for its own metrics; what CITATION.cff says of it.
VIFIDEL_EVAL = Paper(
    "the vifidel_eval authors, 2026",
    re.sub(r"\n}$", f",\n  url = {{{ADDRESS}}}\n}}", _OURS) if ADDRESS else _OURS,
)
MADHYASTHA_2019 = Paper("Madhyastha et al., 2019", _ENTRIES["madhyastha-etal-2019-vifidel"])
KUSNER_2015 = Paper("Kusner et al., 2015", _ENTRIES["kusner-etal-2015-word"])
KILICKAYA_2017 = Paper("Kilickaya et al., 2017", _ENTRIES["kilickaya-etal-2017-evaluating"])
PAPINENI_2002 = Paper("Papineni et al., 2002", _ENTRIES["papineni-etal-2002-bleu"])
LIN_2004 = Paper("Lin, 2004", _ENTRIES["lin-2004-rouge"])
VEDANTAM_2015 = Paper("Vedantam et al., 2015", _ENTRIES["vedantam-etal-2015-cider"])
ROHRBACH_2018 = Paper("Rohrbach et al., 2018", _ENTRIES["rohrbach-etal-2018-object"])
DENKOWSKI_2014 = Paper("Denkowski and Lavie, 2014", _ENTRIES["denkowski-lavie-2014-meteor"])
ANDERSON_2016 = Paper("Anderson et al., 2016", _ENTRIES["anderson-etal-2016-spice"])
JIANG_2019 = Paper("Jiang et al., 2019", _ENTRIES["jiang-etal-2019-tiger"])
HESSEL_2021 = Paper("Hessel et al., 2021", _ENTRIES["hessel-etal-2021-clipscore"])
LEE_2020 = Paper("Lee et al., 2020", _ENTRIES["lee-etal-2020-vilbertscore"])


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
        # The caller refuses what is no scorer: it knows whose metric it is.
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
    options = {option.name: option for other in others for option in other.options}
    prefix = re.sub(r"\W", "_", metric.name.lower()) + "_"
    for option in metric.options:
        is_shared = options.get(option.name) == option
        if not is_shared and (
            option.name in options or not (ours or option.name.startswith(prefix))
        ):
            raise VifidelError(
                f"{metric.name}: the option {option.name!r} could clash with another's; begin it "
                f"with {prefix!r}."
            )


def is_of_this_package(module: str) -> bool:
    """Return whether a module is one of this package."""
    return module.partition(".")[0] == __package__.partition(".")[0]
