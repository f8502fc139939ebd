"""Plans of runs: inputs of every shape, read; systems, images and scorers; sentences and words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..annotations import read_boxes
from ..annotations.plain import are_rows
from ..annotations.read import HasDataset
from ..captions import system_names
from ..captions.fields import Ids, Wanted
from ..captions.layouts import captions_from, kind_of
from ..captions.rows import Rows
from ..errors import CaptionError, ImageIdError, MetricUnavailable, VifidelError
from ..evaluation import Column
from ..explain.inventions import Invention, inventions_in
from ..explain.sentences import JudgedSentence
from ..io.image_ids import ImageId, to_json_value
from ..scorers import Scorer, VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from ..scorers.registry import check_scorer, parse
from ..scores.harness import column_names
from ..scores.samples import gathered_columns, spread
from ..scores.scores import Inputs, People
from ..scores.systems import System, only_images, paired, read_image_ids
from ..words.settings import Settings

if TYPE_CHECKING:
    from ..annotations import ImageBoxes

#: A file's path.
PathLike: TypeAlias = str | os.PathLike[str]
#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
#: The references of a run.
References: TypeAlias = Captions
#: Names of metrics, scorers, or a mapping of name to scorer.
Metrics: TypeAlias = str | Scorer | Iterable[str | Scorer] | Mapping[str, Scorer]
_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)

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
        return list(self.samples or [system.name for system in self.systems])

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

        return find_pictures(Path(folder), self.images, file_names(self.settings.files))

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
                    behind = (n for n, sentence in enumerate(sentences) if start < sentence.end)
                    number = next(behind, len(sentences) - 1)
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


def named(systems: Systems) -> dict[str, Captions]:
    """Return systems by name; those of result files are named as the command names them."""
    if isinstance(systems, str | os.PathLike):
        systems = [systems]
    if isinstance(systems, Mapping):
        for name, captions in systems.items():
            if not isinstance(name, str) or not name.strip():
                raise CaptionError(
                    f"{_SYSTEMS}; found the name {name!r:.40} with {captions!r:.40}."
                )
        found = dict(systems)
    elif isinstance(systems, list | tuple) and all(
        isinstance(path, str | os.PathLike) for path in systems
    ):
        paths = [Path(path) for path in systems]
        found = dict(zip(system_names(paths), paths, strict=True))
    else:
        raise CaptionError(f"{_SYSTEMS}; found {kind_of(systems)}: give each system a name.")
    if not found:
        raise CaptionError(f"{_SYSTEMS}; there is none.")
    return found


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
    members = source if isinstance(source, list | tuple) and not are_rows(source) else ()
    return [path for member in members for path in paths_in(member)]


def named_metrics(metrics: Metrics | None) -> tuple[list[str], dict[str, Scorer]]:
    """Return names of registered metrics, and scorers by name; nothing by default."""
    names: list[str] = []
    scorers: dict[str, Scorer] = {}
    if isinstance(metrics, Mapping):
        given: list[tuple[Any, Any]] = list(metrics.items())
    else:
        listed = [metrics] if isinstance(metrics, str | Scorer) else metrics
        if listed is not None and not isinstance(listed, Iterable):
            raise VifidelError(_no_metric(listed))
        given = [(one.method() if isinstance(one, Scorer) else "", one) for one in listed or ()]
    for name, scorer in given:
        if isinstance(scorer, str) and not isinstance(metrics, Mapping):
            names += parse(scorer)
            continue
        if not isinstance(name, str) or not isinstance(scorer, Scorer):
            raise VifidelError(_no_metric(scorer))
        check_scorer(scorer)
        if name in scorers:
            raise VifidelError(
                f"there are two scorers of {name}; name them: "
                "metrics={'first': ..., 'second': ...}."
            )
        scorers[name] = scorer
    if metrics is not None and not names and not scorers:
        raise VifidelError("metrics is empty; leave it out for the default metrics.")
    for name in names:
        if name in scorers:
            raise VifidelError(f"{name} is among the metrics by name and as a scorer; keep one.")
    return list(dict.fromkeys(names)), scorers


def _no_metric(value: Any) -> str:
    return (
        "metrics are names, scorers of vifidel_eval.scorers, or {name: scorer}; found "
        f"{type(value).__name__} {value!r:.40}."
    )
