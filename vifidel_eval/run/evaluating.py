"""The one entry from Python, `evaluate`: what is to be scored is read and checked, then scored.

Of its length, 150 lines are the documented arguments of `evaluate`.
"""

from __future__ import annotations

import difflib
import inspect
import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..annotations.categories import CategorySource, Declared
from ..annotations.plain import are_rows
from ..annotations.read import HasDataset
from ..captions import system_names
from ..captions.fields import Wanted
from ..captions.layouts import captions_from, kind_of
from ..entry_points import service
from ..errors import CaptionError, ImageIdError, VifidelError, VifidelWarning
from ..io.arguments import named_if_wrong
from ..io.image_ids import ImageId
from ..io.records import named_by, progress_bar
from ..scorers import Scorer
from ..scorers.record import Settings
from ..scorers.registry import (
    DEFAULT,
    METRICS,
    build,
    check_needs,
    check_scorer,
    defaults,
    expanded,
    parse,
)
from ..scorers.word_vectors import Objects, Score
from ..scores.doubts import (
    WORDS,
    WordsPerCaption,
    lengths_matter,
    warn_of_language,
    warn_of_scores,
    warn_of_tags,
)
from ..scores.harness import column_names, score_systems, together
from ..scores.inputs import Inputs
from ..scores.pairing import (
    System,
    all_images,
    captioned,
    check_releases,
    in_one_spelling,
    only_images,
    read_image_ids,
)
from ..scores.people import floor_of, signed, with_people
from ..scores.samples import pooled, score_samples, spread
from ..words.content_words import STOP_WORDS
from ..words.word_vectors import VectorSource
from .plan import PathLike, Plan
from .run import Run

#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
#: The references of a run.
References: TypeAlias = Captions
#: Names of metrics, scorers, or a mapping of name to scorer.
Metrics: TypeAlias = str | Scorer | Iterable[str | Scorer] | Mapping[str, Scorer]
#: A file of image ids, or the ids; None for all.
Ids: TypeAlias = PathLike | Collection[ImageId] | None
#: One name, or several.
Names: TypeAlias = str | Sequence[str]

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)

# What the command calls some arguments.
_OF_THE_COMMAND = {
    "no_references": "weighted=False",
    "presence": "counts=False",
    "raw_vectors": "normalize=False",
    "output": "run.save(...)",
    "report": "run.report(...)",
    "compare": "run.compare()",
    "baseline": "run.compare(baseline=...)",
    "leaderboard": "run.add_to_leaderboard(...)",
}


