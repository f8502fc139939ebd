"""Captions go out to another tool and come back with scores."""

import json
import math

import numpy as np
import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.agreement.judgements import Judged
from vifidel_eval.plugins.agreement.trials import read_scores, write_candidates

PAIRS = [
    Judged("2008_1", ("Ein Bär.", "a dog"), ("ein bär", "the bear")),
    Judged(np.int64(7), ("a cat", "a cow"), ("a cow", "a cat!", "an animal")),
]


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "candidates.json"
    write_candidates(path, PAIRS)
    return path


def test_captions_stand_with_the_references_they_are_scored_against(written):
    assert json.loads(written.read_text("utf-8")) == [
        {"id": "1.1", "image_id": "2008_1", "caption": "Ein Bär.", "references": ["the bear"]},
        {"id": "1.2", "image_id": "2008_1", "caption": "a dog", "references": ["the bear"]},
        {"id": "2.1", "image_id": 7, "caption": "a cat", "references": ["an animal"]},
        {"id": "2.2", "image_id": 7, "caption": "a cow", "references": ["an animal"]},
    ]


def scored(path, scores, change=lambda entries: entries):
    entries = json.loads(path.read_text("utf-8"))
    for entry, score in zip(entries, scores, strict=True):
        entry["score"] = score
    path.write_text(json.dumps(change(entries)), "utf-8")
    return path


def test_scores_come_back_by_id_in_any_order(written):
    path = scored(written, [0.1, 2, -3.5, None], lambda entries: entries[::-1])
    columns, _ = read_scores(path, PAIRS)
    assert list(columns) == ["score"]
    scores = columns["score"]
    assert scores.shape == (2, 2)
    assert scores.dtype == np.float64
    assert scores[:, 0].tolist() == [0.1, 2.0]
    assert scores[0, 1] == -3.5
    assert math.isnan(scores[1, 1])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda e: e[:-1], "3 scores for 4 captions, 1 without one (ids '2.2')"),
        (lambda e: [*e, {"id": "3.1", "score": 1}], "5 scores for 4 captions, 0 without one"),
        (lambda e: [{"id": f"x{i}", "score": 1} for i in range(4)], "4 without one (ids '1.1', "),
        (lambda e: [], "has no scores"),
        (lambda e: 5, "is not a file of scores"),
        (lambda e: [*e[:2], 5, e[3]], "[2]: expected an object"),
        (lambda e: [{"score": 1}, *e[1:]], "[0]: 'id' is missing"),
        (lambda e: [e[0] | {"id": 1}, *e[1:]], "(image 1): 'Ein Bär.' is not the caption with"),
        (lambda e: [*e[:3], e[2] | {"score": 9}, e[3]], "[3]: image '2.1' is listed twice"),
        (lambda e: [e[0] | {"caption": "no"}, *e[1:]], "'no' is not the caption with that id"),
        *(
            (lambda e, score=score: [e[0] | {"score": score}, *e[1:]], "expected a finite number")
            for score in ("0.5", True, [1], math.inf, 10**400)
        ),
    ],
)
def test_other_files_are_refused(written, change, expected):
    path = scored(written, [1, 2, 3, 4], change)
    with pytest.raises(VifidelError) as caught:
        read_scores(path, PAIRS)
    assert str(caught.value).startswith(str(path))
    assert expected in str(caught.value)
