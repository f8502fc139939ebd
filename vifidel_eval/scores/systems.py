"""Systems: matched with references and objects by image id, and scored under metrics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..annotations import ObjectLabels
from ..captions.rows import Rows, checked, one_run
from ..errors import (
    CaptionError,
    ImageIdError,
    MetricFailed,
    MetricUnavailable,
    VifidelError,
    VifidelWarning,
)
from ..evaluation import Evaluation
from ..io.files import parse_json, read_text
from ..io.image_ids import (
    ImageId,
    check_distinct,
    from_json_key,
    from_json_value,
    match,
    mismatch,
    samples,
)
from ..scorers import Mean, Scorer
from ..scorers.registry import named_failures
from .scores import Scores
from .system import System

_Columns = dict[str, dict[str, Evaluation]]  # system, column


def all_images(
    systems: Iterable[System], references: Mapping[ImageId, Sequence[str]] | None = None
) -> Mapping[ImageId, Sequence[str]]:
    """Return the images of a run with their references, or else the images of all systems."""
    if references is not None:
        return references
    images: dict[ImageId, Sequence[str]] = {}
    # The longest spelling of each image, which says most of its path: `a/1.jpg` and `b/1.jpg` stay
    # apart although another system calls one of them `1`.
    spelled: dict[ImageId, ImageId] = {}
    for system in systems:
        check_distinct(system.captions, f"system {system.name!r}")
        same_image = match(system.captions, spelled)
        for image_id in system.captions:
            other = same_image.get(image_id)
            if other is None:
                images[image_id] = []
                spelled[image_id] = image_id
            elif len(str(image_id)) > len(str(other)):
                spelled[image_id] = spelled.pop(other)
    check_distinct(images, "the systems together")
    return images


def captioned(
    systems: Iterable[System], images: Mapping[ImageId, Sequence[str]]
) -> dict[ImageId, Sequence[str]]:
    """Return those images, with their references, of which some system has a caption."""
    named: set[ImageId] = set()
    for system in systems:
        named.update(_known(system, images).values())
    return {image_id: references for image_id, references in images.items() if image_id in named}


def in_one_spelling(
    systems: Sequence[System],
    known: Collection[ImageId],
    references: dict[ImageId, list[str]] | None = None,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references whose ids are spelled in one way, where the known ids tell."""
    # The references' spelling wins, then the first system's.
    spelled_as: dict[ImageId, ImageId] = {}  # from an id that is known
    done: Mapping[ImageId, ImageId] = {}
    if references is not None:
        references = _leading_to(known, references, systems)
        if all(len(match(s.captions, references)) == len(s.captions) for s in systems):
            return list(systems), references
        spelled_as = {of_objects: image for image, of_objects in match(references, known).items()}
    spelled = []
    for system in systems:
        if references is not None:
            done = match(system.captions, references)
        todo = [image_id for image_id in system.captions if image_id not in done]
        same_image = match(todo, known)
        own = known.own_ids(todo) if isinstance(known, ObjectLabels) else same_image
        new = {
            i: spelled_as.setdefault(image, i if same_image.get(i) == image else image)
            for i, image in own.items()
        }
        captions = {new.get(i, i): caption for i, caption in system.captions.items()}
        one_each = len(captions) == len(system.captions)
        answers = {new.get(i, i): answer for i, answer in system.answers.items()}
        renamed = replace(system, captions=captions, answers=answers)
        spelled.append(renamed if one_each else system)
    return spelled, references


def _leading_to(
    known: Collection[ImageId], references: dict[ImageId, list[str]], systems: Iterable[System]
) -> dict[ImageId, list[str]]:
    """Return references under ids of systems where only these lead to the objects."""
    of_systems: dict[ImageId, ImageId] = {}
    for system in systems:
        same_image = match(system.captions, references)
        lost = set(same_image.values()) - set(match(same_image.values(), known))
        leading = match(system.captions, known) if lost else {}
        for image_id, reference in same_image.items():
            if reference in lost and image_id in leading:
                of_systems.setdefault(reference, image_id)
    if not of_systems:
        return references
    return {of_systems.get(image_id, image_id): of for image_id, of in references.items()}


def paired(system: System, references: Mapping[ImageId, Sequence[str]], allow_subset: bool) -> Rows:
    """Return the captions and references of the images of a system, in the references' order."""
    check_distinct(references, "the references")
    reference_id = _known(system, references)
    captions = {reference_id[image_id]: caption for image_id, caption in system.captions.items()}
    read = {reference_id[i]: a for i, a in system.answers.items() if i in reference_id}
    if len(captions) < len(system.captions):
        raise ImageIdError(
            f"system {system.name!r}: two of its image ids mean the same image; keep one."
        )
    missing = [image_id for image_id in references if image_id not in captions]
    if missing and not allow_subset:
        raise ImageIdError(
            f"system {system.name!r} has no caption for {len(missing)} of {len(references)} "
            f"images, such as {samples(missing)}; complete the file, join parts of it under one "
            "name (NAME=PART1 NAME=PART2), or give --allow-subset (allow_subset=True) to score "
            "only the images it has."
        )
    ids = [image_id for image_id in references if image_id in captions]
    rows = Rows([captions[i] for i in ids], [references[i] for i in ids], ids)
    answers = list(map(read.get, ids))
    return checked(replace(rows, answers=answers) if any(answers) else rows)


