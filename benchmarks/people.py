"""People beside vision-language models: what both get, by length, on images of COCO val2017.

Prints a table in Markdown for systems that write short and one for those that write long, with
people at the length that comes nearest, as docs/hallucination.md has them::

    python benchmarks/people.py DATA

DATA holds ``lvlm/*_results.json`` (captions of the same images), ``coco/captions_val2017.json``
and ``coco/instances_val2017.json``. Systems are put together by their median length: below 30
words, and from 60 words on.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from statistics import median

import click

import vifidel_eval
from vifidel_eval import VifidelWarning
from vifidel_eval.captions import read_results
from vifidel_eval.io.text_tables import Table
from vifidel_eval.scores.scores import PEOPLE

METRICS = ("VIFIDEL-PRF", "VIFIDEL-H", "CHAIR", "CIDEr")
COLUMNS = "VIFIDEL-P VIFIDEL-R VIFIDEL-F VIFIDEL-Hn VIFIDEL-Hi VIFIDEL-Hs CHAIRi CHAIRs CIDEr"
GROUPS = {"short, below 30 words": (0, 30), "long, from 60 words on": (60, 10**6)}


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(data: Path) -> None:
    """Print both tables from the data sets in DATA."""
    systems = {
        path.stem.removesuffix("_results"): read_results(path)
        for path in sorted((data / "lvlm").glob("*_results.json"))
    }
    images = sorted({image_id for captions in systems.values() for image_id in captions})
    for group, (least, most) in GROUPS.items():
        chosen = {
            name: captions
            for name, captions in systems.items()
            if least <= median(len(c.split()) for c in captions.values()) < most
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VifidelWarning)  # of lengths: that is the point
            run = vifidel_eval.evaluate(
                chosen,
                data / "coco" / "captions_val2017.json",
                data / "coco" / "instances_val2017.json",
                METRICS,
                image_ids=images,
                people=True,
                progress=False,
            )
        columns = ["Words", *COLUMNS.split()]
        order = [PEOPLE, *chosen]
        rows = [[name, *(run.scores[name][column] for column in columns)] for name in order]
        print(f"{group[0].upper()}{group[1:]}, {len(images)} images:\n")
        for row in rows:
            row[1] = f"{row[1]:.1f}"
        notes = run.detail.notes()
        print(Table(["", *columns], rows, notes, digits=3).render("markdown"), end="\n\n")


if __name__ == "__main__":
    main()
