"""The command ``vifidel-eval score-table``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ...commands.options import Command, param, parsed_metrics, settings_options
from ...commands.paths import FILE, ReadAnywhere, Stated, WrittenTree
from ...commands.printing import show, tell
from ...io.options import INPUT, METRICS, OUTPUT
from ...io.records import progress_bar
from ...scores.conditions import Condition

if TYPE_CHECKING:
    from ...scorers.record import Settings
    from . import TableScorer


def _metrics_of_tables() -> str:
    from ...scorers.registry import METRICS

    others = [f"{name} if it scores tables" for name in METRICS.waiting()]
    return (
        f"Separated by commas: {', '.join([*METRICS.of_tables(), *others])}; those named WMD need "
        "references.  [default: VIFIDEL,VIFIDEL-PRF]"
    )


@click.command("score-table", cls=Command)
@click.argument("tables", metavar="IN...", nargs=-1, required=True, type=ReadAnywhere())
@param(
    "--output",
    type=WrittenTree(),
    required=True,
    help="Folder that gets one file for each input, and manifest.json.",
    section=OUTPUT,
)
@param(
    "--caption",
    default="caption",
    show_default=True,
    help="Column of the captions.",
    section=INPUT,
)
@param(
    "--labels",
    default="labels",
    show_default=True,
    help="Column of the object labels: lists of names, or of names with scores, or counts by name.",
    section=INPUT,
)
@param(
    "--objects",
    multiple=True,
    type=FILE,
    help="What the images show, in files as score takes them, by the ids of --id-column instead of "
    "a column of labels. Repeat to unite several.",
    section=INPUT,
)
@param(
    "--id-column",
    help="Column of the image ids, for --objects.  [default: image_id]",
    section=INPUT,
)
@param(
    "--no-labels",
    is_flag=True,
    help="There are no labels; score against references.",
    section=INPUT,
)
@param(
    "--label-scores",
    help="Column of the labels' detection scores, where it is another one.",
    section=INPUT,
)
@param("--references", help="Column of the reference captions: lists of strings.", section=INPUT)
@param("--metrics", callback=parsed_metrics, help=_metrics_of_tables, section=METRICS)
@param(
    "--keep",
    multiple=True,
    type=Stated(Condition.parse),
    metavar="'COLUMN OP NUMBER'",
    help="Write only rows where this holds, such as 'VIFIDEL-P >= .3'; OP is >=, >, <=, <, == or "
    "!=. A row without that score is not written. Repeat for several; all must hold.",
    section=OUTPUT,
)
@settings_options(
    ("things",),
    only="threshold vectors trust_pickles stop_words p normalize counts looked_for".split(),
)
@param(
    "--max-words",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="How many different words a text may have, and labels a row; more are `too long`.",
    section=INPUT,
)
@param(
    "--strict",
    is_flag=True,
    help="Stop at the first row whose caption or labels are unusable.",
    section=INPUT,
)
@param(
    "--format",
    "style",
    type=click.Choice(["parquet", "arrow"]),
    default="parquet",
    show_default=True,
    help="Format of the output files.",
    section=OUTPUT,
)
@param(
    "--workers",
    type=click.IntRange(min=1),
    help="How many processes score, each a file at a time.  [default: one per core]",
    section=OUTPUT,
)
def score_table(
    tables: tuple[str, ...],
    output: Path,
    keep: tuple[Condition, ...],
    style: str,
    workers: int | None,
    **chosen: Any,
) -> None:
    """Score captions in tables: rows of a caption, labels of its image, possibly references.

    IN are files or folders of Parquet, Arrow (Feather), CSV, TSV or JSONL, here or in an object
    store (s3://, gs://). Each row gets the columns of the metrics and its status; a bad row stops
    nothing. Lists in text, as in CSV, are ["dog", "cat"], or as Python writes them.

    Run again, the command scores the files that are not finished, or whose content, settings or
    versions are other ones now.
    """
    from . import TableScorer  # noqa: F401 - one sentence where PyArrow is missing
    from .file_scoring import Work
    from .files import find_tables
    from .folder_runs import score_tables

    files = find_tables(tables)
    scorer, settings = _scorer(**chosen)
    work = Work(scorer, keep, style)
    settings |= {"keep": list(map(str, keep)), "format": style}
    with contextlib.ExitStack() as shown:

        def begin(rows: int | None) -> Callable[[int], object]:
            return shown.enter_context(progress_bar(rows, " rows", unit_scale=True)).update

        try:
            manifest = score_tables(work, files, output, settings, workers or _cores(), begin)
        except KeyboardInterrupt:
            if output.exists():
                tell("Interrupted; the same command goes on after the finished files.")
            raise
    for line in _summary(output, manifest):
        show(line)
    if chosen["settings"].threshold and ">=" not in manifest["signature"]:
        tell("Warning: no label has a score, so that the threshold leaves nothing out.")


def _scorer(
    caption: str,
    labels: str,
    objects: tuple[Path, ...],
    id_column: str | None,
    no_labels: bool,
    label_scores: str | None,
    references: str | None,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    **others: Any,
) -> tuple[TableScorer, dict[str, Any]]:
    """Return the scorer, and those settings that its signature does not pin."""
    from ...scorers.registry import DEFAULT, expanded
    from ...words.word_vectors import load_vectors
    from . import TableScorer

    if no_labels and label_scores is not None:
        raise click.UsageError("--label-scores are scores of --labels, and --no-labels says none.")
    if no_labels and references is None:
        raise click.UsageError("with --no-labels, give --references.")
    if id_column is not None and not objects:
        raise click.UsageError("--id-column is for --objects, which are looked up by it.")
    by_id: dict[str, Any] = {}
    if objects:
        _check_objects(no_labels, label_scores)
        by_id["id_column"] = id_column or "image_id"
    columns: dict[str, Any] = {
        "labels": None if no_labels or objects else labels,
        "label_scores": label_scores,
        "references": references,
    }
    given = [caption, *by_id.values(), *(n for n in columns.values() if n is not None)]
    repeated = next((name for name in given if given.count(name) > 1), None)
    if repeated is not None:
        raise click.UsageError(f"the column {repeated!r} is named twice; name different columns.")
    things = settings.options["things"]
    by_default = ["VIFIDEL-PRF"] if no_labels else ["VIFIDEL", "VIFIDEL-PRF"]
    names = expanded(metrics or (DEFAULT,), by_default)
    scorer = TableScorer(
        metrics=names,
        vectors=load_vectors(settings.vectors, settings.trust_pickles),
        threshold=settings.threshold,
        stop_words=settings.stop_words,
        p=settings.p,
        counts=settings.counts,
        normalize=settings.normalize,
        looked_for=settings.looked_for,
        things=None if things is None else os.fspath(things),
        captions=caption,
        objects=list(objects) or None,
        **columns,
        **by_id,
        **others,
    )
    pinned = {
        "metrics": names,
        "caption": caption,
        **columns,
        **by_id,
        "max_words": others["max_words"],
        "strict": others["strict"],
    }
    return scorer, pinned


def _check_objects(no_labels: bool, label_scores: str | None) -> None:
    """Check that labels come from one place."""
    labels = click.get_current_context().get_parameter_source("labels")
    for option, given in (
        ("--labels", labels is not ParameterSource.DEFAULT),
        ("--no-labels", no_labels),
        ("--label-scores", label_scores is not None),
    ):
        if given:
            raise click.UsageError(f"give {option} or --objects, which have the labels; not both.")


def _cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _summary(output: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return what is printed of a run that ended."""
    from ...evaluation import COUNTS
    from ...scorers.registry import METRICS

    rows, kept = manifest["rows"], manifest["kept"]
    files = len(manifest["files"])
    of_rows = f"{_counted(rows, 'row')} in {_counted(files, 'file')}"
    if manifest["settings"]["keep"]:
        share = f" ({kept / rows:.1%})" if rows else ""
        of_rows += f", {kept:,} kept{share}"
    lines = [f"{output}: {of_rows}"]
    lines += [f"  {name}: {count:,}" for name, count in manifest["statuses"].items() if count]
    lines += [f"  {one.phrase}: {manifest[one.key]:,}" for one in COUNTS if one.key in manifest]
    metrics = map(METRICS.__getitem__, manifest["settings"]["metrics"])
    columns = [column for metric in metrics for column in metric.columns]
    lower = {column.name.replace("-", "_") for column in columns if column.lower_is_better}
    for name, of_run in manifest["scores"].items():
        score = "undefined" if of_run["score"] is None else f"{of_run['score']:.4f}"
        of_rows = _counted(of_run["rows"], "row")
        lines.append(f"{name}: {score} (over {of_rows}{'; lower is better' * (name in lower)})")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
