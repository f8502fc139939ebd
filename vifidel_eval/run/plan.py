"""Plans of runs: images, captions and scorers; what the captions say; the arguments as files."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..annotations import ImageBoxes, read_boxes
from ..annotations.categories import CLOSED_SETS, EVERYTHING
from ..doors.arguments import options_of
from ..errors import ImageIdError, MetricUnavailable, VifidelError, warn
from ..evaluation import Column
from ..explain.sentences import Invention, JudgedSentence, inventions_in, inventions_in_answers
from ..io.image_ids import ImageId, match, to_json_value
from ..io.pictures import file_names, find_pictures
from ..scorers import Scorer, VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from ..scorers.registry import METRICS, build, parts_of
from ..scores.alignment import Aligned, System, align, captioned, check_complete, pooled, samples_of
from ..scores.run_warnings import lengths_matter, warn_of_answers, warn_of_language, warn_of_tags
from ..scores.samples import gathered_columns, with_people
from ..scores.scores import ByName, Inputs
from ..scores.systems import WORDS, WordsPerCaption, column_names
from ..scores.tool_scores import scorers_of
from ..words.settings import Settings
from .reading import PathLike, Request, Sources, paths_alone, read

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
    """The images, captions and scorers of a run, and what they were made from."""

    aligned: Aligned
    scorers: dict[str, Scorer]
    #: Metric name to the reason why it cannot be computed here.
    unavailable: dict[str, MetricUnavailable]
    settings: Settings
    #: What was read: ``captions``, ``references`` and ``objects`` to their files.
    files: dict[str, list[Path]]
    inputs: Inputs | None = None  #: the arguments that it was planned by

    @property
    def systems(self) -> list[System]:
        """The systems, one for each sample; people, if they are a system, are the last."""
        return self.aligned.systems

    @property
    def images(self) -> Mapping[ImageId, Sequence[str]]:
        """The images of the run, for systems and people alike, each with its references, if any."""
        return self.aligned.images

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(samples_of(self.systems))

    def system(self, name: str) -> System:
        """Return the system of a name, or the sample; another name raises an `UnknownName`."""
        return ByName("system", {system.name: system for system in self.systems})[name]

    @property
    def columns(self) -> dict[str, str]:
        """Every column that the scores will have, with its metric."""
        columns = column_names(self.scorers)
        if not self.aligned.has_samples:
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
        rows = self.aligned.rows_of(self.system(system))
        return dict(zip(rows.ids, self._prf().judge_sentences(rows), strict=True))

    def inventions(self) -> Iterator[Invention]:
        """Yield the inventions of all systems, each in the order of the images."""
        explainer = explainer_of(self.scorers.values(), self.settings) or self._prf()
        inventions = inventions_in_answers if self.aligned.has_samples else inventions_in
        for name, rows in self.aligned.rows_of_answers().items():
            yield from inventions(name, explainer.explain_rows(rows))

    def words(self) -> Iterator[dict[str, Any]]:
        """Yield the content words of all captions, each with its place and what is said of it."""
        scorer = self._prf()
        for system in self.systems:
            rows = self.aligned.rows_of(system)
            of_rows = zip(
                rows.ids,
                rows.captions,
                scorer.judge_sentences(rows),
                scorer.word_supports(rows),
                strict=True,
            )
            for image_id, caption, sentences, words in of_rows:
                places = [piece.span() for piece in _PIECE.finditer(caption)]
                ends = [sentence.end for sentence in sentences]
                for word in words:
                    start, end = places[word.place[0]][0], places[word.place[-1]][1]
                    number = min(bisect_right(ends, start), len(ends) - 1)
                    inventions = sentences[number].inventions
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
                        "invented": any(m.start < end and start < m.end for m in inventions),
                    }

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


def plan(request: Request) -> Plan:
    """Read and check what a run needs, and decide which images it is of; nothing is scored yet."""
    _check(request)
    sources = read(request)
    labels = sources.settings.labels
    aligned = align(sources.systems, sources.references, labels)
    scorers, unavailable = _scorers_of(request, sources, aligned)
    if request.selection.allow_subset:
        aligned = captioned(aligned)
    files, references = sources.files, request.references
    if labels is not None and files["objects"] and isinstance(references, str | os.PathLike):
        check_releases(files["objects"], labels, references, aligned.images)
    warn_of_answers(aligned.systems)
    if request.selection.people:
        aligned = with_people(aligned)
    if not request.selection.allow_subset:
        check_complete(aligned)
    systems = pooled(aligned.systems)
    by_length = lengths_matter(systems)
    warn_of_language(systems, aligned.images, scorers)
    if labels is not None:
        warn_of_tags(labels)
    if (by_length or aligned.people) and WORDS not in column_names(scorers):
        scorers[WORDS] = WordsPerCaption()
    inputs = None
    if files["captions"] and not request.scorers:  # only files can be read again
        inputs = _inputs_of(request, sources.settings)
    return Plan(aligned, scorers, unavailable, sources.settings, files, inputs)


def _check(request: Request) -> None:
    """Raise a VifidelError if arguments contradict each other."""
    if request.selection.people and request.fields.samples:
        raise VifidelError(
            "people=True needs one caption per image, and samples=True takes several; leave one "
            "of the two out."
        )
    if request.selection.people and request.references is None:
        raise VifidelError("people=True needs references, and there are none: give some.")


def _scorers_of(
    request: Request, sources: Sources, aligned: Aligned
) -> tuple[dict[str, Scorer], dict[str, MetricUnavailable]]:
    """Return all scorers of a run by name, and why metrics are not available."""
    scorers, unavailable = build(request.metrics, sources.settings)
    _warn_of_options(request.metrics, sources.settings)
    for name, scorer in request.scorers.items():
        scorers[name] = _as_run_reads(scorer, sources.settings)
    if request.scores or request.lower_is_better:
        scorers |= scorers_of(
            request.scores,
            request.lower_is_better,
            list(zip(sources.systems, aligned.systems, strict=True)),
            column_names(scorers),
            request.fields.id_fields,
            only_some=request.selection.image_ids is not None,
        )
    return scorers, unavailable


def _options_of_metrics(settings: Settings) -> dict[str, Any]:
    """Return the options of metrics that are not the defaults."""
    defaults = {option.name: option.default for option in METRICS.options()}
    return {name: value for name, value in settings.options.items() if value != defaults.get(name)}


def _warn_of_options(metrics: Iterable[str], settings: Settings) -> None:
    """Warn of options that no metric of a run reads."""
    # Explanations read the options of VIFIDEL-H.
    computed = {metric.name for name in (*metrics, "VIFIDEL-H") for metric in parts_of(name)}
    for name in _options_of_metrics(settings):
        readers = [m.name for m in METRICS.values() if name in (o.name for o in m.options)]
        if readers and computed.isdisjoint(readers):
            warn(
                f"the option {name} has no effect: {' or '.join(readers)} reads it, and is not "
                "among the metrics."
            )


def check_releases(
    objects: Iterable[str | os.PathLike[str]],
    images: Collection[ImageId],
    references: str | os.PathLike[str],
    ids: Collection[ImageId],
) -> None:
    """Warn of objects and references of COCO 2014 and 2017; raise if images of `ids` have none."""
    year = _coco_year(references)
    years = {_coco_year(path): path for path in objects}
    years.pop(None, None)
    if year is None or not years or year in years:
        return
    other, path = next(iter(years.items()))
    apart = (
        f"the objects ({path}) are from COCO {other} and the references ({references}) from {year}"
    )
    missing = len(ids) - len(match(ids, images))
    if missing:
        raise ImageIdError(
            f"{apart}: {missing} of the {len(ids)} images have no entry among the objects; take "
            "both from one release."
        )
    warn(f"{apart}; take both from one release, so that others get the same numbers.")


def _coco_year(path: str | os.PathLike[str]) -> str | None:
    """Return the year of the release of COCO that a file is of, if it says so."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            year = _COCO_YEAR.search(file.read(_BEGINNING))
    except (OSError, ValueError):
        return None  # whoever reads it says what is wrong
    return next(filter(None, year.groups())) if year else None


