"""The one entry from Python, `evaluate`: what is to be scored is read and checked, then scored."""

from __future__ import annotations

import difflib
import inspect
import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..captions.fields import Selection, Wanted
from ..entry_points import service
from ..errors import VifidelError, VifidelWarning
from ..io.arguments import named_if_wrong
from ..io.options import options_of, taking
from ..io.records import named_by, progress_bar
from ..scorers import Scorer
from ..scorers.registry import (
    DEFAULT,
    METRICS,
    build,
    check_needs,
    defaults,
    expanded,
    parts_of,
)
from ..scorers.word_vectors import Objects
from ..scores.harness import column_names, score_systems, together
from ..scores.run_warnings import (
    WORDS,
    WordsPerCaption,
    lengths_matter,
    warn_of_language,
    warn_of_scores,
    warn_of_tags,
)
from ..scores.samples import floor_of, pooled, score_samples, signed, with_people
from ..scores.scores import Inputs
from ..scores.scores_file import read_scores
from ..scores.systems import all_images, captioned, check_releases, in_one_spelling
from ..words.settings import Settings
from .plan import (
    Captions,
    Metrics,
    PathLike,
    Plan,
    References,
    Systems,
    named,
    named_metrics,
    paths_in,
    read_captions,
)
from .run import Run

# The arguments of `evaluate` with the fields that they are in its records.
_FIELDS = {
    record: {one.name: at for at, one in options_of(record).items()}
    for record in (Settings, Selection, Wanted)
}
# What the command calls some arguments.
_OF_THE_COMMAND = {
    **{
        one.off.lstrip("-").replace("-", "_"): f"{name}=False"
        for name, one in options_of(Settings).items()
        if one.off
    },
    "output": "run.save(...)",
    "report": "run.report(...)",
    "compare": "run.compare()",
    "baseline": "run.compare(baseline=...)",
    "leaderboard": "run.add_to_leaderboard(...)",
}


@named_if_wrong
@taking(Settings, Selection, Wanted, omit=("objects",))
def evaluate(
    systems: Systems,
    references: References | None = None,
    objects: Objects = None,
    metrics: Metrics | None = None,
    *,
    progress: bool | None = None,
    **options: Any,
) -> Run:
    """Score systems against the images' objects, references, or both.

    What ``vifidel-eval score`` does: the same inputs, checks, warnings and numbers.

    Parameters
    ----------
    systems : mapping, path, or list of paths
        ``{name: captions}``. Captions are a result file of any accepted format, a mapping
        ``{image id: caption}``, a COCO results list, pycocotools' ``loadRes``, or a DataFrame with
        the usual columns. Paths alone get names from their file names.
    references : path, mapping, pycocotools COCO, list of records or DataFrame, optional
        The references; a mapping is ``{image id: [caption, ...]}``.
    objects : path, mapping, pycocotools COCO, or list of these, optional
        What the images show, as `vifidel_eval.annotations.read_objects` takes it.
    metrics : str, list, or mapping, optional
        Names such as ``["VIFIDEL-PRF", "CHAIR", "VIFIDEL+CIDEr"]``, scorers, or ``{name: scorer}``.
        By default, the command's defaults: those that have what they need. Among others,
        ``"default"`` stands for these: ``"default,CHAIR"``. A column, such as ``"Bleu_4"``, stands
        for its metric, which is computed with all its columns.
    progress : bool, optional
        Whether a progress bar is shown; by default in terminals and notebooks, if it takes long.
    **options
        Settings that single metrics have, such as ``things``, ``synonyms`` or ``tiger_features``;
        ``vifidel-eval score --help-all`` lists them.

    Returns
    -------
    Run
        The scores, and what can be made of them.

    Raises
    ------
    MetricUnavailable
        If no metric can be computed here; of several, `Run.unavailable` says which cannot.
    VifidelError
        If something cannot be read, ids do not match, or a metric lacks what it needs.
    TypeError
        If there is no such argument.

    Warns
    -----
    VifidelWarning
        If the scores deserve a look, or a metric is not available.

    Examples
    --------
    >>> import vifidel_eval
    >>> run = vifidel_eval.evaluate(
    ...     {"mine": {1: "a dog catches a frisbee"}, "base": {1: "a cat on a sofa"}},
    ...     objects={1: ["dog", "frisbee"]},
    ...     metrics="VIFIDEL",
    ... )
    >>> run.scores["mine"]["VIFIDEL"] > run.scores["base"]["VIFIDEL"]
    True
    """
    names, scorers = named_metrics(metrics)
    given = _taken(Settings, options) | {"objects": objects}
    selection, fields = Selection(**_taken(Selection, options)), _taken(Wanted, options)
    for at in fields.keys() - {"samples"}:
        fields[at] = (fields[at],) if isinstance(fields[at], str) else tuple(fields[at])
    wanted = Wanted(**fields)
    settings = Settings(**given, options=_own(options)).with_references(references is not None)
    names = to_compute(None if metrics is None else names, settings, scorers=scorers)
    planned = plan(named(systems), references, settings, names, wanted, selection, scorers)
    run = score(planned, progress)
    for name, why in run.detail.unavailable.items():
        warnings.warn(f"{name} is not available: {why}", VifidelWarning, stacklevel=2)
    return run


