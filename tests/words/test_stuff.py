"""Stuff and scenes in the object vocabulary: mentions where they were asked for."""

import pickle

import pytest

from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.errors import VifidelError
from vifidel_eval.scorers import VifidelH
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import class_names, read_classes

CAPTION = "A dog on a beach below the sky"
COCO = {1: {"dog": 1}}


def mentions(objects, references=(), **given):
    scorer = VifidelH(objects, only_things=class_names(), **given)
    rows = coco_rows({1: list(references)}, {1: [CAPTION]})
    (of_row,) = scorer.evaluate(rows)["VIFIDEL-T"].details["VIFIDEL-H"]
    return {mention["words"]: mention["verdict"] for mention in of_row["mentions"]}


def test_the_section(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("dog, puppy\n[stuff]\n# a comment\nsky\nbeach, shore\n")
    classes = read_classes(path)
    assert classes.stuff == {"sky", "beach"}
    assert classes.class_of == {n: n for n in ("dog", "sky", "beach")} | {
        "puppy": "dog",
        "shore": "beach",
    }
    assert classes.things.class_of == {"dog": "dog", "puppy": "dog"}
    path.write_text("dog, puppy\n")
    plain = read_classes(path)
    assert plain.digest == classes.things.digest != classes.digest
    assert plain.things is plain
    path.write_text("dog\nsky\nbeach, shore\n")
    assert read_classes(path).digest != classes.digest
    path.write_text("dog\n[stuff]\ndog\n")
    with pytest.raises(VifidelError, match=r"line 3: 'dog' is already a name of 'dog' \(line 1\)"):
        read_classes(path)


@pytest.mark.parametrize("classes", [class_names(), class_names().things])
def test_pickles_are_small(classes):
    dumped = pickle.dumps(classes)
    assert len(dumped) < 200
    assert pickle.loads(dumped) is classes


@pytest.mark.parametrize(
    ("caption", "found"),
    [
        ("a beach umbrella in the sand", ["sand"]),
        ("snow boots by the road", ["boot", "road"]),
        ("Waves near the beach, a blue sky.", ["wave", "beach", "sky"]),
        ("the beach with a dog", ["beach", "dog"]),
    ],
)
def test_a_name_before_another_word_describes_it(caption, found):
    finder = MentionFinder(class_names())
    assert [m.category for m in finder.find(caption).found if m.category != "umbrella"] == found


@pytest.mark.parametrize(
    ("objects", "references", "given", "expected"),
    [
        # COCO's 80 have none, nor does whoever says that all is listed.
        (COCO, [], {}, None),
        (COCO, [], {"looked_for": "all"}, None),
        ({1: {"dog": 1, "shore": 1}}, [], {}, None),
        # References leave it out, whether they mention it or not.
        (COCO, ["A dog."], {}, None),
        (None, ["A dog."], {}, None),
        (None, ["A dog on a beach."], {}, None),
        # Who was asked for it decides, and references can only say that it is there.
        ({1: {"dog": 1, "beach": 0}}, [], {}, "made up"),
        ({1: {"dog": 1, "beach": 0}}, ["A dog."], {}, "made up"),
        ({1: {"dog": 1, "beach": 0}}, ["A shore."], {}, "there"),
        ({1: {"dog": 1, "beach": 0}}, [], {"looked_for": "all"}, "made up"),
        ({1: {"dog": 1, "shore": 1, "cat": 0}}, [], {}, "there"),
        (COCO, [], {"looked_for": ["dog", "beach"]}, "made up"),
    ],
)
@pytest.mark.filterwarnings("ignore::vifidel_eval.errors.VifidelWarning")
def test_stuff_is_a_mention_where_it_was_asked_for(objects, references, given, expected):
    result = mentions(objects, references, **given)
    assert result.get("beach") == expected
    assert result["dog"] == "there"
    assert "sky" not in result
