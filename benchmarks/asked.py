"""Asked evidence on vision-language models, beside closed lists and references.

    python benchmarks/asked.py SHARED

SHARED has ``data/lvlm`` (captions of five models, POPE's answers) and ``data/coco``. Printed are,
for each model over the images of its two files in which COCO's instances have an object (of an
image without one a closed list leaves the numbers undefined, while answers deny everything):

- VIFIDEL-Hs and VIFIDEL-Hi by COCO's instances, which are annotated for all 80 categories, and by
  perfect answers to 80 questions per image, made of the same instances: the first are to equal the
  second within .005;
- CHAIRi by both, which are to be equal;
- how many mentions are unconfirmed.

Of people's captions of COCO's val2017, one per image, how many mentions are called wrong by the
closed list and by perfect answers: the floor below which no model can be expected. And, for each
instruction, VIFIDEL-Hi of the models by COCO's instances, by these with the references, and by
references alone, which judge more: the first two are to order the models alike.
docs/hallucination.md shows that table.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval.annotations import ObjectLabels, read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.io.image_ids import ImageId, match
from vifidel_eval.scorers import Chair, VifidelH

MODELS = ("instructblip", "llava", "minigpt-4", "mmgpt", "mplug")
NEAR = 0.005


def perfect_answers(instances: ObjectLabels) -> ObjectLabels:
    """Return the same objects as answers about every category."""
    return ObjectLabels(
        instances,
        "answers",
        f"perfect answers by {instances.where}",
        asked=dict.fromkeys(instances, instances.categories),
    )


def numbers(captions: Mapping[ImageId, str], objects: ObjectLabels) -> dict[str, float]:
    """Return corpus scores of captions by some objects, and the mentions unconfirmed."""
    rows = make_rows(list(captions.values()), list(captions))
    of_h = VifidelH(objects, references=False).evaluate(rows)
    of_chair = Chair(objects, references=False).evaluate(rows)
    return {
        "Hs": of_h["VIFIDEL-Hs"].score,
        "Hi": of_h["VIFIDEL-Hi"].score,
        "CHAIRi": of_chair["CHAIRi"].score,
        "unconfirmed": of_h["VIFIDEL-Hi"].counts["unconfirmed"],
    }


def show(name: str, captions: Mapping[ImageId, str], instances: ObjectLabels) -> bool:
    """Print a line of each kind of evidence, and return whether they are near."""
    closed, asked = (numbers(captions, o) for o in (instances, perfect_answers(instances)))
    for what, found in (("closed list", closed), ("80 answers", asked)):
        values = "  ".join(f"{k} {v:.4f}" for k, v in found.items() if k != "unconfirmed")
        click.echo(
            f"{name:14} {what:12} {len(captions):5} captions  {values}  "
            f"unconfirmed {found['unconfirmed']:.0f}"
        )
    return all(abs(closed[k] - asked[k]) <= NEAR for k in ("Hs", "Hi", "CHAIRi"))


def ordered_alike(data: Path, instances: ObjectLabels) -> bool:
    """Print VIFIDEL-Hi of the models by evidence; return whether references leave their order."""
    references = read_references(data / "coco" / "captions_val2017.json")
    rows, alike = [], True
    for instruction in (1, 2):
        captions = {
            model: read_results(data / "lvlm" / f"{model}_{instruction}_results.json")
            for model in MODELS
        }
        orders = []
        for evidence, objects, weighted in (
            ("objects", instances, False),
            ("objects and references", instances, True),
            ("references", None, True),
        ):
            found = {}
            for model, own in captions.items():
                said = [references[image_id] for image_id in own]
                told = make_rows(list(own.values()), list(own), said)
                found[model] = VifidelH(objects, references=weighted).evaluate(told)["VIFIDEL-Hi"]
            hi = {model: one.score for model, one in found.items()}
            unconfirmed = sum(one.counts["unconfirmed"] for one in found.values())
            orders.append(sorted(MODELS, key=hi.__getitem__))
            numbers = [f"{hi[model]:.3f}".lstrip("0") for model in MODELS]
            rows.append([instruction, evidence, *numbers, unconfirmed, " < ".join(orders[-1])])
        alike &= orders[0] == orders[1]
    headers = ["instruction", "evidence", *MODELS, "unconfirmed", "order"]
    click.echo("\n" + tabulate(rows, headers, "github", disable_numparse=True) + "\n")
    return alike


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
def main(shared: Path) -> None:
    """Print what asked evidence says on the data of SHARED."""
    instances = read_objects(shared / "data" / "coco" / "instances_val2017.json")
    near = True
    for model in MODELS:
        captions: dict[ImageId, str] = {}
        for path in sorted((shared / "data" / "lvlm").glob(f"{model}_*_results.json")):
            read = read_results(path)
            known = match(read, instances)
            captions |= {known[i]: read[i] for i in known if instances[known[i]]}
        near = show(model, captions, instances) and near
    people = read_results(shared / "data" / "coco" / "captions_val2017_human_results.json")
    known = match(people, instances)
    show("people", {known[i]: people[i] for i in known if instances[known[i]]}, instances)
    click.echo(f"Closed list and answers within {NEAR}: {'yes' if near else 'NO'}")
    alike = ordered_alike(shared / "data", instances)
    click.echo(f"Objects order the models as objects and references: {'yes' if alike else 'NO'}")
    sys.exit(not (near and alike))


if __name__ == "__main__":
    main()
