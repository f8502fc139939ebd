"""Kinds of the object vocabulary, and whether they hold in people's labels.

    python benchmarks/kinds.py SHARED [--all]

SHARED/data/coco has the captions and instances of val2017. For each kind whose parents are among
COCO's 80 categories, directly or by way of others, printed is in how many images at least two
people mention it, be it by a longer name that ends with its own (a *cell phone* is a phone), and in
what share of these its parents are labelled. Who labels objects need not share the view of who
describes them: a kind that four images or more speak of, and that is labelled in less than .9 of
these, fits where its parents are, but is not denied where they are not, and has a question mark in
``vifidel_eval/words/things.txt``. Listed are the kinds for which the file and the count differ;
``--all`` lists every kind with its share.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.kernels.known import Things, Verdict
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.english import singular
from vifidel_eval.words.synonyms import Kinds, class_names

SPEAKERS = 2  # who mention a kind in an image
FEWEST_IMAGES = 4
HOLDS = 0.9


def parents_among(kinds: Kinds, category: str, looked_for: frozenset[str]) -> dict[str, bool]:
    """Return the nearest parents that were looked for, and whether these are sure."""
    for level in kinds.above(category):
        found = {parent: is_sure for parent, is_sure in level if parent in looked_for}
        if found:
            return found
    return {}


def ends(name: str) -> list[str]:
    """Return a name and what ends it, in the singular: a *cell phone* is called a phone."""
    *words, last = name.split()
    words.append(singular(last))
    return [" ".join(words[at:]) for at in range(len(words))]


def counted(data: Path) -> list[tuple[str, dict[str, bool], int, float]]:
    """Return each kind with its parents among COCO's, its images, and the share labelled."""
    instances = read_objects(data / "coco/instances_val2017.json")
    captions = read_references(data / "coco/captions_val2017.json")
    things = class_names().things
    grounding = Grounding(things, STOP_WORDS)
    names = grounding.names(())
    looked_for = names.classes(frozenset(instances.categories))
    deniable = grounding.deniable((), frozenset(instances.categories), names)
    parents = {
        category: parents_among(things.kinds, category, looked_for)
        for category in sorted(set(things.class_of.values()) - looked_for)
    }
    kinds = {name for name, category in things.class_of.items() if parents.get(category)}
    spoken: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for image_id, said in captions.items():
        labels = names.classes(frozenset(instances.get(image_id, ())))
        if not labels:
            continue
        of_image = Things(names, labels, frozenset(), deniable)
        mentions = Counter(
            category
            for text in said
            for category in {
                things.class_of[end]
                for claim in names.read(text).claims
                if not claim.denied
                for end in ends(claim.text)
                if end in kinds
            }
        )
        for category, speakers in mentions.items():
            if speakers >= SPEAKERS:
                spoken[category] += 1
                labelled[category] += of_image.find(category)[0] is Verdict.THERE
    return [
        (category, of, spoken[category], labelled[category] / max(spoken[category], 1))
        for category, of in parents.items()
        if of
    ]


def table(rows: Sequence[tuple[str, dict[str, bool], int, float]]) -> str:
    shown = [
        [category, ", ".join(f"{p}{'?' * (not sure)}" for p, sure in of.items()), number, share]
        for category, of, number, share in rows
    ]
    headers = ["kind", "of", "images", "labelled"]
    return tabulate(shown, headers, "github", floatfmt=".2f") + "\n"


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
@click.option("--all", "every", is_flag=True, help="List every kind.")
def main(shared: Path, every: bool) -> None:
    """Count on the data below SHARED."""
    rows = counted(shared / "data")
    heard = [row for row in rows if row[2] >= FEWEST_IMAGES]
    wrong = [row for row in heard if any(row[1].values()) != (row[3] >= HOLDS)]
    click.echo(table(rows if every else wrong))
    sure = [row for row in heard if any(row[1].values())]
    click.echo(
        f"{len(rows)} kinds of COCO's categories, {len(heard)} in {FEWEST_IMAGES} images or more; "
        f"{len(sure)} of these can be denied, {len(wrong)} not as counted"
    )
    sys.exit(any(row[3] < HOLDS and any(row[1].values()) for row in heard))


if __name__ == "__main__":
    main()
