"""Published tables that can be recomputed from data sets' own files, and ours beside theirs.

A value is here only if we have it from the paper or from one that quotes it; other tables have ours
alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from .flickr8k import BOTH
from .judgements import References
from .pascal50s import KINDS

_KINDS = tuple(KINDS.values())
_CLIPSCORE = "CLIPScore (Hessel et al., EMNLP 2021)"
_KILICKAYA = "Kilickaya et al., EACL 2017"
_VIFIDEL = "VIFIDEL (Madhyastha et al., ACL 2019)"
_NGRAMS = "BLEU,ROUGE_L,METEOR,CIDEr"
_WITH_VECTORS = f"VIFIDEL,WMD,{_NGRAMS}"
_VECTORS = "word vectors (the paper's with --paper --vectors word2vec-google-news-300)"
_PART = "how much of the data is there"
_DRAWS = "other draws of references, and BLEU's smoothing"


@dataclass(frozen=True)
class Published:
    """A published table."""

    title: str
    data_set: str  # the name of one of `DATA_SETS`; "" for a table that needs no judgements
    statistic: str  # as in the tidy table, like the keys of `where` and `across`
    differences: tuple[str, ...]  # what a difference can be due to
    metrics: str = _NGRAMS
    across: str = "subset"  # what its columns differ in
    columns: tuple[str, ...] = ()  # all there are, if none is named
    where: Mapping[str, str] = field(default_factory=dict)
    #: Metric to the values of the columns.
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    references: References = "all"
    tolerance: float = 0.005
    options: Mapping[str, Any] = field(default_factory=dict)  # how its data set is read

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
                known = dict(zip(self.columns, self.values.get(row["metric"], ()), strict=False))
                theirs, ours = known.get(str(column), math.nan), row["value"]
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


#: What Kilickaya et al. do to a caption (Table 2), and its WMD there, as far as it is known.
DESCRIPTIONS: Mapping[str, tuple[str, float]] = {
    "original": ("a man wearing a red life jacket is sitting in a canoe on a lake", 1),
    "candidate": ("a man wearing a life jacket is in a small boat on a lake", 0.19),
    "synonyms": ("a guy wearing a life vest is in a small boat on a lake", math.nan),
    "redundancy": ("a man wearing a life jacket is in a small boat on a lake at sunset", 0.18),
    "word order": ("in a small boat on a lake a man is wearing a life jacket", math.nan),
}
_RATED = {"judges": "each", "subset": "without own references"}

#: The tables, by what the command calls them.
TABLES: Mapping[str, Published] = {
    "vifidel-1": Published(
        f"{_VIFIDEL}, PASCAL-50S", "pascal50s", "accuracy", (_VECTORS, _PART),
        _WITH_VECTORS, references=5, columns=_KINDS,
    ),
    "vifidel-2": Published(
        f"{_VIFIDEL}, Table 2: systems' captions of Composite", "composite", "Spearman",
        (_VECTORS, "the objects"), _WITH_VECTORS, "rating",
        ("relevance", "thoroughness", BOTH), {"subset": "machine"},
    ),
    "vifidel-3": Published(
        f"{_VIFIDEL}, Table 3: sources of objects, with and without frequency", "composite",
        "Spearman", (_VECTORS, "the detectors"), "VIFIDEL", "rating",
        ("relevance", "thoroughness", BOTH), {"subset": "coco machine"},
    ),
    "kilickaya-2": Published(
        f"{_KILICKAYA}, Table 2", "", "score", (_VECTORS,), "WMD",
        columns=tuple(DESCRIPTIONS), tolerance=0.005,
        values={"WMD": [value for _, value in DESCRIPTIONS.values()]},
    ),
    "kilickaya-3": Published(
        f"{_KILICKAYA}, Flickr8k", "flickr8k", "Spearman",
        ("two digits are published", _VECTORS), f"WMD,{_NGRAMS}",
        columns=("all",), where={"judges": "each", "rating": "expert"},
        values={"METEOR": [0.56], "CIDEr": [0.58]},
    ),
    "kilickaya-4": Published(
        f"{_KILICKAYA}, PASCAL-50S", "pascal50s", "accuracy", (_VECTORS, _PART),
        f"WMD,{_NGRAMS}", columns=_KINDS, references=5,
    ),
    "kilickaya-5": Published(
        f"{_KILICKAYA}, distracted captions", "distractors", "accuracy", (_VECTORS,),
        f"WMD,{_NGRAMS}",
    ),
    "clipscore-1": Published(
        f"{_CLIPSCORE}, Table 1 and its issue 3", "flickr8k", "tau-c", ("the tokenizer",),
        columns=("without own references",), where={**_RATED, "rating": "expert"}, tolerance=0.001,
        values={
            "Bleu_1": [0.323], "Bleu_4": [0.308], "ROUGE_L": [0.323], "METEOR": [0.418],
            "CIDEr": [0.439], "SPICE": [0.449],
        },
    ),
    "clipscore-2": Published(
        f"{_CLIPSCORE}, Table 2: the crowd of Flickr8k", "flickr8k", "tau-b",
        ("captions that are references",), columns=("without own references",),
        where={"judges": "mean", "rating": "crowd"}, tolerance=0.002,
        values={
            "Bleu_4": [0.169], "ROUGE_L": [0.199], "METEOR": [0.222], "SPICE": [0.244],
            "CIDEr": [0.246],
        },
    ),
    "clipscore-3": Published(
        f"{_CLIPSCORE}, Composite", "composite", "tau-c", ("captions that are references",),
        columns=("all",), where={"judges": "mean", "rating": "relevance"},
        values={"CIDEr": [0.377]},
    ),
    "clipscore-4": Published(
        f"{_CLIPSCORE}, Table 4: consensus of PASCAL-50S", "pascal50s", "accuracy",
        (_PART, _DRAWS), columns=_KINDS, references=5, tolerance=0.02,
        values={
            "Bleu_4": [0.604, 0.906, 0.849, 0.547], "ROUGE_L": [0.637, 0.953, 0.923, 0.612],
            "METEOR": [0.638, 0.977, 0.937, 0.654], "CIDEr": [0.651, 0.981, 0.905, 0.648],
        },
        options={"consensus": True},
    ),
    "clipscore-7": Published(
        f"{_CLIPSCORE}, Table 7: votes of PASCAL-50S", "pascal50s", "accuracy",
        (_PART, _DRAWS), columns=_KINDS, references=5, tolerance=0.02,
        values={
            "Bleu_4": [0.525, 0.904, 0.849, 0.553], "ROUGE_L": [0.550, 0.953, 0.931, 0.587],
            "METEOR": [0.590, 0.977, 0.939, 0.620], "CIDEr": [0.537, 0.981, 0.908, 0.637],
        },
    ),
    "clipscore-abstract": Published(
        f"{_CLIPSCORE}, section 5.2: Abstract-50S", "abstract50s", "accuracy",
        (_PART, _DRAWS), columns=("all",), references=5, tolerance=0.02,
        values={"Bleu_4": [0.71], "METEOR": [0.79], "CIDEr": [0.79]},
    ),
    "chair": Published(
        "Rohrbach et al.'s program, people's first captions of val2017", "", "score",
        ("the list of synonyms (--synonyms data/synonyms.txt is theirs)", "which captions"),
        "CHAIR", columns=("captions",), tolerance=0.00005,
        values={"CHAIRs": [0.0368], "CHAIRi": [0.0263]},
    ),
}  # fmt: skip


def listed() -> Table:
    """Return the tables, and what each is recomputed from."""
    rows: list[list[Cell]] = [
        [name, table.title, table.data_set or ("results" if name == "chair" else "nothing")]
        for name, table in TABLES.items()
    ]
    return Table(["Table", "Source", "From the files of"], rows, texts=3)


def scores_alone(
    table: str,
    path: Path | None,
    captions: Path | None,
    wanted: CaptionFields,
    metrics: Sequence[str],
    settings: Settings,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tidy rows of a table without judgements, and the signatures.

    ``"chair"`` is of a file of results with references; the other is of `DESCRIPTIONS`.
    """
    if table == "chair":
        if path is None or captions is None:
            raise click.UsageError("chair needs RESULTS, --captions and --objects.")
        results = read_results(path, wanted.id_fields)
        known = read_references(captions, wanted.splits, wanted.id_fields, wanted.reference_fields)
        ids = match(results, known)
        unknown = [image_id for image_id in results if image_id not in ids]
        if unknown:
            raise mismatch(unknown, known, str(path), str(captions))
        references = [known[ids[image_id]] for image_id in results]
        systems = {"captions": Rows([*results.values()], references, [*results])}
    else:
        [original, *_] = (text for text, _ in DESCRIPTIONS.values())
        systems = {
            name: Rows([text], [[original]], [0]) for name, (text, _) in DESCRIPTIONS.items()
        }
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
