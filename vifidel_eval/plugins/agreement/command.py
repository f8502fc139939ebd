"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from ...io.progress import progress_bar
from .command_options import Experiment, experiment_options

if TYPE_CHECKING:
    from ...captions.fields import Wanted
    from ...io.unfinished import Parts
    from ...scorers import Scorer
    from ...scorers.record import Settings
    from .judgements import Choices, Hallucinations, Judged, Ratings
    from .result import Agreement
    from .trials import Trials

_FOLDER = click.argument("folder", type=FILE)


_TIES = click.option(
    "--ties",
    type=click.Choice(["half", "wrong", "right"]),
    default="half",
    show_default=True,
    help="How to count a pair if a metric gives both captions the same score.",
)


@click.group(cls=Group)
def agreement() -> None:
    """Compare metrics with human judgements.

    Each command reads a data set's own files.
    """


@agreement.command(cls=MetricCommand)
@_FOLDER
@click.option(
    "--consensus",
    is_flag=True,
    help="Judge by the triplets of consensus_pascal.mat, not by the direct votes.",
)
@_TIES
@experiment_options("0,1,5,48")
@metric_options
def pascal50s(
    folder: Path, consensus: bool, ties: str, experiment: Experiment, **chosen: Any
) -> None:
    """PASCAL-50S: which of two captions people prefer.

    FOLDER holds pair_pascal.mat and pascal50S.mat.
    """
    from .pascal50s import read_pascal50s

    _choose(read_pascal50s(folder, consensus), ties, experiment, **chosen)


@agreement.command(cls=MetricCommand)
@_FOLDER
@_TIES
@experiment_options("1,5,48")
@metric_options
def abstract50s(folder: Path, ties: str, experiment: Experiment, **chosen: Any) -> None:
    """Abstract-50S: which of two captions people prefer.

    FOLDER holds consensus_abstract.mat.
    """
    from .abstract50s import read_abstract50s

    _choose(read_abstract50s(folder), ties, experiment, **chosen)


@agreement.command(cls=MetricCommand)
@click.argument("file", type=FILE)
@click.option(
    "--captions",
    type=CAPTIONS,
    help="References where the file has none: COCO captions JSON or another caption file.",
)
@reference_options
@_TIES
@experiment_options("all")
@metric_options
def distractors(
    file: Path,
    captions: Path | None,
    wanted: Wanted,
    ties: str,
    experiment: Experiment,
    **chosen: Any,
) -> None:
    """Correct captions against distractors, kind by kind.

    FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}.
    """
    from ...captions import read_references
    from .distractors import read_distractors

    references = None
    if captions is not None:
        references = read_references(
            captions, wanted.splits, wanted.id_fields, wanted.reference_fields
        )
    _choose(read_distractors(file, references), ties, experiment, **chosen)


@agreement.command(cls=MetricCommand)
@_FOLDER
@experiment_options("all")
@metric_options
def flickr8k(folder: Path, experiment: Experiment, **chosen: Any) -> None:
    """Flickr8k: ratings of captions by experts, and by a crowd.

    FOLDER holds Flickr8k.token.txt, and ExpertAnnotations.txt, CrowdFlowerAnnotations.txt or both.
    """
    from .flickr8k import read_flickr8k

    _rate(read_flickr8k(folder), experiment, **chosen)


@agreement.command(cls=MetricCommand)
@_FOLDER
@experiment_options("all")
@metric_options
def composite(folder: Path, experiment: Experiment, **chosen: Any) -> None:
    """Composite: ratings of captions.

    FOLDER holds 8k_correctness.csv, 8k_throughness.csv, Flickr8k.token.txt, and for the other
    sources 30k_*.csv with results_20130124.token, coco_*.csv with captions_val2014.json.
    """
    from .composite import read_composite

    _rate(read_composite(folder), experiment, **chosen)


@agreement.command(cls=MetricCommand)
@_FOLDER
@experiment_options("all")
@metric_options
def thumb(folder: Path, experiment: Experiment, **chosen: Any) -> None:
    """THumB: ratings of captions for precision and recall.

    FOLDER holds mscoco_THumB-1.0.jsonl and mscoco_references.json.
    """
    from .thumb import read_thumb

    _rate(read_thumb(folder), experiment, **chosen)


