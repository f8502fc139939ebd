"""Effects of stuff and scenes in the object vocabulary on captions that people wrote.

    python benchmarks/stuff.py DATA

DATA/coco holds ``captions_val2017_references.json``, ``captions_val2017_human_results.json`` and
``instances_val2017.json``: COCO val2017 with one caption of each image taken out of the references
as a system's. These captions are true, so that what VIFIDEL-H takes for made up in them is its
floor. Prints it without and with the list's section of stuff and scenes, by evidence; which names
are taken for made up most often only with it; and, with DATA/lvlm/amber_annotations.json, how many
of AMBER's words the lists lack. In Markdown; docs/hallucination.md shows it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.evaluation import Evaluation
from vifidel_eval.rows import coco_rows
from vifidel_eval.scorers import VifidelH
from vifidel_eval.things.mentions import MentionFinder
from vifidel_eval.things.synonyms import ClassList, class_names

LISTS = {"things": class_names().things, "and stuff": class_names()}
COLUMNS = ("VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-T")


def floor(
    folder: Path, things: ClassList, objects: bool, references: bool
) -> dict[str, Evaluation]:
    """Return what VIFIDEL-H says of people's captions."""
    source = folder / "instances_val2017.json" if objects else None
    given = read_references(folder / "captions_val2017_references.json")
    captions = read_results(folder / "captions_val2017_human_results.json")
    scorer = VifidelH(source, references=references, things=things)
    of_images = {image: given[image] for image in captions}
    return scorer.evaluate(
        coco_rows(of_images, {image: [text] for image, text in captions.items()})
    )


def verdicts(found: dict[str, Evaluation]) -> Counter[tuple[str, str]]:
    """Return how often each class got each verdict."""
    details = found["VIFIDEL-T"].details["VIFIDEL-H"]
    mentions = (mention for of_row in details for mention in of_row["mentions"])
    return Counter((one["category"], one["verdict"]) for one in mentions)


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
    rows = []
    flagged: dict[str, Counter[str]] = {}
    for evidence, objects, references in (
        ("references", False, True),
        ("objects", True, False),
        ("both", True, True),
    ):
        for name, things in LISTS.items():
            found = floor(folder / "coco", things, objects, references)
            counted = verdicts(found)
            judged = sum(n for (_, verdict), n in counted.items() if verdict != "not judged")
            scores = [f"{found[column].score:.3f}".lstrip("0") for column in COLUMNS]
            rows.append([evidence, name, *scores, sum(counted.values()), judged])
            if evidence == "references":
                flagged[name] = Counter(
                    {category: n for (category, said), n in counted.items() if "not in" in said}
                )
    headers = ["evidence", "list", "Hs", "Hi", "T", "mentions", "judged"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    stuff = class_names().stuff
    most = [(name, n) for name, n in flagged["and stuff"].most_common() if name in stuff][:12]
    print("\nStuff taken for made up, references alone:", ", ".join(f"{n} {c}" for n, c in most))
    amber = folder / "lvlm" / "amber_annotations.json"
    if amber.exists():
        for name, things in LISTS.items():
            none, words = lacking(amber, things)
            print(f"AMBER, {name}: {none} of {words} words are no mention")


if __name__ == "__main__":
    main()
