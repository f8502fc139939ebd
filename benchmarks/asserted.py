"""Flags of VIFIDEL-H in descriptions by GPT-4o and LLaVA-NeXT-34B: how many the texts assert.

Prints a table in Markdown::

    python benchmarks/asserted.py SHARED/data

``comprecap/flags.jsonl`` has what version 0.3.0 listed as made up, read in its context:
``asserted`` says whether the text claims that such a thing is in the picture. The table has the
flags that are still there, the share of them that is asserted, and the share of the asserted ones
that is still flagged; flags that 0.3.0 did not have are counted, and listed with ``--show``.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

import vifidel_eval
from vifidel_eval.captions import read_results
from vifidel_eval.io.text_tables import Table

SYSTEMS = ("gpt-4o", "llava-next-34b")
_Flag = tuple[str, int, int]  # system, image and place
AROUND = 90  # characters of a text that are shown around a flag


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--show", is_flag=True, help="Show flags that are wrong, lost or new in their context."
)
def main(data: Path, show: bool) -> None:
    """Print the table from the data sets in DATA."""
    texts = {
        system: read_results(data / "comprecap" / f"{system}_results.json") for system in SYSTEMS
    }
    lines = (data / "comprecap" / "flags.jsonl").read_text("utf-8").splitlines()
    known = {
        (flag["system"], flag["image_id"], flag["start"]): flag["asserted"]
        for flag in map(json.loads, lines)
    }
    rows = []
    for evidence, references in (
        ("objects alone", None),
        ("with references", data / "coco" / "captions_val2017.json"),
    ):
        flagged: list[_Flag] = []
        for system, captions in texts.items():
            run = vifidel_eval.evaluate(
                {system: captions},
                references,
                data / "coco" / "instances_val2017.json",
                "VIFIDEL-H",
                image_ids=list(captions),
                progress=False,
            )
            flagged += [(system, int(i.image_id), i.start) for i in run.inventions()]
        asserted = sum(known.get(flag, False) for flag in flagged)
        old = sum(flag in known for flag in flagged)
        new = [flag for flag in flagged if flag not in known]
        rows.append([evidence, old, asserted / old, asserted / sum(known.values()), len(new)])
        if show:
            _show("not asserted", [f for f in flagged if not known.get(f, True)], texts)
            _show("lost", [f for f, is_so in known.items() if is_so and f not in flagged], texts)
            _show("new", new, texts)
    headers = ["Evidence", "Known flags", "Asserted", "Of the asserted, flagged", "New flags"]
    click.echo(Table(headers, rows).render("markdown"))


def _show(what: str, flags: list[_Flag], texts: dict[str, dict[int, str]]) -> None:
    for system, image_id, start in flags:
        text = texts[system][image_id].replace("\n", "/")
        around = f"{text[max(start - AROUND, 0) : start]}>>{text[start : start + AROUND]}"
        click.echo(f"{what}: {system} {image_id} {start}: {around}")


if __name__ == "__main__":
    main()