@named_if_wrong
def evaluate(
    systems: Systems,
    references: References | None = None,
    objects: Objects = None,
    metrics: Metrics | None = None,
    *,
    weighted: bool = True,
    threshold: Score = None,
    categories: CategorySource = None,
    uncertain: Score = None,
    looked_for: Declared = None,
    detector: PathLike | None = None,
    agree: bool = False,
    counts: bool = True,
    vectors: VectorSource = None,
    trust_pickles: bool = False,
    normalize: bool = True,
    stop_words: Collection[str] = STOP_WORDS,
    p: int | None = None,
    allow_subset: bool = False,
    people: bool = False,
    samples: bool = False,
    image_ids: Ids = None,
    id_field: Names = (),
    caption_field: Names = (),
    reference_field: Names = (),
    split: Names = (),
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
    weighted : bool
        Whether metrics that work without references use them where there are some; False is the
        command's ``--no-references``.
    threshold, categories, uncertain : optional
        As `vifidel_eval.annotations.read_objects` takes them.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, where the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (whatever is not listed is not there), a file with one label per line, or labels.
    detector : str or path, optional
        The model that looks at the pictures, where `objects` are a folder of pictures, as
        ``vifidel-eval detect --model`` takes it; what it finds is kept beside the folder. A model
        that is asked is asked about what the captions mention.
    agree : bool
        Whether several sources of objects must agree, instead of being united: where they differ,
        nothing is judged.
    counts : bool
        Whether two dogs in an image count twice as much as one; False is ``--presence``.
    vectors, trust_pickles : optional
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them.
    normalize : bool
        Whether word vectors are scaled to length 1; False is ``--raw-vectors``.
    stop_words : collection of str
        Words that are left out of captions.
    p : 1 or 2, optional
        Exponent of the travel cost; by default each metric's own.
    allow_subset : bool
        Whether a system may lack some of the images; it is then scored on those it has. Images
        that no system has are left out of the whole run.
    people : bool
        Whether people are scored beside the systems: of each image some references, as many as come
        nearest to the systems' length, are the caption of a system ``"people"``, and all are scored
        against the others. The column ``Words`` says how long they are.
    samples : bool
        Whether systems may have several captions per image, as lists or entries of the same id.
        Each column then becomes three: ``"CIDEr mean"``, ``"CIDEr best"`` and ``"CIDEr worst"`` of
        the samples of an image, which intervals and tests are over.
    image_ids : path or collection, optional
        Score only these images; a file is a JSON list, or has an id per line.
    id_field, caption_field, reference_field : str or list of str
        What the fields of caption files and DataFrames are called, instead of the usual names, or
        paths to them, such as ``"doc.image_id"`` and ``"filtered_resps[0]"``.
    split : str or list of str
        Splits of Karpathy's dataset JSON.
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
    names, scorers = _named_metrics(metrics)
    settings = Settings(
        objects=objects,
        threshold=threshold,
        categories=categories,
        uncertain=uncertain,
        looked_for=looked_for,
        detector=detector,
        agree=agree,
        counts=counts,
        vectors=vectors,
        trust_pickles=trust_pickles,
        normalize=normalize,
        stop_words=stop_words,
        p=p,
        references=references is not None,
        weighted=weighted and references is not None,
        options=_own(options),
    )
    names = expanded([DEFAULT] if metrics is None else names, defaults(settings))
    if not names and not scorers:
        raise VifidelError(
            "there is nothing to score with; give references, objects or both, or name metrics "
            "that need neither."
        )
    check_needs(names, settings, str)
    wanted = Wanted(
        _listed(id_field),
        _listed(caption_field),
        _listed(reference_field),
        _listed(split),
        samples=samples,
    )
    planned = plan(
        named(systems),
        references,
        settings,
        names,
        wanted,
        scorers,
        image_ids,
        allow_subset,
        people,
    )
    run = score(planned, progress)
    for name, why in run.detail.unavailable.items():
        warnings.warn(f"{name} is not available: {why}", VifidelWarning, stacklevel=2)
    return run


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
    """Read and check what a run needs, and decide which images it is of; nothing is scored yet.

    They are those of the references or, where there are none, of all systems together. Of these,
    only those that `image_ids` names, only those of which some system has a caption with
    `allow_subset`, and only those with two references for `people`.

    Systems, references and ids are as `read_captions` takes them, `metrics` as
    `vifidel_eval.scorers.registry.parse` returns them; `scorers` are further ones by name. It warns
    if objects and references are of different releases of COCO, captions differ much in length or
    are in another language than vectors and stop words, or images have more labels than a caption
    can speak of.
    """
    if people and wanted.samples:
        raise VifidelError(
            "people are scored by one caption per image, and samples are several; leave one of "
            "the two out."
        )
    if people and references is None:
        raise VifidelError("people are scored by references, and there are none: give some.")
    read, by_image = read_captions(systems, references, wanted, image_ids)
    if settings.detector is not None:
        settings = service("detector")(settings, paths_in(settings.objects), read)
    made, unavailable = build(metrics, settings)
    made |= scorers or {}
    of_objects = paths_in(settings.objects)
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
    files = {
        "captions": [path for source in systems.values() for path in paths_in(source)],
        "references": paths_in(references),
        "objects": of_objects,
    }
    sources = [*systems.values(), references, settings.objects]
    inputs = None
    if not scorers and all(map(_is_located, sources)):
        inputs = Inputs(
            {
                "systems": {name: _located(source) for name, source in systems.items()},
                "references": _located(references),
                "settings": _stated(replace(settings, objects=_located(settings.objects))),
                "metrics": list(metrics),
                "wanted": _stated(wanted),
                "image_ids": _located(image_ids),
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


def plan_again(arguments: Mapping[str, Any]) -> Plan:
    """Return the plan of a run that was loaded, of the arguments that its file has."""
    given = dict(arguments)
    try:
        stated = dict(given.pop("settings"))
        options = _own(stated.pop("options", {}))
        has_references = given["references"] is not None
        settings = Settings(**stated, references=has_references, options=options)
        wanted = Wanted(**given.pop("wanted"))
        known = inspect.signature(plan).bind(settings=settings, wanted=wanted, **given)
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


def _stated(record: Settings | Wanted) -> dict[str, Any]:
    """Return the fields that are not what they are by default.

    Whether pickles are trusted is for those to say who read a file.
    """
    stated = {}
    for one in fields(record):
        value = getattr(record, one.name)
        by_default = type(value) is type(one.default) and value == one.default
        by_default = by_default or (isinstance(value, list | tuple) and not value)
        if not one.init or one.name in ("trust_pickles", "references") or by_default:
            continue
        if one.name == "options":
            defaults_of = {option.name: option.default for option in METRICS.options()}
            value = {name: of for name, of in value.items() if of != defaults_of.get(name)}
        elif isinstance(value, str) and os.path.exists(value):
            value = Path(value)
        stated[one.name] = value
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


def _own(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of metrics' own options, those that were not given by default."""
    if not options.keys() <= {option.name for option in METRICS.options()}:
        METRICS.load()
    own = {option.name: option for option in METRICS.options()}
    for name in options:
        if name not in own:
            raise TypeError(f"evaluate() has no argument {name!r}.{_meant(name, own)}")
    given = {
        name: Path(value) if own[name].kind is Path and isinstance(value, str) else value
        for name, value in options.items()
    }
    return {name: option.default for name, option in own.items()} | given


def _meant(name: str, own: Collection[str]) -> str:
    if name in _OF_THE_COMMAND:
        return f" Use {_OF_THE_COMMAND[name]}."
    arguments = [*inspect.signature(evaluate).parameters, *own]
    close = difflib.get_close_matches(name, [a for a in arguments if a != "options"], n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _named_metrics(metrics: Metrics | None) -> tuple[list[str], dict[str, Scorer]]:
    """Return names of registered metrics, and scorers by name; nothing by default."""
    names: list[str] = []
    scorers: dict[str, Scorer] = {}
    if metrics is None:
        return names, scorers
    given: Iterable[tuple[Any, Any]]
    if isinstance(metrics, Mapping):
        given = metrics.items()
    else:
        listed = [metrics] if isinstance(metrics, str | Scorer) else metrics
        if not isinstance(listed, Iterable):
            raise VifidelError(_no_metric(listed))
        listed = list(listed)
        texts = [metric for metric in listed if isinstance(metric, str)]
        names = list(dict.fromkeys(name for text in texts for name in parse(text)))
        others = [metric for metric in listed if not isinstance(metric, str)]
        given = [(one.method() if isinstance(one, Scorer) else "", one) for one in others]
    for name, scorer in given:
        if not isinstance(name, str) or not isinstance(scorer, Scorer):
            raise VifidelError(_no_metric(scorer))
        check_scorer(scorer)
        if name in scorers:
            raise VifidelError(
                f"there are two scorers of {name}; name them: "
                "metrics={'first': ..., 'second': ...}."
            )
        scorers[name] = scorer
    if not names and not scorers:
        raise VifidelError("metrics is empty; leave it out for the default metrics.")
    both = [name for name in names if name in scorers]
    if both:
        raise VifidelError(f"{both[0]} is among the metrics by name and as a scorer; keep one.")
    return names, scorers


def _no_metric(value: Any) -> str:
    return (
        "metrics are names, scorers of vifidel_eval.scorers, or {name: scorer}; found "
        f"{type(value).__name__} {value!r:.40}."
    )


def _listed(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
