"""Settings: what users choose of objects, of words and of how they are judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..doors.arguments import INPUT, Option, check_switches, check_thresholds, option
from ..errors import VifidelError
from ..io.files import read_text
from .content_words import PAPER_STOP_WORDS, STOP_WORDS
from .synonyms import ClassList, read_things
from .tokenization import Tokenization

if TYPE_CHECKING:
    from ..annotations import ObjectLabels
    from ..annotations.categories import CategorySource, Declared
    from ..annotations.labels import AttributeSource
    from .word_vectors import VectorSource

#: Mentions of less support are not in the image, unless their class is known to be there.
SUPPORT = 0.4

#: Where the metrics that PyTorch computes are computed.
DEVICE = Option("device", "Device for PyTorch, such as cuda.  [default: cpu]", str)
#: The object vocabulary, for all metrics that judge mentions of objects.
THINGS = Option(
    "things",
    "Extra names of things: one class per line, with synonyms separated by commas. They are "
    "added to the built-in list.",
)
#: The object vocabulary instead of the package's own.
ONLY_THINGS = Option(
    "only_things",
    "Like --things, but replaces the built-in list, for example for another language.",
    rare=True,
)
#: The names that CHAIR knows of categories, and what becomes of a caption that was cut off.
SYNONYMS = Option(
    "synonyms",
    "Names of each category for CHAIR, one category per line.  [default: our own list for "
    "COCO's 80]",
    rare=True,
)
DROP_INCOMPLETE = Option(
    "drop_incomplete",
    "For CHAIR, drop an unfinished last sentence.",
    bool,
    default=False,
    rare=True,
)

#: The settings that tables have; what is in a column of its own is not one of them.
OF_TABLES = (
    "vectors threshold stop_words p normalize counts looked_for uncertain as_written".split()
)


@dataclass(frozen=True)
class Settings:
    """What the metrics of a run are made from; a new field is a new option of `evaluate`."""

    objects: Any = option(
        None,
        "Objects in the images: annotations, detections, answers or labels (see "
        "`vifidel-eval formats objects`). Repeat to combine several.",
        section=INPUT,
        several=True,
    )
    threshold: float | None = option(
        None,
        "Lowest detection score that counts.  [default: 0.6; Open Images 0.4]",
        float,
        section=INPUT,
    )
    categories: CategorySource = option(
        None,
        "Class names, if `objects` has only class numbers: a COCO file with categories, Open "
        "Images class descriptions, data.yaml, config.json, or a text file with one name per "
        "line.",
        section=INPUT,
        rare=True,
        several=True,
    )
    uncertain: float | None = option(
        None,
        "Treat a thing that scores below this as not in the image. Things between this and "
        "`threshold` are not judged.  [default: `threshold`]",
        float,
        section=INPUT,
        rare=True,
    )
    looked_for: Declared = option(
        None,
        "Classes that were looked for in every image, if the objects do not say: coco, voc, all "
        "(anything unlisted is not there), or a file with one label per line.",
        (Path, str),
        section=INPUT,
        rare=True,
    )
    attributes: AttributeSource = option(
        None,
        "Object attributes and scene labels: tags by image such as 'red car' and 'sunny', scene "
        "graphs, or Open Images relationships. Repeat to combine several.",
        section=INPUT,
        rare=True,
        several=True,
    )
    detector: str | PathLike[str] | None = option(
        None,
        "Detector to run if `objects` is a folder of pictures (see detect --model). Detections "
        "are saved next to the folder.",
        (Path, str),
        section=INPUT,
        rare=True,
        metavar="FOLDER_OR_ID",
    )
    images: Any = option(
        None,
        "Folder of the images, for the report and for metrics that read images.",
        section=INPUT,
    )
    agree: bool = option(
        False,
        "Judge only things on which all `objects` agree, instead of combining them.",
        bool,
        section=INPUT,
        rare=True,
    )
    counts: bool = option(
        True, "Count each object label once per image.", bool, rare=True, off="--presence"
    )
    vectors: VectorSource = option(
        None,
        "Word vectors: a gensim, word2vec, GloVe or fastText file, or a gensim-downloader name.  "
        "[default: embedded]",
        (Path, str),
    )
    trust_pickles: bool = option(
        False,
        "Allow `vectors` to be a pickle, such as gensim's .kv. Loading a pickle can run any code.",
        bool,
        rare=True,
    )
    normalize: bool = option(
        True, "Do not scale word vectors to length 1.", bool, rare=True, off="--raw-vectors"
    )
    stop_words: Collection[str] = option(
        STOP_WORDS,
        "Words to ignore in captions: a text file, or a collection in Python.  [default: English]",
        rare=True,
        read=lambda path: frozenset(read_text(path, VifidelError).split()),
    )
    p: int | None = option(
        None,
        "Exponent of the distances between words.  [default: 2; WMD 1]",
        int,
        rare=True,
        choices=(1, 2),
        read=int,
    )
    paper: bool = option(
        False,
        "Use the settings of the VIFIDEL and WMD papers: raw Google News `vectors`, gensim's full "
        "stop list, exponents 2 and 1, thresholds .6 and .4.",
        bool,
        rare=True,
    )
    as_written: bool = option(
        False,
        "Score answers verbatim, including reasoning, announcements and refusals.",
        bool,
        section=INPUT,
        rare=True,
    )
    references: bool = True  #: whether there are any
    weighted: bool = option(
        True,
        "Use references neither as evidence nor to weight words.",
        bool,
        section=INPUT,
        off="--no-references",
    )
    #: The object labels of the images, once `objects` were read; None if there are none.
    labels: ObjectLabels | None = None
    #: What the run reads: COCO's files among them say what pictures are called.
    files: Sequence[Path] = ()
    #: The values of `Metric.options` by name.
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_thresholds(self.threshold, self.uncertain)
        switches = (setting.name for setting in fields(self) if setting.type == "bool")
        check_switches(**{name: getattr(self, name) for name in switches})
        if self.paper:
            self._check_paper()

    def _check_paper(self) -> None:
        """Raise a VifidelError if the setting of the papers lacks vectors, or is changed."""
        chosen = self.p, self.threshold, self.normalize, self.stop_words == STOP_WORDS
        if chosen != (None, None, True, True):
            raise VifidelError(
                "--paper sets p, the threshold, raw vectors and the stop words; leave theirs out."
            )
        if self.vectors is None:
            raise VifidelError(
                "--paper needs the papers' Google News vectors: give --vectors "
                "word2vec-google-news-300, which gensim downloads (1.7 GB), or the file "
                "GoogleNews-vectors-negative300.bin.gz of https://code.google.com/archive/p/word2vec."
            )

    def with_references(self, has_references: bool) -> Settings:
        """Return the settings of a run that has references, or none, which then weigh nothing."""
        return replace(self, references=has_references, weighted=has_references and self.weighted)

    @cached_property
    def words(self) -> dict[str, Any]:
        """The arguments that all optimal-transport metrics take."""
        from .word_vectors import load_vectors  # and NumPy, which help does not need

        return {
            "vectors": load_vectors(self.vectors, self.trust_pickles),
            "normalize": self.normalize and not self.paper,
            "stop_words": PAPER_STOP_WORDS if self.paper else self.stop_words,
            **({} if self.p is None else {"p": self.p}),
        }

    @property
    def evidence(self) -> dict[str, Any]:
        """The arguments of all metrics that compare captions with evidence."""
        return {
            "objects": self.labels,
            "references": self.weighted,
            "things": self.options.get("things"),
            "only_things": self.options.get("only_things"),
            "uncertain": self.uncertain,
            "looked_for": self.looked_for,
            "vectors": self.words["vectors"],
            "stop_words": self.words["stop_words"],
        }

    @cached_property
    def vocabulary(self) -> ClassList:
        """The object vocabulary."""
        return read_things(self.options.get("things"), self.options.get("only_things"))

    @cached_property
    def tokenization(self) -> Tokenization:
        """What the metrics of these settings tokenise captions with, each caption once."""
        return Tokenization()


@dataclass(frozen=True)
class Thresholds:
    """The cosines that decide; docs/experiments.md says how they were chosen."""

    support: float = option(
        SUPPORT,
        "Minimum similarity that counts as support. The default is tuned for the built-in vectors.",
        float,
        section="",
    )
    far: float = option(
        0.2,
        "An object is missed if its similarity to every word is below this. The default is tuned "
        "for the built-in vectors.",
        float,
        section="",
        rare=True,
        lowest=-1,
    )
