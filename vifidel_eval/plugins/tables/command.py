"""The command ``vifidel-eval score-table``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import METRIC_NAMES, Command, param, record, settings_options
from ...commands.paths import FILE, Condition, ReadByName, Stated, WrittenTree
from ...commands.printing import continued_by_the_same_command, show, tell
from ...doors.arguments import INPUT, METRICS, OUTPUT, option
from ...io.files import is_address
from ...io.text_tables import counted
from ...words.settings import OF_TABLES, ONLY_THINGS, THINGS

if TYPE_CHECKING:
    from ...words.settings import Settings


class ReadAnywhere(ReadByName):
    """A file or folder: a path, or the address of an object store, such as ``s3://bucket/folder``."""

    def read(self, value: str | tuple[str, str]) -> list[Path]:
        return [] if is_address(str(value)) else [Path(str(value))]


_input = partial(option, section=INPUT)


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a table hold, and which rows are refused."""

    caption: str = _input("caption", "Column of the captions.", str)
    labels: str | None = _input(
        None,
        "Column of the object labels: lists of names, names with scores, or counts by name.  "
        "[default: labels]",
        str,
    )
    objects: tuple[Path, ...] = _input(
        (),
        "Objects in the images, from files as in score and looked up by `id_column`, instead of a "
        "column of labels. Repeat to combine several.",
        FILE,
        several=True,
    )
    id_column: str | None = _input(
        None, "Column of image ids, to look up `objects`.  [default: image_id]", str
    )
    no_labels: bool = _input(False, "Score against references only.", bool)
    label_scores: str | None = _input(
        None, "Column of the labels' detection scores, if separate.", str
    )
    references: str | None = _input(
        None, "Column of the reference captions: lists of strings.", str
    )
    max_words: int = _input(
        2000,
        "Maximum number of different words in a text, and of different labels in a row. Longer "
        "rows get the status `too long`.",
        click.IntRange(min=1),
    )
    strict: bool = _input(False, "Stop at the first row with an unusable caption or labels.", bool)

    def check(self) -> None:
        """Raise a UsageError for options that contradict each other."""
        for name in ("labels", "no_labels", "label_scores"):
            if self.objects and getattr(self, name) not in (None, False):
                flag = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"give {flag} or --objects, not both.")
        if self.no_labels and self.label_scores is not None:
            raise click.UsageError("--label-scores needs --labels; leave out --no-labels.")
        if self.no_labels and self.references is None:
            raise click.UsageError("with --no-labels, give --references.")
        if self.id_column is not None and not self.objects:
            raise click.UsageError("--id-column is only for --objects; give both.")
        names = [name for name in self.names.values() if name is not None]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise click.UsageError(
                f"the column {repeated!r} is named twice; name different columns."
            )

    @property
    def names(self) -> dict[str, Any]:
        """The names of the columns, as a manifest has them."""
        labels = None if self.no_labels or self.objects else self.labels or "labels"
        by_id = {"id_column": self.id_column or "image_id"} if self.objects else {}
        beside = {"label_scores": self.label_scores, "references": self.references}
        return {"caption": self.caption, "labels": labels, **beside, **by_id}


def _metrics_of_tables() -> str:
    from ...scorers.registry import DEFAULTS, METRICS

    others = ", ".join(name for name in METRICS.waiting() if name not in DEFAULTS)
    return (
        f"Separated by commas: {', '.join(METRICS.of_tables())}"
        f"{f', and those of {others} that score tables' if others else ''}; WMD metrics need "
        "references.  [default: VIFIDEL,VIFIDEL-PRF]"
    )


@click.command(
    "score-table",
    cls=Command,
    examples=(
        "score-table captions.parquet --output scored",
        "score-table captions --references refs --metrics VIFIDEL-PRF --output scored",
        "score-table captions --keep 'VIFIDEL-P >= .3' --output kept",
    ),
)
@click.argument("tables", metavar="IN...", nargs=-1, required=True, type=ReadAnywhere())
@param(
    "--output",
    type=WrittenTree(),
    required=True,
    help="Folder for one file per input, and manifest.json.",
    section=OUTPUT,
)
@record(ColumnOptions, "columns")
@param("--metrics", type=METRIC_NAMES, help=_metrics_of_tables, section=METRICS)
@param(
    "--keep",
    multiple=True,
    type=Stated(Condition.parse),
    metavar="'COLUMN OP NUMBER'",
    help="Write only rows where this holds, such as 'VIFIDEL-P >= .3'; OP is >=, >, <=, <, == "
    "or !=. Rows without that score are not written. Can be repeated; all conditions must hold.",
    section=OUTPUT,
)
@settings_options((THINGS, ONLY_THINGS), only=("trust_pickles", *OF_TABLES), omit=("uncertain",))
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
    help="Number of processes, each scoring one file at a time.  [default: one per core]",
    section=OUTPUT,
)
def score_table(
    tables: tuple[str, ...],
    output: Path,
    columns: ColumnOptions,
    metrics: tuple[str, ...] | None,
    keep: tuple[Condition, ...],
    settings: Settings,
    style: str,
    workers: int | None,
) -> None:
    """Score tables of captions against object labels, references, or both.

    IN are files or folders of Parquet, Arrow (Feather), CSV, TSV or JSONL, on disk or in an object
    store (s3://, gs://). Each row gets the metrics' columns and a status. A bad row does not stop
    the run. In text formats such as CSV, write lists as ["dog", "cat"] or as Python prints them;
    labels may also be dog | cat.

    A second run scores only files that are unfinished, or whose content, settings or versions have
    changed.
    """
    from ...scorers.record import DEFAULT
    from ...scorers.registry import expanded
    from . import TableScorer  # first: one sentence where PyArrow is missing
    from .file_scoring import Work
    from .files import find_tables
    from .folder_runs import score_tables

    files = find_tables(tables)
    columns.check()
    by_default = ["VIFIDEL-PRF"] if columns.no_labels else ["VIFIDEL", "VIFIDEL-PRF"]
    names = expanded(metrics or (DEFAULT,), by_default)
    lists: dict[str, Any] = {
        name: None if settings.options[name] is None else os.fspath(settings.options[name])
        for name in (THINGS.name, ONLY_THINGS.name)
    }
    settings = replace(settings, vectors=settings.words["vectors"])
    limits: dict[str, Any] = {"max_words": columns.max_words, "strict": columns.strict}
    scorer = TableScorer(
        names,
        **lists,
        objects=list(columns.objects) or None,
        **limits,
        **{"captions" if at == "caption" else at: name for at, name in columns.names.items()},
        **{name: getattr(settings, name) for name in OF_TABLES},
    )
    output_options = {"keep": list(map(str, keep)), "format": style}
    pinned = {"metrics": names, **columns.names, **limits, **output_options}
    affinity = getattr(os, "sched_getaffinity", None)  # the cores that this process may use
    workers = workers or (len(affinity(0)) if affinity is not None else os.cpu_count() or 1)
    with continued_by_the_same_command(output, "after the finished files"):
        manifest, is_new = score_tables(Work(scorer, keep, style), files, output, pinned, workers)
    if not is_new:
        tell("All files were finished already: nothing was scored.")
    for line in _summary(output, manifest):
        show(line)
    if settings.threshold and ">=" not in manifest["signature"]:
        tell("Warning: no label has a score, so the threshold leaves nothing out.")


def _summary(output: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return what is printed of a run that ended."""
    from ...evaluation import COUNTS
    from ...scorers.registry import METRICS

    rows, rows_kept = manifest["rows"], manifest["kept"]
    files = len(manifest["files"])
    of_rows = f"{counted(rows, 'row', ',')} in {counted(files, 'file', ',')}"
    if manifest["settings"]["keep"]:
        share = f" ({rows_kept / rows:.1%})" if rows else ""
        of_rows += f", {rows_kept:,} kept{share}; below, all rows count"
    lines = [f"{output}: {of_rows}"]
    lines += [f"  {name}: {count:,}" for name, count in manifest["statuses"].items() if count]
    lines += [
        f"  {count.phrase}: {manifest[count.key]:,}" for count in COUNTS if count.key in manifest
    ]
    metrics = map(METRICS.__getitem__, manifest["settings"]["metrics"])
    columns = [column for metric in metrics for column in metric.columns]
    lower = {column.name.replace("-", "_") for column in columns if column.lower_is_better}
    for name, of_run in manifest["scores"].items():
        score = "undefined" if of_run["score"] is None else f"{of_run['score']:.4f}"
        of_rows = counted(of_run["rows"], "row", ",")
        lines.append(f"{name}: {score} (over {of_rows}{'; lower is better' * (name in lower)})")
    return lines
