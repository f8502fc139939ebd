"""Data sets of the commands ``vifidel-eval agreement``: their own options and published tables.

Published tables are those that data sets' own files suffice for, with ours beside theirs. A value
is here only if we have it from the paper or from one that quotes it; other tables have ours alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...captions import read_references, read_results
from ...captions.fields import CaptionFields
from ...captions.rows import Rows
from ...commands.options import chosen_metrics, record, reference_options
from ...commands.paths import CAPTIONS
from ...io.image_ids import match, mismatch
from ...io.text_tables import Cell, Table
from ...run.reading import with_labels
from ...scorers.registry import build
from ...scores.systems import score_rows
from ...words.settings import Settings
from .judgements import References

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from .judgements import Choices, Hallucinations, Ratings

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
#: Gives references where the files have none.
references_option = click.option(
    "--captions",
    type=CAPTIONS,
    help="References, if the file has none: COCO captions JSON or another caption file.",
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
        wanted: CaptionFields | None = None,
        **options: Any,
    ) -> Choices | Ratings | Hallucinations:
        """Read it; its references too, from a file of captions and its fields."""
        from ...captions import read_references

        if captions is not None and wanted is not None:
            options["references"] = read_references(
                captions, wanted.splits, wanted.id_fields, wanted.reference_fields
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
        "Captions in which people marked spans that are made up, by kind.",
        'FILE is a JSON list or JSON Lines of {"image_id", "caption", "spans"}, of tokens with '
        "labels, or hat.json.",
        options=(
            click.option(
                "--kind", "kinds", multiple=True, help="Only spans of this kind; can be repeated."
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
        found = []
        for row in rows:
            column = row.get(self.across)
            if (
                row["statistic"] == self.statistic
                and all(row.get(key) == value for key, value in self.where.items())
                and (not self.columns or column in self.columns)
            ):
                theirs = self.values.get(row["metric"], {}).get(str(column), math.nan)
                ours = row["value"]
                found.append(
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
        return found

    def table(self, found: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Table:
        """Return the rows of `compared` for people."""
        lines: list[list[Cell]] = []
        for row in found:
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


@cache
def published_tables() -> dict[str, Published]:
    """Return the tables by what the command calls them."""
    content = files(__package__).joinpath("published.json").read_text("utf-8")
    return {name: Published(**entry) for name, entry in json.loads(content).items()}


def listed() -> Table:
    """Return the tables, and what each is recomputed from."""
    rows: list[list[Cell]] = [
        [name, table.title, table.data_set or ("nothing" if table.captions else "results")]
        for name, table in published_tables().items()
    ]
    return Table(["Table", "Source", "From the files of"], rows, texts=3)


def scores_alone(
    table: Published,
    path: Path | None,
    captions: Path | None,
    wanted: CaptionFields,
    metrics: Sequence[str],
    settings: Settings,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tidy rows of a table without judgements, and the signatures.

    They are of its own captions, or of a file of results with references.
    """
    if table.captions:
        texts = list(table.captions.values())
        systems = {name: Rows([text], [texts[:1]], [0]) for name, text in table.captions.items()}
    elif path is None or captions is None:
        raise click.UsageError("this table needs RESULTS, --captions and --objects.")
    else:
        results = read_results(path, wanted.id_fields)
        known = read_references(captions, wanted.splits, wanted.id_fields, wanted.reference_fields)
        ids = match(results, known)
        unknown = [image_id for image_id in results if image_id not in ids]
        if unknown:
            raise mismatch(unknown, known, str(path), str(captions))
        references = [known[ids[image_id]] for image_id in results]
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
