"""nocaps-FOIL, HAT, THumB and distracted captions are read; other files are refused."""

import judgement_files as files
import pytest

from vifidel_eval.errors import ImageIdError
from vifidel_eval.plugins.agreement import readers


def test_foils_are_pairs_with_the_planted_words_marked(tmp_path):
    data = readers.read_nocaps_foil(files.write_foils(tmp_path))
    assert data.name == "nocaps-FOIL"
    assert [one.image_id for one in data.judged] == ["00a1", "00b2", "00c3"]
    assert [one.captions for one in data.judged] == [
        (f["baseline"], f["foil"]) for f in files.FOILS
    ]
    assert data.made_up.tolist() == [[False] * 3, [True] * 3]
    # "A traffic light at a table, and a light.": each of both words wherever it is.
    assert data.marked == [{1}, {1, 2, 8}, {0}]
    # The baseline is a reference of the first image, in other spelling.
    first = data.judged[0]
    assert first.others(first.references) == files.FOILS[0]["references"][:2]


def test_hat_has_a_mark_for_each_token(tmp_path):
    data = readers.read_hat(files.write_hat(tmp_path))
    assert data.name == "HAT"
    assert [one.captions for one in data.judged] == [(one["caption"],) for one in files.HAT]
    images = [f"COCO_val2014_{number:012}" for number in (42, 42, 139)]
    assert [one.image_id for one in data.judged] == images
    assert data.made_up.tolist() == [[True, False, True]]
    assert data.marked == [{2}, set(), {2, 3, 4}]


def test_thumb_has_three_ratings_and_machines_apart(tmp_path):
    ratings = readers.read_thumb(files.write_thumb(tmp_path))
    assert ratings.name == "THumB"
    assert {name: of.tolist() for name, of in ratings.ratings.items()} == {
        name: [[row[at]] for row in files.THUMB_ROWS]
        for at, name in enumerate(("P", "R", "total"), 3)
    }
    assert ratings.subsets["machine"].tolist() == [True, True, False] * 2
    assert ratings.subsets["all"].tolist() == [True] * 6
    images = [f"COCO_val2014_{number:012}" for number in (42, 139)]
    assert [one.image_id for one in ratings.judged][::3] == images
    own = ratings.judged[2]
    assert own.others(own.references) == files.THUMB_REFERENCES["42"][:2]


def test_the_correct_caption_is_preferred(tmp_path):
    choices = readers.read_distractors(files.write_distractors(tmp_path))
    assert choices.name == "pairs"
    assert choices.preferred.tolist() == [1, 1, 1]
    assert choices.kinds == ["switch people", "replace scene", "replace scene"]
    assert choices.judged[0].captions == ("a woman rides a horse", "a boy rides a horse")
    assert choices.judged[0].references == tuple(files.DISTRACTORS[0]["references"])


def test_references_may_come_from_elsewhere(tmp_path):
    bare = [{k: v for k, v in entry.items() if k != "references"} for entry in files.DISTRACTORS]
    path = files.write_distractors(tmp_path, [files.DISTRACTORS[0], *bare[1:]])
    assert [one.references for one in readers.read_distractors(path).judged[1:]] == [(), ()]
    choices = readers.read_distractors(path, {2: ["from elsewhere"], 1: ["not taken"]})
    assert choices.judged[0].references == tuple(files.DISTRACTORS[0]["references"])
    assert [one.references for one in choices.judged[1:]] == [("from elsewhere",)] * 2
    with pytest.raises(ImageIdError, match="lacks 2 image ids"):
        readers.read_distractors(path, {1: ["a"]})


SETS = {
    "foil": (readers.read_nocaps_foil, files.write_foils, files.FOILS, "nocaps-val-foil.json: [1]"),
    "hat": (readers.read_hat, files.write_hat, files.HAT, "hat.json: [1]"),
    "thumb": (
        readers.read_thumb,
        files.write_thumb,
        files.thumb_entries(),
        "mscoco_THumB-1.0.jsonl: line 2",
    ),
    "distractors": (
        readers.read_distractors,
        files.write_distractors,
        files.DISTRACTORS,
        "pairs.json: [1]",
    ),
}
MARKS = "expected a list of [token, true or false]."


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("foil", {"foil": None}, "'foil' is missing; expected text."),
        ("foil", {"references": [1]}, "'references' is [1]; expected a list of strings."),
        ("foil", {"image_path": None}, "'image_path' is missing"),
        ("foil", {"replacement": ["man"]}, "'replacement' is ['man']; expected the word that was"),
        ("foil", {"replacement": ["man", "duck"]}, "expected a second word that the foil has."),
        ("hat", {"contains_hallucination": "no"}, "is 'no'; expected true or false."),
        ("hat", {"grounding": None}, f"'grounding' is missing; {MARKS}"),
        ("hat", {"grounding": ["A", "dog", "running"]}, MARKS),
        ("hat", {"grounding": [["A", 0], ["dog", 1]]}, MARKS),
        ("hat", {"grounding": [["A", False], ["cat", True]]}, "expected the tokens of 'caption'"),
        ("thumb", {"P": "5"}, "'P' is '5'; expected a number from 1 to 5."),
        ("thumb", {"R": 0.5}, "'R' is 0.5; expected a number from 1 to 5."),
        ("thumb", {"seg_id": "7"}, "expected an image that mscoco_references.json has."),
        ("distractors", {"image_id": None}, "'image_id' is missing; an image id is an integer"),
        ("distractors", {"kind": 3}, "(image 2): 'kind' is 3; expected a string."),
        ("distractors", {"kind": "all"}, "the kind cannot be called 'all'"),
    ],
)
def test_other_entries_are_refused(tmp_path, refusal, name, values, expected):
    read, write, (first, second, *others), where = SETS[name]
    second = {key: value for key, value in (second | values).items() if value is not None}
    sentence = refusal(read, write(tmp_path, [first, second, *others]))
    assert sentence.startswith(f"{tmp_path}/{where}")
    assert expected in sentence
