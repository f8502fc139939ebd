"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...commands.options import (
    MetricCommand,
    chosen_metrics,
    metric_options,
    record,
    reference_options,
    style_of,
)
from ...commands.paths import CAPTIONS, FILE, NamedFiles, ReadNamed, Stated, SystemFile, Written
from ...commands.paths import OUTPUT as OUTPUT_FILE
from ...commands.printing import Group, counted, show, tell
from ...doors.options import OUTPUT, option
from ...errors import VifidelError
from ...io.records import Parts, progress_bar

if TYPE_CHECKING:
    from ...scorers import Scorer
    from ...words.settings import Settings
    from .judgements import Choices, Hallucinations, Judged, Ratings, References
    from .result import Agreement
    from .trials import Trials


@click.group(
    cls=Group,
    examples=(
        "agreement flickr8k FOLDER",
        "agreement pascal50s FOLDER --references 0,1,5 --metrics VIFIDEL-PRF,CIDEr",
        "agreement thumb FOLDER --output thumb.json",
    ),
)
def agreement() -> None:
    """Compare metrics with human judgements.

    Each command reads a data set's own files.
    """


def _numbers(text: str) -> tuple[References, ...]:
    """Return numbers of references, each once."""
    words = [word.strip() for word in text.split(",")]
    if not all(word == "all" or re.fullmatch("[0-9]{1,6}", word) for word in words):
        raise VifidelError(f"{text!r} is neither a list of numbers such as 0,1,5 nor 'all'.")
    return tuple(dict.fromkeys(word if word == "all" else int(word) for word in words))


