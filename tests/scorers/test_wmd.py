import math
from collections import Counter

import numpy as np
import pytest
from oracle import transport_distance

from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import Wmd

WORDS = [f"word{letter}" for letter in "abcdefghijkl"]
RANDOM = np.random.default_rng(2015).normal(size=(len(WORDS), 7)).astype(np.float32)


@pytest.fixture(scope="module")
def random_vectors(make_vectors):
    return make_vectors(dict(zip(WORDS, RANDOM.tolist(), strict=True)))


def random_corpus(seed, images=30):
    random = np.random.default_rng(seed)

    def draw(most):
        return " ".join(random.choice(WORDS, size=random.integers(1, most + 1)))

    gts = {i: [draw(6) for _ in range(random.integers(1, 5))] for i in range(images)}
    return gts, {i: [draw(7)] for i in range(images)}


REDUCE = {"best": min, "worst": max, "mean": lambda distances: sum(distances) / len(distances)}


@pytest.mark.parametrize("against", REDUCE)
def test_equals_gensims_wmdistance(random_vectors, against):
    gts, res = random_corpus(seed=1)
    _, scores = Wmd(against, random_vectors, p=1).compute_score(gts, res)
    for i, score in zip(gts, scores, strict=True):
        distances = []
        for reference in gts[i]:
            words, others = reference.split(), res[i][0].split()
            if set(words) == set(others) and len(set(words)) == 1:
                distances.append(0.0)  # gensim gives infinity
            else:
                distances.append(random_vectors.wmdistance(words, others))
        assert score == pytest.approx(math.exp(-REDUCE[against](distances)), abs=1e-6)


@pytest.mark.parametrize("against", REDUCE)
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_an_independent_linear_program(random_vectors, against, p, normalize):
    rows = RANDOM.astype(np.float64)
    if normalize:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = dict(zip(WORDS, rows, strict=True))

    def distance(left, right):
        left, right = Counter(left.split()), Counter(right.split())
        costs = [[np.linalg.norm(vectors[i] - vectors[j]) ** p for j in right] for i in left]
        a, b = (np.array(list(bag.values())) / bag.total() for bag in (left, right))
        return transport_distance(a, b, np.array(costs))

    gts, res = random_corpus(seed=2)
    _, scores = Wmd(against, random_vectors, p, normalize).compute_score(gts, res)
    expected = [
        math.exp(-REDUCE[against]([distance(reference, res[i][0]) for reference in gts[i]]))
        for i in gts
    ]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


def test_edge_cases(random_vectors):
    gts = {
        "no reference": [],
        "unusable reference": ["it is", ""],
        "one usable": ["", "worda wordb"],
        "wordless candidate": ["worda"],
        "same": ["wordb worda", "wordc"],
    }
    res = {i: ["wordb worda"] for i in gts} | {"wordless candidate": ["it is"]}
    evaluation = Wmd("best", random_vectors).evaluate(coco_rows(gts, res))["WMD"]
    np.testing.assert_array_equal(evaluation.scores, [math.nan, math.nan, 1.0, 0.0, 1.0])
    assert evaluation.score == pytest.approx(2 / 3)
    assert (evaluation.undefined, evaluation.counts["no_words"]) == (2, 1)
    with pytest.warns(VifidelWarning, match="none of the 1 captions has a usable reference"):
        Wmd("best", random_vectors).compute_score({1: []}, {1: ["worda"]})


def test_names_signatures_and_refusals(random_vectors):
    scorers = [Wmd(against, random_vectors) for against in REDUCE]
    assert [scorer.method() for scorer in scorers] == ["WMD", "WMD-worst", "WMD-mean"]
    assert len({scorer.signature() for scorer in scorers}) == 3
    with pytest.raises(VifidelError, match="against must be one of best, worst, mean"):
        Wmd("closest")
