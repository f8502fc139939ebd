"""Descriptions of any length: what prose, inventions, true detail and repetition do to scores.

    python benchmarks/descriptions.py SHARED [--images N] [--draws N] [--only PART]

SHARED/data holds ``coco``, ``pascal50s``, ``flickr8k``, ``thumb``, ``hat``, ``nocaps_foil``
and ``lvlm`` in their data sets' own formats. Texts are people's captions joined to
some 10, 35 and 110 words; sentences that claim nothing and inventions are those of
``descriptions.txt``, which were written after everything was settled. docs/experiments.md,
docs/which-metric.md and docs/recipes.md hold what this prints. Parts:

- ``properties``: for each kind of evidence, means of VIFIDEL-PRF and what style and inventions
  change, and the worst of them beside what was asked for;
- ``ways``: whether an absent thing lowers F in whatever way it is said, after the descriptions of
  ten systems, and what denials do;
- ``agreement``: with people's judgements, as ``fidelity_choices.py`` has it;
- ``descriptions``: 500 descriptions of three captions each, with style and inventions added;
- ``best``: how often the best of four texts invents something.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
from fidelity_choices import FIGURES, Data, agreement, vector
from scipy.io import loadmat
from tabulate import tabulate

from vifidel_eval.annotations import ObjectLabels, read_objects
from vifidel_eval.captions import read_results
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.scorers import Scorer, VifidelD, VifidelH, VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.synonyms import class_names

STYLE = (1, 2, 3, 4, 6, 8)
INVENTED = (1, 2, 3, 4)
TAGS = 300
PARTS = ("properties", "ways", "agreement", "descriptions", "best")
NAMES = Grounding(class_names(), STOP_WORDS).names(())


def texts() -> dict[str, list[str]]:
    """Return the sections of descriptions.txt."""
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return found


def joined(captions: Sequence[str]) -> str:
    return " ".join(caption.strip().rstrip(" .") + "." for caption in captions)


@dataclass(frozen=True)
class Image:
    """An image: its id, the captions of people, and its object labels."""

    id: Any
    captions: Sequence[str]
    labels: Sequence[str]

    @cached_property
    def classes(self) -> set[str | None]:
        """Classes that labels or captions name."""
        said = {claim.category for caption in self.captions for claim in NAMES.read(caption).claims}
        return said.union(map(NAMES.class_of_label, self.labels))


@dataclass(frozen=True)
class Made:
    """Images of one source with the texts made of their captions, by what was done to them."""

    name: str
    objects: ObjectLabels
    images: Sequence[Image]
    lengths: Mapping[int, int]  # about how many words, to how many captions
    references: int  # how many of the last captions of an image

    @cached_property
    def texts(self) -> dict[tuple[int, str], list[str]]:
        """(length, what was added) to the text of each image."""
        draw = random.Random(3)
        parts = texts()
        pool = sorted(self.objects.vocabulary())
        found: dict[tuple[int, str], list[str]] = {}
        for image in self.images:
            absent = [x for x in pool if NAMES.class_of_label(x) not in image.classes]
            absent = draw.sample(absent, max(INVENTED))
            beyond = draw.choice(parts["beyond"])
            style = draw.sample(parts["style"], max(STYLE))
            how = draw.sample(parts["inventions"], max(INVENTED))
            for length, captions in self.lengths.items():
                true = joined(image.captions[:captions])
                more = {"": "", "twice": f" {true}", "beyond": " " + how[0].format(beyond)}
                more |= {f"style {k}": " " + " ".join(style[:k]) for k in STYLE}
                more |= {
                    f"invented {k}": "".join(
                        " " + form.format(x) for form, x in zip(how[:k], absent, strict=False)
                    )
                    for k in INVENTED
                }
                more["both"] = f" There is also a {absent[0]} and a {absent[1]}."
                for name, added in more.items():
                    found.setdefault((length, name), []).append(true + added)
        return found

    def scores(self, scorer: Scorer, captions: Sequence[str]) -> dict[str, Any]:
        """Return the columns of captions, one per image."""
        references = [image.captions[-self.references :] for image in self.images]
        ids = [image.id for image in self.images]
        return {
            name: evaluation.scores
            for name, evaluation in scorer.evaluate(make_rows(captions, ids, references)).items()
        }


def coco_images(data: Path, number: int) -> tuple[ObjectLabels, list[Image]]:
    objects = read_objects(data / "coco/instances_val2017.json")
    captions: dict[int, list[str]] = {}
    for entry in json.loads((data / "coco/captions_val2017.json").read_text())["annotations"]:
        captions.setdefault(entry["image_id"], []).append(entry["caption"].strip())
    known = [i for i in sorted(captions) if objects.get(i) and len(captions[i]) >= 5]
    chosen = random.Random(7).sample(known, min(number, len(known)))
    return objects, [Image(i, captions[i][:5], sorted(objects[i])) for i in chosen]


def pascal_images(data: Path, number: int) -> tuple[ObjectLabels, list[Image]]:
    objects = read_objects(data / "pascal50s/Annotations")
    listed = loadmat(data / "pascal50s/pascal50S.mat", squeeze_me=True)["train_sent_final"]
    images = []
    for entry in random.Random(7).sample(list(listed), min(number, len(listed))):
        name = Path(str(entry["name"])).stem
        labels = sorted(objects[name])
        images.append(Image(name, [str(s).strip() for s in entry["sentences"]], labels))
    return objects, images


def changes(
    made: Made, scorer: VifidelPRF, columns: Sequence[str]
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return a row per length, and a row per pair of lengths, of the properties."""
    found = {
        key: np.column_stack([of_text[c] for c in columns])
        for key, captions in made.texts.items()
        for of_text in [made.scores(scorer, captions)]
    }
    rows, longer = [], []
    for length in made.lengths:
        true, both = found[length, ""], found[length, "both"]
        mean = np.nanmean(true, axis=0)
        style = [found[length, f"style {k}"] for k in STYLE]
        moved = np.abs([np.nanmean(x, axis=0) - mean for x in style]).max(axis=0)
        above = min((x[:, -1] > both[:, -1]).mean() for x in style)
        chain = [true, *(found[length, f"invented {k}"] for k in INVENTED)]
        lower = np.min([(y < x).mean(axis=0) for x, y in pairwise(chain)], 0)
        cost = 1 - np.nanmean(chain[1], axis=0) / mean
        beyond = 1 - np.nanmean(found[length, "beyond"], axis=0) / mean
        same = np.array_equal(found[length, "twice"], true, equal_nan=True)
        rows.append([length, *mean, *moved, above, *lower, *cost, *beyond, "yes" if same else "no"])
    lengths = list(made.lengths)
    for short, long in [*pairwise(lengths), (lengths[0], lengths[-1])]:
        first, second = found[short, ""], found[long, ""]
        of_p = np.nanmean(second[:, 0]) - np.nanmean(first[:, 0])
        no_lower = (second[:, -1] >= first[:, -1] - 1e-12).mean()
        if [f"{short}-{long}"] not in [row[:1] for row in longer]:
            longer.append([f"{short}-{long}", no_lower, of_p])
    return rows, longer


