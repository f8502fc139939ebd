"""An experiment: what a user chose for it, its scores, and its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import chosen_metrics, style_of
from ...commands.paths import OUTPUT as OUTPUT_FILE
from ...commands.paths import ReadByName, ReadNamed, Stated, SystemFile, Written
from ...commands.printing import show, tell
from ...doors.arguments import OUTPUT, option
from ...errors import VifidelError
from ...io.outputs import Parts
from ...io.progress import phase, progress_bar
from ...show.layout import line_width

if TYPE_CHECKING:
    from ...scorers import Scorer
    from ...words.settings import Settings
    from .judgements import Choices, Hallucinations, Judged, Ratings, References
    from .result import Agreement
    from .spans import Marked
    from .trials import Trials


def _numbers(text: str) -> tuple[References, ...]:
    """Return numbers of references, each once."""
    words = [word.strip() for word in text.split(",")]
    if not all(word == "all" or re.fullmatch("[0-9]{1,6}", word) for word in words):
        raise VifidelError(f"{text!r} is neither a list of numbers such as 0,1,5 nor 'all'.")
    return tuple(dict.fromkeys(word if word == "all" else int(word) for word in words))


class NamedFiles(ReadByName):
    """``NAME=FILE``, as a pair."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name and the text behind it."""
        if isinstance(value, tuple):
            return value
        name, _, content = super().convert(value, param, ctx).partition("=")
        if not (name and content):
            self.fail(f"{value!r} is not {param.metavar if param else 'NAME=FILE'}.", param, ctx)
        return name, content


_own = partial(option, section="")
_output = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; each field is an option."""

    references: tuple[References, ...] = _own(
        "all",
        "Numbers of references to use, separated by commas, or 'all'.",
        Stated(_numbers),
        metavar="TEXT",
    )
    draws: int = _own(
        5,
        "How often to draw references at random for images that have more than needed.",
        click.IntRange(min=1),
        rare=True,
    )
    seed: int = _output(0, "Random seed for draws and intervals.", click.IntRange(min=0), rare=True)
    scores: tuple[SystemFile, ...] = _own(
        (),
        "Scores from another tool, with the ids of --write-candidates. NAME is what tables call "
        "them.",
        ReadNamed(),
        several=True,
        metavar="[NAME=]FILE",
    )
    lower_is_better: tuple[str, ...] = _own(
        (),
        "A name from --scores where lower is better (repeatable).",
        str,
        several=True,
        rare=True,
        metavar="NAME",
    )
    ablation: tuple[tuple[str, str], ...] = _own(
        (),
        "Score VIFIDEL with these objects, by presence and, if labels have counts, by counts. "
        "Comma-separated files are combined; a label keeps its larger count. Repeatable.",
        NamedFiles(),
        several=True,
        rare=True,
        metavar="NAME=OBJECTS",
    )
    ablation_vectors: tuple[str, ...] = _own(
        (),
        "Word vectors for the ablation (repeatable).  [default: --vectors]",
        (Path, str),
        several=True,
        rare=True,
    )
    combinations: bool = _own(
        False,
        "Also find the best average of metrics, each scaled to [0, 1], cross-validated by image.",
        bool,
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
    figure_by_rating: tuple[Path, ...] = _output(
        (),
        "Draw each metric's scores by human rating into this file.",
        OUTPUT_FILE,
        several=True,
        rare=True,
    )
    figure_of_metrics: tuple[Path, ...] = _output(
        (),
        "Draw how strongly metrics correlate with each other into this file.",
        OUTPUT_FILE,
        several=True,
        rare=True,
    )
    output: Path | None = _output(
        None, "Write all as JSON; an interrupted run continues.", Written(".unfinished")
    )
    full: bool = _output(False, "Show every table, and whole signatures.", bool)
    style: str = style_of("")

    def __post_init__(self) -> None:
        if len(dict(self.ablation)) < len(self.ablation):
            raise click.BadParameter("a name is given twice.", param_hint="'--ablation'")

    def figures(self) -> tuple[Path, ...]:
        """Return the files to draw into."""
        return self.figure + self.figure_by_rating + self.figure_of_metrics

    def ablations(self, settings: Settings) -> dict[str, Scorer]:
        """Return VIFIDEL for all objects and vectors, with counts and by presence.

        Of labels in several files the largest count counts; objects of which none is above 1 have
        presence only.
        """
        from ...annotations import read_objects, union
        from ...scorers import Vifidel
        from ...words.word_vectors import load_vectors

        if not self.ablation:
            return {}
        if not settings.counts:
            raise click.UsageError(
                "--ablation scores with counts and by presence; leave --presence out."
            )
        of_settings = settings.threshold, settings.categories, settings.uncertain
        sides = {
            name: union([read_objects(path, *of_settings) for path in paths.split(",")], True)
            for name, paths in self.ablation
        }
        sources = self.ablation_vectors or (settings.vectors,)
        vectors = [load_vectors(source, settings.trust_pickles) for source in sources]
        signatures = [loaded.signature() for loaded in vectors]
        names = [signature.partition("#")[0] for signature in signatures]
        if len(set(names)) < len(names):  # different files of the same name
            names = signatures
        vectors_by_name = dict(zip(names, vectors, strict=True))
        words = settings.words
        scorers: dict[str, Scorer] = {}
        for (side, objects), counts, (vector, loaded) in product(
            sides.items(), (True, False), vectors_by_name.items()
        ):
            numbers = {number for labels in objects.values() for number in labels.values()}
            if counts and numbers <= {1}:
                continue
            name = f"VIFIDEL {side} {'counts' if counts else 'presence'}"
            name += f" {vector}" if len(vectors_by_name) > 1 else ""
            scorers[name] = Vifidel(objects, **{**words, "vectors": loaded, "counts": counts})
        return scorers


def run_experiment(
    data: Choices | Ratings | Hallucinations | Marked,
    experiment: Experiment,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    references_from: str,
    ties: str,
    deliver: Callable[[Agreement, Experiment], None],
) -> None:
    """Run an experiment on a data set; deliver its result, and draw it."""
    from .figures import write_figure, write_metric_correlations, write_scores_by_rating
    from .judgements import Ratings
    from .spans import Marked

    parts = Parts(experiment.output)
    try:
        if isinstance(data, Marked):
            result = _compare_marks(data, experiment, metrics, settings)
        else:
            result = _compare_scores(
                data, experiment, parts, metrics, settings, references_from, ties
            )
        deliver(result, experiment)
    except KeyboardInterrupt:
        if parts.path is not None and parts.path.exists():
            tell("Interrupted; the same command continues where it stopped.")
        raise
    parts.clear()
    with phase("Drawing figures"):
        for path in experiment.figure:
            write_figure(path, result)
        if isinstance(data, Ratings):
            for path in experiment.figure_by_rating:
                write_scores_by_rating(path, result.trials, data)
        if not isinstance(data, Marked):
            for path in experiment.figure_of_metrics:
                write_metric_correlations(path, result.trials, data)


def _compare_scores(
    data: Choices | Ratings | Hallucinations,
    experiment: Experiment,
    parts: Parts,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    references_from: str,
    ties: str,
) -> Agreement:
    """Compare scores with judgements."""
    from .combinations import with_combinations
    from .correlation import correlate, views
    from .detection import detect
    from .forced_choice import forced_choice
    from .judgements import Choices, Hallucinations
    from .systems import with_systems

    trials, scorers = _scored(data.judged, experiment, parts, metrics, settings, references_from)
    if isinstance(data, Hallucinations):
        return detect(data, trials, scorers)
    if isinstance(data, Choices):
        result = forced_choice(data, trials, ties)
    else:
        total = len(list(trials.columns())) * len(list(views(data)))
        with progress_bar(total, " intervals") as bar:
            result = correlate(data, trials, bar.update)
    result = with_systems(result, data)
    if not experiment.combinations:
        return result
    with phase("Comparing combinations"):
        return with_combinations(result, data)


def _compare_marks(
    data: Marked, experiment: Experiment, metrics: tuple[str, ...] | None, settings: Settings
) -> Agreement:
    """Compare the spans that metrics and other tools mark with people's."""
    from ...run.reading import with_labels
    from ...scorers.registry import build
    from .judgements import drawn
    from .spans import compare_spans, read_tool_spans, spans_by
    from .trials import Trials

    tools = {
        file.name or file.path.stem: read_tool_spans(file.path, data) for file in experiment.scores
    }
    [number] = experiment.references
    references = drawn(data.judged, number, experiment.seed, 0)
    settings = replace(settings, references=any(references))
    default = None if tools else ("VIFIDEL-H",)
    names = chosen_metrics(metrics or default, settings, by_default=False)
    scorers, unavailable = build(names, with_labels(settings))
    with progress_bar(len(scorers) * len(data.judged)) as bar:
        scorers = {name: scorer.as_written() for name, scorer in scorers.items()}
        for name, scorer in scorers.items():
            tools[name] = spans_by(scorer, data.judged, references, bar.update)
    if len(tools) < len(experiment.scores) + len(scorers):
        raise VifidelError("two files of --scores have the same name; write NAME=FILE.")
    images = [judged.image_id for judged in data.judged]
    signatures = {name: scorer.signature(images) for name, scorer in scorers.items()}
    trials = Trials(
        experiment.seed, references=[number], signatures=signatures, unavailable=unavailable
    )
    return compare_spans(data, tools, trials)