@named_if_wrong
def load(path: PathLike) -> Run:
    """Return the run that `Run.save` or ``score --output`` wrote.

    Its `Run.scores` equal those of the run that was saved, bit by bit. The scores of images have
    the ten significant digits that every machine agrees on; counts, signatures and, if one was
    saved, the comparison are those of the file. Captions, references and objects are not in it:
    `Run.report`, `Run.inventions` and whatever else needs them reads them again from the files that
    the run was made from, and says which of these is missing or has changed.

    Raises
    ------
    VifidelError
        If the file cannot be read, is another one, is damaged, or was written by a newer version.
    """
    scores, comparisons = read_scores(path)
    return Run(scores, None, comparisons, str(path), _plan_again=_plan_again)


def to_compute(
    names: Sequence[str] | None,
    settings: Settings,
    spelled: Callable[[str], str] = str,
    scorers: Collection[str] = (),
) -> list[str]:
    """Return the metrics to compute: those named, by default all that have what they need.

    A VifidelError says that one lacks something, or that there is nothing to compute, not even
    `scorers` of the user's own; `spelled` returns what the user calls an argument.
    """
    names = expanded([DEFAULT] if names is None else names, defaults(settings))
    if not names and not scorers:
        raise VifidelError(
            f"there is nothing to score with; give {spelled('references')}, {spelled('objects')} "
            f"or both, or name {spelled('metrics')} that need neither."
        )
    check_needs(names, settings, spelled)
    return names


def plan(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    wanted: Wanted,
    selection: Selection,
    scorers: Mapping[str, Scorer] | None = None,
) -> Plan:
    """Read and check what a run needs, and decide which images it is of; nothing is scored yet.

    They are those of the references or, where there are none, of all systems together, as far as
    the `selection` leaves them in. Systems and references are as `read_captions` takes them, names
    of metrics as `to_compute` returns them; `scorers` are further ones by name. It may warn.
    """
    people, allow_subset = selection.people, selection.allow_subset
    if people and wanted.samples:
        raise VifidelError(
            "people are scored by one caption per image, and samples are several; leave one of "
            "the two out."
        )
    if people and references is None:
        raise VifidelError("people are scored by references, and there are none: give some.")
    read, by_image = read_captions(systems, references, wanted, selection.image_ids)
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
    made |= scorers or {}
    released = references if of_objects and isinstance(references, str | os.PathLike) else None
    labels = None
    if released is not None or "labels" in vars(settings):  # where some metric has read them
        labels = settings.labels
    if labels is not None:
        read, by_image = in_one_spelling(read, labels, by_image)
    everything = all_images(read, by_image)
    images = captioned(read, everything) if allow_subset else everything
    if labels is not None and released is not None:
        check_releases(of_objects, labels, released, images)
    uncaptioned = len(everything) - len(images)
    made_of = None
    if people:
        made_of, read, images = with_people(read, images)
    whole = pooled(read) if wanted.samples else read
    if (lengths_matter(whole) or people) and WORDS not in column_names(made):
        made[WORDS] = WordsPerCaption()
    warn_of_language(whole, images, made)
    if labels is not None:
        warn_of_tags(labels)
    sampled = None
    if wanted.samples:
        sampled = {
            name: [one for one in read if one.sample_of == name and one.captions]
            for name in systems
        }
    looking = any(part.images for name in metrics for part in parts_of(name))
    images_read = settings.images if looking else None  # and not for the report alone
    sources = [*systems.values(), references, settings.objects, images_read]
    inputs = None
    if not scorers and all(map(_is_located, sources)):
        inputs = Inputs(
            {
                "systems": {name: _located(source) for name, source in systems.items()},
                "references": _located(references),
                "settings": {
                    **_stated(
                        replace(
                            settings,
                            objects=_located(settings.objects),
                            images=_located(images_read),
                        )
                    ),
                    "options": {
                        name: value
                        for name, value in settings.options.items()
                        if value != _own({}).get(name)
                    },
                },
                "metrics": list(metrics),
                "wanted": _stated(wanted),
                "image_ids": _located(selection.image_ids),
                "allow_subset": allow_subset,
                "people": people,
            }
        )
    return Plan(
        read,
        images,
        made,
        unavailable,
        allow_subset,
        settings,
        files,
        made_of,
        sampled,
        uncaptioned,
        inputs,
    )