def made_texts(data: Path, images: int) -> list[tuple[Made, bool, str]]:
    """Return texts of two sources, whether they have references, and what their evidence is."""
    lengths = {10: 1, 35: 3, 110: 11}
    coco, voc = coco_images(data, images), pascal_images(data, images * 4 // 5)
    return [
        (Made("val2017", *coco, {10: 1, 35: 3}, 2), True, "2 references and objects"),
        (Made("PASCAL-50S", *voc, lengths, 2), True, "2 references and objects"),
        (Made("PASCAL-50S", *voc, lengths, 5), True, "5 references and objects"),
        (Made("val2017", *coco, {10: 1, 35: 3}, 2), False, "objects alone"),
        (Made("PASCAL-50S", *voc, lengths, 2), False, "objects alone"),
    ]


Rows = list[list[Any]]


def properties(sets: Sequence[tuple[Made, bool, str]]) -> tuple[Rows, Rows]:
    """Return a row per kind of texts and length, and a row per pair of lengths."""
    rows: Rows = []
    longer: Rows = []
    for made, references, evidence in sets:
        scorer = VifidelPRF(made.objects, references=references)
        of_lengths, of_pairs = changes(made, scorer, ("VIFIDEL-P", "VIFIDEL-F"))
        label = f"{made.name}, {evidence}"
        rows += [[label, *row] for row in of_lengths]
        longer += [[label, *row] for row in of_pairs]
    return rows, longer


def worst(rows: Rows, longer: Rows) -> dict[str, tuple[float, float]]:
    """Return each target with what was asked for, and the worst row of its kind."""
    alone = [row for row in rows if "alone" in row[0]]
    heard = [row for row in rows if "alone" not in row[0]]
    coco, voc = ([r for r in longer if "alone" in r[0] and n in r[0]] for n in ("val", "PASCAL"))
    said = [row for row in longer if "alone" not in row[0]]
    return {
        "style changes P by at most": (0.02, max(row[4] for row in rows)),
        "style changes F by at most": (0.02, max(row[5] for row in rows)),
        "F with style above that with two inventions, references": (0.97, min(r[6] for r in heard)),
        "the same, objects alone": (0.95, min(row[6] for row in alone)),
        "an invention lowers P in": (0.93, min(row[7] for row in rows)),
        "an invention lowers F in": (0.93, min(row[8] for row in rows)),
        "the first one costs P at least": (0.10, min(row[9] for row in rows)),
        "the first one costs F at least": (0.08, min(row[10] for row in rows)),
        "longer and true has no lower F, references": (0.85, min(row[2] for row in said)),
        "the same, COCO's objects alone": (0.95, min(row[2] for row in coco)),
        "the same, PASCAL VOC's objects alone": (0.95, min(row[2] for row in voc)),
        "P of 110 words, less that of 10, at least": (-0.10, min(row[3] for row in longer)),
        "a text twice over has its scores": (1.0, float(all(row[13] == "yes" for row in rows))),
    }


def print_properties(data: Path, images: int) -> None:
    sets = made_texts(data, images)
    rows, longer = properties(sets)
    headers = "texts,words,P,F,style P,style F,above,lower P,lower F,cost P,cost F"
    headers += ",beyond P,beyond F,twice"
    print(table(rows, headers.split(",")))
    print(table(longer, ["texts", "words", "F no lower", "P longer - shorter"]))
    targets = [[name, *values] for name, values in worst(rows, longer).items()]
    print(table(targets, ["target", "asked", "worst"]))
    denied = [row for made, references, _ in sets if not references for row in denials(made)]
    headers = "texts,words,F lower,and more denied,more denied and R no higher,more denied"
    print(table(denied, headers.split(",")))
    print(table(tags(sets[0][0]), ["words", "R kept"]))


def denials(made: Made) -> list[list[Any]]:
    """Return how often labels deny more of a longer true text, and it reaches no more of them.

    No F that an invention lowers can stay there: labels do not tell the two apart.
    """
    found = {}
    for length in made.lengths:
        captions = made.texts[length, ""]
        prf = made.scores(VifidelPRF(made.objects, references=False), captions)
        d = made.scores(VifidelD(made.objects), captions)["VIFIDEL-D"]
        with np.errstate(divide="ignore", invalid="ignore"):  # D is the root of R times .8 for each
            number = np.rint(np.log(d / np.sqrt(prf["VIFIDEL-R"])) / np.log(0.8))
        found[length] = number, prf["VIFIDEL-R"], prf["VIFIDEL-F"]
    lengths, rows = list(made.lengths), []
    for short, long in dict.fromkeys([*pairwise(lengths), (lengths[0], lengths[-1])]):
        (before, r, f), (after, longer_r, longer_f) = found[short], found[long]
        denied = after > before
        lower = longer_f < f - 1e-12
        shares = [lower, lower & denied, denied & (longer_r <= r + 1e-9), denied]
        rows.append([made.name, f"{short}-{long}", *(share.mean() for share in shares)])
    return rows


def tags(made: Made) -> list[list[Any]]:
    """Return what is left of the mean R if an image has 300 tags in place of its gold objects."""
    names = [n for n in sorted(class_names().class_of) if vector(n).any()]
    vectors = np.array([vector(name) for name in names])
    of_image = {}
    for image in made.images:
        said = (p.text for c in image.captions[1:] for p in NAMES.phrases(c))
        found = dict.fromkeys([*image.labels, *said])
        near = (vectors @ np.array([vector(tag) for tag in found]).T).max(axis=1)
        found |= dict.fromkeys(names[at] for at in np.argsort(-near, kind="stable"))
        of_image[image.id] = list(found)[:TAGS]
    rows = []
    scorers = [VifidelPRF(objects, references=False) for objects in (of_image, made.objects)]
    for length in made.lengths:
        captions = made.texts[length, ""]
        listed, gold = (np.nanmean(made.scores(s, captions)["VIFIDEL-R"]) for s in scorers)
        rows.append([length, listed / gold])
    return rows


def ways(data: Path, systems: str = "*") -> Rows:
    """Return what one more sentence does to the descriptions of systems of ``data/lvlm``."""
    objects, images = coco_images(data, 10**6)
    by_id = {image.id: image for image in images}
    described = [
        (by_id[image_id], caption.rstrip(" .") + ". ")
        for path in sorted((data / "lvlm").glob(f"{systems}_results.json"))
        for image_id, caption in read_results(path).items()
        if image_id in by_id
    ]
    draw, parts = random.Random(1), texts()
    pool = sorted(objects.vocabulary())
    absent = [
        draw.choice([x for x in pool if NAMES.class_of_label(x) not in image.classes])
        for image, _ in described
    ]
    there = [draw.choice(image.labels) for image, _ in described]
    ids = [image.id for image, _ in described]
    said = [image.captions for image, _ in described]
    rows: Rows = []
    for references in (True, False):
        scorer = VifidelPRF(objects, references=references)

        def scores(more: Sequence[str], of: VifidelPRF = scorer) -> list[Any]:
            found = of.score_columns(
                [text + added for (_, text), added in zip(described, more, strict=True)],
                image_ids=ids,
                references=said,
            )
            return [found["VIFIDEL-P"], found["VIFIDEL-F"]]

        before = scores([""] * len(described))
        for name, forms, things in (
            ("absent, said to be there", "ways", absent),
            ("absent, denied", "denials", absent),
            ("there, denied", "denials", there),
        ):
            found = [scores([form.format(x) for x in things]) for form in parts[forms]]
            lower = [(f < before[1]).mean() for _, f in found]
            moved = [
                max(abs(np.nanmean(after) - np.nanmean(first)) for after in of_texts)
                for first, of_texts in zip(before, zip(*found, strict=True), strict=True)
            ]
            rows.append([name, references, np.mean(lower), min(lower), *moved])
    return rows


def worst_ways(rows: Rows) -> dict[str, tuple[float, float]]:
    """Return each target of `ways` with what was asked for, and the worst row of its kind."""
    said, free, wrong = ([row for row in rows if row[0] == name] for name in dict.fromkeys(
        row[0] for row in rows
    ))  # fmt: skip
    return {
        "an absent thing lowers F, however said, in": (0.95, min(row[3] for row in said)),
        "denials of absent things move P and F by at most": (
            0.02,
            max(value for row in free for value in row[4:]),
        ),
        "wrong denials lower F in": (0.95, min(row[3] for row in wrong)),
    }


def print_ways(data: Path) -> None:
    headers = ["one thing", "references", "F lower", "worst way", "P moves by", "F moves by"]
    print(table(ways(data), headers))


def print_agreement(data: Path, draws: int) -> None:
    print(table([agreement(Data(data, draws, 1))], FIGURES))


def print_descriptions(data: Path, images: int) -> None:
    made = Made("val2017", *coco_images(data, images), {35: 3}, 2)
    for references in (True, False):
        rows = []
        prf, h = (metric(made.objects, references=references) for metric in (VifidelPRF, VifidelH))
        both = made.scores(prf, made.texts[35, "both"])["VIFIDEL-F"]
        for name in ("", "style 1", "style 2", "style 3", "both"):
            found, of_h = (made.scores(scorer, made.texts[35, name]) for scorer in (prf, h))
            f = found["VIFIDEL-F"]
            above = (f > both).mean() if name != "both" else None
            row = [name or "true", np.nanmean(found["VIFIDEL-P"]), np.nanmean(f), above]
            rows.append([*row, *map(np.nanmean, of_h.values())])
        names = [column.name.removeprefix("VIFIDEL-") for column in VifidelH.columns]
        print(f"{'with' if references else 'without'} references, {len(made.images)} images")
        print(table(rows, ["text", "P", "F", "above", *names]))


def print_best(data: Path) -> None:
    objects, images = coco_images(data, 10**6)
    by_id = {image.id: image for image in images}
    of_models: dict[Any, list[str]] = {}
    for path in sorted((data / "lvlm").glob("*_results.json")):
        for image_id, caption in read_results(path).items():
            of_models.setdefault(image_id, []).append(caption)
    fours = random.Random(0)
    models = [
        (by_id[i], fours.sample(captions, 4))
        for i, captions in sorted(of_models.items())
        if i in by_id and len(captions) >= 4
        for _ in range(20)
    ]
    parts, draw = texts(), random.Random(5)
    pool = sorted(objects.vocabulary())
    made = []
    for image in images[:250]:
        absent = [x for x in pool if NAMES.class_of_label(x) not in image.classes]
        four = []
        for _ in range(4):
            text = [joined(draw.sample(image.captions[:3], draw.choice((1, 2, 3))))]
            text += draw.sample(parts["style"], draw.choice((0, 1, 2, 3)))
            things = draw.sample(absent, draw.choice((0, 0, 0, 1, 2)))
            text += [draw.choice(parts["inventions"]).format(thing) for thing in things]
            four.append(" ".join(text))
        made.append((image, four))
    rows = []
    for name, drawn, last in (("ten systems of data/lvlm", models, 5), ("made", made, 2)):
        captions = [caption for _, four in drawn for caption in four]
        ids = [image.id for image, _ in drawn for _ in range(4)]
        said = [image.captions[-last:] for image, _ in drawn for _ in range(4)]
        judge = VifidelH(objects, references=False).evaluate(make_rows(captions, ids, said))
        invents = (judge["VIFIDEL-Hn"].scores > 0).reshape(-1, 4)
        words = np.array([len(caption.split()) for caption in captions]).reshape(-1, 4)
        for references in (True, False):
            best: dict[str, Scorer] = {
                "F": VifidelPRF(objects, references=references),
                "D": VifidelD(objects),
            }
            rows.append([name, references, "random", invents.mean(), words.mean()])
            for metric, scorer in best.items():
                found = scorer.evaluate(make_rows(captions, ids, said))[scorer.main]
                scores = np.nan_to_num(found.scores, nan=-1.0).reshape(-1, 4)
                at = np.arange(len(scores)), scores.argmax(axis=1)
                rows.append([name, references, metric, invents[at].mean(), words[at].mean()])
    print(table(rows, ["texts", "references", "best by", "invents", "words"]))


def table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> str:
    return tabulate(rows, headers, tablefmt="github", floatfmt=".3f") + "\n"


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
@click.option("--images", default=200, show_default=True, help="Images of val2017.")
@click.option("--draws", default=5, show_default=True, help="Draws of PASCAL-50S's references.")
@click.option("--only", type=click.Choice(PARTS), help="One part.")
def main(shared: Path, images: int, draws: int, only: str | None) -> None:
    """Print all tables from the data below SHARED."""
    data = shared / "data"
    parts: dict[str, Callable[[], None]] = {
        "properties": lambda: print_properties(data, images),
        "ways": lambda: print_ways(data),
        "agreement": lambda: print_agreement(data, draws),
        "descriptions": lambda: print_descriptions(data, 5 * images // 2),
        "best": lambda: print_best(data),
    }
    for name, part in parts.items():
        if only in (None, name):
            print(f"## {name}\n")
            part()


if __name__ == "__main__":
    main()
