"""The commands ``vifidel-eval agreement``: one for each data set of human judgements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...commands.options import (
    METRIC_NAMES,
    Command,
    MetricCommand,
    metric_options,
    record,
    reference_options,
)
from ...commands.paths import CAPTIONS, FILE
from ...commands.printing import Group, show
from ...errors import VifidelError
from ...io.progress import phase
from ...io.text_tables import counted
from ...show.layout import line_width, printed
from .experiment import Experiment, print_result, run_experiment

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from ...words.settings import Settings
    from .judgements import Choices, Hallucinations, Ratings
    from .published import Published
    from .result import Agreement


_TIES = click.option(
    "--ties",
    type=click.Choice(["half", "wrong", "right"]),
    default="half",
    show_default=True,
    help="How to count pairs whose captions get the same score.",
)
_CONSENSUS = click.option(
    "--consensus",
    is_flag=True,
    help="Use the triplets in consensus_pascal.mat instead of the direct votes.",
)
#: Gives references where the files have none.
references_option = click.option(
    "--captions", type=CAPTIONS, help="References, if the file has none: any caption file."
)


class DataSet(NamedTuple):
    """A data set as a command, which reads it with ``read_NAME`` of a module."""

    name: str
    module: str
    summary: str
    files: str  #: a sentence on what it reads, which begins with what the user calls the path
    references: str = "all"  #: what ``--references`` are by default
    options: Sequence[Callable[..., Any]] = ()
    #: The option that gives references where the files have none.
    references_from: str = "--references"

    def read(
        self,
        path: Path,
        captions: Path | None = None,
        fields: CaptionFields | None = None,
        **options: Any,
    ) -> Choices | Ratings | Hallucinations:
        """Read it; its references too, from a file of captions and its fields."""
        from ...captions import read_references

        if captions is not None and fields is not None:
            options["references"] = read_references(
                captions, fields.splits, fields.id_fields, fields.reference_fields
            )
        module = import_module(f".{self.module}", __package__)
        reader = getattr(module, f"read_{self.name.replace('-', '_')}")
        data: Choices | Ratings | Hallucinations = reader(path, **options)
        return data


DATA_SETS = (
    DataSet(
        "pascal50s",
        "readers",
        "PASCAL-50S: which of two captions people prefer.",
        "FOLDER holds pair_pascal.mat and pascal50S.mat.",
        "0,1,5,48",
        (_CONSENSUS, _TIES),
    ),
    DataSet(
        "abstract50s",
        "readers",
        "Abstract-50S: which of two captions people prefer.",
        "FOLDER holds consensus_abstract.mat.",
        "1,5,48",
        (_TIES,),
    ),
    DataSet(
        "distractors",
        "readers",
        "Correct captions against distractors, kind by kind.",
        'FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}, or '
        "the folder of Hodosh and Hockenmaier's pairs: a text file for each kind, a line for each "
        "pair, with image, caption and distractor between tabs.",
        options=(references_option, reference_options, _TIES),
        references_from="--captions",
    ),
    DataSet(
        "flickr8k",
        "flickr8k",
        "Flickr8k: ratings of captions by experts, and by a crowd.",
        "FOLDER holds Flickr8k.token.txt, and ExpertAnnotations.txt, CrowdFlowerAnnotations.txt or "
        "both.",
    ),
    DataSet(
        "composite",
        "flickr8k",
        "Composite: ratings of captions.",
        "FOLDER holds 8k_correctness.csv, 8k_throughness.csv and Flickr8k.token.txt; for the "
        "other sources, 30k_*.csv with results_20130124.token, and coco_*.csv with "
        "captions_val2014.json.",
    ),
    DataSet(
        "thumb",
        "readers",
        "THumB: ratings of captions for precision and recall.",
        "FOLDER holds mscoco_THumB-1.0.jsonl and mscoco_references.json.",
    ),
    DataSet(
        "nocaps-foil",
        "readers",
        "nocaps-FOIL: captions with one noun replaced.",
        "FILE is nocaps-val-foil.json.",
    ),
    DataSet(
        "judgements",
        "judgements",
        "Any file of captions with ratings.",
        "FILE is a table or a list with a caption, its references and ratings in each row; the "
        "files of Polaris, Nebula, LongCap-Arena and Composite need no options.",
        options=(record(f"{__package__}.judgements:Columns", "columns"),),
        references_from="--references-field",
    ),
    DataSet(
        "battles",
        "systems",
        "Battles: which of two systems' captions people prefer.",
        'FILE is a table or a list of {"caption_a", "caption_b", "model_a", "model_b", "winner"}; '
        "the files of arenas need no options.",
        options=(_TIES,),
    ),
    DataSet(
        "spans",
        "spans",
        "Captions in which people marked what is made up.",
        'FILE is a JSON list or JSON Lines of {"image_id", "caption", "spans"}, of tokens with '
        "labels, or hat.json.",
        options=(
            click.option(
                "--kind", "kinds", multiple=True, help="Only spans of this kind (repeatable)."
            ),
        ),
    ),
    DataSet(
        "hat",
        "readers",
        "HAT: captions in which people marked what is made up.",
        "FILE is hat.json.",
    ),
)


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
    endings = ("", " --metrics VIFIDEL-PRF,CIDEr", f" --output {data_set.name}.json")
    agreement.command(
        data_set.name,
        cls=MetricCommand,
        help=help_text,
        examples=[f"agreement {data_set.name} {argument.upper()}{ending}" for ending in endings],
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
    """Show whether a judge's scores follow length or system.

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
    fields: CaptionFields,
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
        rows, notes = scores_alone(published, path, captions, fields, metrics or (), settings)
        _compare(published, rows, notes, experiment)
        return
    data_set = next(data_set for data_set in DATA_SETS if data_set.name == published.data_set)
    if path is None:
        raise click.UsageError(f"{table} needs the files of {data_set.name}: {data_set.files}")
    options = dict(published.options)
    if references_option in data_set.options:
        options |= {"captions": captions, "fields": fields}

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

    lines = published.compared(rows)
    if not lines:
        raise VifidelError(f"the files have no number of {published.title}; are some missing?")
    document = json_text(
        {
            "table": published.title,
            "differences": list(published.differences),
            "notes": list(notes),
            "rows": [{key: for_json([value])[0] for key, value in row.items()} for row in lines],
        }
    )
    if experiment.output is not None:
        write_whole(experiment.output, document + "\n")
    is_json, width = experiment.style == "json", line_width()
    show(document if is_json else printed([published.table(lines, notes)], experiment.style, width))
