"""VIFIDEL-PRF against its formulas in plain loops, and by hand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import VifidelError, VifidelWarning, content_words
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.rows import coco_rows
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.vectors import load_vectors

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


def near(x: np.ndarray, y: np.ndarray) -> float:
    cosine = float(x @ y / math.sqrt((x @ x) * (y @ y)))
    return max(0.0, cosine - 0.1) / 0.9


def plain(words, labels, references, vector_of, is_thing) -> tuple[float, float, float]:
    """Follow the first edition word by word; all arguments hold known words only."""
    words, references = sorted(set(words)), [set(r) for r in references if r]
    evidence = set(labels).union(*references)
    if not evidence:
        return math.nan, math.nan, math.nan
    if not words:
        return 0.0, 0.0, 0.0
    top = bottom = 0.0
    for word in words:
        support = max(near(vector_of(word), vector_of(e)) for e in evidence)
        weight = 1.0 if is_thing(word) else 0.4 * (1 + support) / 2
        top, bottom = top + weight * support, bottom + weight
    p = top / bottom

    def reached(target):
        return max(near(vector_of(target), vector_of(word)) for word in words)

    if references:
        counts = Counter(word for reference in references for word in reference)
        shares = {word: count / len(references) for word, count in counts.items()}
        total = sum(shares.values())
        k = sum(share * reached(u) for u, share in shares.items()) / total
        d = sum(share**2 for share in shares.values()) / total
        r = k / (k + (1 - k) * math.sqrt(d)) if k else 0.0
    else:
        r = sum(map(reached, set(labels))) / len(set(labels))
    return p, r, (p * r * r) ** (1 / 3)


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


def test_people_come_first_on_val2017(shared_data):
    coco = shared_data / "coco"
    objects = read_objects(coco / "instances_val2017.json")
    references = read_references(coco / "captions_val2017_references.json")
    human = read_results(coco / "captions_val2017_human_results.json")
    shuffled = read_results(coco / "captions_val2017_shuffled_results.json")
    ids = [i for i in human if objects[i]][:400]
    invented = " A dog and a cat are sitting on a couch."
    style = " The composition feels warm and captures an everyday moment."
    captions = {
        "people": [human[i] for i in ids],
        "style": [human[i] + style for i in ids],
        "invented": [human[i] + invented for i in ids],
        "other images": [shuffled[i] for i in ids],
        "person": ["person"] * len(ids),
    }
    scorer = VifidelPRF(objects)
    for of_rows in ([references[i] for i in ids], [[]] * len(ids)):
        mean = {
            name: scorer.score(texts, image_ids=ids, references=of_rows).mean()
            for name, texts in captions.items()
        }
        assert mean["people"] > mean["style"] > mean["invented"] > mean["other images"]
        assert mean["people"] > mean["person"]


def test_equals_the_plain_loop_on_val2017(shared_data):
    coco = shared_data / "coco"
    objects = read_objects(coco / "instances_val2017.json")
    references = read_references(coco / "captions_val2017_references.json")
    human = read_results(coco / "captions_val2017_human_results.json")
    ids = list(human)[:40]
    vectors = load_vectors()

    def vector_of(word):
        rows = vectors.lookup(word.split())
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.mean(axis=0)

    names = VifidelPRF()._things.class_of
    for of_image in (lambda i: references[i], lambda i: []):
        columns = VifidelPRF(objects, edition=1).score_columns(
            [human[i] for i in ids], image_ids=ids, references=[of_image(i) for i in ids]
        )
        for at, i in enumerate(ids):
            p = plain(
                content_words(human[i]),
                list(objects[i]),
                [content_words(r) for r in of_image(i)],
                vector_of,
                lambda word: word in names or word.removesuffix("s") in names,
            )
            # A plural that only the rules for singular forms find changes weights, not supports.
            assert columns["VIFIDEL-R"][at] == pytest.approx(p[1], abs=1e-9, nan_ok=True)