def _as_run_reads(scorer: Scorer, settings: Settings) -> Scorer:
    """Return a user's own scorer as one of a run, which reads captions in one way."""
    if settings.as_written:
        return scorer.as_written()
    if scorer.takes_texts:
        raise VifidelError(
            f"{scorer.method()} takes captions as written, and the run does not: give "
            "as_written=True."
        )
    return scorer


def _inputs_of(request: Request, settings: Settings) -> Inputs | None:
    """Return what a run was planned by, as a file of scores holds it, if all sources are paths."""
    ids = request.selection.image_ids
    looking = any(metric.images for name in request.metrics for metric in parts_of(name))
    images = settings.images if looking else None  # for the report alone, they change no score
    sources = [
        *request.systems.values(),
        request.references,
        settings.objects,
        images,
        settings.attributes,
    ]
    if not all(map(paths_alone, [*sources, *request.scores.values()])):
        return None
    of_tools = {
        "scores": {name: _located(source) for name, source in request.scores.items()},
        "lower_is_better": list(request.lower_is_better),
    }
    as_given = replace(
        settings,
        objects=_located(settings.objects),
        attributes=_located(settings.attributes),
        images=images,
        looked_for=request.settings.looked_for,
    )
    return Inputs(
        {
            "systems": {name: _located(source) for name, source in request.systems.items()},
            "references": _located(request.references),
            "settings": {**_stated(as_given), "options": _options_of_metrics(settings)},
            "metrics": list(request.metrics),
            "wanted": _stated(request.fields),  # as files of 0.3.0 call it
            "image_ids": _located(ids) if isinstance(ids, str | os.PathLike) else ids,
            "allow_subset": request.selection.allow_subset,
            "people": request.selection.people,
            **(of_tools if request.scores else {}),
        }
    )


def _located(source: Any) -> Any:
    """Return a source with its paths as `Path`; a list of one source becomes that source."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if not isinstance(source, list | tuple):
        return source
    return _located(source[0]) if len(source) == 1 else [_located(member) for member in source]


def _stated(record: Any) -> dict[str, Any]:
    """Return the options that are not the defaults, by field.

    Whether pickles are trusted is left out: that is for whoever reads the file to decide.
    """
    stated = {}
    for field, option in options_of(type(record)).items():
        value = getattr(record, field)
        by_default = type(value) is type(option.default) and value == option.default
        is_empty = isinstance(value, list | tuple) and not value
        if not (by_default or is_empty or field == "trust_pickles"):
            # The names of closed sets stay names beside a folder that is called so.
            may_be_path = isinstance(value, str) and value not in (*CLOSED_SETS, EVERYTHING)
            stated[field] = Path(value) if may_be_path and os.path.exists(value) else value
    return stated