def _plan_again(arguments: Mapping[str, Any]) -> Plan:
    """Return the plan of a run that was loaded, of the arguments that its file has."""
    given = dict(arguments)
    try:
        stated = dict(given.pop("settings"))
        options = _own(stated.pop("options", {}))
        has_references = given["references"] is not None
        records = {
            "settings": Settings(**stated, references=has_references, options=options),
            "wanted": Wanted(**given.pop("wanted")),
            "selection": Selection(**_taken(Selection, given)),
        }
        known = inspect.signature(plan).bind(**records, **given)
    except (KeyError, TypeError) as problem:
        raise VifidelError(
            f"what the scores were made with is not known here ({problem}): evaluate again."
        ) from None
    with warnings.catch_warnings():
        # What the inputs are like was said when they were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        return plan(*known.args, **known.kwargs)


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
    """Return the options that are not the defaults, without trust, which is the reader's."""
    stated = {}
    for at, one in options_of(type(record)).items():
        value = getattr(record, at)
        by_default = type(value) is type(one.default) and value == one.default
        empty = isinstance(value, list | tuple) and not value
        if not (by_default or empty or at == "trust_pickles"):
            is_path = isinstance(value, str) and os.path.exists(value)
            stated[at] = Path(value) if is_path else value
    return stated


def score(planned: Plan, progress: bool | None = None) -> Run:
    """Score what was planned, with a progress bar as `evaluate` shows it."""
    work = sum(len(system.captions) for system in planned.systems) * len(planned.scorers)
    with progress_bar(work, shown=progress) as bar:
        how = (
            planned.scorers,
            planned.images,
            planned.allow_subset,
            bar.update,
            planned.unavailable,
            named_by(bar),
        )
        if planned.samples is None:
            scores = score_systems(planned.systems, *how)
            warn_of_scores(scores, planned.systems, planned.images, planned.scorers)
        else:
            scores = score_samples(planned.samples, *how)
    if scores.unavailable:
        lengths = {name for name, metric in planned.columns.items() if metric == WORDS}
        if scores.signatures.keys() == lengths:
            raise together(scores.unavailable.values())
    if planned.people is not None:
        scores = signed(scores, planned.people)
    elif planned.samples is None:
        rating = {name: one for name, one in planned.scorers.items() if one.rates_inventions}
        if rating:
            floor = floor_of(planned.systems, planned.images, rating)
            scores = replace(scores, people=floor)
    scores = replace(scores, uncaptioned=planned.uncaptioned, inputs=planned.inputs)
    return Run(scores, planned)


def _taken(record: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """Take the values of a record's fields out of what was given by the names of arguments."""
    return {at: given.pop(name) for name, at in _FIELDS[record].items() if name in given}


def _own(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of metrics' own options, those that were not given by default."""
    if not options.keys() <= {option.name for option in METRICS.options()}:
        METRICS.load()
    own = {option.name: option for option in METRICS.options()}
    values = {name: option.default for name, option in own.items()}
    for name, value in options.items():
        if name not in own:
            arguments = [*inspect.signature(evaluate).parameters, *own]
            close = difflib.get_close_matches(name, [a for a in arguments if a != "options"], n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            if name in _OF_THE_COMMAND:
                meant = f" Use {_OF_THE_COMMAND[name]}."
            raise TypeError(f"evaluate() has no argument {name!r}.{meant}")
        is_path = own[name].kind is Path and isinstance(value, str)
        values[name] = Path(value) if is_path else value
    return values
