"""Published tables that can be recomputed from data sets' own files, and ours beside theirs.

A value is here only if we have it from the paper or from one that quotes it; other tables have ours
alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from ...captions import read_references, read_results
from ...captions.fields import CaptionFields
from ...captions.rows import Rows
from ...commands.options import chosen_metrics
from ...io.image_ids import match, mismatch
from ...io.text_tables import Cell, Table
from ...run.reading import with_labels
from ...scorers.registry import build
from ...scores.systems import score_rows
from ...words.settings import Settings
from .judgements import References


@dataclass(frozen=True)
class Published:
    """A published table."""

    title: str
    data_set: str  # the name of one of `DATA_SETS`; "" for a table that needs no judgements
    statistic: str  # as in the tidy table, like the keys of `where` and `across`
    differences: Sequence[str]  # what a difference can be due to
    metrics: str = "BLEU,ROUGE_L,METEOR,CIDEr"
    across: str = "subset"  # what its columns differ in
    columns: Sequence[str] = ()  # all there are, if none is named
    where: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # metric to column
    references: References = "all"
    tolerance: float = 0.005
    options: Mapping[str, Any] = field(default_factory=dict)  # how its data set is read
    #: Captions by what was done to the first, which is their reference; of a table without data.
    captions: Mapping[str, str] = field(default_factory=dict)

    def compared(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return a row for each number of a tidy table that this table has, with the published."""
        comparisons = []
        for row in rows:
            column = row.get(self.across)
            if (
                row["statistic"] == self.statistic
                and all(row.get(key) == value for key, value in self.where.items())
                and (not self.columns or column in self.columns)
            ):
                theirs = self.values.get(row["metric"], {}).get(str(column), math.nan)
                ours = row["value"]
                comparisons.append(
                    {
                        "metric": row["metric"],
                        "of": column,
                        "published": theirs,
                        "ours": ours,
                        "low": row.get("low"),
                        "high": row.get("high"),
                        "difference": ours - theirs,
                        "tolerance": self.tolerance,
                    }
                )
        return comparisons

    def table(self, comparisons: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Table:
        """Return the rows of `compared` for people."""
        lines: list[list[Cell]] = []
        for row in comparisons:
            theirs, apart = row["published"], row["difference"]
            verdict = "not quoted here" if math.isnan(theirs) else "differs"
            if abs(apart) <= row["tolerance"] + 1e-9:
                verdict = "as published"
            elif row["low"] is not None and row["low"] <= theirs <= row["high"]:
                verdict = "within our interval"
            numbers = [
                None if math.isnan(x) else f"{x:{sign}.4f}"
                for x, sign in ((theirs, ""), (row["ours"], ""), (apart, "+"))
            ]
            lines.append([row["metric"], row["of"], *numbers, f"{row['tolerance']:g}", verdict])
        due = f"a difference can be due to: {'; '.join(self.differences)}"
        headers = ["Metric", "Of", "Published", "Ours", "Difference", "Tolerance", "Verdict"]
        return Table(
            headers, lines, (due, *notes), title=f"{self.title}: {self.statistic}", texts=2
        )


def published_tables() -> dict[str, Published]:
    """Return the tables by what the command calls them."""
    content = files(__package__).joinpath("published.json").read_text("utf-8")
    return {name: Published(**entry) for name, entry in json.loads(content).items()}


def listed() -> Table:
    """Return the tables, and what each is recomputed from."""
    rows: list[list[Cell]] = [
        [name, table.data_set or ("nothing" if table.captions else "results"), table.title]
        for name, table in published_tables().items()
    ]
    return Table(["Table", "From the files of", "Source"], rows, texts=3)


def scores_alone(
    table: Published,
    path: Path | None,
    captions: Path | None,
    fields: CaptionFields,
    metrics: Sequence[str],
    settings: Settings,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tidy rows of a table without judgements, and the signatures.

    They are of its own captions, or of a file of results with references.
    """
    if table.captions and (path or captions):
        raise click.UsageError("this table has its own captions; leave PATH and --captions out.")
    if table.captions:
        texts = list(table.captions.values())
        systems = {name: Rows([text], [texts[:1]], [0]) for name, text in table.captions.items()}
    elif path is None or captions is None:
        raise click.UsageError("this table needs RESULTS, --captions and --objects.")
    else:
        results = read_results(path, fields.id_fields)
        gold = read_references(captions, fields.splits, fields.id_fields, fields.reference_fields)
        ids = match(results, gold)
        unknown = [image_id for image_id in results if image_id not in ids]
        if unknown:
            raise mismatch(unknown, gold, str(path), str(captions))
        references = [gold[ids[image_id]] for image_id in results]
        systems = {"captions": Rows([*results.values()], references, [*results])}
    scorers, unavailable = build(
        chosen_metrics(tuple(metrics), settings, references="--captions"), with_labels(settings)
    )
    scores = score_rows(systems, scorers, unavailable=unavailable)
    rows = [
        {"metric": column, "statistic": "score", "subset": system, "value": evaluation.score}
        for column in scores.signatures
        for system, of_system in scores.evaluations.items()
        if (evaluation := of_system.get(column)) is not None
    ]
    return rows, [
        *dict.fromkeys(scores.signatures.values()),
        *map(str, scores.unavailable.values()),
    ]
