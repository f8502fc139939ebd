"""Scores of captions that people wrote, and of captions that deserve less.

    python benchmarks/what_metrics_say.py DATA

DATA/coco holds ``captions_val2017_references.json``, ``captions_val2017_human_results.json``,
``captions_val2017_shuffled_results.json`` and ``instances_val2017.json``: COCO val2017 with one
caption of each image taken out of the references as a system's, and the same captions dealt to
other images. Prints the corpus scores of every metric that needs neither Java nor a network, with
and without references, on the images that have an object; in Markdown. docs/which-metric.md
shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.io.image_ids import ImageId
from vifidel_eval.run.reading import with_labels
from vifidel_eval.scorers.registry import METRICS, build, lacking
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.systems import score_aligned
from vifidel_eval.words.settings import Settings

INVENTED = "A dog and a cat are sitting on a couch."
STYLE = "The composition feels warm and captures an everyday moment."

#: What is shown of each metric, where the registry has it.
SHOWN = {
    "VIFIDEL": ["VIFIDEL"],
    "VIFIDEL-PRF": ["VIFIDEL-P", "VIFIDEL-R", "VIFIDEL-F"],
    "VIFIDEL-H": ["VIFIDEL-T", "VIFIDEL-Hi", "VIFIDEL-Hs", "VIFIDEL-Hn"],
    "WMD": ["WMD"],
    "BLEU": ["Bleu_4"],
    "ROUGE_L": ["ROUGE_L"],
    "CIDEr": ["CIDEr"],
    "CHAIR": ["CHAIRi", "CHAIRs"],
}


def systems_of(folder: Path, objects: Mapping[ImageId, Mapping[str, int]]) -> list[System]:
    """Return the captions, on the images that have an object."""
    human, shuffled = (
        read_results(folder / f"captions_val2017_{name}_results.json")
        for name in ("human", "shuffled")
    )
    texts = {
        "people": human.__getitem__,
        "people, on other images": shuffled.__getitem__,
        "*person* for every image": lambda _: "person",
        "the image's labels": lambda image_id: " ".join(sorted(objects[image_id])),
        "people + an invented sentence": lambda i: f"{human[i].rstrip(' .')}. {INVENTED}",
        "people + a sentence on style": lambda i: f"{human[i].rstrip(' .')}. {STYLE}",
    }
    images = [image_id for image_id in human if objects.get(image_id)]
    return [
        System(name, {image_id: text(image_id) for image_id in images})
        for name, text in texts.items()
    ]


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Print what metrics give to the captions of val2017 in FOLDER."""
    folder = folder / "coco"
    settings = with_labels(Settings(objects=folder / "instances_val2017.json"))
    systems = systems_of(folder, settings.labels)
    given = read_references(folder / "captions_val2017_references.json")
    for references in (True, False):
        settings = replace(settings, references=references, weighted=references)
        names = [
            name for name in SHOWN if METRICS.knows(name) and not lacking(METRICS[name], settings)
        ]
        scorers, _ = build(names, settings)
        of_images = {i: given[i] if references else [] for i in systems[0].captions}
        scores = score_aligned(align(systems, of_images), scorers)
        lower = {column.name for column in scores.columns() if column.lower_is_better}
        columns = [column for name in names for column in SHOWN[name]]
        rows = [
            [name, *(f"{evaluations[column].score:.3f}".removeprefix("0") for column in columns)]
            for name, evaluations in scores.evaluations.items()
        ]
        print(f"\n{len(of_images)} images, {'with' if references else 'without'} references\n")
        print(tabulate(rows, ["captions", *columns], "github", disable_numparse=True))
        if lower:
            print(
                f"\nLower is better: {', '.join(column for column in columns if column in lower)}."
            )


if __name__ == "__main__":
    main()
