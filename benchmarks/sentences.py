"""Sentences in ten kinds whose names are there, absent, wrongly denied or claim nothing.

Prints the share of sentences that VIFIDEL-H reads rightly, by kind, as a table in Markdown::

    python benchmarks/sentences.py SHARED/data [--show] [--wordings]

``--wordings`` prints another table instead: ways of mentioning and of denying a thing
(``descriptions.txt``), each with all of COCO's categories, of images that have the thing or do not.

A line of ``sentences/sentences.jsonl`` has a text, the objects of an imagined image (COCO's closed
set), and what each name in it should be. A sentence is right if all its names are.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
from descriptions import texts

from vifidel_eval.annotations import COCO_CATEGORIES
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.io.text_tables import Table
from vifidel_eval.scorers import VifidelH

VERDICTS = {"there": "there", "fits": "there", "made up": "absent"}
VERDICTS |= {"wrong denial": "wrong denial", "unconfirmed": "no claim"}
ENDS = ("there", "not there")
#: What a thing should be that is there, and that is not, by the section that has the wording.
WANTED = {
    "ways": ("there", "absent"),
    "denials": ("wrong denial", "no claim"),
    "more denials": ("wrong denial", "no claim"),
}


def verdict_of(name: str, mentions: list[dict[str, Any]]) -> str:
    """Return what a metric says of a name: the verdict of the mention that has its words."""
    wanted = set(name.lower().split())
    for mention in mentions:
        words = set(mention["words"].split())
        if wanted <= words or words <= wanted:
            return VERDICTS[mention["verdict"].partition(":")[0]]
    return "no claim"


def wordings() -> list[list[Any]]:
    """Return how often what is said in a way gets its verdict, of a thing there and not there."""
    names = sorted(COCO_CATEGORIES.values())
    images = {f"{name} {end}": [name] if end == "there" else [] for name in names for end in ENDS}
    scorer = VifidelH(images, looked_for="coco")
    rows: list[list[Any]] = []
    for section, wanted in WANTED.items():
        for way in texts()[section]:
            captions = [way.format(name) for name in names for _ in ENDS]
            found = scorer.evaluate(make_rows(captions, list(images)))["VIFIDEL-T"]
            details = found.details["VIFIDEL-H"]
            verdicts = [
                verdict_of(name, details[len(ENDS) * at + n]["mentions"])
                for at, name in enumerate(names)
                for n in range(len(ENDS))
            ]
            rights = [
                sum(verdict == right for verdict in verdicts[n :: len(ENDS)]) / len(names)
                for n, right in enumerate(wanted)
            ]
            rows.append([section, way, *rights])
    return rows


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--show", is_flag=True, help="Show the sentences that are read wrongly.")
@click.option("--wordings", "by_wording", is_flag=True, help="Print the table of wordings.")
def main(data: Path, show: bool, by_wording: bool) -> None:
    """Print the table from the data sets in DATA."""
    if by_wording:
        headers = ["Kind", "Wording", "Right if there", "Right if not there"]
        click.echo(Table(headers, wordings()).render("markdown"))
        return
    lines = (data / "sentences" / "sentences.jsonl").read_text("utf-8").splitlines()
    sentences = [json.loads(line) for line in lines]
    objects = {number: one["objects"] for number, one in enumerate(sentences)}
    scorer = VifidelH(objects, looked_for="coco")
    found_in = scorer.evaluate(make_rows([one["text"] for one in sentences], list(objects)))
    details = found_in["VIFIDEL-T"].details["VIFIDEL-H"]
    right = defaultdict(list)
    for one, detail in zip(sentences, details, strict=True):
        found = {name: verdict_of(name, detail["mentions"]) for name in one["expected"]}
        right[one["kind"]].append(found == one["expected"])
        if show and found != one["expected"]:
            click.echo(f"{one['kind']}: {one['text']!r} {one['objects']}: {found}")
    total = [is_right for of_kind in right.values() for is_right in of_kind]
    rows = [[kind, len(some), sum(some) / len(some)] for kind, some in right.items()]
    rows.append(["all", len(total), sum(total) / len(total)])
    click.echo(Table(["Kind", "Sentences", "Right"], rows).render("markdown"))


if __name__ == "__main__":
    main()
