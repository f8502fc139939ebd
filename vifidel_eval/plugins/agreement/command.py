"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...commands.options import (
    MetricCommand,
    chosen_metrics,
    metric_options,
    reference_options,
)
from ...commands.paths import CAPTIONS, FILE
from ...commands.printing import Group, show, tell
from ...errors import VifidelError
from ...io.records import Parts, progress_bar
from .command_options import Experiment, experiment_options

if TYPE_CHECKING:
    from ...scorers import Scorer
    from ...scorers.record import Settings
    from .judgements import Choices, Hallucinations, Judged, Ratings
    from .result import Agreement
    from .trials import Trials


@click.group(cls=Group)
def agreement() -> None:
    """Compare metrics with human judgements.

    Each command reads a data set's own files.
    """


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
    help="References where the file has none: COCO captions JSON or another caption file.",
)


class _DataSet(NamedTuple):
    """A data set as a command, which reads it with ``read_NAME`` of a module."""

    name: str
    module: str
    summary: str
    #: A sentence on what it reads, which begins with what the user calls the path.
    files: str
    #: What ``--references`` are by default.
    references: str = "all"
    options: Sequence[Callable[..., Any]] = ()

    @property
    def path(self) -> str:
        """The argument for the path."""
        return self.files.split()[0].lower()


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
        "FOLDER holds 8k_correctness.csv, 8k_throughness.csv, Flickr8k.token.txt, and for the "
        "other sources 30k_*.csv with results_20130124.token, coco_*.csv with "
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
        "hat",
        "json_data_sets",
        "HAT: captions in which people marked what is made up.",
        "FILE is hat.json.",
    ),
)


def _read(data_set: _DataSet, given: dict[str, Any]) -> Choices | Ratings | Hallucinations:
    """Read a data set with what a user gave."""
    from ...captions import read_references

    path, wanted = given.pop(data_set.path), given.pop("wanted", None)
    if wanted is not None and (captions := given.pop("captions")) is not None:
        fields = wanted.id_fields, wanted.reference_fields
        given["references"] = read_references(captions, wanted.splits, *fields)
    module = import_module(f".{data_set.module}", __package__)
    read = getattr(module, f"read_{data_set.name.replace('-', '_')}")
    data: Choices | Ratings | Hallucinations = read(path, **given)
    return data


def _compared(
    data: Choices | Ratings | Hallucinations,
    trials: Trials,
    scorers: dict[str, Scorer],
    experiment: Experiment,
    parts: Parts,
    ties: str,
) -> Agreement:
    """Return how scores agree with judgements, by the experiment that these are for."""
    from .correlation import correlate, views
    from .detection import detect, find_words
    from .forced_choice import forced_choice
    from .judgements import AS_GIVEN, Choices, Ratings

    if isinstance(data, Choices):
        return forced_choice(data, trials, ties)
    if isinstance(data, Ratings):
        total = len(list(trials.columns())) * len(list(views(data)))
        with progress_bar(total, " intervals") as bar:
            return correlate(data, trials, parts, bar.update)
    ranked = [
        one
        for number in trials.references
        if number != AS_GIVEN
        for one in find_words(data, scorers, number, experiment.draws, experiment.seed)
    ]
    return detect(data, trials, ranked)


def _add(data_set: _DataSet) -> None:
    """Add the command of a data set."""

    def command(
        experiment: Experiment,
        metrics: tuple[str, ...] | None,
        settings: Settings,
        **given: Any,
    ) -> None:
        from .figures import check_figure, write_figure
        from .judgements import Hallucinations
        from .other_tools import write_candidates

        ties = given.pop("ties", "half")
        data = _read(data_set, given)
        if isinstance(data, Hallucinations) and len(experiment.references) > 1:
            raise click.UsageError("--references takes one number here, or 'all'.")
        for path in experiment.figure:
            check_figure(path)
        if experiment.write_candidates is not None:
            write_candidates(experiment.write_candidates, data.judged)
            captions = sum(len(one.captions) for one in data.judged)
            show(f"{captions} captions written to {experiment.write_candidates}")
            return
        parts = Parts(experiment.output)
        try:
            trials, scorers = _trials(data.judged, experiment, parts, metrics, settings)
            result = _compared(data, trials, scorers, experiment, parts, ties)
            _deliver(result, experiment)
            drawable = result.findings.get("williams") != []
            for path in experiment.figure if drawable else ():
                write_figure(path, result)
        except KeyboardInterrupt:
            if parts.path is not None and parts.path.exists():
                tell("Interrupted; the same command continues where it stopped.")
            raise
        parts.clear()
        if experiment.figure and not drawable:  # everything else is done
            write_figure(experiment.figure[0], result)  # says what is missing

    for option in reversed(
        [
            agreement.command(
                data_set.name,
                cls=MetricCommand,
                help=f"{data_set.summary}\n\n{data_set.files}",
            ),
            click.argument(data_set.path, type=FILE),
            *data_set.options,
            experiment_options(data_set.references),
            metric_options,
        ]
    ):
        command = option(command)


for _data_set in _DATA_SETS:
    _add(_data_set)


def _trials(
    judged: Sequence[Judged],
    experiment: Experiment,
    parts: Parts,
    metrics: tuple[str, ...] | None,
    settings: Settings,
) -> tuple[Trials, dict[str, Scorer]]:
    """Return the scores of the metrics that were asked for, other tools' included.

    The metrics that could be computed here come with them.
    """
    from ...scorers.registry import build
    from ...scores.harness import together
    from .other_tools import read_scores
    from .trials import run_trials, work

    given = {name: read_scores(Path(path), judged) for name, path in experiment.scores}
    has_references = any(one.references for one in judged)
    settings = replace(settings, references=has_references)
    # Ablations and other tools' scores stand alone, unless --metrics names more.
    alone = experiment.ablation or experiment.scores
    scorers, unavailable = build(chosen_metrics(metrics, settings, not alone), settings)
    scorers |= experiment.ablations(settings)
    numbers = experiment.references if has_references else (0,)
    draws = experiment.draws
    with progress_bar(work(judged, scorers, numbers, draws)) as bar:
        seed = experiment.seed
        trials = run_trials(judged, scorers, numbers, draws, seed, parts, bar.update, unavailable)
    for name, scores in given.items():
        trials = trials.and_given(name, scores)
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
    from ...scores.harness import raise_failures

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
