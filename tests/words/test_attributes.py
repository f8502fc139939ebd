import pytest

from vifidel_eval.words.attributes import modifiers
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.mentions import finder_of
from vifidel_eval.words.synonyms import class_names

PEOPLE = {"man", "woman", "person"}


def described(text):
    """Return the words that describe things as text: *red car*, *not red car*, *red? car*."""
    claims = finder_of(class_names().things).read(text, STOP_WORDS).claims
    result = modifiers(text, claims, PEOPLE.__contains__)
    assert all(text[modifier.start : modifier.end].lower() == modifier.word for modifier in result)
    return [
        f"{'not ' * one.denied}{one.word}{'?' * one.is_guess} {one.claim.words}" for one in result
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A big, red car.", ["big car", "red car"]),
        ("a red-and-white car", ["red car", "white car"]),
        ("the car is red", ["red car"]),
        ("the car is red and shiny", ["red car", "shiny car"]),
        ("a car that is red", ["red car"]),
        ("a man in a red car", ["red car"]),
        ("the man next to the car is tall", ["tall man"]),
        ("the man next to a car that is red", ["red car"]),
        ("the car is red and blue trucks pass", ["red car", "blue trucks"]),
        ("a blue sky and a car", []),
        ("A car on a road. It is red.", ["red car"]),
        ("A man is near a car. It\u2019s red. He is tall.", ["red car", "tall man"]),
        ("the car is not red", ["not red car"]),
        ("the car isn't red but blue", ["not red car", "blue car"]),
        ("the car is not only red", ["red car"]),
        ("the car is neither red nor blue", ["not red car", "not blue car"]),
        ("a non-red car", ["not red car"]),
        ("a red or blue car", ["red? car", "blue? car"]),
        ("there is no red car", []),
        ("a man sitting in a car", ["sitting man"]),
    ],
)
def test_what_a_word_describes(text, expected):
    assert described(text) == expected


def test_long_texts_take_linear_time():
    """Each word is looked at a bounded number of times, however many claims there are."""
    text = "red " * 20_000 + "car is " + "red " * 20_000 + "it is red. " * 5_000
    assert len(described(text)) < 100 + 5_000
