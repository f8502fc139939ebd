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
from ...io.records import progress_bar
from .command_options import Experiment, experiment_options

if TYPE_CHECKING:
    from ...captions.fields import Wanted
    from ...io.records import Parts
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


class _Scored(NamedTuple):
    """What an experiment is made from, beside the judgements."""

    trials: Trials
    scorers: dict[str, Scorer]
    chosen: Experiment
    parts: Parts


def _choose(choices: Choices, scored: _Scored, ties: str) -> Agreement:
    from .forced_choice import forced_choice

    return forced_choice(choices, scored.trials, ties)


def _rate(ratings: Ratings, scored: _Scored) -> Agreement:
    from .correlation import correlate, views

    total = len(list(scored.trials.columns())) * len(list(views(ratings)))
    with progress_bar(total, " intervals") as bar:
        return correlate(ratings, scored.trials, scored.parts, bar.update)


def _find(data: Hallucinations, scored: _Scored) -> Agreement:
    from .detection import detect, find_words
    from .judgements import AS_GIVEN

    trials, scorers, chosen, _ = scored
    ranked = [
        one
        for number in trials.references
        if number != AS_GIVEN
        for one in find_words(data, scorers, number, chosen.draws, chosen.seed)
    ]
    return detect(data, trials, ranked)


def read_distracted(file: Path, captions: Path | None, wanted: Wanted) -> Choices:
    """Read the data set of ``distractors``, with references of a caption file."""
    from ...captions import read_references
    from .json_data_sets import read_distractors

    references = None
    if captions is not None:
        references = read_references(
            captions, wanted.splits, wanted.id_fields, wanted.reference_fields
        )
    return read_distractors(file, references)


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
    """A command: a data set, and the experiment for its judgements."""

    name: str
    help: str
    #: What the user calls the path.
    path: str
    #: ``module.function`` that takes the path and the values of `options`.
    reader: str
    experiment: Callable[..., Agreement]
    #: What ``--references`` are by default.
    references: str = "all"
    options: Sequence[Callable[..., Any]] = ()

    def read(self, path: Path, **given: Any) -> Any:
        """Read the judgements."""
        module, function = self.reader.split(".")
        return getattr(import_module(f".{module}", __package__), function)(path, **given)


_DATA_SETS = (
    _DataSet(
        "pascal50s",
        "PASCAL-50S: which of two captions people prefer.\n\n"
        "FOLDER holds pair_pascal.mat and pascal50S.mat.",
        "folder",
        "pascal50s.read_pascal50s",
        _choose,
        "0,1,5,48",
        (_CONSENSUS, _TIES),
    ),
    _DataSet(
        "abstract50s",
        "Abstract-50S: which of two captions people prefer.\n\n"
        "FOLDER holds consensus_abstract.mat.",
        "folder",
        "pascal50s.read_abstract50s",
        _choose,
        "1,5,48",
        (_TIES,),
    ),
    _DataSet(
        "distractors",
        "Correct captions against distractors, kind by kind.\n\n"
        'FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}.',
        "file",
        "command.read_distracted",
        _choose,
        options=(_CAPTIONS, reference_options, _TIES),
    ),
    _DataSet(
        "flickr8k",
        "Flickr8k: ratings of captions by experts, and by a crowd.\n\n"
        "FOLDER holds Flickr8k.token.txt, and ExpertAnnotations.txt, CrowdFlowerAnnotations.txt or "
        "both.",
        "folder",
        "flickr8k.read_flickr8k",
        _rate,
    ),
    _DataSet(
        "composite",
        "Composite: ratings of captions.\n\n"
        "FOLDER holds 8k_correctness.csv, 8k_throughness.csv, Flickr8k.token.txt, and for the "
        "other sources 30k_*.csv with results_20130124.token, coco_*.csv with "
        "captions_val2014.json.",
        "folder",
        "flickr8k.read_composite",
        _rate,
    ),
    _DataSet(
        "thumb",
        "THumB: ratings of captions for precision and recall.\n\n"
        "FOLDER holds mscoco_THumB-1.0.jsonl and mscoco_references.json.",
        "folder",
        "json_data_sets.read_thumb",
        _rate,
    ),
    _DataSet(
        "nocaps-foil",
        "nocaps-FOIL: captions with one noun replaced.\n\nFILE is nocaps-val-foil.json.",
        "file",
        "json_data_sets.read_nocaps_foil",
        _find,
    ),
    _DataSet(
        "hat",
        "HAT: captions in which people marked what is made up.\n\nFILE is hat.json.",
        "file",
        "json_data_sets.read_hat",
        _find,
    ),
)


def _add(data_set: _DataSet) -> None:
    """Add the command of a data set."""

    def command(
        experiment: Experiment,
        metrics: tuple[str, ...] | None,
        settings: Settings,
        **given: Any,
    ) -> None:
        ties = {name: given.pop(name) for name in ("ties",) if name in given}
        data = data_set.read(given.pop(data_set.path), **given)
        if data_set.experiment is _find and len(experiment.references) > 1:
            raise click.UsageError("--references takes one number here, or 'all'.")
        experiment.check()
        if experiment.wrote_candidates(data.judged):
            return
        from .figures import write_figure

        with experiment.parts() as parts:
            trials, scorers = _trials(data.judged, experiment, parts, metrics, settings)
            scored = _Scored(trials, scorers, experiment, parts)
            result = data_set.experiment(data, scored, **ties)
            _deliver(result, experiment)
            drawable = result.findings.get("williams") != []
            for path in experiment.figure if drawable else ():
                write_figure(path, result)
        if experiment.figure and not drawable:  # everything else is done
            write_figure(experiment.figure[0], result)  # says what is missing

    for option in reversed(
        [
            agreement.command(data_set.name, cls=MetricCommand, help=data_set.help),
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
