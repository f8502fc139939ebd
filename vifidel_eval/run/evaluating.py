"""What is to be scored is read and checked, then scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ..captions import system_names
from ..captions.fields import Ids, Named, Selection, Wanted
from ..captions.layouts import captions_from, kind_of
from ..captions.parts import captions_together
from ..captions.rows import captions_by_image
from ..doors.entry_points import service
from ..errors import CaptionError, ImageIdError, VifidelError
from ..io.image_ids import ImageId, check_distinct
from ..io.records import progress_bar
from ..scorers import Scorer
from ..scorers.registry import build
from ..scores.run_warnings import (
    WORDS,
    WordsPerCaption,
    is_seen,
    lengths_matter,
    phase,
    warn_of_answers,
    warn_of_language,
    warn_of_scores,
    warn_of_tags,
)
from ..scores.samples import floor_of, pooled, score_samples, signed, spread, with_people
from ..scores.system import System
from ..scores.systems import (
    all_images,
    captioned,
    column_names,
    in_one_spelling,
    only_images,
    read_image_ids,
    score_systems,
    together,
)
from ..scores.tool_scores import scorers_of
from ..words.settings import Settings
from .plan import Captions, Plan, References, Systems, check_releases, inputs_of, of_run
from .run import Run

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)
#: What a run does first.
READING = "Reading captions, references and objects"


def plan(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    wanted: Wanted,
    selection: Selection,
    scorers: Mapping[str, Scorer] | None = None,
    scores: Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
) -> Plan:
    """Read and check what a run needs, and decide which images it is of; nothing is scored yet."""
    people, allow_subset = selection.people, selection.allow_subset
    if people and wanted.samples:
        raise VifidelError(
            "people=True needs one caption per image, and samples=True takes several; leave one "
            "of the two out."
        )
    if people and references is None:
        raise VifidelError("people=True needs references, and there are none: give some.")
    chosen = selection.image_ids, settings.as_written
    read, by_image = read_captions(systems, references, wanted, *chosen)
    if settings.detector is not None:
        settings = service("detector")(settings, paths_in(settings.objects), read)
    of_objects = paths_in(settings.objects)
    files = {
        "captions": [path for source in systems.values() for path in paths_in(source)],
        "references": paths_in(references),
        "objects": of_objects,
    }
    settings = replace(settings, files=list(chain.from_iterable(files.values())))
    made, unavailable = build(metrics, settings)
    made |= {name: of_run(scorer, settings) for name, scorer in (scorers or {}).items()}
    released = references if of_objects and isinstance(references, str | os.PathLike) else None
    labels = None
    if released is not None or "labels" in vars(settings):  # where some metric has read them
        labels = settings.labels
    as_read = read
    if labels is not None:
        read, by_image = in_one_spelling(read, labels, by_image)
    if scores or lower_is_better:
        pairs, some = list(zip(as_read, read, strict=True)), selection.image_ids is not None
        ours = column_names(made)
        made |= scorers_of(scores or {}, lower_is_better, pairs, ours, wanted.id_fields, some)
    everything = all_images(read, by_image)
    images = captioned(read, everything) if allow_subset else everything
    if labels is not None and released is not None:
        check_releases(of_objects, labels, released, images)
    uncaptioned = len(everything) - len(images)
    warn_of_answers(pooled(read) if wanted.samples else read)
    made_of = None
    if people:
        made_of, read, images = with_people(read, images)
    whole = pooled(read) if wanted.samples else read
    if (lengths_matter(whole) or people) and WORDS not in column_names(made):
        made[WORDS] = WordsPerCaption()
    warn_of_language(whole, images, made)
    if labels is not None:
        warn_of_tags(labels)
    inputs = None
    if files["captions"] and not scorers:  # only files can be read again
        arguments = systems, references, settings, metrics, wanted, selection
        inputs = inputs_of(*arguments, scores or {}, lower_is_better)
    return Plan(
        read,
        images,
        made,
        unavailable,
        allow_subset,
        settings,
        files,
        made_of,
        [*systems] if wanted.samples else None,
        uncaptioned,
        inputs,
    )


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
    as_written: bool = False,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems, one for each sample, and references, of all images or of `image_ids`.

    Unless `as_written`, captions are what `vifidel_eval.captions.generated` takes of the texts.
    """
    texts = {
        name: _captions_in(source, f"system {name!r}", wanted) for name, source in systems.items()
    }
    by_image = None
    if references is not None:
        by_image = _captions_in(
            references, "references", replace(wanted, references=True, samples=False)
        )
    read: list[System] = []
    for name, of_file in texts.items():
        of_system = by_image.in_ids(of_file) if isinstance(by_image, Named) else of_file
        if by_image == of_system:
            where = references if isinstance(references, str | os.PathLike) else "references"
            raise CaptionError(
                f"{where}: holds exactly the captions of system {name!r}; give captions that "
                "people wrote as references."
            )
        if wanted.samples:
            read += spread(name, of_system, as_written)
        else:
            captions = {image: caption for image, (caption,) in of_system.items()}
            read.append(System.read(name, captions, as_written))
    if image_ids is None:
        return read, by_image
    if isinstance(image_ids, str | os.PathLike):
        return only_images(read_image_ids(image_ids), read, by_image, str(image_ids))
    listed = list(dict.fromkeys(image_ids)) if isinstance(image_ids, Iterable) else []
    if not listed:
        raise ImageIdError(f"image_ids are a path or a list of ids, not {image_ids!r:.40}.")
    return only_images(listed, read, by_image)


