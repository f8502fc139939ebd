"""What evidence makes of names, true sentences, guesses and nonsense.

    python benchmarks/judging.py SHARED [--images N] [--only PART]

SHARED/data/coco has val2017. Texts are the first captions that people wrote of images, references
the others. docs/experiments.md holds what this prints. Parts:

- ``names``: each name that CHAIR's lists have for COCO's categories (the published list too, if
  ``oracles/chair`` has it), in *There is a … here.*: how often it is there beside exactly its
  category, and how often it is absent beside another one, of all names and of those that can be
  denied, which have no question mark in the object vocabulary;
- ``true``: how often a label of the image that the text does not mention, added as *There is a …
  in the picture.*, lowers F;
- ``guess``: from which probability on such a sentence raises F in the mean, class by class. Of a
  class with the mean gain g where it is there and the mean loss l where it is not, it is
  l / (l + g);
- ``nonsense``: how often gibberish, refusals and empty texts score below the caption of another
  image, from objects alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from tabulate import tabulate

from vifidel_eval.annotations import ObjectLabels, read_objects
from vifidel_eval.captions import read_references
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.kernels.known import Verdict
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.synonyms import class_names, coco_synonyms, read_classes

GROUNDING = Grounding(class_names(), STOP_WORDS)
PARTS = ("names", "true", "guess", "nonsense")
FEWEST = 10  # images with a class, for a probability of its own
LABELS_OF_AN_IMAGE = 3
NONSENSE = {
    "empty": ("", ".", "..."),
    "gibberish": (
        "blorp zindle frum",
        "asdf qwer zxcv uiop",
        "lorem ipsum dolor sit amet consectetur",
        "the the of of and and",
    ),
    "refusals": (
        "I'm sorry, but I can't help with that.",
        "I am unable to view or describe this.",
        "As an AI language model, I cannot process this request.",
    ),
}


@dataclass(frozen=True)
class Sample:
    """Images of val2017 with a caption of each, the others as references, and their objects."""

    ids: list[Any]
    captions: list[str]
    references: list[list[str]]
    objects: ObjectLabels

    def unmentioned(self, place: int) -> list[str]:
        """Return the labels of an image whose class its caption does not mention."""
        names = GROUNDING.names(())
        said = {claim.category for claim in names.read(self.captions[place]).claims}
        labels = sorted(self.objects[self.ids[place]])
        return [label for label in labels if names.class_of_label(label) not in said]

    def f(self, scorer: VifidelPRF, at: Sequence[int], captions: Sequence[str]) -> np.ndarray:
        """Return F of captions of the images at some places."""
        ids, references = ([of[i] for i in at] for of in (self.ids, self.references))
        return scorer.evaluate(make_rows(captions, ids, references))["VIFIDEL-F"].scores


def sampled(data: Path, images: int) -> Sample:
    objects = read_objects(data / "coco/instances_val2017.json")
    captions = read_references(data / "coco/captions_val2017.json")
    known = [image_id for image_id in sorted(captions) if objects.get(image_id)]
    ids = random.Random(0).sample(known, min(images, len(known)))
    first = [captions[i][0].strip().rstrip(" .") + "." for i in ids]
    return Sample(ids, first, [captions[i][1:] for i in ids], objects)


def sentence(label: str) -> str:
    article = "an" if label[0] in "aeiou" else "a"
    return f" There is {article} {label} in the picture."


def names_judged(shared: Path) -> list[list[Any]]:
    """Return for each list its number of names, the share there, and the shares absent."""
    published = shared / "oracles/chair/synonyms.txt"
    lists = {"ours": coco_synonyms()}
    lists |= {"published": read_classes(published)} if published.exists() else {}
    rows = []
    for listed, classes in lists.items():
        named = [(names[0], name) for names in classes.classes for name in names]
        found = []
        for category, name in named:
            other = "person" if category != "person" else "car"
            verdicts = []
            for label in (category, other):
                image = GROUNDING.known({label: 1}, ())
                claims = image.names.read(f"There is a {name} here.").claims
                said = {image.find(claim.category or "")[0] for claim in claims}
                verdicts.append(said)
            there, absent = Verdict.THERE in verdicts[0], Verdict.ABSENT in verdicts[1]
            found.append((there, absent, may_only_be(category, name)))
        there, absent, is_unsure = np.array(found).T
        sure = ~is_unsure
        rows.append(
            [listed, len(named), there.mean(), absent.mean(), sure.sum(), absent[sure].mean()]
        )
    return rows


def may_only_be(category: str, name: str) -> bool:
    """Return whether the vocabulary has a question mark between a name and a category."""
    names = GROUNDING.names(())
    kinds = [one for level in names.above(names.class_of_word(name) or name) for one in level]
    parent = names.class_of_label(category)
    return any(kind.category == parent and not kind.is_sure for kind in kinds)


def true_labels(sample: Sample) -> list[list[Any]]:
    """Return how often a true label lowers F, and by how much."""
    draw = random.Random(1)
    at, labels = [], []
    for place in range(len(sample.ids)):
        listed = sample.unmentioned(place)
        some = draw.sample(listed, min(LABELS_OF_AN_IMAGE, len(listed)))
        at += [place] * len(some)
        labels += some
    rows = []
    for references in (True, False):
        scorer = VifidelPRF(sample.objects, references=references)
        before = sample.f(scorer, at, [sample.captions[i] for i in at])
        more = [sample.captions[i] + sentence(x) for i, x in zip(at, labels, strict=True)]
        change = sample.f(scorer, at, more) - before
        lower = change < -1e-9
        lost = -change[lower].mean() if lower.any() else 0.0
        rows.append([references, len(at), lower.mean(), lost, -change.min()])
    return rows


def guesses(sample: Sample) -> list[list[Any]]:
    """Return the mean probability from which a guess pays, and that of the worst class."""
    names = GROUNDING.names(())
    mentioned = [{c.category for c in names.read(text).claims} for text in sample.captions]
    draw = random.Random(2)
    rows = []
    for references in (True, False):
        scorer = VifidelPRF(sample.objects, references=references)
        before = sample.f(scorer, range(len(sample.ids)), sample.captions)
        found = {}
        for label in sorted(sample.objects.vocabulary()):
            category = names.class_of_label(label)
            open_to = [i for i, said in enumerate(mentioned) if category not in said]
            there = [i for i in open_to if label in sample.objects[sample.ids[i]]]
            absent = [i for i in open_to if label not in sample.objects[sample.ids[i]]]
            if len(there) < FEWEST:
                continue
            some = [draw.sample(side, min(50, len(side))) for side in (there, absent)]
            gain, loss = (
                (sample.f(scorer, at, [sample.captions[i] + sentence(label) for i in at])
                 - before[at]).mean()
                for at in some
            )  # fmt: skip
            found[label] = 1.0 if gain <= 0 else -loss / (gain - loss)
        worst = min(found, key=found.__getitem__)
        rows.append([references, len(found), np.mean([*found.values()]), found[worst], worst])
    return rows


def nonsense(sample: Sample) -> Iterator[list[Any]]:
    """Yield for each kind of text how often all of it scores below another image's caption."""
    scorer = VifidelPRF(sample.objects, references=False)
    places = range(len(sample.ids))
    moved = [*sample.captions[1:], sample.captions[0]]
    other = sample.f(scorer, places, moved)
    best = np.zeros(len(sample.ids))
    for kind, texts in NONSENSE.items():
        of_kind = [sample.f(scorer, places, [text] * len(sample.ids)) for text in texts]
        best = np.maximum(best, np.max(of_kind, axis=0))
        yield [kind, np.mean(of_kind), other.mean(), (np.max(of_kind, axis=0) < other).mean()]
    yield ["all", None, other.mean(), (best < other).mean()]


def table(rows: Sequence[Sequence[Any]], headers: str) -> str:
    return tabulate(rows, headers.split(","), tablefmt="github", floatfmt=".3f") + "\n"


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
@click.option("--images", default=400, show_default=True, help="Images of val2017.")
@click.option("--only", type=click.Choice(PARTS), help="One part.")
def main(shared: Path, images: int, only: str | None) -> None:
    """Print the tables from the data below SHARED."""
    sample = sampled(shared / "data", images)
    parts: dict[str, Callable[[], str]] = {
        "names": lambda: table(
            names_judged(shared), "list,names,there,absent,can be denied,absent"
        ),
        "true": lambda: table(true_labels(sample), "references,sentences,F lower,by,at most"),
        "guess": lambda: table(guesses(sample), "references,classes,pays from,worst,class"),
        "nonsense": lambda: table([*nonsense(sample)], "texts,F,F of others,below"),
    }
    for name, part in parts.items():
        if only in (None, name):
            click.echo(f"## {name}\n\n{part()}")


if __name__ == "__main__":
    main()
