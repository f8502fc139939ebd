"""A noun right before another noun describes it, and an absent thing does not hide so."""

import pytest

from vifidel_eval.words.english import word_class
from vifidel_eval.words.mentions import finder_of
from vifidel_eval.words.synonyms import class_names, coco_synonyms


def named(text):
    return [claim.words for claim in finder_of(class_names()).read(text, ()).claims]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A bird house.", ["bird house"]),
        ("He holds his car keys.", ["keys"]),
        ("A knife on a bench press.", ["knife"]),
        ("A horse trailer.", ["trailer"]),
        ("She walks over a zebra crossing.", []),
        ("He is at a horse racing track.", []),
        ("Two elephant statues.", []),
        ("A fire hydrant, a wine glass and a teddy bear.",
         ["fire hydrant", "wine glass", "teddy bear"]),
        ("A dog figurine. A shirt with a red and white horse design.", []),
        ("She enjoys horse riding. It is a zebra or horse trailer.", ["trailer"]),
        ("The car keys are here. A bench was sat on.", ["bench"]),
        ("On the bench sit a dog and a cat.", ["bench", "dog", "cat"]),
        ("A phone number; zebra number two.", ["zebra"]),
        ("A cab at the driver's side of a cow.", ["cow"]),
        ("A stuffed teddy bear.", ["stuffed teddy bear"]),
        # What stands behind a noun is not always one.
        ("A zebra close to a cow, a dog cut in half.", ["zebra", "cow", "dog"]),
        ("A man sits at the bench reading.", ["bench"]),
        ("A platter stares.", ["platter"]),
        # What may be a verb is one.
        ("A zebra crossing the road.", ["zebra"]),
        ("A horse racing another.", ["horse"]),
        ("The dog barks.", ["dog"]),
        ("A clock strikes six.", ["clock"]),
        ("They watch a zebra drink.", ["zebra"]),
        ("A horse and a zebra wait.", ["horse", "zebra"]),
        ("Sheep stand there, a herd of zebra stand too.", ["sheep", "zebra"]),
        # Adverbs, and what such a thing is a part of.
        ("A zebra outside, a dog today, a horse side by side with a cow.",
         ["zebra", "dog", "horse", "cow"]),
        ("A zebra herd, an elephant trunk and a pizza slice.", ["zebra", "elephant", "pizza"]),
        ("dog cat horse", ["dog", "cat", "horse"]),  # a list
        # Plurals, and who does something.
        ("Zebras, zebras drink.", ["zebras", "zebras"]),
        ("A woman tennis player.", ["woman"]),
    ],
)  # fmt: skip
def test_the_last_noun_says_what_it_is(text, expected):
    assert [word for word in named(text) if word in expected or word in HIDDEN] == expected


HIDDEN = {*"cat bird car bench horse zebra elephant dog clock sheep cow pizza".split()}


def test_chair_by_our_list_reads_nouns_alike():
    find = finder_of(coco_synonyms()).find
    assert not find("She crosses at a zebra crossing, near a bird house.").found
    assert [m.text for m in find("A bird near a house.").found] == ["bird"]


def test_classes_of_words_are_those_of_the_lexicon():
    assert [word_class(word) for word in ("zebra", "stands", "qwertz")] == ["NN", "VBZ", ""]
