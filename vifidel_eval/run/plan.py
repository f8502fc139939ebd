"""Plans of runs: systems, images and scorers; what is said of sentences and words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..annotations import read_boxes
from ..captions.rows import Rows
from ..errors import MetricUnavailable, VifidelError
from ..evaluation import Column
from ..explain.inventions import Invention, inventions_in
from ..explain.sentences import JudgedSentence
from ..io.image_ids import ImageId, to_json_value
from ..scorers import Scorer, VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from ..scorers.record import Settings
from ..scores.harness import column_names
from ..scores.samples import gathered_columns
from ..scores.scores import Inputs, People
from ..scores.systems import System, paired

if TYPE_CHECKING:
    from ..annotations import ImageBoxes

#: A file's path.
PathLike: TypeAlias = str | os.PathLike[str]

_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, eq=False)
class Plan:
    """The systems and scorers of a run, and what they were made from."""

    systems: list[System]
    #: What the run is about, for systems and people alike: each image with its references, if any.
    images: Mapping[ImageId, Sequence[str]]
    scorers: dict[str, Scorer]
    #: Metric name to the reason why it cannot be computed here.
    unavailable: dict[str, MetricUnavailable]
    #: Whether a system may lack some of the images.
    allow_subset: bool
    settings: Settings
    #: What was read: ``captions``, ``references`` and ``objects`` to their files.
    files: dict[str, list[Path]]
    #: How the captions of people were made, where these are one of the systems.
    people: People | None = None
    #: System name to its samples, which are all of `systems` then.
    samples: dict[str, list[System]] | None = None
    #: How many images are left out, under `allow_subset`, as no system has a caption of them.
    uncaptioned: int = 0
    #: The arguments that it was planned by.
    inputs: Inputs | None = None

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.samples or (system.name for system in self.systems))

    @property
    def columns(self) -> dict[str, str]:
        """Every column that the scores will have, with its metric."""
        columns = column_names(self.scorers)
        if self.samples is None:
            return columns
        unranked = {c.name for s in self.scorers.values() for c in s.columns if not c.ranked}
        return {
            shown: metric
            for name, metric in columns.items()
            for shown in gathered_columns(Column(name, ranked=name not in unranked))
        }

    def pictures(self, folder: PathLike) -> dict[ImageId, Path]:
        """Return the picture of each image that has one in a folder.

        COCO files among the inputs say what the pictures' files are called.
        """
        from ..show.report import file_names, find_pictures

        files = [path for paths in self.files.values() for path in paths]
        return find_pictures(Path(folder), self.images, file_names(files))

    def boxes(self) -> dict[ImageId, ImageBoxes]:
        """Return where the objects are in the images, for those files of objects that say so."""
        return read_boxes(self.files["objects"], self.settings.threshold, self.settings.categories)

    def sentences(self, system: str) -> dict[ImageId, list[JudgedSentence]]:
        """Return the judged sentences of each image's caption by a system."""
        rows = self._rows(next(one for one in self.systems if one.name == system))
        return dict(zip(rows.ids, self._prf().judge_sentences(rows), strict=True))

    def inventions(self) -> Iterator[Invention]:
        """Yield the inventions of all systems, each in the order of the images."""
        explainer = explainer_of(self.scorers.values(), self.settings) or self._prf()
        for system in self.systems:
            explanations = explainer.explain_rows(self._rows(system))
            yield from inventions_in(system.name, explanations, explainer.units)

    def words(self) -> Iterator[dict[str, Any]]:
        """Yield the content words of all captions, each with its place and what is said of it."""
        scorer = self._prf()
        for system in self.systems:
            rows = self._rows(system)
            of_rows = zip(
                rows.ids,
                rows.captions,
                scorer.judge_sentences(rows),
                scorer.word_supports(rows),
                strict=True,
            )
            for image_id, caption, sentences, words in of_rows:
                pieces = [piece.span() for piece in _PIECE.finditer(caption)]
                for word in words:
                    start, end = pieces[word.place[0]][0], pieces[word.place[-1]][1]
                    number = _sentence_at(sentences, start)
                    sentence = sentences[number]
                    yield {
                        "system": system.name,
                        "image_id": to_json_value(image_id),
                        "sentence": number,
                        "start": start,
                        "end": end,
                        "word": word.word,
                        "thing": word.is_thing,
                        "support": word.support,
                        "weight": word.weight,
                        "by": word.by,
                        "invented": any(
                            m.start < end and start < m.end for m in sentence.inventions
                        ),
                    }

    def _rows(self, system: System) -> Rows:
        return paired(system, self.images, allow_subset=True)

    def _prf(self) -> VifidelPRF:
        """Return the run's VIFIDEL-PRF, or one that is made from its settings."""
        scorers = self.scorers.values()
        for part in uncombined(scorers):
            if isinstance(part, VifidelPRF):
                return part
        explainer = explainer_of(scorers, self.settings)
        if explainer is not None:
            return VifidelPRF(**explainer.evidence)
        if not (self.settings.weighted and self.settings.references):
            raise VifidelError(
                "nothing is known of the images to judge sentences and words by; give objects or "
                "references."
            )
        return VifidelPRF(**self.settings.evidence)


def _sentence_at(sentences: list[JudgedSentence], start: int) -> int:
    """Return the number of the sentence that a place is in."""
    behind = (number for number, sentence in enumerate(sentences) if start < sentence.end)
    return next(behind, len(sentences) - 1)
