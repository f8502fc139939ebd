"""The one entry from Python, `evaluate`: what is to be scored is read and checked, then scored."""

from __future__ import annotations

import difflib
import inspect
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from ..annotations.categories import CategorySource, Declared
from ..captions import system_names
from ..captions.fields import Ids, Named, Names, Selection, Wanted
from ..captions.layouts import captions_from, kind_of
from ..captions.parts import captions_together
from ..captions.rows import captions_by_image
from ..doors.arguments import name_wrong_argument
from ..doors.entry_points import service
from ..doors.options import options_of
from ..errors import CaptionError, ImageIdError, VifidelError, VifidelWarning
from ..io.image_ids import ImageId, check_distinct
from ..io.records import progress_bar
from ..scorers import Scorer
from ..scorers.registry import METRICS, Metrics, build, named_metrics, to_compute
from ..scorers.word_vectors import Objects
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
from ..words.content_words import STOP_WORDS
from ..words.settings import Settings
from ..words.word_vectors import VectorSource
from .plan import Captions, Plan, References, Systems, check_releases, inputs_of, of_run
from .run import Run

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)
#: What a run does first.
READING = "Reading captions, references and objects"
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


@name_wrong_argument
def evaluate(
    systems: Systems,
    references: References | None = None,
    objects: Objects = None,
    metrics: Metrics | None = None,
    *,
    progress: bool | None = None,
    scores: Mapping[str, Any] | None = None,
    lower_is_better: str | Sequence[str] = (),
    threshold: float | None = None,
    categories: CategorySource = None,
    uncertain: float | None = None,
    looked_for: Declared = None,
    detector: str | PathLike[str] | None = None,
    images: Any = None,
    agree: bool = False,
    counts: bool = True,
    vectors: VectorSource = None,
    trust_pickles: bool = False,
    normalize: bool = True,
    stop_words: Collection[str] = STOP_WORDS,
    p: int | None = None,
    as_written: bool = False,
    weighted: bool = True,
    image_ids: Ids = None,
    allow_subset: bool = False,
    people: bool = False,
    id_field: Names = (),
    caption_field: Names = (),
    reference_field: Names = (),
    split: Names = (),
    samples: bool = False,
    **options: Any,
) -> Run:
    """Score systems against the images' objects, references, or both.

    This is ``vifidel-eval score`` in Python: the same inputs, checks, warnings and numbers.

    Parameters
    ----------
    systems : mapping, path, or list of paths
        ``{name: captions}``. Captions are a result file of any accepted format, a mapping
        ``{image id: caption}``, a COCO results list, pycocotools' ``loadRes``, a DataFrame with
        the usual columns, or a list of result files, which are joined. Paths alone get names from
        their file names.
    references : path, mapping, pycocotools COCO, list of records or DataFrame, optional
        The references; a mapping is ``{image id: [caption, ...]}``.
    objects : path, mapping, pycocotools COCO, or list of these, optional
        What the images show, as `vifidel_eval.annotations.read_objects` takes it.
    metrics : str, list, or mapping, optional
        Names such as ``["VIFIDEL-PRF", "CHAIR", "VIFIDEL+CIDEr"]``, scorers, or ``{name: scorer}``.
        By default, those of the command: the default metrics that have what they need. In a list,
        ``"default"`` stands for these: ``"default,CHAIR"``. A column, such as ``"Bleu_4"``, stands
        for its metric with all its columns.
    progress : bool, optional
        Whether a progress bar is shown; by default in terminals and notebooks, if it takes long.
    scores : mapping, optional
        Scores of other tools, which become columns like those of metrics: ``{system: source}``,
        where a source is a path, ``{image id: number}``, ``{image id: {name: number}}``, a
        DataFrame, or a list of these. The key ``"SYSTEM: NAME"`` gives the scores of a source
        another name.
    lower_is_better : str or list of str, optional
        The names of those columns in which lower is better.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    categories : path, mapping or list of str, optional
        Class names, if `objects` has only numbers: a COCO file with categories or Open Images
        class descriptions; for YOLO and class indices, data.yaml, config.json or a text file with
        one name per line.
    uncertain : float, optional
        The score below which a thing that was asked about is not in the image; between this and
        `threshold`, it is not judged. By default it is `threshold`.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, if the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (what is not listed is not there), a file with one label per line, or labels.
    detector : path or str, optional
        The detector for a folder of pictures in `objects`, as ``vifidel-eval detect --model`` takes
        it; its detections are saved beside the folder. An open-vocabulary model is asked about the
        things that the captions mention.
    images : path or mapping, optional
        The folder of the images, or ``{image id: path}``, for the report and for metrics that look
        at pictures.
    agree : bool
        Whether only that is judged about which all `objects` agree; by default they are combined.
    counts : bool
        Whether two dogs weigh more than one.
    vectors : path, str, WordVectors or KeyedVectors, optional
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; by default those that are
        embedded.
    trust_pickles : bool
        Whether `vectors` may be a pickle, such as gensim's ``.kv``; a pickle can run any code.
    normalize : bool
        Whether word vectors are scaled to length 1.
    stop_words : collection of str
        Words that are left out of captions; by default English ones.
    p : 1 or 2, optional
        The exponent of the distances between words; by default 2, and 1 for WMD.
    as_written : bool
        Whether answers are scored as they are written, with reasoning, announcements and refusals.
        By default these are left out and counted; docs/answers.md has the rule.
    weighted : bool
        Whether references are evidence, and weight words.
    image_ids : path or collection, optional
        The images to score: a file with a JSON list of ids or one id per line, or the ids. By
        default all.
    allow_subset : bool
        Whether systems may lack some of the images. A system is then scored on the images it has;
        images that no system has are left out of the whole run.
    people : bool
        Whether people are scored too. For each image, some references (as many as come nearest to
        the systems' length) are joined as the caption of a system ``"people"``, and all systems
        are scored against the other references. The column ``Words`` says how long they are.
    id_field : str or list of str
        The column, key or path of image ids in caption files, such as ``"doc.image_id"``; by
        default the usual ones: ``image_id``, ``image``, ``file_name``, ...
    caption_field : str or list of str
        The column, key or path of captions in result files, such as ``"filtered_resps[0]"``; by
        default the usual ones: ``caption``, ``prediction``, ``text``, ...
    reference_field : str or list of str
        The column, key or path of captions in references; by default the usual ones: ``caption``,
        ``reference``, ...
    split : str or list of str
        The splits of Karpathy's dataset JSON that are scored, such as ``"test"``.
    samples : bool
        Whether there are several captions per image: lists, or entries with the same id. Each
        column then becomes three: ``"CIDEr mean"``, ``"CIDEr best"`` and ``"CIDEr worst"`` of the
        samples of an image. Intervals and tests are over images.
    **options
        Settings that single metrics have, such as ``things``, ``synonyms`` or ``tiger_features``;
        ``vifidel-eval score --help-all`` lists them.

    Returns
    -------
    Run
        The scores, with methods for tables, comparisons and reports.

    Raises
    ------
    MetricUnavailable
        If no metric can be computed here; if only some cannot, they are in `Run.unavailable`.
    VifidelError
        If an input cannot be read, ids do not match, or a metric lacks what it needs.
    TypeError
        If there is no such argument.

    Warns
    -----
    VifidelWarning
        If the scores need attention, or a metric is not available.

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
    settings = Settings(
        objects=objects,
        threshold=threshold,
        categories=categories,
        uncertain=uncertain,
        looked_for=looked_for,
        detector=detector,
        images=images,
        agree=agree,
        counts=counts,
        vectors=vectors,
        trust_pickles=trust_pickles,
        normalize=normalize,
        stop_words=stop_words,
        p=p,
        as_written=as_written,
        weighted=weighted,
        options=own_options(options),
    ).with_references(references is not None)
    selection = Selection(image_ids, allow_subset, people)
    wanted = Wanted(
        id_fields=_in_a_tuple(id_field),
        caption_fields=_in_a_tuple(caption_field),
        reference_fields=_in_a_tuple(reference_field),
        splits=_in_a_tuple(split),
        samples=samples,
    )
    lower = _in_a_tuple(lower_is_better)
    others = scorers or scores or ()
    names = to_compute(None if metrics is None else names, settings, "{}=".format, others)
    inputs = named(systems), references, settings, names, wanted, selection
    with phase(READING, progress):
        planned = plan(*inputs, scorers, scores or {}, lower)
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


def _in_a_tuple(names: Names) -> tuple[str, ...]:
    """Return names in a tuple, where one may stand alone."""
    return (names,) if isinstance(names, str) else tuple(names)


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
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
