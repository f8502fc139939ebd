"""People's floor under VIFIDEL-H by evidence, and what the section of stuff and scenes adds.

    python benchmarks/stuff.py DATA

DATA/coco holds ``captions_val2017_references.json``, ``captions_val2017_human_results.json`` and
``instances_val2017.json``: COCO val2017 with one caption of each image taken out of the references
as a system's. These captions are true, so that what VIFIDEL-H takes for made up in them is its
floor. Stuff and scenes are in none of these numbers, since nobody was asked for them. With
DATA/lvlm/amber_annotations.json, prints how many of AMBER's words are no mention with and without
them. In Markdown; docs/hallucination.md shows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import VifidelH
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import ClassList, class_names

COLUMNS = ("VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn", "VIFIDEL-T")


def floor(folder: Path, objects: bool, references: bool) -> list[Any]:
    """Return `COLUMNS` of people's captions, and how many mentions there are, judged or not."""
    source = folder / "instances_val2017.json" if objects else None
    given = read_references(folder / "captions_val2017_references.json")
    captions = read_results(folder / "captions_val2017_human_results.json")
    found = VifidelH(source, references=references).evaluate(
        coco_rows({i: given[i] for i in captions}, {i: [text] for i, text in captions.items()})
    )
    details = found["VIFIDEL-T"].details["VIFIDEL-H"]
    mentions = [mention for of_row in details for mention in of_row["mentions"]]
    scores = [f"{found[column].score:.3f}".lstrip("0") for column in COLUMNS]
    judged = sum(mention["judged_by"] is not None for mention in mentions)
    unconfirmed = sum(mention["verdict"] == "unconfirmed" for mention in mentions)
    return [*scores, len(mentions), judged, unconfirmed]


def lacking(path: Path, things: ClassList) -> tuple[int, int]:
    """Return how many of AMBER's words are no mention of anything, and how many there are."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    finder = MentionFinder(things)
    words = {
        word.strip().lower()
        for entry in entries
        if entry["type"] == "generative"
        for word in entry["truth"] + entry["hallu"]
    }
    return sum(not finder.find(word).found for word in words), len(words)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Print people's floor in FOLDER."""
    rows = [
        [evidence, *floor(folder / "coco", objects, references)]
        for evidence, objects, references in (
            ("objects", True, False),
            ("objects and references", True, True),
            ("references", False, True),
        )
    ]
    headers = ["evidence", *COLUMNS, "mentions", "judged", "unconfirmed"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    amber = folder / "lvlm" / "amber_annotations.json"
    if amber.exists():
        for name, things in (("without stuff", class_names().things), ("with it", class_names())):
            none, words = lacking(amber, things)
            print(f"AMBER, {name}: {none} of {words} words are no mention")


if __name__ == "__main__":
    main()
