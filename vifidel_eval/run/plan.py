"""Plans of runs: systems, images and scorers; what the captions say; the arguments as files."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..annotations import read_boxes
from ..annotations.categories import CLOSED_SETS, EVERYTHING
from ..annotations.read import HasDataset
from ..captions.fields import Selection, Wanted
from ..captions.rows import Rows
from ..doors.options import options_of
from ..errors import ImageIdError, MetricUnavailable, VifidelError, VifidelWarning
from ..evaluation import Column
from ..explain.answers import inventions_in_answers
from ..explain.sentences import Invention, JudgedSentence, inventions_in
from ..io.image_ids import ImageId, match, to_json_value
from ..io.pictures import file_names, find_pictures
from ..scorers import Scorer, VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from ..scorers.registry import METRICS, parts_of
from ..scores.samples import answers_of, gathered_columns
from ..scores.scores import Inputs, People
from ..scores.system import System
from ..scores.systems import column_names, paired
from ..words.settings import Settings

if TYPE_CHECKING:
    from ..annotations import ImageBoxes

PathLike: TypeAlias = str | os.PathLike[str]  #: a file's path
#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
References: TypeAlias = Captions  #: the references of a run

_PIECE = re.compile(r"\S+")
# Where COCO's files say, near their beginning, which release they are of: in their info, in file
# names and in addresses of images.
_COCO_YEAR = re.compile(
    r'"year": ?(2014|2017)\b|"COCO (2014|2017)|COCO_(?:train|val)(2014|2017)_\d{12}'
    r"|cocodataset\.org/(?:train|val)(2014|2017)/"
)
_BEGINNING = 1 << 16


@dataclass(frozen=True, eq=False)
class Plan:
    """The systems and scorers of a run, and what they were made from."""

    systems: list[System]
    #: What the run is about, for systems and people alike: each image with its references, if any.
    images: Mapping[ImageId, Sequence[str]]
    scorers: dict[str, Scorer]
    #: Metric name to the reason why it cannot be computed here.
    unavailable: dict[str, MetricUnavailable]
    allow_subset: bool  #: whether a system may lack some of the images
    settings: Settings
    #: What was read: ``captions``, ``references`` and ``objects`` to their files.
    files: dict[str, list[Path]]
    #: How the captions of people were made, where these are one of the systems.
    people: People | None = None
    #: The names of systems with samples, which are all of `systems` then.
    samples: list[str] | None = None
    #: How many images are left out, under `allow_subset`, as no system has a caption of them.
    uncaptioned: int = 0
    inputs: Inputs | None = None  #: the arguments that it was planned by

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return self.samples or [system.name for system in self.systems]

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
        """Return the picture of each image that has one in a folder; COCO's files say its name."""
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
        found = inventions_in if self.samples is None else inventions_in_answers
        for name, rows in answers_of(self.systems, self.images, allow_subset=True).items():
            yield from found(name, explainer.explain_rows(rows))

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
            raise VifidelError("nothing is known about the images; give objects or references.")
        return VifidelPRF(**self.settings.evidence)


def check_releases(
    objects: Iterable[str | os.PathLike[str]],
    images: Collection[ImageId],
    references: str | os.PathLike[str],
    wanted: Collection[ImageId],
) -> None:
    """Warn of objects and references of COCO 2014 and 2017; raise if `wanted` images have none."""
    year = _coco_year(references)
    years = {of: path for path in objects if (of := _coco_year(path)) is not None}
    if year is None or not years or year in years:
        return
    other, path = next(iter(years.items()))
    apart = (
        f"the objects ({path}) are from COCO {other} and the references ({references}) from {year}"
    )
    missing = len(wanted) - len(match(wanted, images))
    if missing:
        raise ImageIdError(
            f"{apart}: {missing} of the {len(wanted)} images have no entry among the objects; take "
            "both from one release."
        )
    warnings.warn(
        f"{apart}; take both from one release, so that others get the same numbers.",
        VifidelWarning,
        stacklevel=2,
    )


def _coco_year(path: str | os.PathLike[str]) -> str | None:
    """Return the year of the release of COCO that a file is of, if it says so."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            year = _COCO_YEAR.search(file.read(_BEGINNING))
    except (OSError, ValueError):
        return None  # whoever reads it says what is wrong
    return next(filter(None, year.groups())) if year else None


def of_run(scorer: Scorer, settings: Settings) -> Scorer:
    """Return a user's own scorer as one of a run, which reads captions in one way."""
    if settings.as_written:
        return scorer.as_written()
    if scorer.takes_texts:
        raise VifidelError(
            f"{scorer.method()} takes captions as written, and the run does not: give "
            "as_written=True."
        )
    return scorer


def inputs_of(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    wanted: Wanted,
    selection: Selection,
    scores: Mapping[str, Any],
    lower_is_better: Sequence[str],
) -> Inputs | None:
    """Return what a run was planned by, as a file of scores holds it, if all sources are paths."""
    looking, ids = any(m.images for name in metrics for m in parts_of(name)), selection.image_ids
    images = settings.images if looking else None  # for the report alone, they change no score
    sources = *systems.values(), references, settings.objects, images, *scores.values()
    if not all(map(_is_located, sources)):
        return None
    of_tools = {
        "scores": {name: _located(source) for name, source in scores.items()},
        "lower_is_better": list(lower_is_better),
    }
    own = {one.name: one.default for one in METRICS.options()}
    options = {name: value for name, value in settings.options.items() if value != own.get(name)}
    return Inputs(
        {
            "systems": {name: _located(source) for name, source in systems.items()},
            "references": _located(references),
            "settings": {
                **_stated(replace(settings, objects=_located(settings.objects), images=images)),
                "options": options,
            },
            "metrics": list(metrics),
            "wanted": _stated(wanted),
            "image_ids": _located(ids) if isinstance(ids, str | os.PathLike) else ids,
            "allow_subset": selection.allow_subset,
            "people": selection.people,
            **(of_tools if scores else {}),
        }
    )


def _is_located(source: Any) -> bool:
    members = source if isinstance(source, list | tuple) else [source]
    return source is None or all(isinstance(one, str | os.PathLike) for one in members)


def _located(source: Any) -> Any:
    """Return a source with its paths as such; a list of one is that one."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if not isinstance(source, list | tuple):
        return source
    return _located(source[0]) if len(source) == 1 else [_located(one) for one in source]


def _stated(record: Any) -> dict[str, Any]:
    """Return the options that are not the defaults; whether to trust pickles, readers decide."""
    stated = {}
    for at, one in options_of(type(record)).items():
        value = getattr(record, at)
        by_default = type(value) is type(one.default) and value == one.default
        empty = isinstance(value, list | tuple) and not value
        if not (by_default or empty or at == "trust_pickles"):
            # The names of closed sets stay names beside a folder that is called so.
            may_be_path = isinstance(value, str) and value not in (*CLOSED_SETS, EVERYTHING)
            stated[at] = Path(value) if may_be_path and os.path.exists(value) else value
    return stated
