import dataclasses
import hashlib
import pickle

import pytest

from vifidel_eval.annotations import COCO_CATEGORIES
from vifidel_eval.errors import VifidelError
from vifidel_eval.words import synonyms
from vifidel_eval.words.synonyms import coco_synonyms, read_classes

LIST = """\
# animals
dog, puppy
cat,kitten ,  Kitty

hot dog, hotdog, hotdog
- dog house, cat food
"""


def test_classes_their_names_and_what_is_of_no_class(write):
    classes = read_classes(write(LIST, "mine.txt"))
    assert classes.classes == (("dog", "puppy"), ("cat", "kitten", "kitty"), ("hot dog", "hotdog"))
    assert classes.no_class == ("dog house", "cat food")
    assert classes.class_of["kitty"] == "cat"
    assert not classes.published


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n\n"])
def test_the_published_list_is_recognised_by_its_lines(write, monkeypatch, end):
    lines = ["dog, puppy", "cake,  cheesecake, iPhone,bun"]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    monkeypatch.setattr(synonyms, "_PUBLISHED", digest)
    classes = read_classes(write(end.join([*lines, ""]), "mine.txt"))
    assert classes.published
    assert classes.name == "rohrbach2018"
    # Its way splits at a comma and one blank only.
    assert classes.classes == (("dog", "puppy"), ("cake", " cheesecake", "iPhone,bun"))
    edited = read_classes(write(end.join([*lines, "unicorn"]), "mine.txt"))
    assert not edited.published
    assert edited.name == "mine"
    assert edited.class_of["cheesecake"] == "cake"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"mine\.txt: no class found; write one class per line"),
        ("# only a comment\n- and no class\n", r"no class found"),
        ("dog\ncat, dog\n", r"line 2: 'dog' is already a name of 'dog' \(line 1\); keep it"),
        ("dog, pup\n\n# x\nDog\n", r"line 4: 'dog' is already a name of 'dog' \(line 1\)"),
        ("- dog\ndog\n", r"line 2: 'dog' is already listed as belonging to no class \(line 1\)"),
        ("dog,, pup\n", r"line 1: '' is not a name"),
        ("dog, pup,\n", r"line 1: '' is not a name"),
        (b"caf\xe9\n", r"mine\.txt: not a UTF-8 text file \(byte 3\)"),
        ('{"info": 1}\n', r"line 1: '\{\"info\": 1\}' is not a name"),
    ],
)
def test_errors_say_where_and_what_to_do(write, content, message):
    with pytest.raises(VifidelError, match=message):
        read_classes(write(content, "mine.txt"))


def test_the_digest_is_of_the_content(write):
    classes = read_classes(write(LIST, "mine.txt"))
    same = read_classes(
        write("hot dog, hotdog\ncat, kitty, kitten\ndog, puppy\n- cat food,dog house", "mine.txt")
    )
    assert same.signature() == classes.signature()
    assert classes.signature() == f"mine#{classes.digest}"
    others = [
        "dog, puppy, pup\ncat, kitten, kitty\nhot dog, hotdog\n- dog house, cat food",
        "puppy, dog\ncat, kitten, kitty\nhot dog, hotdog\n- dog house, cat food",
        "dog, puppy\ncat, kitten, kitty\nhot dog, hotdog\n- dog house",
    ]
    digests = {read_classes(write(text, "mine.txt")).digest for text in others}
    digests |= {classes.digest, dataclasses.replace(classes, published=True).digest}
    digests.add(classes.with_names(["zebra"]).digest)
    assert len(digests) == 6


def test_labels_that_the_list_does_not_know_are_classes_of_their_own(write):
    classes = read_classes(write(LIST, "mine.txt"))
    more = classes.with_names(["zebra", "puppy", "cat food", "dog", "zebra", ""])
    assert more.added == ("cat food", "zebra")
    assert more.class_of["zebra"] == "zebra"
    assert more.class_of["puppy"] == "dog"
    assert more.no_class == ("dog house",)
    assert classes.with_names(["puppy"]) is classes
    assert classes.added == ()


def test_a_list_is_immutable_and_can_be_pickled(write):
    classes = read_classes(write(LIST, "mine.txt")).with_names(["zebra"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        classes.name = "other"
    again = pickle.loads(pickle.dumps(classes))
    assert again == classes
    assert again.digest == classes.digest


def test_our_list_is_of_coco_s_80_categories():
    ours = coco_synonyms()
    assert {names[0] for names in ours.classes} == set(COCO_CATEGORIES.values())
    assert len(ours.classes) == 80
    assert not ours.published
    assert ours.name == "coco_synonyms"
