"""nocaps-FOIL, HAT, THumB and Flickr8k's crowd are read; other files are refused."""

import json

import numpy as np
import pytest
from judgement_files import (
    CROWD_LINES,
    FLICKR_LINES,
    FOILS,
    HAT,
    THUMB_REFERENCES,
    THUMB_ROWS,
    thumb_entries,
    write_crowd,
    write_flickr8k,
    write_foils,
    write_hat,
    write_thumb,
)

from vifidel_eval.errors import AnnotationError
from vifidel_eval.plugins.agreement.flickr8k import read_flickr8k
from vifidel_eval.plugins.agreement.hat import read_hat
from vifidel_eval.plugins.agreement.nocaps_foil import read_nocaps_foil
from vifidel_eval.plugins.agreement.thumb import read_thumb


def refusal(read, path):
    with pytest.raises(AnnotationError) as caught:
        read(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


def changed(entries, **values):
    """Return entries of which the second one has other values; None takes the key away."""
    first, second, *others = entries
    second = {key: value for key, value in (second | values).items() if value is not None}
    return [first, second, *others]


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


@pytest.mark.parametrize("read", [read_nocaps_foil, read_hat])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{}", "expected a JSON list of objects, found {}"),
        ("[]", "expected a JSON list of objects, found []"),
        ("[[1]]", "[0]: expected a JSON object, found [1]"),
        ("", "the file is empty"),
        ('[{"image_path": "a.jpg"', "truncated"),
        (None, "no such file"),
    ],
)
def test_what_is_no_list_of_objects_is_refused(tmp_path, read, content, expected):
    path = tmp_path / "file.json"
    if content is not None:
        path.write_text(content, "utf-8")
    sentence = refusal(read, path)
    assert sentence.startswith(str(path))
    assert expected in sentence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"foil": None}, "[1]: there is no 'foil'; expected text. Is it the published file?"),
        ({"baseline": 5}, "[1]: 'baseline' is 5; expected text."),
        ({"foil": "  "}, "[1]: 'foil' is '  '; expected text."),
        ({"references": "A man"}, "[1]: 'references' is 'A man'; expected a list of strings."),
        ({"references": [1]}, "[1]: 'references' is [1]; expected a list of strings."),
        ({"image_path": None}, "[1]: there is no 'image_path'"),
        ({"replacement": ["man"]}, "'replacement' is ['man']; expected the word that was"),
        ({"replacement": ["man", "duck"]}, "expected a second word that the foil has."),
        ({"replacement": None}, "[1]: there is no 'replacement'"),
    ],
)
def test_other_foils_are_refused(tmp_path, values, expected):
    path = write_foils(tmp_path, changed(FOILS, **values))
    sentence = refusal(read_nocaps_foil, path)
    assert sentence.startswith(f"{path}: [1]: ")
    assert expected in sentence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"caption": None}, "there is no 'caption'"),
        ({"contains_hallucination": "no"}, "is 'no'; expected true or false."),
        ({"grounding": None}, "there is no 'grounding'; expected a list of [token, true or false]"),
        ({"grounding": ["A", "dog", "running"]}, "expected a list of [token, true or false]"),
        ({"grounding": [["A", 0], ["dog", 1]]}, "expected a list of [token, true or false]"),
        ({"grounding": [["A", False], ["cat", True]]}, "expected the tokens of 'caption', which"),
    ],
)
def test_other_hat_captions_are_refused(tmp_path, values, expected):
    path = write_hat(tmp_path, changed(HAT, **values))
    sentence = refusal(read_hat, path)
    assert sentence.startswith(f"{path}: [1]: ")
    assert expected in sentence


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


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"P": None}, "there is no 'P'; expected a number from 1 to 5. Is it the published file?"),
        ({"P": "5"}, "'P' is '5'; expected a number from 1 to 5."),
        ({"R": 0.5}, "'R' is 0.5; expected a number from 1 to 5."),
        ({"P": True}, "'P' is True; expected a number"),
        ({"human_score": float("nan")}, "'human_score' is nan; expected a number"),
        ({"hyp": None}, "there is no 'hyp'"),
        ({"SYS": 1}, "'SYS' is 1; expected text."),
        ({"seg_id": "7"}, "'seg_id' is '7'; expected an image that mscoco_references.json has."),
        ({"image": None}, "there is no 'image'"),
    ],
)
def test_other_thumb_lines_are_refused(tmp_path, values, expected):
    write_thumb(tmp_path, changed(thumb_entries(), **values))
    sentence = refusal(read_thumb, tmp_path)
    assert sentence.startswith(f"{tmp_path / 'mscoco_THumB-1.0.jsonl'}: line 2: ")
    assert expected in sentence


def test_other_thumb_references_are_refused(tmp_path):
    path = tmp_path / "mscoco_references.json"
    line = {"seg_id": "42", "refs": ["A dog"]}
    write_thumb(tmp_path, references=[line, line])
    assert f"{path}: line 2: 'seg_id' is '42'; expected an image that appears once" in refusal(
        read_thumb, tmp_path
    )
    path.write_text(json.dumps(line) + "\n\n[1]\n", "utf-8")
    assert f"{path}: line 3: expected a JSON object" in refusal(read_thumb, tmp_path)
    path.write_text("\n", "utf-8")
    assert f"{path}: the file is empty" in refusal(read_thumb, tmp_path)
    path.unlink()
    assert f"{path}: no such file" in refusal(read_thumb, tmp_path)


def test_the_crowd_joins_the_experts(tmp_path):
    ratings = read_flickr8k(write_crowd(write_flickr8k(tmp_path)))
    experts, crowd = ratings.ratings["expert"], ratings.ratings["crowd"]
    assert (experts.shape, crowd.shape) == ((11, 3), (11, 1))
    assert experts[:7].tolist() == [list(line[2:]) for line in FLICKR_LINES]
    assert np.isnan(experts[7:]).all()
    assert np.isnan(crowd[:7]).all()
    assert crowd[7:, 0].tolist() == [1 / 3, 1, 0, 2 / 3]
    without = [True, False, True, True, False, True, True, True, False, True, True]
    assert ratings.subsets["without own references"].tolist() == without
    assert [one.image_id for one in ratings.judged[7:]] == [line[0][:-4] for line in CROWD_LINES]


def test_the_crowd_may_come_alone(tmp_path):
    (write_crowd(write_flickr8k(tmp_path)) / "ExpertAnnotations.txt").unlink()
    ratings = read_flickr8k(tmp_path)
    assert list(ratings.ratings) == ["crowd"]
    assert ratings.ratings["crowd"][:, 0].tolist() == [1 / 3, 1, 0, 2 / 3]


@pytest.mark.parametrize(
    "line",
    ["1001_ab.jpg\t1002_cd.jpg#1\t0.5\t1", "1001_ab.jpg\t1002_cd.jpg#1\tyes\t1\t1", "a", "",
     "1001_ab.jpg\t1002_cd.jpg#1\t33\t1\t2", "1001_ab.jpg\t1002_cd.jpg#1\tnan\t1\t2"],
)  # fmt: skip
def test_other_lines_of_the_crowd_are_refused(tmp_path, line):
    path = write_crowd(write_flickr8k(tmp_path)) / "CrowdFlowerAnnotations.txt"
    path.write_text(f"{line}\n{path.read_text('utf-8')}", "utf-8")
    assert refusal(read_flickr8k, tmp_path) == (
        f"{path}: line 1: expected image, caption id and the share of yes, and how many yes and "
        "no, separated by tabs."
    )
