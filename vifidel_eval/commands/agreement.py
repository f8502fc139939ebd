"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import VifidelError
from ..tables import FORMATS
from .options import FILE, MetricOptions, gathered, metric_options

if TYPE_CHECKING:
    from ..agreement.correlation import Correlations
    from ..agreement.forced_choice import ForcedChoice
    from ..agreement.judgements import Choices, Judged, Ratings
    from ..agreement.parts import Parts
    from ..agreement.trials import References, Trials
    from ..image_ids import ImageId
    from ..tables import Table

_FOLDER = click.argument("folder", type=FILE)


def _numbers(_: click.Context, __: click.Parameter, value: str) -> tuple[References, ...]:
    """Return numbers of references, each once."""
    words = [word.strip() for word in value.split(",")]
    if not all(word == "all" or (word.isascii() and word.isdecimal()) for word in words):
        raise click.BadParameter(f"{value!r} is no list of numbers such as 0,1,5, nor 'all'.")
    return tuple(dict.fromkeys(word if word == "all" else int(word) for word in words))


def _named(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return the names and values of ``NAME=VALUE``."""
    named = []
    for value in values:
        name, _equals, content = value.partition("=")
        if not (name and content):
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}.")
        named.append((name, content))
    if len(dict(named)) < len(named):
        raise click.BadParameter("a name is given twice.")
    return tuple(named)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; one field an option."""

    references: tuple[References, ...]
    draws: int
    seed: int
    scores: tuple[tuple[str, str], ...]
    ablation: tuple[tuple[str, str], ...]
    ablation_vectors: tuple[str, ...]
    write_candidates: Path | None
    figure: tuple[Path, ...]
    output: Path | None
    style: str


def _experiment(references: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of the options that all experiments share."""
    options = (
        click.option(
            "--references",
            callback=_numbers,
            default=references,
            show_default=True,
            help="Numbers of references, apart by commas; 'all' is all there are.",
        ),
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            default=5,
            show_default=True,
            help="How often references are drawn where there are more than that.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Of draws and intervals.",
        ),
        click.option(
            "--scores",
            callback=_named,
            multiple=True,
            metavar="NAME=FILE",
            help="Scores of another tool: what --write-candidates wrote, with a score an entry.",
        ),
        click.option(
            "--ablation",
            callback=_named,
            multiple=True,
            metavar="NAME=OBJECTS",
            help="VIFIDEL with these objects (several files apart by commas: their union), with "
            "counts and by presence. Repeat for other image sides.",
        ),
        click.option(
            "--ablation-vectors",
            multiple=True,
            help="Word vectors of the ablation. Repeat for others.  [default: --vectors]",
        ),
        click.option(
            "--write-candidates",
            type=FILE,
            help="Write the captions to this JSON file, for another tool to score, and end.",
        ),
        click.option(
            "--figure",
            type=FILE,
            multiple=True,
            help="Draw the result into this .png, .svg or .pdf file.",
        ),
        click.option(
            "--output",
            type=FILE,
            help="Write the result to this JSON file; what an interrupted run has finished is kept "
            "beside it, and the same command goes on from there.",
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(FORMATS),
            default="table",
            show_default=True,
            help="How to print the result.",
        ),
    )
    return gathered(Experiment, options, "experiment")


_TIES = click.option(
    "--ties",
    type=click.Choice(["half", "wrong", "right"]),
    default="half",
    show_default=True,
    help="What a pair counts whose captions a metric scores alike.",
)


@click.group()
def agreement() -> None:
    """Compare metrics with human judgements, from the data sets' own files."""


@agreement.command()
@_FOLDER
@click.option(
    "--consensus",
    is_flag=True,
    help="Judge by the triplets of consensus_pascal.mat, not by the direct votes.",
)
@_TIES
@_experiment("0,1,5,48")
@metric_options
def pascal50s(
    folder: Path, consensus: bool, ties: str, experiment: Experiment, options: MetricOptions
) -> None:
    """PASCAL-50S: which of two captions people prefer.

    FOLDER holds pair_pascal.mat and pascal50S.mat.
    """
    from ..agreement.pascal50s import read_pascal50s

    _choose(read_pascal50s(folder, consensus), ties, experiment, options)


@agreement.command()
@_FOLDER
@_TIES
@_experiment("1,5,48")
@metric_options
def abstract50s(folder: Path, ties: str, experiment: Experiment, options: MetricOptions) -> None:
    """Abstract-50S: which of two captions of an abstract scene people prefer.

    FOLDER holds consensus_abstract.mat.
    """
    from ..agreement.abstract50s import read_abstract50s

    _choose(read_abstract50s(folder), ties, experiment, options)


@agreement.command()
@click.argument("file", type=FILE)
@click.option("--captions", type=FILE, help="References where the file has none: COCO captions.")
@_TIES
@_experiment("all")
@metric_options
def distractors(
    file: Path, captions: Path | None, ties: str, experiment: Experiment, options: MetricOptions
) -> None:
    """Correct captions beside distracted ones, kind by kind.

    FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}.
    """
    from ..agreement.distractors import read_distractors
    from ..captions import read_references

    references = None if captions is None else read_references(captions)
    _choose(read_distractors(file, references), ties, experiment, options)


@agreement.command()
@_FOLDER
@_experiment("all")
@metric_options
def flickr8k(folder: Path, experiment: Experiment, options: MetricOptions) -> None:
    """Flickr8k: experts' ratings of captions.

    FOLDER holds ExpertAnnotations.txt and Flickr8k.token.txt.
    """
    from ..agreement.flickr8k import read_flickr8k

    _rate(read_flickr8k(folder), experiment, options)


@agreement.command()
@_FOLDER
@_experiment("all")
@metric_options
def composite(folder: Path, experiment: Experiment, options: MetricOptions) -> None:
    """Composite: ratings of captions of Flickr8k, Flickr30k and COCO.

    FOLDER holds 8k_correctness.csv, 8k_throughness.csv, Flickr8k.token.txt, and for the other
    sources 30k_*.csv with results_20130124.token, coco_*.csv with captions_val2014.json.
    """
    from ..agreement.composite import read_composite

    _rate(read_composite(folder), experiment, options)


def _choose(choices: Choices, ties: str, experiment: Experiment, options: MetricOptions) -> None:
    from ..agreement.figures import write_curves
    from ..agreement.forced_choice import forced_choice

    if _writes_candidates(choices.judged, experiment):
        return
    with _parts(experiment, options) as parts:
        trials = _trials(choices.judged, experiment, options, parts)
        result = forced_choice(choices, trials, ties)
        _deliver(result, [result.table()], experiment)
        for path in experiment.figure:
            write_curves(path, result)


def _rate(ratings: Ratings, experiment: Experiment, options: MetricOptions) -> None:
    from tqdm import tqdm

    from ..agreement.correlation import correlate, views
    from ..agreement.figures import write_matrix

    if _writes_candidates(ratings.judged, experiment):
        return
    with _parts(experiment, options) as parts:
        trials = _trials(ratings.judged, experiment, options, parts)
        columns = sum(len(trial.scores) for trial in trials.trials if trial.draw == 0)
        total = columns * len(list(views(ratings)))
        with tqdm(total=total, unit=" intervals", disable=None, delay=1, leave=False) as bar:
            result = correlate(ratings, trials, parts, bar.update)
        _deliver(result, result.tables(), experiment)
        for path in experiment.figure:
            if not result.matrices:
                raise VifidelError(f"{path}: a matrix needs two metrics; name more --metrics.")
            write_matrix(path, result.matrices[0])


def _writes_candidates(judged: Sequence[Judged], experiment: Experiment) -> bool:
    from ..agreement.other_tools import write_candidates

    if experiment.write_candidates is None:
        return False
    write_candidates(experiment.write_candidates, judged)
    captions = sum(len(one.captions) for one in judged)
    click.echo(f"{captions} captions written to {experiment.write_candidates}")
    return True


@contextmanager
def _parts(experiment: Experiment, options: MetricOptions) -> Iterator[Parts]:
    """Check the outputs; keep the finished parts of an interrupted run, forget complete ones."""
    from ..agreement.figures import check_figure
    from ..agreement.parts import Parts
    from ..files import check_output

    inputs = [*options.files(), *(Path(path) for _, path in experiment.scores)]
    for path in experiment.figure:
        check_figure(path)
    for path in (*experiment.figure, *([experiment.output] if experiment.output else [])):
        check_output(path, inputs)
    parts = Parts(experiment.output)
    try:
        yield parts
    except KeyboardInterrupt:
        if parts.path is not None and parts.path.exists():
            click.echo(
                "Interrupted; the same command goes on after the last finished part.", err=True
            )
        raise
    parts.clear()


def _trials(
    judged: Sequence[Judged], experiment: Experiment, options: MetricOptions, parts: Parts
) -> Trials:
    from tqdm import tqdm

    from ..agreement.ablation import ablations
    from ..agreement.other_tools import read_scores
    from ..agreement.trials import run_trials, work
    from ..annotations import read_objects
    from ..metrics import DEFAULT, build

    has_references = any(one.references for one in judged)
    default: Sequence[str] = DEFAULT if options.objects else DEFAULT[1:]
    if experiment.ablation or experiment.scores:
        default = ()  # these alone, unless --metrics names others
    given = {name: read_scores(Path(path), judged) for name, path in experiment.scores}
    image_of: dict[ImageId, ImageId] = {at: one.image_id for at, one in enumerate(judged)}
    scorers, unavailable = build(
        options.names(default, has_references), options.makers(image_of=image_of)
    )
    if experiment.ablation:
        sides = {
            name: read_objects(
                [read_objects(p, options.threshold, options.categories) for p in paths.split(",")]
            )
            for name, paths in experiment.ablation
        }
        vectors = experiment.ablation_vectors or (options.vectors,)
        scorers |= ablations(sides, vectors, image_of, options.word_settings())
    numbers = experiment.references if has_references else (0,)
    todo = work(judged, scorers, numbers, experiment.draws)
    with tqdm(total=todo, unit=" captions", disable=None, delay=1, leave=False) as bar:
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
        raise VifidelError(
            " ".join(unavailable.values())
            or "no metric can be computed: all of them need references; give --references 1."
        )
    return trials


def _deliver(
    result: ForcedChoice | Correlations, tables: Sequence[Table], experiment: Experiment
) -> None:
    """Print the result and write it to the output."""
    from ..files import write_whole

    document = json.dumps(result.to_json(), allow_nan=False, ensure_ascii=False, indent=1)
    try:
        if experiment.style == "json":
            click.echo(document)
        elif experiment.style == "csv":
            click.echo(result.long_table().render("csv"))
        else:
            click.echo("\n\n".join(table.render(experiment.style) for table in tables))
    finally:
        if experiment.output is not None:
            write_whole(experiment.output, document + "\n")
