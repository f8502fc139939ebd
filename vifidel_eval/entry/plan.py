"""What a run is made of: systems, references and scorers, read and checked before any scoring."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..annotations import read_boxes
from ..annotations.read import HasDataset
from ..captions.fields import Wanted
from ..captions.layouts import captions_from
from ..errors import CaptionError, ImageIdError, VifidelError
from ..evaluation import Column
from ..explain.inventions import Invention, inventions_in
from ..explain.sentences import JudgedSentence
from ..image_ids import ImageId, to_json_value
from ..rows import Rows
from ..runs.doubts import WORDS, WordsPerCaption, lengths_matter, warn_of_language, warn_of_tags
from ..runs.harness import column_names
from ..runs.pairing import (
    System,
    all_images,
    check_releases,
    in_one_spelling,
    only_images,
    paired,
    read_image_ids,
)
from ..runs.people import with_people
from ..runs.remarks import People
from ..runs.samples import gathered_columns, pooled, spread
from ..scorers import Scorer, VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from ..scorers.record import Settings
from ..scorers.registry import build
from .detecting import with_detected

if TYPE_CHECKING:
    from ..annotations import ImageBoxes

#: A file's path.
PathLike: TypeAlias = str | os.PathLike[str]

#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: The references of a run.
References: TypeAlias = Captions
#: A file of image ids, or the ids; None for all.
Ids: TypeAlias = PathLike | Collection[ImageId] | None

_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, eq=False)
class Plan:
    """Systems and scorers of a run, and what they were made from."""

    systems: list[System]
    references: dict[ImageId, list[str]] | None
    scorers: dict[str, Scorer]
    #: Metric name to the reason why it cannot be computed here.
    unavailable: dict[str, str]
    #: Whether a system may lack some of the images.
    allow_subset: bool
    settings: Settings
    #: What was read: ``captions``, ``references`` and ``objects`` to their files.
    files: dict[str, list[Path]]
    #: How the captions of people were made, where these are one of the systems.
    people: People | None = None
    #: System name to its samples, which are all of `systems` then.
    samples: dict[str, list[System]] | None = None

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
        from ..report import file_names, find_pictures

        files = [path for paths in self.files.values() for path in paths]
        images = all_images(self.systems, self.references)
        return find_pictures(Path(folder), images, file_names(files))

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
            for part in explainer.explained_rows(self._rows(system)):
                yield from inventions_in(system.name, part, explainer.units)

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
                        "hedged": any(a <= start < b for a, b in sentence.hedged),
                        "invented": any(
                            m.start < end and start < m.end for m in sentence.inventions
                        ),
                    }

    def _rows(self, system: System) -> Rows:
        return paired(system, all_images(self.systems, self.references), allow_subset=True)

    def _prf(self) -> VifidelPRF:
        """Return the run's VIFIDEL-PRF, or one that is made from its settings."""
        scorers = self.scorers.values()
        for part in uncombined(scorers):
            if isinstance(part, VifidelPRF):
                return part
        explainer = explainer_of(scorers, self.settings)
        if explainer is not None:
            return VifidelPRF(**explainer.evidence)
        if not (self.settings.weighted and self.references):
            raise VifidelError(
                "nothing is known of the images to judge sentences and words by; give objects or "
                "references."
            )
        return VifidelPRF(**self.settings.evidence)


def plan(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    wanted: Wanted,
    scorers: Mapping[str, Scorer] | None = None,
    image_ids: Ids = None,
    allow_subset: bool = False,
    people: bool = False,
) -> Plan:
    """Read and check what a run needs; nothing is scored yet.

    Systems, references and ids are as `read_captions` takes them, `metrics` as
    `vifidel_eval.scorers.registry.parse` returns them; `scorers` are further ones by name. It warns
    if objects and references are of different releases of COCO, captions differ much in length or
    are in another language than vectors and stop words, or images have more labels than a caption
    can speak of.
    """
    read, by_image = read_captions(systems, references, wanted, image_ids)
    if settings.detector is not None:
        settings = with_detected(settings, paths_in(settings.objects), read)
    of_objects = paths_in(settings.objects)
    if by_image is not None and of_objects and isinstance(references, str | os.PathLike):
        labels = settings.labels
        if labels is not None:
            check_releases(of_objects, labels, references, by_image)
    made_of = None
    if people:
        if wanted.samples:
            raise VifidelError(
                "people are scored by one caption per image, and samples are several; leave one of "
                "the two out."
            )
        if by_image is None:
            raise VifidelError("people are scored by references, and there are none: give some.")
        made_of, read, by_image = with_people(read, by_image)
    whole = pooled(read) if wanted.samples else read
    made, unavailable = build(metrics, settings)
    made |= scorers or {}
    if (lengths_matter(whole) or people) and WORDS not in column_names(made):
        made[WORDS] = WordsPerCaption()
    warn_of_language(whole, by_image, made)
    if "labels" in vars(settings) and settings.labels is not None:  # some metric has read them
        warn_of_tags(settings.labels)
        read, by_image = in_one_spelling(read, settings.labels, by_image)
    sampled = None
    if wanted.samples:
        sampled = {
            name: [one for one in read if one.sample_of == name and one.captions]
            for name in systems
        }
    files = {
        "captions": [path for source in systems.values() for path in paths_in(source)],
        "references": paths_in(references),
        "objects": of_objects,
    }
    return Plan(read, by_image, made, unavailable, allow_subset, settings, files, made_of, sampled)


def read_captions(
    systems: Mapping[str, Captions],
    references: References | None,
    wanted: Wanted,
    image_ids: Ids = None,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references, of all images or only those of `image_ids`.

    Where systems may have several captions per image, each sample is a system. A file of ids is a
    JSON list, or has an id per line.
    """
    captions = {
        name: captions_from(source, f"system {name!r}", wanted) for name, source in systems.items()
    }
    by_image = None
    if references is not None:
        by_image = captions_from(
            references, "references", replace(wanted, references=True, samples=False)
        )
    read: list[System] = []
    for name, of_system in captions.items():
        if by_image == of_system:
            where = references if isinstance(references, str | os.PathLike) else "references"
            raise CaptionError(
                f"{where}: holds the captions of system {name!r} and no others; "
                "give captions that people wrote as references."
            )
        if wanted.samples:
            read += spread(name, of_system)
        else:
            read.append(System(name, {image: caption for image, (caption,) in of_system.items()}))
    if image_ids is None:
        return read, by_image
    if isinstance(image_ids, str | os.PathLike):
        return only_images(read_image_ids(image_ids), read, by_image, str(image_ids))
    if not isinstance(image_ids, Iterable):
        raise ImageIdError(f"image_ids are a path or a list of ids, not {image_ids!r:.40}.")
    return only_images(list(dict.fromkeys(image_ids)), read, by_image)


def paths_in(source: Any) -> list[Path]:
    """Return the paths that a source is or, if it is a list, holds."""
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    members = source if isinstance(source, list | tuple) else ()
    return [path for member in members for path in paths_in(member)]


def _sentence_at(sentences: list[JudgedSentence], start: int) -> int:
    """Return the number of the sentence that a place is in."""
    behind = (number for number, sentence in enumerate(sentences) if start < sentence.end)
    return next(behind, len(sentences) - 1)
