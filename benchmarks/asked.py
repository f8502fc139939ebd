"""Asked evidence on vision-language models, beside closed lists and references.

    python benchmarks/asked.py SHARED

SHARED has ``data/lvlm`` (captions of five models, POPE's answers) and ``data/coco``. Printed are,
for each model over the images of its two files in which COCO's instances have an object (of an
image without one a closed list leaves the numbers undefined, while answers deny everything):

- VIFIDEL-Hs and VIFIDEL-Hi by COCO's instances, which are annotated for all 80 categories, and by
  perfect answers to 80 questions an image, made of the same instances: the first are to equal the
  second within .005, though an answer about a thing's own class beats the cosines of other labels,
  which a closed list leaves standing;
- CHAIRi by both, which are to be equal;
- how many mentions were not judged.

And of people's captions of COCO's val2017, one an image, how many mentions are called wrong by the
closed list and by perfect answers: the floor below which no model can be expected.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from vifidel_eval.annotations import ObjectLabels, read_objects
from vifidel_eval.captions import read_results
from vifidel_eval.image_ids import ImageId, match
from vifidel_eval.rows import make_rows
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
        "not judged": of_h["VIFIDEL-Hi"].counts["unconfirmed"],
    }


def show(name: str, captions: Mapping[ImageId, str], instances: ObjectLabels) -> bool:
    """Print a line of each kind of evidence, and return whether they are near."""
    closed, asked = (numbers(captions, o) for o in (instances, perfect_answers(instances)))
    for what, found in (("closed list", closed), ("80 answers", asked)):
        values = "  ".join(f"{k} {v:.4f}" for k, v in found.items() if k != "not judged")
        click.echo(
            f"{name:14} {what:12} {len(captions):5} captions  {values}  "
            f"not judged {found['not judged']:.0f}"
        )
    return all(abs(closed[k] - asked[k]) <= NEAR for k in ("Hs", "Hi", "CHAIRi"))


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
    sys.exit(not near)


if __name__ == "__main__":
    main()