_own = partial(option, section="")
_output = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; each field is an option."""

    references: tuple[References, ...] = _own(
        "all",
        "Numbers of references, separated by commas; 'all' takes all.",
        Stated(_numbers),
        metavar="TEXT",
    )
    draws: int = _own(
        5,
        "How often to draw references at random if an image has more than that number.",
        click.IntRange(min=1),
        rare=True,
    )
    seed: int = _output(0, "Seed of draws and intervals.", click.IntRange(min=0), rare=True)
    scores: tuple[SystemFile, ...] = _own(
        (),
        "Scores of another tool, by the ids of --write-candidates; NAME names them.",
        ReadNamed(),
        several=True,
        metavar="[NAME=]FILE",
    )
    lower_is_better: tuple[str, ...] = _own(
        (),
        "A name of --scores for which lower is better; can be repeated.",
        str,
        several=True,
        rare=True,
        metavar="NAME",
    )
    ablation: tuple[tuple[str, str], ...] = _own(
        (),
        "Score VIFIDEL with these objects, by presence and, if the labels have counts, with "
        "counts. Files separated by commas are combined. Repeat for other objects.",
        NamedFiles(),
        several=True,
        rare=True,
        metavar="NAME=OBJECTS",
    )
    ablation_vectors: tuple[str, ...] = _own(
        (),
        "Word vectors of the ablation. Repeat for others.  [default: --vectors]",
        (Path, str),
        several=True,
        rare=True,
    )
    write_candidates: Path | None = _output(
        None,
        "Write the captions to this JSON file for another tool to score, and stop.",
        OUTPUT_FILE,
    )
    figure: tuple[Path, ...] = _output(
        (), "Draw the result into this .png, .svg or .pdf file.", OUTPUT_FILE, several=True
    )
    output: Path | None = _output(
        None,
        "Write the result to this JSON file. After an interruption, the same command continues.",
        Written(".unfinished"),
    )
    style: str = style_of("")

    def __post_init__(self) -> None:
        if len(dict(self.ablation)) < len(self.ablation):
            raise click.BadParameter("a name is given twice.", param_hint="'--ablation'")

    def ablations(self, settings: Settings) -> dict[str, Scorer]:
        """Return VIFIDEL for all objects and vectors, with counts and by presence.

        Objects of which no label has a count above 1, such as a union, have presence only.
        """
        from ...annotations import read_objects
        from ...scorers import Vifidel
        from ...words.word_vectors import load_vectors

        if not self.ablation:
            return {}
        if not settings.counts:
            raise click.UsageError(
                "--ablation scores with counts and by presence; leave --presence out."
            )
        read = settings.threshold, settings.categories, settings.uncertain
        sides = {name: read_objects(paths.split(","), *read) for name, paths in self.ablation}
        sources = self.ablation_vectors or (settings.vectors,)
        vectors = [load_vectors(source, settings.trust_pickles) for source in sources]
        signatures = [known.signature() for known in vectors]
        names = [signature.partition("#")[0] for signature in signatures]
        if len(set(names)) < len(names):  # different files of the same name
            names = signatures
        named = dict(zip(names, vectors, strict=True))
        words = settings.words
        scorers: dict[str, Scorer] = {}
        for (side, objects), counts, (vector, known) in product(
            sides.items(), (True, False), named.items()
        ):
            if counts and all(number == 1 for of in objects.values() for number in of.values()):
                continue
            name = f"VIFIDEL {side} {'counts' if counts else 'presence'}"
            name += f" {vector}" if len(named) > 1 else ""
            scorers[name] = Vifidel(objects, **{**words, "vectors": known, "counts": counts})
        return scorers


_TIES = click.option(
    "--ties",
    type=click.Choice(["half", "wrong", "right"]),
    default="half",
    show_default=True,
    help="How to count a pair if a metric gives both captions the same score.",
)
_CONSENSUS = click.option(
    "--consensus",
    is_flag=True,
    help="Judge by the triplets of consensus_pascal.mat, not by the direct votes.",
)
_CAPTIONS = click.option(
    "--captions",
    type=CAPTIONS,
    help="References, if the file has none: COCO captions JSON or another caption file.",
)


class _DataSet(NamedTuple):
    """A data set as a command, which reads it with ``read_NAME`` of a module."""

    name: str
    module: str
    summary: str
    files: str  #: a sentence on what it reads, which begins with what the user calls the path
    references: str = "all"  #: what ``--references`` are by default
    options: Sequence[Callable[..., Any]] = ()
    #: The option that gives references where the files have none.
    references_from: str = "--references"


_DATA_SETS = (
    _DataSet(
        "pascal50s",
        "pascal50s",
        "PASCAL-50S: which of two captions people prefer.",
        "FOLDER holds pair_pascal.mat and pascal50S.mat.",
        "0,1,5,48",
        (_CONSENSUS, _TIES),
    ),
    _DataSet(
        "abstract50s",
        "pascal50s",
        "Abstract-50S: which of two captions people prefer.",
        "FOLDER holds consensus_abstract.mat.",
        "1,5,48",
        (_TIES,),
    ),
    _DataSet(
        "distractors",
        "json_data_sets",
        "Correct captions against distractors, kind by kind.",
        'FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}.',
        options=(_CAPTIONS, reference_options, _TIES),
        references_from="--captions",
    ),
    _DataSet(
        "flickr8k",
        "flickr8k",
        "Flickr8k: ratings of captions by experts, and by a crowd.",
        "FOLDER holds Flickr8k.token.txt, and ExpertAnnotations.txt, CrowdFlowerAnnotations.txt or "
        "both.",
    ),
    _DataSet(
        "composite",
        "flickr8k",
        "Composite: ratings of captions.",
        "FOLDER holds 8k_correctness.csv, 8k_throughness.csv and Flickr8k.token.txt; for the "
        "other sources, 30k_*.csv with results_20130124.token, and coco_*.csv with "
        "captions_val2014.json.",
    ),
    _DataSet(
        "thumb",
        "json_data_sets",
        "THumB: ratings of captions for precision and recall.",
        "FOLDER holds mscoco_THumB-1.0.jsonl and mscoco_references.json.",
    ),
    _DataSet(
        "nocaps-foil",
        "json_data_sets",
        "nocaps-FOIL: captions with one noun replaced.",
        "FILE is nocaps-val-foil.json.",
    ),
    _DataSet(
        "judgements",
        "judgements",
        "Any file of captions with ratings.",
        "FILE is a table or a list with a caption, its references and ratings in each row; the "
        "files of Polaris, Nebula, LongCap-Arena and Composite need no options.",
        options=(record(f"{__package__}.judgements:Columns", "columns"),),
        references_from="--references-field",
    ),
    _DataSet(
        "hat",
        "json_data_sets",
        "HAT: captions in which people marked what is made up.",
        "FILE is hat.json.",
    ),
)


def _add(data_set: _DataSet) -> None:
    """Add the command of a data set."""
    argument = data_set.files.split()[0].lower()

    def command(
        experiment: Experiment, metrics: tuple[str, ...] | None, settings: Settings, **given: Any
    ) -> None:
        from ...captions import read_references
        from .correlation import correlate, views
        from .detection import detect
        from .forced_choice import forced_choice
        from .judgements import Choices, Hallucinations, Ratings
        from .result import check_figure, write_figure
        from .trials import write_candidates

        ties = {"ties": given.pop("ties")} if "ties" in given else {}
        path, wanted = given.pop(argument), given.pop("wanted", None)
        if wanted is not None and (captions := given.pop("captions")) is not None:
            fields = wanted.id_fields, wanted.reference_fields
            given["references"] = read_references(captions, wanted.splits, *fields)
        module = import_module(f".{data_set.module}", __package__)
        read = getattr(module, f"read_{data_set.name.replace('-', '_')}")
        data: Choices | Ratings | Hallucinations = read(path, **given)
        if isinstance(data, Hallucinations) and len(experiment.references) > 1:
            raise click.UsageError("--references takes one number here, or 'all'.")
        for path in experiment.figure:
            check_figure(path)
        if experiment.write_candidates is not None:
            write_candidates(experiment.write_candidates, data.judged)
            number = sum(len(one.captions) for one in data.judged)
            show(f"{counted(number, 'caption')} written to {experiment.write_candidates}")
            return
        parts = Parts(experiment.output)
        try:
            how = data_set.references_from
            trials, scorers = _trials(data.judged, experiment, parts, metrics, settings, how)
            if isinstance(data, Choices):
                result = forced_choice(data, trials, **ties)
            elif isinstance(data, Ratings):
                total = len(list(trials.columns())) * len(list(views(data)))
                with progress_bar(total, " intervals") as bar:
                    result = correlate(data, trials, parts, bar.update)
            else:
                result = detect(data, trials, scorers)
            _deliver(result, experiment)
        except KeyboardInterrupt:
            if parts.path is not None and parts.path.exists():
                tell("Interrupted; the same command continues where it stopped.")
            raise
        parts.clear()
        for path in experiment.figure:
            write_figure(path, result)

    command = record(Experiment, "experiment", defaults={"references": data_set.references})(
        metric_options(command)
    )
    for one in (*reversed(data_set.options), click.argument(argument, type=FILE)):
        command = one(command)
    help_text = f"{data_set.summary}\n\n{data_set.files}"
    more = ("", " --metrics VIFIDEL-PRF,CIDEr", f" --output {data_set.name}.json")
    agreement.command(
        data_set.name,
        cls=MetricCommand,
        help=help_text,
        examples=[f"agreement {data_set.name} {argument.upper()}{options}" for options in more],
    )(command)


for _data_set in _DATA_SETS:
    _add(_data_set)


def _trials(
    judged: Sequence[Judged],
    experiment: Experiment,
    parts: Parts,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    references_from: str,
) -> tuple[Trials, dict[str, Scorer]]:
    """Return all scores, also those of other tools, and the metrics that could be computed."""
    from ...scorers.registry import build
    from ...scores.systems import together
    from .trials import read_scores, run_trials, work

    given = [read_scores(one.path, judged, one.name or "") for one in experiment.scores]
    has_references = any(one.references for one in judged)
    settings = replace(settings, references=has_references)
    # Ablations and other tools' scores stand alone, unless --metrics names more.
    alone = experiment.ablation or experiment.scores
    names = chosen_metrics(metrics, settings, not alone, references=references_from)
    scorers, unavailable = build(names, settings)
    ablations = experiment.ablations(settings)
    if settings.as_written:
        ablations = {name: scorer.as_written() for name, scorer in ablations.items()}
    scorers |= ablations
    numbers = experiment.references if has_references else (0,)
    draws, seed = experiment.draws, experiment.seed
    with progress_bar(work(judged, scorers, numbers, draws)) as bar:
        trials = run_trials(judged, scorers, numbers, draws, seed, parts, bar.update, unavailable)
    trials = trials.and_given(given, experiment.lower_is_better)
    if not trials.scores:
        if trials.unavailable:
            raise together(trials.unavailable.values())
        raise VifidelError(
            "no metric can be computed: all of them need references; try --references 1."
        )
    return trials, {name: s for name, s in scorers.items() if name not in trials.unavailable}


def _deliver(result: Agreement, experiment: Experiment) -> None:
    """Print the result and write it to the output; then say what broke in a metric."""
    from ...io.files import json_text, write_whole
    from ...scores.systems import raise_failures

    document = json_text(result.to_json())
    if experiment.style == "json":
        text = document
    else:
        tables = [result.tidy()] if experiment.style == "csv" else result.tables()
        text = "\n\n".join(table.render(experiment.style) for table in tables)
    try:
        show(text)
        if experiment.style == "csv":  # the tables say it themselves
            tell("\n".join(result.notes()))
    finally:
        if experiment.output is not None:
            write_whole(experiment.output, document + "\n")
    raise_failures(result.trials.unavailable)
