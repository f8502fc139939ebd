"""VIFIDEL-PRF against its formulas in plain loops, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prf_oracle import plain

from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.rows import coco_rows
from vifidel_eval.scorers import VifidelPRF

# "table" and "dog" name things in the list of these tests; the other words do not.
WORDS = ["dog", "table", "wordc", "wordd", "worde", "wordf", "wordg", "wordh"]
ROWS = np.random.default_rng(12).normal(size=(len(WORDS), 4)).astype(np.float32)


@pytest.fixture(scope="module")
def vectors(make_vectors):
    return make_vectors(dict(zip(WORDS, ROWS.tolist(), strict=True)))


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    path = tmp_path_factory.mktemp("things") / "things.txt"
    path.write_text("dog, puppy\ntable\n", encoding="utf-8")
    return path


words_ = st.lists(st.sampled_from(WORDS), max_size=6)


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(words_, words_, st.lists(words_, max_size=4)), min_size=1, max_size=5)
)
def test_edition_1_equals_its_formulas_word_by_word(vectors, things, rows):
    scorer = VifidelPRF(vectors=vectors, things=things, edition=1)
    found = scorer.score_columns(
        [" ".join(caption) for caption, _, _ in rows],
        objects=[labels for _, labels, _ in rows],
        references=[[" ".join(r) for r in references] for _, _, references in rows],
    )
    vector_of = dict(zip(WORDS, ROWS.astype(float), strict=True)).__getitem__
    expected = [plain(c, o, r, vector_of, {"dog", "table"}.__contains__) for c, o, r in rows]
    columns = np.column_stack([found[f"VIFIDEL-{letter}"] for letter in "PRF"])
    np.testing.assert_allclose(columns, np.array(expected), rtol=0, atol=1e-6)
    defined = columns[~np.isnan(columns)]
    assert ((defined >= 0) & (defined <= 1)).all()


def test_edition_1_worked_by_hand(make_vectors, tmp_path):
    # Unit axes but for "puppy", whose cosine to "dog" is .55: near = (.55 - .1) / .9 = .5.
    vectors = make_vectors(
        {"dog": [1, 0, 0], "ball": [0, 1, 0], "puppy": [0.55, 0, math.sqrt(1 - 0.55**2)]}
    )
    things = tmp_path / "things.txt"
    things.write_text("dog\nball\npuppy\n", encoding="utf-8")
    scorer = VifidelPRF(vectors=vectors, things=things, edition=1)
    score = scorer.score_columns(["a puppy and a puppy"], objects=[["dog", "dog", "ball"]])
    # Both columns by hand: P = .5; R = (.5 + 0) / 2, each label once; F = (.5 * .25 ** 2) ** (1/3).
    assert score["VIFIDEL-P"][0] == pytest.approx(0.5, abs=1e-6)
    assert score["VIFIDEL-R"][0] == pytest.approx(0.25, abs=1e-6)
    assert score["VIFIDEL-F"][0] == pytest.approx((0.5 * 0.25**2) ** (1 / 3), abs=1e-6)
    # Two references: dog in both (h 1), ball in one (h .5). k = 1 / 1.5, d = 1.25 / 1.5.
    references = [["a dog and a ball", "the dog"]]
    score = scorer.score_columns(["a dog"], objects=[[]], references=references)
    k, d = 1 / 1.5, 1.25 / 1.5
    assert score["VIFIDEL-P"][0] == pytest.approx(1, abs=1e-6)
    assert score["VIFIDEL-R"][0] == pytest.approx(k / (k + (1 - k) * math.sqrt(d)), abs=1e-6)


def test_edges(vectors, things):
    scorer = VifidelPRF({1: ["dog"], 2: [], 3: ["unheard"]}, vectors, things=things)
    gts = {1: [], 2: [], 3: ["it is", "the dog"]}
    res = {1: ["it is"], 2: ["dog"], 3: ["the dog"]}
    evaluations = scorer.evaluate(coco_rows(gts, res))
    for column in ("VIFIDEL-P", "VIFIDEL-R", "VIFIDEL-F"):
        np.testing.assert_array_equal(evaluations[column].scores, [0, math.nan, 1])
        assert evaluations[column].counts["undefined"] == 1
        assert evaluations[column].counts["no_words"] == 1
    assert scorer.main == "VIFIDEL-F"
    with pytest.warns(VifidelWarning, match="none of the 1 captions has an object label or a ref"):
        scorer.compute_score({2: []}, {2: ["dog"]})
    replaced = VifidelPRF({2: []}, vectors, things=things, undefined=0.0)
    assert replaced.score(["dog"], image_ids=[2]).tolist() == [0.0]
    assert "|undefined:0|" in replaced.signature()


def test_references_alone_are_evidence_enough(vectors, things):
    scorer = VifidelPRF(vectors=vectors, things=things)
    assert scorer.score(["the dog"], references=[["a dog"]]).tolist() == [1.0]
    without = VifidelPRF(vectors=vectors, things=things, references=False)
    assert np.isnan(without.score(["the dog"], references=[["a dog"]])).all()
    with pytest.raises(VifidelError, match="its own objects"):
        VifidelPRF({1: ["dog"]}, vectors, things=things).score(
            ["a dog"], image_ids=[1], objects=[["dog"]]
        )


def test_the_signature_pins_what_changes_the_number(vectors, things, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("dog\n", encoding="utf-8")
    scorers = [
        VifidelPRF(vectors=vectors, things=things),
        VifidelPRF(vectors=vectors, things=other),
        VifidelPRF(vectors=vectors),
        VifidelPRF(vectors=vectors, things=things, references=False),
        VifidelPRF(vectors=vectors, things=things, stop_words=["dog"]),
        VifidelPRF({1: ["dog"]}, vectors, things=things),
        VifidelPRF(vectors=vectors, things=things, edition=1),
    ]
    assert "|edition:2|" in scorers[0].signature()
    assert "edition" not in scorers[-1].signature()
    assert len({scorer.signature() for scorer in scorers}) == len(scorers)
