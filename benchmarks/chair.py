"""CHAIR against what the published program prints, with the published list and with ours.

    python benchmarks/chair.py SHARED

SHARED holds ``data/coco`` (val2017's references, instances and result files) and
``oracles/chair`` (``chair.json``, the published ``synonyms.txt`` and the results of long
captions). Prints the numbers of each system beside the published ones, how many captions have
other hallucinated words, and, for our own list, which words are behind other categories; then
how many words of the captions TextBlob's rules change. Needs nothing but the package's
dependencies.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from pycocoevalcap.bleu.bleu import Bleu

from vifidel_eval.kernels.mention_counts import (
    CAPTION_COUNTS,
    CORPUS,
    absent,
    caption_counts,
    image_categories,
)
from vifidel_eval.words.english import drop_incomplete, lemmatizer, singular, tokens
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import ClassList, coco_synonyms, read_classes

_SHOWN = 20
_CUT = 40
_SUBSET = 500


@click.command()
@click.argument("shared", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--examples", is_flag=True, help="Show a caption with each word.")
def main(shared: Path, examples: bool) -> None:
    """Compare with the oracle in the folder SHARED."""
    coco, published = shared / "data" / "coco", shared / "oracles" / "chair"
    oracle = _json(published / "chair.json")
    instances = _instances(coco / "instances_val2017.json")
    references = defaultdict(list)
    for one in _json(coco / "captions_val2017_references.json")["annotations"]:
        references[one["image_id"]].append(one["caption"])
    systems = {
        "human": _results(coco / "captions_val2017_human_results.json"),
        "shuffled": _results(coco / "captions_val2017_shuffled_results.json"),
        "long": _results(published / "captions_val2017_long_results.json"),
    }
    for classes in (read_classes(published / "synonyms.txt"), coco_synonyms()):
        _compare(classes, systems, instances, references, oracle, examples)
    _variants(systems, instances, references, published / "synonyms.txt")
    captions = [
        *systems["human"].values(),
        *(text for texts in references.values() for text in texts),
    ]
    _tokens(captions)
    _singular_forms(captions)
    _times(systems["human"], references, instances)


def _compare(
    classes: ClassList,
    systems: Mapping[str, Mapping[int, str]],
    instances: Mapping[int, set[str]],
    references: Mapping[int, list[str]],
    oracle: Mapping[str, Any],
    examples: bool,
) -> None:
    finder = MentionFinder(classes)
    there = {i: image_categories(instances[i], references[i], finder) for i in instances}
    print(f"\n{classes.signature()}, {lemmatizer()}, instances and references")
    for system, captions in systems.items():
        expected = oracle[system]
        rows = []
        other_words = other_categories = other_verdicts = 0
        behind: Counter[tuple[str, str, str]] = Counter()
        shown: dict[tuple[str, str, str], str] = {}
        for image_id, caption in captions.items():
            mentions = finder.find(caption)
            rows.append(caption_counts(mentions, there[image_id]))
            ours = [(m.text, m.category) for m in absent(mentions, there[image_id])]
            theirs = [(w, c) for w, c in expected["images"][str(image_id)]["hallucinated"]]
            other_words += ours != theirs
            other_verdicts += bool(ours) != bool(theirs)
            differ = {category for _, category in ours} ^ {category for _, category in theirs}
            other_categories += bool(differ)
            for who, found in (("ours", ours), ("published", theirs)):
                for word, category in {pair for pair in found if pair[1] in differ}:
                    behind[who, word, category] += 1
                    shown.setdefault((who, word, category), caption.strip())
        sums = np.array(rows).sum(axis=0)
        print(f"\n{system}: {'':14s}ours  published")
        for column, formula in CORPUS.items():
            print(f"  {column:16s}{formula(sums):8.4f}  {_published(expected, column):8.4f}")
        print(
            f"  of {len(captions)} captions, other hallucinated words: {other_words}, other "
            f"categories: {other_categories}, another verdict: {other_verdicts}"
        )
        for (who, word, category), count in behind.most_common(_SHOWN):
            example = f"   {shown[who, word, category]}" if examples else ""
            print(f"    {count:5d}  only {who}: {word} ({category}){example}")


def _published(expected: Mapping[str, Any], column: str) -> float:
    return float(expected["overall"][column.removeprefix("CHAIR-")])


def _variants(
    systems: Mapping[str, Mapping[int, str]],
    instances: Mapping[int, set[str]],
    references: Mapping[int, list[str]],
    published: Path,
) -> None:
    """Print what changes the number, one thing at a time."""
    finder = MentionFinder(read_classes(published))
    nothing: Mapping[int, list[str]] = defaultdict(list)
    cut = {i: " ".join(caption.split()[:_CUT]) for i, caption in systems["long"].items()}
    whole = {i: drop_incomplete(caption) for i, caption in cut.items()}
    some = random.Random(0).sample(sorted(instances), _SUBSET)
    half = random.Random(1).sample(sorted(instances), _SUBSET)
    rows = {
        "human": (systems["human"], instances, references),
        "human, instances alone": (systems["human"], instances, nothing),
        "human, references alone": (systems["human"], defaultdict(set), references),
        f"human, {_SUBSET} images": ({i: systems["human"][i] for i in some}, instances, references),
        f"human, {_SUBSET} others": ({i: systems["human"][i] for i in half}, instances, references),
        "long": (systems["long"], instances, references),
        f"long, cut after {_CUT} words": (cut, instances, references),
        "the same, incomplete sentences dropped": (whole, instances, references),
    }
    print(f"\nWhat changes the number ({finder.classes.signature()})")
    print(" " * 40 + "".join(f"{column.removeprefix('CHAIR-'):>10s}" for column in CORPUS))
    for name, (captions, labels, texts) in rows.items():
        sums = np.zeros(len(CAPTION_COUNTS))
        for image_id, caption in captions.items():
            there = image_categories(labels[image_id], texts[image_id], finder)
            sums += caption_counts(finder.find(caption), there)
        print(f"  {name:38s}" + "".join(f"{formula(sums):10.4f}" for formula in CORPUS.values()))


def _tokens(captions: list[str]) -> None:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # TextBlob installs NLTK

    quotes = {"``": '"', "''": '"'}
    start = time.process_time()
    ours = [tokens(caption) for caption in captions]
    between = time.process_time()
    theirs = [NLTKWordTokenizer().tokenize(caption.lower()) for caption in captions]
    end = time.process_time()
    different = sum(
        mine != [quotes.get(token, token) for token in other]
        for mine, other in zip(ours, theirs, strict=True)
    )
    print(
        f"\nTokens, without splitting sentences in NLTK: {different} of {len(captions)} captions "
        f"differ; ours {between - start:.1f} s, NLTK's {end - between:.1f} s"
    )


def _singular_forms(captions: list[str]) -> None:
    words = {word for caption in captions for word in tokens(caption) if word.isalpha()}
    more = sum(singular(word) not in (word, word.removesuffix("s")) for word in words)
    print(f"\nWords of letters: {len(words)}; singular forms other than without an s: {more}")


def _times(
    captions: Mapping[int, str],
    references: Mapping[int, list[str]],
    instances: Mapping[int, set[str]],
) -> None:
    start = time.process_time()
    finder = MentionFinder(coco_synonyms())
    for image_id, caption in captions.items():
        there = image_categories(instances[image_id], references[image_id], finder)
        caption_counts(finder.find(caption), there)
    chair = time.process_time() - start
    res = {i: [" ".join(tokens(caption))] for i, caption in captions.items()}
    gts = {i: [" ".join(tokens(text)) for text in references[i]] for i in captions}
    start = time.process_time()
    Bleu(4).compute_score(gts, res, verbose=0)
    bleu = time.process_time() - start
    print(
        f"\n{len(captions)} captions with references: CHAIR {chair:.1f} s of CPU, BLEU {bleu:.1f} s"
    )


def _instances(path: Path) -> dict[int, set[str]]:
    content = _json(path)
    names = {category["id"]: category["name"] for category in content["categories"]}
    found: dict[int, set[str]] = {image["id"]: set() for image in content["images"]}
    for one in content["annotations"]:
        found[one["image_id"]].add(names[one["category_id"]])
    return found


def _results(path: Path) -> dict[int, str]:
    return {result["image_id"]: result["caption"] for result in _json(path)}


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
