import doctest
import importlib
import json
import pkgutil
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import vifidel_eval.things
from vifidel_eval.things.chair import (
    CAPTION_COUNTS,
    CORPUS,
    absent,
    caption_counts,
    image_categories,
)
from vifidel_eval.things.mentions import Mention, MentionFinder, Mentions
from vifidel_eval.things.synonyms import ClassList, read_classes

FINDER = MentionFinder(
    ClassList("small", (("person", "man"), ("dog", "puppy"), ("cat",), ("couch", "sofa")))
)


def test_an_image_has_the_categories_of_its_labels_and_its_references():
    assert image_categories(["sofa", "zebra"], [], FINDER) == {"couch", "zebra"}
    references = ["A puppy on the couch.", "Two men"]
    assert image_categories(["sofa"], references, FINDER) == {"couch", "dog", "person"}
    assert image_categories([], [], FINDER) == frozenset()


def test_counts_and_numbers_of_a_worked_example():
    # Two captions. Image 1 has a person and a dog, image 2 a couch.
    first = FINDER.find("A man, a man and a cat.")  # 9 tokens, mentions person, person, cat
    second = FINDER.find("A sofa.")  # 3 tokens, mentions couch
    one = caption_counts(first, frozenset({"person", "dog"}))
    two = caption_counts(second, frozenset({"couch"}))
    assert dict(zip(CAPTION_COUNTS, one, strict=True)) == {
        "captions": 1,
        "captions with an absent mention": 1,
        "mentions": 3,
        "absent mentions": 1,
        "categories of the image": 2,
        "categories mentioned": 2,
        "categories mentioned that are there": 1,
        "tokens": 9,
    }
    assert two == (1, 0, 1, 0, 1, 1, 1, 3)
    assert [m.name for m in absent(first, frozenset({"person", "dog"}))] == ["cat"]
    sums = np.add(one, two)
    numbers = {column: float(formula(sums)) for column, formula in CORPUS.items()}
    assert numbers == pytest.approx(
        {
            "CHAIRs": 1 / 2,
            "CHAIRi": 1 / 4,
            "CHAIR-Recall": 2 / 3,
            "CHAIR-Precision": 2 / 3,
            "CHAIR-F1": 2 / 3,
            "CHAIR-Len": 12 / 2,
        }
    )


def test_a_caption_without_a_mention_counts_in_chairs_and_not_in_chairi():
    sums = np.add(
        caption_counts(FINDER.find("a cat"), frozenset()),
        caption_counts(FINDER.find("nothing"), frozenset()),
    )
    assert CORPUS["CHAIRs"](sums) == 0.5
    assert CORPUS["CHAIRi"](sums) == 1.0


def test_nothing_to_divide_by_is_undefined():
    none = np.array(caption_counts(FINDER.find("nothing"), frozenset()))
    assert CORPUS["CHAIRs"](none) == 0
    for column in ("CHAIRi", "CHAIR-Recall", "CHAIR-Precision", "CHAIR-F1"):
        assert np.isnan(CORPUS[column](none))
    assert np.isnan(CORPUS["CHAIRs"](np.zeros(len(CAPTION_COUNTS))))


CATEGORIES = st.sampled_from(["a", "b", "c", "d", "e"])


@given(st.lists(CATEGORIES), st.frozensets(CATEGORIES), st.integers(0, 9))
def test_counts_hang_together(mentioned, there, tokens):
    mentions = Mentions(tuple(Mention(c, c, c) for c in mentioned), tokens)
    count = dict(zip(CAPTION_COUNTS, caption_counts(mentions, there), strict=True))
    assert count["absent mentions"] == sum(c not in there for c in mentioned)
    assert count["captions with an absent mention"] == (not set(mentioned) <= there)
    assert count["categories mentioned that are there"] == len(there.intersection(mentioned))
    assert count["mentions"] == len(mentioned)


@given(arrays(np.int64, (2, 3, len(CAPTION_COUNTS)), elements=st.integers(0, 5)))
def test_formulas_are_vectorised(sums):
    for formula in CORPUS.values():
        whole = formula(sums)
        assert whole.shape == (2, 3)
        np.testing.assert_array_equal(
            whole, [[float(formula(sums[i, j])) for j in range(3)] for i in range(2)]
        )


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_f1_is_the_harmonic_mean(there, only_mentioned, only_in_images):
    sums = np.zeros(len(CAPTION_COUNTS))
    sums[CAPTION_COUNTS.index("categories mentioned that are there")] = there
    sums[CAPTION_COUNTS.index("categories mentioned")] = there + only_mentioned
    sums[CAPTION_COUNTS.index("categories of the image")] = there + only_in_images
    p, r = float(CORPUS["CHAIR-Precision"](sums)), float(CORPUS["CHAIR-Recall"](sums))
    if p + r > 0:
        assert CORPUS["CHAIR-F1"](sums) == pytest.approx(2 * p * r / (p + r))


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.iter_modules(vifidel_eval.things.__path__)]
)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"vifidel_eval.things.{name}")).failed == 0


@cache
def val2017(shared_data):
    """Read instances, references and the oracle."""
    oracle, coco = shared_data.parent / "oracles" / "chair", shared_data / "coco"
    content = _json(coco / "instances_val2017.json")
    names = {category["id"]: category["name"] for category in content["categories"]}
    labels = {image["id"]: set() for image in content["images"]}
    for one in content["annotations"]:
        labels[one["image_id"]].add(names[one["category_id"]])
    references = defaultdict(list)
    for one in _json(coco / "captions_val2017_references.json")["annotations"]:
        references[one["image_id"]].append(one["caption"])
    finder = MentionFinder(read_classes(oracle / "synonyms.txt"))
    there = {i: image_categories(labels[i], references[i], finder) for i in labels}
    return coco, oracle, finder, there, _json(oracle / "chair.json")


@pytest.mark.parametrize("system", ["human", "shuffled", "long"])
def test_the_published_list_gives_the_published_numbers(shared_data, system):
    coco, oracle, finder, there, published = val2017(shared_data)
    folder = oracle if system == "long" else coco
    results = _json(folder / f"captions_val2017_{system}_results.json")
    expected = published[system]
    rows, same_words, same_objects = [], 0, 0
    for result in results:
        image_id = result["image_id"]
        mentions = finder.find(result["caption"])
        rows.append(caption_counts(mentions, there[image_id]))
        image = expected["images"][str(image_id)]
        found = [[m.name, m.category] for m in absent(mentions, there[image_id])]
        same_words += found == image["hallucinated"]
        same_objects += sorted(there[image_id]) == image["objects"]
    assert len(results) == 5000
    assert same_objects == 5000
    assert same_words >= 0.998 * len(results)
    sums = np.array(rows).sum(axis=0)
    for column, formula in CORPUS.items():
        within = 0.02 if column == "CHAIR-Len" else 0.0005
        number = expected["overall"][column.removeprefix("CHAIR-")]
        assert float(formula(sums)) == pytest.approx(number, abs=within), column


def _json(path):
    return json.loads(path.read_text("utf-8"))
