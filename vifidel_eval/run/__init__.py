"""One entry for Python: `evaluate` scores, `load` reads what was scored; both return a `Run`."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from ..annotations.categories import CategorySource, Declared
from ..annotations.labels import AttributeSource
from ..captions.fields import CaptionFields, Ids, Names, Selection
from ..doors.arguments import check_switches, in_a_tuple, name_wrong_argument, options_of
from ..errors import VifidelError, VifidelWarning, warn
from ..io.progress import is_seen, phase, progress_bar
from ..scorers.registry import METRICS, Metrics, named_metrics, parse, to_compute
from ..scorers.word_vectors import Objects
from ..scores.run_warnings import warn_of_scores
from ..scores.samples import floor_of, score_samples, signed
from ..scores.scores_file import read_scores
from ..scores.systems import WORDS, score_aligned, together
from ..words.content_words import STOP_WORDS
from ..words.settings import Settings
from ..words.word_vectors import VectorSource
from .plan import Plan, plan
from .reading import READING, References, Request, Systems, by_name
from .run import Run

__all__ = ["Run", "evaluate", "load"]

# What the command calls some arguments.
_OF_THE_COMMAND = {
    **{
        option.off.lstrip("-").replace("-", "_"): f"{name}=False"
        for name, option in options_of(Settings).items()
        if option.off
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
    attributes: AttributeSource = None,
    detector: str | PathLike[str] | None = None,
    images: Any = None,
    agree: bool = False,
    counts: bool = True,
    vectors: VectorSource = None,
    trust_pickles: bool = False,
    normalize: bool = True,
    stop_words: Collection[str] = STOP_WORDS,
    p: int | None = None,
    paper: bool = False,
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
    attributes : mapping, path, or list of paths, optional
        Attributes of objects and labels of scenes, such as ``{1: ["red car", "sunny"]}``, as
        `vifidel_eval.annotations.read_objects` takes them.
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
    paper : bool
        Whether all is as in the papers of VIFIDEL and WMD: raw `vectors`, which are Google News',
        and gensim's whole stop list.
    as_written : bool
        Whether answers are scored as they are written, with reasoning, announcements and refusals.
        By default these are left out and counted; docs/captions.md has the rule.
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
    check_switches(allow_subset=allow_subset, people=people, samples=samples)
    names, scorers = named_metrics(metrics)
    settings = Settings(
        objects=objects,
        threshold=threshold,
        categories=categories,
        uncertain=uncertain,
        looked_for=looked_for,
        attributes=attributes,
        detector=detector,
        images=images,
        agree=agree,
        counts=counts,
        vectors=vectors,
        trust_pickles=trust_pickles,
        normalize=normalize,
        stop_words=stop_words,
        p=p,
        paper=paper,
        as_written=as_written,
        weighted=weighted,
        options=own_options(options),
    ).with_references(references is not None)
    others = scorers or scores or ()
    request = Request(
        by_name(systems),
        references,
        settings,
        to_compute(None if metrics is None else names, settings, "{}=".format, others),
        CaptionFields(
            id_fields=in_a_tuple(id_field),
            caption_fields=in_a_tuple(caption_field),
            reference_fields=in_a_tuple(reference_field),
            splits=in_a_tuple(split),
            samples=samples,
        ),
        Selection(image_ids, allow_subset, people),
        scorers=scorers,
        scores=scores or {},
        lower_is_better=in_a_tuple(lower_is_better),
    )
    with phase(READING, progress):
        planned = plan(request)
    run = score(planned, progress)
    for name, why in run.detail.unavailable.items():
        warn(f"{name} is not available: {why}")
    return run


def score(planned: Plan, progress: bool | None = None) -> Run:
    """Score what was planned, with a progress bar as `evaluate` shows it."""
    aligned, scorers = planned.aligned, planned.scorers
    has_samples = aligned.has_samples
    work = sum(len(system.captions) for system in aligned.systems) * len(scorers)
    on_progress: Callable[[int], object] | None = None
    on_metric: Callable[[str], object] | None = None
    with ExitStack() as watched:
        if is_seen(progress):
            bar = watched.enter_context(progress_bar(work, shown=progress))
            # The name of a metric shows when the bar next moves.
            on_progress, on_metric = bar.update, partial(bar.set_description_str, refresh=False)
        score_all = score_samples if has_samples else score_aligned
        scores = score_all(
            aligned,
            scorers,
            on_progress=on_progress,
            unavailable=planned.unavailable,
            on_metric=on_metric,
        )
        if not has_samples:  # else they were warned of one by one
            warn_of_scores(scores, aligned, scorers)
    if scores.unavailable:
        lengths = {name for name, metric in planned.columns.items() if metric == WORDS}
        if scores.signatures.keys() == lengths:
            raise together(scores.unavailable.values())
    if aligned.people is not None:
        scores = signed(scores, aligned.people)
    elif not has_samples:
        rating = {name: scorer for name, scorer in scorers.items() if scorer.rates_inventions}
        if rating:
            with phase("Scoring what people make up", progress):
                scores = replace(scores, people=floor_of(aligned, rating))
    return Run(replace(scores, uncaptioned=aligned.uncaptioned, inputs=planned.inputs), planned)


@name_wrong_argument
def load(path: str | PathLike[str]) -> Run:
    """Return the run that `Run.save` or ``score --output`` wrote.

    Its `Run.scores` equal those of the saved run, bit for bit. The scores of images have ten
    significant digits, which are equal on every machine; counts, signatures and, if one was saved,
    the comparison are those of the file. Captions, references and objects are not in it:
    `Run.report`, `Run.inventions` and others read them again from the files that the run was made
    from, and name the files that are missing or have changed.

    Raises
    ------
    VifidelError
        If the file cannot be read, is not such a file, is damaged, or was written by a newer
        version.
    """
    with phase(f"Reading {path}"):
        scores, comparisons = read_scores(path)
    return Run(scores, None, comparisons, str(path), _plan_again=_plan_again)


def _plan_again(arguments: Mapping[str, Any]) -> Plan:
    """Return the plan of a loaded run, made from the arguments in its file."""
    try:
        values = {**arguments}
        settings = {**values.pop("settings")}
        options = own_options(settings.pop("options", {}))
        # Imports the metrics of plug-ins and other packages.
        names = [name for text in values.pop("metrics") for name in parse(text)]
        references = values.pop("references")
        selected = [f.name for f in fields(Selection) if f.name in values]
        request = Request(
            values.pop("systems"),
            references,
            Settings(**settings, references=references is not None, options=options),
            names,
            CaptionFields(**values.pop("wanted")),
            Selection(**{at: values.pop(at) for at in selected}),
            **values,
        )
    except (AttributeError, KeyError, TypeError) as problem:
        raise VifidelError(
            f"what the scores were computed with is unknown here ({problem}): evaluate again."
        ) from None
    with warnings.catch_warnings():
        # Warnings of the inputs were given when they were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        return plan(request)


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each option that metrics have of their own, given or by default."""
    if not options.keys() <= {option.name for option in METRICS.options()}:
        METRICS.load()
    options_of_metrics = {option.name: option for option in METRICS.options()}
    values = {name: option.default for name, option in options_of_metrics.items()}
    for name, value in options.items():
        if name not in options_of_metrics:
            arguments = [*inspect.signature(evaluate).parameters, *options_of_metrics]
            close = difflib.get_close_matches(name, [a for a in arguments if a != "options"], n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            if name in _OF_THE_COMMAND:
                meant = f" Use {_OF_THE_COMMAND[name]}."
            raise TypeError(f"evaluate() has no argument {name!r}.{meant}")
        is_path = options_of_metrics[name].kind is Path and isinstance(value, str)
        values[name] = Path(value) if is_path else value
    return values