def _captions_in(source: Any, where: str, wanted: Wanted) -> dict[ImageId, list[str]]:
    """Return the captions of each image; those of a program need no layout."""
    if isinstance(source, list) and source and len(paths_in(source)) == len(source):
        return captions_together(source, where, wanted)
    plain = None
    if not (wanted.splits or wanted.samples):
        plain = captions_by_image(source, wanted.references)
    if plain is None:
        return captions_from(source, where, wanted)
    check_distinct(plain, where)
    return plain


def paths_in(source: Any) -> list[Path]:
    """Return the paths that a source is or, if it is a list, holds."""
    members = source if isinstance(source, list | tuple) else [source]
    return [Path(one) for one in members if isinstance(one, str | os.PathLike)]


def score(planned: Plan, progress: bool | None = None) -> Run:
    """Score what was planned, with a progress bar as `evaluate` shows it."""
    work = sum(len(system.captions) for system in planned.systems) * len(planned.scorers)
    on_progress: Callable[[int], object] | None = None
    on_metric: Callable[[str], object] | None = None
    with ExitStack() as watched:
        if is_seen(progress):
            bar = watched.enter_context(progress_bar(work, shown=progress))
            # The name of a metric shows when the bar next moves.
            on_progress, on_metric = bar.update, partial(bar.set_description_str, refresh=False)
        how = planned.scorers, planned.images, planned.allow_subset
        said = on_progress, planned.unavailable, on_metric
        if planned.samples is None:
            scores = score_systems(planned.systems, *how, *said)
            warn_of_scores(scores, planned.systems, planned.images, planned.scorers)
        else:
            scores = score_samples(planned.systems, planned.samples, *how, *said)
    if scores.unavailable:
        lengths = {name for name, metric in planned.columns.items() if metric == WORDS}
        if scores.signatures.keys() == lengths:
            raise together(scores.unavailable.values())
    if planned.people is not None:
        scores = signed(scores, planned.people)
    elif planned.samples is None:
        rating = {name: one for name, one in planned.scorers.items() if one.rates_inventions}
        if rating:
            with phase("Scoring what people make up", progress):
                floor = floor_of(planned.systems, planned.images, rating)
            scores = replace(scores, people=floor)
    scores = replace(scores, uncaptioned=planned.uncaptioned, inputs=planned.inputs)
    return Run(scores, planned)
