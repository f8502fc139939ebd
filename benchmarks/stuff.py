"""What stuff and scenes in the list of things do to captions that people wrote.

    python benchmarks/stuff.py DATA

DATA/coco holds ``captions_val2017_references.json``, ``captions_val2017_human_results.json`` and
``instances_val2017.json``: COCO val2017 with one caption of each image taken out of the references
as a system's. VIFIDEL-H of these captions is their floor: they are true. Prints it without and with
the list's section of stuff and scenes, from references, from objects, and from both, in Markdown;
with the mentions of a caption, and the names that are taken for made up most often only since.
DATA/lvlm/amber_annotations.json, where there is one, says how many of AMBER's words the list lacks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

import vifidel_eval
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import VifidelH
from vifidel_eval.things.mentions import MentionFinder
from vifidel_eval.things.synonyms import ClassList, class_names

LISTS = {"without": class_names().things, "with": class_names()}
EVIDENCE = {
    "references": (False, True),
    "objects": (True, False),
    "objects and references": (True, True),
}


def floor(folder: Path, things: ClassList, objects: bool, references: bool) -> tuple[Any, Counter]:
    """Return the corpus scores of people's captions, and what is taken for made up."""
    source = folder / "instances_val2017.json" if objects else None
    given = read_references(folder / "captions_val2017_references.json")
    captions = read_results(folder / "captions_val2017_human_results.json")
    scorer = VifidelH(source, references=references, things=things)
    evaluation = scorer.evaluate(given, {image: [text] for image, text in captions.items()})
    return evaluation


def lacking(path: Path, things: ClassList) -> Iterator[str]:
    """Yield the words of AMBER's lists that are no mention of anything."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    finder = MentionFinder(things)
    words = {
        word.strip().lower()
        for entry in entries
        if entry["type"] == "generative"
        for word in entry["truth"] + entry["hallu"]
    }
    yield from sorted(w for w in words if w not in things.class_of and not finder.find(w).found)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Print people's floor in FOLDER/coco."""
    print(vifidel_eval.__version__)


if __name__ == "__main__":
    main()