@agreement.command("nocaps-foil", cls=MetricCommand)
@click.argument("file", type=FILE)
@experiment_options("all")
@metric_options
def nocaps_foil(file: Path, experiment: Experiment, **chosen: Any) -> None:
    """nocaps-FOIL: captions with one noun replaced.

    FILE is nocaps-val-foil.json.
    """
    from .nocaps_foil import read_nocaps_foil

    _find(read_nocaps_foil(file), experiment, **chosen)


@agreement.command(cls=MetricCommand)
@click.argument("file", type=FILE)
@experiment_options("all")
@metric_options
def hat(file: Path, experiment: Experiment, **chosen: Any) -> None:
    """HAT: captions in which people marked what is made up.

    FILE is hat.json.
    """
    from .hat import read_hat

    _find(read_hat(file), experiment, **chosen)


def _choose(
    choices: Choices,
    ties: str,
    experiment: Experiment,
    **chosen: Any,
) -> None:
    from .figures import write_curves
    from .forced_choice import forced_choice

    experiment.check()
    if experiment.wrote_candidates(choices.judged):
        return
    with experiment.parts() as parts:
        trials, _ = _trials(choices.judged, experiment, parts, **chosen)
        result = forced_choice(choices, trials, ties)
        _deliver(result, experiment, trials)
        for path in experiment.figure:
            write_curves(path, result)


def _rate(ratings: Ratings, experiment: Experiment, **chosen: Any) -> None:
    from .correlation import correlate, views
    from .figures import write_matrices

    experiment.check()
    if experiment.wrote_candidates(ratings.judged):
        return
    with experiment.parts() as parts:
        trials, _ = _trials(ratings.judged, experiment, parts, **chosen)
        columns = sum(len(trial.scores) for trial in trials.trials if trial.draw == 0)
        total = columns * len(list(views(ratings)))
        with progress_bar(total, " intervals") as bar:
            result = correlate(ratings, trials, parts, bar.update)
        _deliver(result, experiment, trials)
        matrices = result.findings["williams"]
        for path in experiment.figure if matrices else ():
            write_matrices(path, matrices)
    if experiment.figure and not matrices:  # everything else is done
        raise VifidelError(
            f"{experiment.figure[0]}: a matrix needs two metrics; name more --metrics."
        )


def _find(data: Hallucinations, experiment: Experiment, **chosen: Any) -> None:
    from .detection import detect
    from .draws import AS_GIVEN
    from .figures import write_intervals
    from .localization import find_words

    if len(experiment.references) > 1:
        raise click.UsageError("--references takes one number here, or 'all'.")
    experiment.check()
    if experiment.wrote_candidates(data.judged):
        return
    with experiment.parts() as parts:
        trials, scorers = _trials(data.judged, experiment, parts, **chosen)
        found = [
            one
            for number in trials.numbers()
            if number != AS_GIVEN
            for one in find_words(data, scorers, number, experiment.draws, experiment.seed)
        ]
        result = detect(data, trials, found)
        _deliver(result, experiment, trials)
        for path in experiment.figure:
            write_intervals(path, result)


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
    todo = work(judged, scorers, numbers, experiment.draws)
    with progress_bar(todo) as bar:
        trials = run_trials(
            judged,
            scorers,
            numbers,
            experiment.draws,
            experiment.seed,
            parts,
            bar.update,
            unavailable,
        )
    for name, scores in given.items():
        trials = trials.and_given(name, scores)
    if not trials.trials:
        if trials.unavailable:
            raise together(trials.unavailable.values())
        raise VifidelError(
            "no metric can be computed: all of them need references; try --references 1."
        )
    available = {name: s for name, s in scorers.items() if name not in trials.unavailable}
    return trials, available


def _deliver(result: Agreement, experiment: Experiment, trials: Trials) -> None:
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
    raise_failures(trials.unavailable)
