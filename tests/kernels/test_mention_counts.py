import numpy as np
import pytest

from vifidel_eval.kernels.mention_counts import (
    CAPTION_COUNTS,
    CORPUS,
    absent,
    caption_counts,
    image_categories,
)
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import ClassList

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
    assert [m.text for m in absent(first, frozenset({"person", "dog"}))] == ["cat"]
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