def _known(system: System, references: Mapping[ImageId, Any]) -> dict[ImageId, ImageId]:
    """Return what the references call each image of a system, or raise an ImageIdError."""
    reference_id = match(system.captions, references)
    unknown = [image_id for image_id in system.captions if image_id not in reference_id]
    if unknown:
        raise mismatch(unknown, references, f"system {system.name!r}", "the reference side")
    return reference_id


def read_image_ids(path: str | os.PathLike[str]) -> list[ImageId]:
    """Read the ids of images from a file, as `parse_image_ids` does from its text."""
    return parse_image_ids(read_text(path, ImageIdError), str(path))


def parse_image_ids(text: str, where: str) -> list[ImageId]:
    """Return the ids of images in a text that `where` names: a JSON list, or one id per line."""
    lines = enumerate(map(str.strip, text.splitlines()), 1)  # which may be empty
    written: list[tuple[str, Any, ImageId | None]]  # place, text or value, and id
    written = [(f"line {at}", line, from_json_key(line)) for at, line in lines if line]
    if text.lstrip()[:1] in ("[", "{"):
        content = parse_json(text, where, ImageIdError)
        if not isinstance(content, list):
            raise ImageIdError(
                f"{where}: holds a JSON object; give image ids as a list, or one per line."
            )
        entries = enumerate(content)
        written = [(f"[{at}]", one, from_json_value(one)) for at, one in entries if one != ""]
    first_at: dict[ImageId, str] = {}
    for place, given, image_id in written:
        if image_id is None:
            raise ImageIdError(
                f"{where}: {place} is {given!r:.40}; an image id is an integer or a string."
            )
        if image_id in first_at:
            raise ImageIdError(
                f"{where}: image {image_id!r} appears twice ({first_at[image_id]} and {place}); "
                "keep one."
            )
        first_at[image_id] = place
    if not first_at:
        raise ImageIdError(f"{where}: has no image ids.")
    return list(first_at)


