"""How well the cosines of `vifidel_eval.explain.explanation.Thresholds` tell what is in an image.

    python benchmarks/grounding.py INSTANCES.json RESULTS.json... [--references CAPTIONS.json]
        [--synonyms synonyms.txt] [--vectors V]

For each choice of a cosine: how many captions of each system hold a word that is called not in
the image, and how many objects are called unmentioned. Captions that people wrote for their images
should have few, the same captions dealt to other images many. With CHAIR's list of synonyms
(Rohrbach et al., 2018: data/synonyms.txt of its repository) both are compared with what CHAIR's
rules say: a word of the list whose category the image has neither among its objects nor, where
references are given, in a reference. Plurals are found by their endings, not by a lemmatiser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results, system_names
from vifidel_eval.explain.explanation import Explanation, Thresholds

FILE = click.Path(exists=True, path_type=Path)
NAMES = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
NEAR = (0.2, 0.3, 0.4, 0.5, 0.6)
FAR = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
IRREGULAR = {"men": "man", "women": "woman", "geese": "goose", "policemen": "policeman"}
ENDINGS = (("ies", "y"), ("ves", "fe"), ("es", ""), ("s", ""))


class Chair:
    """CHAIR's reading of a caption: which words mean which category."""

    def __init__(self, path: Path) -> None:
        self._category: dict[str, str] = {}
        for line in path.read_text("utf-8").splitlines():
            names = [name.strip().lower() for name in line.split(",") if name.strip()]
            for name in names:
                self._category.setdefault(name, names[0])

    def read(self, caption: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the words of each mention, one or two, and its category."""
        words = re.findall(r"[a-z0-9]+", caption.lower())
        while words:
            taken = 1
            for count in (2, 1):
                phrase = [*words[: count - 1], *map(self._singular, words[count - 1 : count])]
                if len(phrase) == count and " ".join(phrase) in self._category:
                    yield tuple(words[:count]), self._category[" ".join(phrase)]
                    taken = count
                    break
            words = words[taken:]

    def _singular(self, word: str) -> str:
        if word in self._category or word in IRREGULAR:
            return IRREGULAR.get(word, word)
        for ending, instead in ENDINGS:
            if word.endswith(ending) and word.removesuffix(ending) + instead in self._category:
                return word.removesuffix(ending) + instead
        return word


class Agreement:
    """Counts of what we say, what CHAIR says, and what both say."""

    def __init__(self) -> None:
        self.ours = self.ours_right = self.theirs = self.theirs_found = 0

    def add(self, ours: set[str], theirs: Iterable[tuple[str, ...]]) -> None:
        theirs = list(theirs)
        self.ours += len(ours)
        self.ours_right += len(ours.intersection(*[{w for words in theirs for w in words}]))
        self.theirs += len(theirs)
        self.theirs_found += sum(not ours.isdisjoint(words) for words in theirs)

    def row(self) -> list[float]:
        """Return precision and recall against CHAIR."""
        return [self.ours_right / max(self.ours, 1), self.theirs_found / max(self.theirs, 1)]


@click.command()
@click.argument("instances", type=FILE)
@click.argument("results", type=FILE, nargs=-1, required=True)
@click.option("--references", type=FILE)
@click.option("--synonyms", type=FILE)
@click.option("--vectors")
def main(
    instances: Path,
    results: tuple[Path, ...],
    references: Path | None,
    synonyms: Path | None,
    vectors: str | None,
) -> None:
    """Compare thresholds on the gold objects INSTANCES and the RESULTS of some systems."""
    objects = read_objects(instances)
    gold = {} if references is None else read_references(references)
    chair = None if synonyms is None else Chair(synonyms)
    scorer = Vifidel(objects, vectors, references=references is not None)
    systems = {
        name: {i: [caption] for i, caption in read_results(path).items()}
        for name, path in zip(system_names(list(results)), results, strict=True)
    }
    default = Thresholds()

    def explained(name: str, thresholds: Thresholds) -> Iterator[Explanation]:
        gts = {i: gold.get(i, []) for i in systems[name]}
        for explanation in scorer.explanations(gts, systems[name], thresholds):
            if objects[explanation.image_id]:
                yield explanation

    def not_in_image(name: str, thresholds: Thresholds) -> list[float]:
        captions = flagged = 0
        agreement = Agreement()
        for explanation in explained(name, thresholds):
            captions += 1
            flagged += bool(explanation.hallucinated)
            if chair is not None:
                image_id = explanation.image_id
                there = set(objects[image_id])
                for reference in gold.get(image_id, []):
                    there.update(category for _, category in chair.read(reference))
                mentions = chair.read(explanation.caption)
                theirs = [words for words, category in mentions if category not in there]
                agreement.add(set(explanation.hallucinated), theirs)
        return [flagged / captions, *([] if chair is None else agreement.row())]

    def unmentioned(name: str, thresholds: Thresholds, person: bool) -> list[float]:
        present = 0
        agreement = Agreement()
        for explanation in explained(name, thresholds):
            labels = [
                label for label in objects[explanation.image_id] if (label == "person") == person
            ]
            present += len(labels)
            theirs = set()
            if chair is not None:
                theirs = set(labels) - {c for _, c in chair.read(explanation.caption)}
            ours = set(explanation.unmentioned).intersection(labels)
            agreement.add(ours, [(label,) for label in theirs])
        return [agreement.ours / present, *([] if chair is None else agreement.row())]

    columns = ["share", *([] if chair is None else ["precision", "recall"])]
    settings = [("names", Thresholds(names=value)) for value in NAMES]
    settings += [("near", Thresholds(near=value)) for value in NEAR]
    headers = ["cosine", "", *(f"{name}: {column}" for name in systems for column in columns)]
    rows = [
        [
            what,
            vars(chosen)[what],
            *(number for name in systems for number in not_in_image(name, chosen)),
        ]
        for what, chosen in settings
    ]
    print(f"Captions with a word that is not in the image ({default})")
    print(tabulate(rows, headers=headers, floatfmt=("", ".2f", *[".3f"] * len(headers))))
    for person in (True, False):
        rows = [
            [
                "far",
                value,
                *(
                    number
                    for name in systems
                    for number in unmentioned(name, Thresholds(far=value), person)
                ),
            ]
            for value in FAR
        ]
        print(f"\nObjects that are unmentioned: {'person' if person else 'all others'}")
        print(tabulate(rows, headers=headers, floatfmt=("", ".2f", *[".3f"] * len(headers))))


if __name__ == "__main__":
    main()
