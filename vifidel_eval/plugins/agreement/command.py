"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import (
    METRIC_NAMES,
    Command,
    MetricCommand,
    metric_options,
    record,
    reference_options,
)
from ...commands.paths import FILE
from ...commands.printing import Group, counted, show
from ...errors import VifidelError
from ...io.progress import phase
from ...show.layout import line_width, printed
from .data_sets import DATA_SETS, DataSet, references_option
from .experiment import Experiment, print_result, run_experiment

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from ...words.settings import Settings
    from .published import Published
    from .result import Agreement


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


def _add(data_set: DataSet) -> None:
    """Add the command of a data set."""
    argument = data_set.files.split()[0].lower()

    def command(
        experiment: Experiment, metrics: tuple[str, ...] | None, settings: Settings, **options: Any
    ) -> None:
        from .figures import check_figure
        from .judgements import Hallucinations, Ratings
        from .spans import Marked
        from .trials import write_candidates

        ties = options.pop("ties", "half")
        path = options.pop(argument)
        with phase(f"Reading {path}"):
            data = data_set.read(path, **options)
        if isinstance(data, Hallucinations | Marked):
            if len(experiment.references) > 1:
                raise click.UsageError("--references takes one number here, or 'all'.")
            if experiment.combinations:
                raise click.UsageError("--combinations needs people's choices or ratings.")
        if experiment.figure_by_rating and not isinstance(data, Ratings):
            raise click.UsageError("--figure-by-rating needs people's ratings.")
        if experiment.figure_of_metrics and isinstance(data, Marked):
            raise click.UsageError("--figure-of-metrics needs scores, and spans have none.")
        for figure in experiment.figures():
            check_figure(figure)
        if experiment.write_candidates is not None and (experiment.output or experiment.figures()):
            raise click.UsageError("--write-candidates is alone: nothing is scored with it.")
        if experiment.write_candidates is None:
            lacking = data_set.references_from
            run_experiment(data, experiment, metrics, settings, lacking, ties, print_result)
            return
        write_candidates(experiment.write_candidates, data.judged)
        number = sum(len(judged.captions) for judged in data.judged)
        show(f"{counted(number, 'caption')} written to {experiment.write_candidates}")

    command = record(Experiment, "experiment", defaults={"references": data_set.references})(
        metric_options(command)
    )
    for decorate in (*reversed(data_set.options), click.argument(argument, type=FILE)):
        command = decorate(command)
    help_text = f"{data_set.summary}\n\n{data_set.files}"
    more = ("", " --metrics VIFIDEL-PRF,CIDEr", f" --output {data_set.name}.json")
    agreement.command(
        data_set.name,
        cls=MetricCommand,
        help=help_text,
        examples=[f"agreement {data_set.name} {argument.upper()}{options}" for options in more],
    )(command)


for _data_set in DATA_SETS:
    _add(_data_set)


@agreement.command(
    cls=Command,
    examples=(
        "agreement judge scores.json",
        "agreement judge scores.json --judge GPT --output judge.json",
        "agreement judge scores.json --figure judge.svg",
    ),
)
@click.argument("file", metavar="SCORES.json", type=FILE)
@click.option(
    "--judge", "judges", multiple=True, help="A --scores column (repeatable).  [default: all]"
)
@click.option(
    "--made-up", default="VIFIDEL-Hn", show_default=True, help="Column that counts made-up things."
)
@record(Experiment, "experiment", only=("seed", "figure", "output", "full", "style"))
def judge(file: Path, judges: tuple[str, ...], made_up: str, experiment: Experiment) -> None:
    """Show what moves a judge's scores: length, made-up things, or the system.

    SCORES.json is a file from score --output, run with --scores and --metrics VIFIDEL-H.
    """
    from ...run import load
    from .figures import check_figure, write_figure
    from .judges import audit_judges

    for figure in experiment.figure:
        check_figure(figure)
    result = audit_judges(load(file), judges, made_up, experiment.seed)
    print_result(result, experiment)
    for figure in experiment.figure:
        write_figure(figure, result)


_REPRODUCED = tuple("draws seed ablation ablation_vectors output style".split())


@agreement.command(
    "reproduce",
    cls=MetricCommand,
    examples=(
        "agreement reproduce",
        "agreement reproduce clipscore-1 FOLDER",
        "agreement reproduce vifidel-2 FOLDER --objects OBJECTS --paper --vectors VECTORS",
    ),
)
@click.argument("table", required=False)
@click.argument("path", type=FILE, required=False)
@references_option
@reference_options
@record(Experiment, "experiment", only=_REPRODUCED)
@metric_options
def reproduce(
    table: str | None,
    path: Path | None,
    captions: Path | None,
    wanted: CaptionFields,
    experiment: Experiment,
    metrics: tuple[str, ...] | None,
    settings: Settings,
) -> None:
    """Recompute a published table and compare.

    Without arguments, list the tables. PATH is the file or folder of the table's data set.
    """
    from .published import listed, published_tables, scores_alone

    if table is None:
        show(listed().render(experiment.style))
        return
    tables = published_tables()
    if table not in tables:
        raise click.UsageError(f"no table {table!r:.40}; the tables are {', '.join(tables)}.")
    published = tables[table]
    if metrics is None and not experiment.ablation:  # which stands alone
        metrics = METRIC_NAMES.convert(published.metrics, None, None)
    if not published.data_set:
        rows, notes = scores_alone(published, path, captions, wanted, metrics or (), settings)
        _compare(published, rows, notes, experiment)
        return
    data_set = next(known for known in DATA_SETS if known.name == published.data_set)
    if path is None:
        raise click.UsageError(f"{table} needs the files of {data_set.name}: {data_set.files}")
    options = dict(published.options)
    if references_option in data_set.options:
        options |= {"captions": captions, "wanted": wanted}

    def compare(result: Agreement, experiment: Experiment) -> None:
        _compare(published, result.rows, result.notes(), experiment)

    data = data_set.read(path, **options)
    experiment = replace(experiment, references=(published.references,))
    run_experiment(data, experiment, metrics, settings, data_set.references_from, "half", compare)


def _compare(
    published: Published,
    rows: Sequence[dict[str, Any]],
    notes: Sequence[str],
    experiment: Experiment,
) -> None:
    """Print and write the numbers of a published table beside ours."""
    from ...io.digits import for_json
    from ...io.files import json_text, write_whole

    found = published.compared(rows)
    if not found:
        raise VifidelError(f"the files have no number of {published.title}; are some missing?")
    document = json_text(
        {
            "table": published.title,
            "differences": list(published.differences),
            "notes": list(notes),
            "rows": [{key: for_json([value])[0] for key, value in row.items()} for row in found],
        }
    )
    if experiment.output is not None:
        write_whole(experiment.output, document + "\n")
    is_json, width = experiment.style == "json", line_width()
    show(document if is_json else printed([published.table(found, notes)], experiment.style, width))