def _scored(
    judged: Sequence[Judged],
    experiment: Experiment,
    parts: Parts,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    references_from: str,
) -> tuple[Trials, dict[str, Scorer]]:
    """Return all scores, also those of other tools, and the metrics that could be computed."""
    from ...run.reading import with_labels
    from ...scorers.registry import build
    from ...scores.systems import together
    from .trials import read_scores, run_trials, work

    of_tools = [read_scores(file.path, judged, file.name or "") for file in experiment.scores]
    has_references = any(captions.references for captions in judged)
    settings = replace(settings, references=has_references)
    # Ablations and other tools' scores stand alone, unless --metrics names more.
    alone = experiment.ablation or experiment.scores
    names = chosen_metrics(metrics, settings, not alone, references=references_from)
    scorers, unavailable = build(names, with_labels(settings))
    ablations = experiment.ablations(settings)
    if settings.as_written:
        ablations = {name: scorer.as_written() for name, scorer in ablations.items()}
    scorers |= ablations
    numbers = experiment.references if has_references else (0,)
    draws, seed = experiment.draws, experiment.seed
    with progress_bar(work(judged, scorers, numbers, draws)) as bar:
        trials = run_trials(judged, scorers, numbers, draws, seed, parts, bar.update, unavailable)
    trials = trials.with_tool_scores(of_tools, experiment.lower_is_better)
    if not trials.scores:
        if trials.unavailable:
            raise together(trials.unavailable.values())
        raise VifidelError(
            "no metric can be computed: all of them need references; try --references 1."
        )
    return trials, {name: s for name, s in scorers.items() if name not in trials.unavailable}


def print_result(result: Agreement, experiment: Experiment) -> None:
    """Print the result and write it to the output; then say what broke in a metric."""
    from ...io.files import json_text, write_whole
    from ...scores.systems import raise_failures

    document = json_text(result.to_json())
    if experiment.style == "json":
        text = document
    elif experiment.style == "table":
        text = result.screen(line_width(), experiment.full)
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
