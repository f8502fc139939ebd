"""The base of the metrics that know which words name things: VIFIDEL-PRF and VIFIDEL-H."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..annotations import ObjectSource, read_objects
from ..rows import LabelCounts, Rows
from ..things.synonyms import ClassList, read_things
from ..things.words import lemmatizer
from ..vectors import VectorSource
from .explaining import ExplainingScorer
from .record import Option, Settings
from .word_vectors import GoldT

#: Names of things, for all metrics that judge them.
THINGS = Option(
    "things",
    "Names of things, one class per line, synonyms separated by commas; for VIFIDEL-PRF and "
    "VIFIDEL-H.  [default: COCO, VOC, LVIS and Open Images]",
)


class ThingScorer(ExplainingScorer[GoldT]):
    """A metric that holds captions against object labels, references, or both.

    Parameters
    ----------
    objects, vectors, references, threshold, stop_words, things, undefined
        As `VifidelPRF` describes them; vectors are scaled to length 1.
    """

    _sees_objects = True
    _things: ClassList

    def __init__(
        self,
        objects: ObjectSource | None,
        vectors: VectorSource,
        references: bool,
        threshold: float | None,
        stop_words: Collection[str],
        things: ClassList | str | None,
        undefined: float,
    ) -> None:
        source = None if objects is None else read_objects(objects, threshold)
        super().__init__(vectors, references, True, stop_words, undefined, source)
        self._threshold = threshold
        self._things = read_things(things)

    def _pin_evidence(self, objects: str, *settings: str) -> str:
        """Return the signature: evidence, things, `settings`, and how words become vectors."""
        return self._pinned(
            f"refs:{'yes' if self._use_references else 'no'}",
            f"objects:{objects}",
            f"things:{self._things.signature()}",
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
        "objects": None if settings.objects is None else settings.labels,
        "references": settings.weighted,
        "things": settings.options.get("things"),
        **{name: settings.words[name] for name in ("vectors", "stop_words")},
    }
