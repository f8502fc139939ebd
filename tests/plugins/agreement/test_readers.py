"""nocaps-FOIL, HAT, THumB and distracted captions are read; other files are refused."""

import pytest
from judgement_files import (
    DISTRACTORS,
    FOILS,
    HAT,
    THUMB_REFERENCES,
    THUMB_ROWS,
    thumb_entries,
    write_distractors,
    write_foils,
    write_hat,
    write_thumb,
)

from vifidel_eval.errors import ImageIdError
from vifidel_eval.plugins.agreement.readers import (
    read_distractors,
    read_hat,
    read_nocaps_foil,
    read_thumb,
)


def test_foils_are_pairs_with_the_planted_words_marked(tmp_path):
    data = read_nocaps_foil(write_foils(tmp_path))
    assert data.name == "nocaps-FOIL"
    assert [one.image_id for one in data.judged] == ["00a1", "00b2", "00c3"]
    assert [one.captions for one in data.judged] == [(f["baseline"], f["foil"]) for f in FOILS]
    assert data.made_up.tolist() == [[False] * 3, [True] * 3]
    # "A traffic light at a table, and a light.": each of both words wherever it is.
    assert data.marked == [{1}, {1, 2, 8}, {0}]
    # The baseline is a reference of the first image, in other spelling.
    first = data.judged[0]
    assert first.others(first.references) == FOILS[0]["references"][:2]


def test_hat_has_a_mark_for_each_token(tmp_path):
    data = read_hat(write_hat(tmp_path))
    assert data.name == "HAT"
    assert [one.captions for one in data.judged] == [(one["caption"],) for one in HAT]
    assert [one.image_id for one in data.judged] == [
        "COCO_val2014_000000000042",
        "COCO_val2014_000000000042",
        "COCO_val2014_000000000139",
    ]
    assert data.made_up.tolist() == [[True, False, True]]
    assert data.marked == [{2}, set(), {2, 3, 4}]


def test_thumb_has_three_ratings_and_machines_apart(tmp_path):
    ratings = read_thumb(write_thumb(tmp_path))
    assert ratings.name == "THumB"
    assert {name: of.tolist() for name, of in ratings.ratings.items()} == {
        name: [[row[at]] for row in THUMB_ROWS] for at, name in enumerate(("P", "R", "total"), 3)
    }
    assert ratings.subsets["machine"].tolist() == [True, True, False] * 2
    assert ratings.subsets["all"].tolist() == [True] * 6
    assert [one.image_id for one in ratings.judged][::3] == [
        "COCO_val2014_000000000042",
        "COCO_val2014_000000000139",
    ]
    own = ratings.judged[2]
    assert own.others(own.references) == THUMB_REFERENCES["42"][:2]


def test_the_correct_caption_is_preferred(tmp_path):
    choices = read_distractors(write_distractors(tmp_path))
    assert choices.name == "pairs"
    assert choices.preferred.tolist() == [1, 1, 1]
    assert choices.kinds == ["switch people", "replace scene", "replace scene"]
    assert choices.judged[0].captions == ("a woman rides a horse", "a boy rides a horse")
    assert choices.judged[0].references == tuple(DISTRACTORS[0]["references"])


def test_references_may_come_from_elsewhere(tmp_path):
    bare = [{k: v for k, v in entry.items() if k != "references"} for entry in DISTRACTORS]
    path = write_distractors(tmp_path, [DISTRACTORS[0], *bare[1:]])
    assert [one.references for one in read_distractors(path).judged[1:]] == [(), ()]
    choices = read_distractors(path, {2: ["from elsewhere"], 1: ["not taken"]})
    assert choices.judged[0].references == tuple(DISTRACTORS[0]["references"])
    assert [one.references for one in choices.judged[1:]] == [("from elsewhere",)] * 2
    with pytest.raises(ImageIdError, match="lacks 2 image ids"):
        read_distractors(path, {1: ["a"]})


SETS = {
    "foil": (read_nocaps_foil, write_foils, FOILS, "nocaps-val-foil.json: [1]"),
    "hat": (read_hat, write_hat, HAT, "hat.json: [1]"),
    "thumb": (read_thumb, write_thumb, thumb_entries(), "mscoco_THumB-1.0.jsonl: line 2"),
    "distractors": (read_distractors, write_distractors, DISTRACTORS, "pairs.json: [1]"),
}
MARKS = "expected a list of [token, true or false]."


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("foil", {"foil": None}, "'foil' is missing; expected text."),
        ("foil", {"baseline": 5}, "'baseline' is 5; expected text."),
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
        ("thumb", {"human_score": float("nan")}, "'human_score' is nan; expected a number"),
        ("thumb", {"SYS": 1}, "'SYS' is 1; expected text."),
        ("thumb", {"seg_id": "7"}, "expected an image that mscoco_references.json has."),
        ("distractors", {"image_id": None}, "'image_id' is missing; an image id is an integer"),
        ("distractors", {"kind": 3}, "(image 2): 'kind' is 3; expected a string."),
        ("distractors", {"distractor": ["a"]}, "'distractor' is ['a']; expected a string."),
        ("distractors", {"kind": "all"}, "the kind cannot be called 'all'"),
        ("distractors", {"references": "a b"}, "is 'a b'; expected a list of strings."),
    ],
)
def test_other_entries_are_refused(tmp_path, refusal, name, values, expected):
    read, write, (first, second, *others), where = SETS[name]
    second = {key: value for key, value in (second | values).items() if value is not None}
    sentence = refusal(read, write(tmp_path, [first, second, *others]))
    assert sentence.startswith(f"{tmp_path}/{where}")
    assert expected in sentence
