"""Emoji that show things, by their names in Unicode; each was read by hand."""

import pytest

from vifidel_eval.words.vocabulary import name_of_emoji, split_at_emoji

NAMES = {"dog", "cat", "pizza", "automobile", "person", "apple", "sign", "camera", "couch"}


@pytest.mark.parametrize(
    ("emoji", "name"),
    [
        ("🐕", "dog"),  # DOG
        ("🐶", "dog"),  # DOG FACE
        ("🍕", "pizza"),  # SLICE OF PIZZA
        ("🚗", "automobile"),
        ("🧍", "person"),  # STANDING PERSON
        ("🍎", "apple"),  # RED APPLE
        ("👍", None),  # THUMBS UP SIGN
        ("📷", None),  # which decorates
        ("🛋", None),  # COUCH AND LAMP
        ("😹", None),  # CAT FACE WITH TEARS OF JOY
        ("🦓", None),  # none of the names
        ("dog", None),
        ("", None),
    ],
)
def test_name_of_an_emoji(emoji, name):
    assert name_of_emoji(emoji, NAMES) == name


def test_a_text_and_its_emoji_come_apart():
    assert split_at_emoji("a 🐕🐈 b") == ["a ", "🐕", "", "🐈", " b"]
    assert split_at_emoji("dog") == ["dog"]
