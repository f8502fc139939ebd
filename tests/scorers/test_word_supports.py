"""The support of each word that VIFIDEL-PRF tells, worked out by hand."""

import math

import pytest

from vifidel_eval.captions.rows import make_rows
from vifidel_eval.scorers import VifidelPRF

# Angles in degrees: cosines are those of their differences.
ANGLES = {"dog": 0, "puppy": 30, "cat": 60, "runs": 90, "grass": 180, "hot": 20, "zebra": 100}


@pytest.fixture(scope="module")
def vectors(make_vectors):
    return make_vectors(
        {
            word: [math.cos(math.radians(angle)), math.sin(math.radians(angle))]
            for word, angle in ANGLES.items()
        }
    )


@pytest.fixture
def things(tmp_path):
    path = tmp_path / "things.txt"
    path.write_text("dog\nhot dog\ncat\nzebra\n", "utf-8")
    return path


def near(degrees):
    """Return how near two words are."""
    return pytest.approx(max(0.0, math.cos(math.radians(degrees))))


def test_words_come_in_order_with_their_support(vectors, things):
    scorer = VifidelPRF(vectors=vectors, only_things=things)
    rows = make_rows(
        ["The dog runs with another dog, unheard-of zebra!", "", "A puppy"],
        references=[["a puppy", "a cat runs"], ["a dog"], ["grass"]],
    )
    first, empty, last = scorer.word_supports(rows)
    assert [word.by for word in first] == ["puppy", "runs", "puppy", "runs"]
    assert [tuple(word)[:4] for word in first] == [
        ("dog", near(30), True, range(1, 2)),
        ("runs", 1, False, range(2, 3)),
        ("dog", near(30), True, range(5, 6)),
        ("zebra", near(10), True, range(7, 8)),  # "unheard" has no vector
    ]
    assert empty == []
    # One reference: .4 of a word that is no thing, unsupported, times 1 / 6.
    assert last == [("puppy", 0, False, range(1, 2), None, pytest.approx(0.4 / 6))]


def test_the_output_tells_the_support_of_each_word(vectors, things):
    scorer = VifidelPRF({7: ["cat"]}, vectors=vectors, only_things=things)
    rows = make_rows(["a dog on grass"], image_ids=[7], references=[["grass"]])
    evaluations = scorer.evaluate(rows)
    assert evaluations["VIFIDEL-P"].details == {}
    assert evaluations["VIFIDEL-F"].details["VIFIDEL-PRF"][0] == [
        {"word": "dog", "support": 0.0, "by": None, "thing": True, "weight": 1.0},
        {"word": "grass", "support": 1.0, "by": "grass", "thing": False, "weight": 0.4},
    ]