def only_images(
    named: Collection[ImageId],
    systems: Sequence[System],
    references: Mapping[ImageId, list[str]] | None,
    where: str = "the image ids",
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references of the named images alone; messages call these `where`."""
    known = all_images(systems, references)
    matched = match(named, known)
    missing = [image_id for image_id in named if image_id not in matched]
    if missing:
        knower = "the run" if references is None else "the reference side"
        raise mismatch(missing, known, where, knower)
    images = set(matched.values())
    subset = {i: list(captions) for i, captions in known.items() if i in images}
    of_systems = []
    for system in systems:
        same = match(system.captions, subset)
        captions = {i: caption for i, caption in system.captions.items() if i in same}
        of_systems.append(replace(system, captions=captions))
    return of_systems, None if references is None else subset


def score_systems(
    systems: Iterable[System],
    scorers: Mapping[str, Scorer],
    references: Mapping[ImageId, Sequence[str]] | None = None,
    allow_subset: bool = False,
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score every system under every metric; with `allow_subset`, on the images that it has."""
    systems = list(systems)
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise CaptionError(f"two systems have the same name: {', '.join(sorted(names))}.")
    references = all_images(systems, references)
    # All ids are checked before the first system is scored: nothing computed gets lost.
    rows = {system.name: paired(system, references, allow_subset) for system in systems}
    scores = score_rows(rows, scorers, on_progress, unavailable, on_metric)
    for name, of_column in scores.evaluations.items():
        missing = len(references) - len(rows[name])
        for column, e in of_column.items():
            of_column[column] = replace(e, counts={**e.counts, "missing": missing})
    return scores


def score_rows(
    systems: Mapping[str, Rows],
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score the rows of every system under every metric: what all evaluations go through."""
    run = _Evaluator(systems, on_progress)
    signatures: dict[str, str] = {}
    evaluations: _Columns = {name: {} for name in systems}
    unavailable = dict(unavailable or {})
    with one_run():
        for metric, scorer in scorers.items():
            if on_metric is not None:
                on_metric(metric)
            try:
                columns_of = run.columns(scorer)
            except MetricUnavailable as problem:
                unavailable[metric] = problem
                continue
            for name, columns in columns_of.items():
                for column, evaluation in columns.items():
                    shown = _shown_name(metric, column, len(columns), evaluations[name])
                    evaluations[name][shown] = evaluation
                    signatures[shown] = evaluation.signature
    if not signatures:
        raise together(unavailable.values())
    return Scores(signatures, evaluations, unavailable)


def together(problems: Iterable[MetricUnavailable]) -> MetricUnavailable:
    """Return the error for a run without any score: its only problem, or the sentences of all."""
    sentences = {str(problem): problem for problem in problems}
    if len(sentences) == 1:
        return next(iter(sentences.values()))
    return MetricUnavailable(" ".join(sentences) or "no metric was asked for.")


def raise_failures(unavailable: Mapping[str, MetricUnavailable]) -> None:
    """Raise what broke in metrics of other packages; all else is printed and saved before."""
    failed = [problem for problem in unavailable.values() if isinstance(problem, MetricFailed)]
    if failed:
        raise together(failed)


def column_names(scorers: Mapping[str, Scorer]) -> dict[str, str]:
    """Return every column that the scores of these metrics will have, with its metric's name."""
    metric_of: dict[str, str] = {}
    for metric, scorer in scorers.items():
        for column in scorer.columns:
            metric_of[_shown_name(metric, column.name, len(scorer.columns), metric_of)] = metric
    return metric_of


def _shown_name(metric: str, column: str, columns: int, taken: Container[str]) -> str:
    """Return what one of so many columns of a metric is called beside those that are taken."""
    shown = metric if columns == 1 else column
    # Taken by another scorer of the same metric.
    return f"{metric} {shown}" if shown in taken else shown


@dataclass(frozen=True)
class _Evaluator:
    """Evaluates each scorer once for every system, however many combinations it is part of."""

    systems: Mapping[str, Rows]
    on_progress: Callable[[int], object] | None
    done: dict[int, _Columns | MetricUnavailable] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)

    def columns(self, scorer: Scorer) -> _Columns:
        """Return, for each system, the columns of a scorer; what failed once is not tried again."""
        if id(scorer) not in self.done:
            try:
                with _named(scorer):
                    self.done[id(scorer)] = self._signed(scorer)
            except MetricUnavailable as problem:
                self.done[id(scorer)] = problem
        done = self.done[id(scorer)]
        if isinstance(done, MetricUnavailable):
            raise done
        return done

    def _signed(self, scorer: Scorer) -> _Columns:
        """Return columns with one signature, which is of the images of all systems."""
        evaluated = self._combined(scorer) if isinstance(scorer, Mean) else self._evaluated(scorer)
        signature = scorer.signature_of(self.systems.values())
        if not isinstance(signature, str) or not signature.strip() or "\n" in signature:
            raise VifidelError(f"a signature must be one line of text, not {signature!r:.60}.")
        return {
            name: {column: replace(e, signature=signature) for column, e in columns.items()}
            for name, columns in evaluated.items()
        }

    def _evaluated(self, scorer: Scorer) -> _Columns:
        evaluated: _Columns = {}
        whose: dict[str, list[str]] = {}  # the systems of each warning
        images = list(dict.fromkeys(i for rows in self.systems.values() for i in rows.ids))
        with _listening() as heard:
            scorer.check_images(images)
        whose.update((message, list(self.systems)) for message in heard)
        with scorer.in_run(list(self.systems.values())) as of_run:
            for name, rows in self.systems.items():
                with _listening() as heard, _named(scorer, name):
                    evaluated[name] = of_run.evaluate(rows, self.on_progress, signed=False)
                for message in heard:
                    whose.setdefault(message, []).append(name)
        scorer.judge([columns[scorer.main] for columns in evaluated.values()])
        for message, names in whose.items():
            # What all systems have in common is no system's own.
            shared = len(names) == len(evaluated)
            of = f"system{'s' * (len(names) > 1)} {', '.join(map(repr, names))}: "
            text = f"{'' if shared else of}{message}"
            if text not in self.warned:  # several metrics may say the same of ids
                self.warned.add(text)
                warnings.warn(text, VifidelWarning, stacklevel=6)
        return evaluated

    def _combined(self, mean: Mean) -> _Columns:
        of_parts = [(part, self.columns(part)) for part in mean.parts]
        evaluations = mean.combine(
            [[columns[name][part.main] for part, columns in of_parts] for name in self.systems]
        )
        return {
            name: {mean.main: evaluation}
            for name, evaluation in zip(self.systems, evaluations, strict=True)
        }


def _named(scorer: Scorer, system: str = "") -> AbstractContextManager[None]:
    return named_failures(scorer.method(), type(scorer).__module__, system)


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Collect our warnings, as often as they are said; others pass."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VifidelWarning)
        yield heard
    for w in caught:
        if issubclass(w.category, VifidelWarning):
            heard.append(str(w.message))
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
