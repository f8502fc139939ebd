"""The base of the metrics that know which words name things: VIFIDEL-PRF, -H and -D."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

from ..annotations import ObjectSource
from ..annotations.read import Declared, read_looked_for
from ..rows import LabelCounts, Rows
from ..text.words import STOP_WORDS
from ..things.synonyms import ClassList, read_things
from ..things.words import lemmatizer
from ..vectors import VectorSource
from .explaining import ExplainingScorer
from .record import Option, Settings
from .word_vectors import GoldT

#: What users give, in few words: objects, a score from 0 to 1, words, and a list of things.
Objects: TypeAlias = ObjectSource | None
Score: TypeAlias = float | None
Words: TypeAlias = Collection[str]
Things: TypeAlias = ClassList | str | None

#: Names of things, for all metrics that judge them.
THINGS = Option(
    "things",
    "Names of things: a class per line, synonyms after commas.  [default: our own list]",
)


class ThingScorer(ExplainingScorer[GoldT]):
    """A metric that holds captions against object labels, references, or both.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it; a list is a union.
        Without it the objects, if there are any, are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; only their directions
        count.
    references : bool
        Whether the references are evidence.
    things : path or ClassList, optional
        Names of things, as `vifidel_eval.things.synonyms.read_classes` reads them; by default
        the package's own list.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, where the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (whatever is not listed is not there), a file with one label per line, or labels.
    """

    _sees_objects = True
    _things: ClassList

    def __init__(
        self,
        objects: ObjectSource | None = None,
        vectors: VectorSource = None,
        references: bool = True,
        threshold: float | None = None,
        stop_words: Collection[str] = STOP_WORDS,
        things: ClassList | str | None = None,
        undefined: float = math.nan,
        uncertain: float | None = None,
        looked_for: Declared = None,
    ) -> None:
        super().__init__(
            objects, vectors, references, threshold, True, stop_words, undefined, uncertain
        )
        self._things = read_things(things)
        self._looked_for = read_looked_for(looked_for)

    @property
    def _names(self) -> ClassList:
        """The names of things that scores depend on."""
        return self._things

    def _pin_evidence(self, objects: str, *settings: str) -> str:
        """Return the signature: evidence, things, `settings`, and how words become vectors."""
        looked_for = self._looked_for
        declared = [] if looked_for is None else [f"looked-for:{looked_for.signature()}"]
        return self._pinned(
            f"refs:{'yes' if self._use_references else 'no'}",
            f"objects:{objects}",
            f"things:{self._names.signature()}",
            *declared,
            *settings,
            lemmatizer(),
            *self._space.signature(),
            package="numpy",
        )

    def _labels_of(self, rows: Rows) -> Sequence[LabelCounts]:
        if self._objects is None and rows.objects is None:
            return [{}] * len(rows)  # the references are evidence enough
        return super()._labels_of(rows)


def evidence_settings(settings: Settings) -> dict[str, Any]:
    """Return the arguments that the settings of a run give to these metrics."""
    return {
        "objects": settings.labels,
        "references": settings.weighted,
        "things": settings.options.get("things"),
        "uncertain": settings.uncertain,
        "looked_for": settings.declared,
        **{name: settings.words[name] for name in ("vectors", "stop_words")},
    }
