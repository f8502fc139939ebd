import math
from collections import Counter

import numpy as np
import pytest
from oracle import vifidel

from vifidel_eval import VectorsError, Vifidel, VifidelError, VifidelWarning
from vifidel_eval.captions.rows import coco_rows

# Twelve made-up words with random directions: no structure that a mistake could hide behind.
WORDS = [f"word{letter}" for letter in "abcdefghijkl"]
RANDOM = np.random.default_rng(2019).normal(size=(len(WORDS), 7)).astype(np.float32)


@pytest.fixture(scope="module")
def random_vectors(make_vectors):
    return make_vectors(dict(zip(WORDS, RANDOM.tolist(), strict=True)))


def vector_of(normalize):
    rows = RANDOM.astype(np.float64)
    if normalize:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return dict(zip(WORDS, rows, strict=True)).__getitem__


def random_images(seed, images=25):
    random = np.random.default_rng(seed)

    def draw(most):
        return random.choice(WORDS, size=random.integers(1, most + 1)).tolist()

    labels = {i: draw(5) for i in range(images)}
    captions = {i: [" ".join(draw(7))] for i in range(images)}
    references = {
        i: [" ".join(draw(6)) for _ in range(random.integers(0, 5))] for i in range(images)
    }
    return labels, captions, references


def evaluate(scorer, gts, res):
    return scorer.evaluate(coco_rows(gts, res))[scorer.main]


@pytest.mark.parametrize("use_references", [True, False])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_equals_an_independent_linear_program(random_vectors, use_references, p, counts, normalize):
    labels, captions, references = random_images(seed=7)
    scorer = Vifidel(
        labels, random_vectors, use_references, p=p, counts=counts, normalize=normalize
    )
    score, scores = scorer.compute_score(references, captions)
    expected = []
    for i, of_image in references.items():
        known = [r.split() for r in of_image] if use_references else []
        words = captions[i][0].split()
        expected.append(vifidel(Counter(labels[i]), words, known, vector_of(normalize), p, counts))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert score == pytest.approx(np.mean(expected), abs=1e-9)


def test_a_distance_worked_by_hand(make_vectors):
    # Two dogs and a cup onto "dog" and "table", unit axes: 1/2 dog stays, the other 1/6 of dog
    # and 1/3 of cup go to table at cost ||e_i - e_j||^2 = 2. Distance 2 * 1/2 = 1.
    vectors = make_vectors({"dog": [1, 0, 0], "cup": [0, 1, 0], "table": [0, 0, 1]})
    scorer = Vifidel({1: ["dog", "dog", "cup"]}, vectors, references=False)
    score, _ = scorer.compute_score({1: []}, {1: ["The dog is under the table."]})
    assert score == pytest.approx(math.exp(-1), abs=1e-12)


def test_figure_2_of_the_paper(make_vectors):
    # Fig. 2: distance 2.201 gives score .11. Two words that far apart: 2 - 2 cos = 2.201.
    cosine = 1 - 2.201 / 2
    vectors = make_vectors({"label": [1, 0], "word": [cosine, math.sqrt(1 - cosine**2)]})
    score, _ = Vifidel({1: ["label"]}, vectors).compute_score({1: []}, {1: ["a word"]})
    assert round(score, 2) == 0.11


def test_image_without_objects_is_undefined_and_left_out_of_the_mean(random_vectors):
    scorer = Vifidel({1: ["worda"], 2: []}, random_vectors)
    score, scores = scorer.compute_score({1: ["wordb"], 2: ["wordb"]}, {1: ["worda"], 2: ["worda"]})
    assert (score, scores[0]) == (1.0, 1.0)
    assert math.isnan(scores[1])
    with pytest.warns(VifidelWarning, match="none of the 1 captions has a usable object label"):
        score, _ = scorer.compute_score({2: ["wordb"]}, {2: ["worda"]})
    assert math.isnan(score)
    assert evaluate(scorer, {2: ["wordb"]}, {2: ["worda"]}).undefined == 1


@pytest.mark.parametrize("caption", ["", "   ", "it is what it is", "!!!", "\N{GRINNING FACE}"])
def test_caption_without_a_usable_word_scores_zero(random_vectors, caption):
    scorer = Vifidel({1: ["worda"]}, random_vectors)
    evaluation = evaluate(scorer, {1: ["wordb"]}, {1: [caption]})
    assert evaluation.scores.tolist() == [0.0]
    assert evaluation.counts["no_words"] == 1


def test_unknown_words_are_left_out_counted_and_warned_of(random_vectors):
    scorer = Vifidel({1: ["worda", "xylophone"]}, random_vectors, references=False)
    with pytest.warns(VifidelWarning) as caught:
        assert scorer.compute_score({1: []}, {1: ["worda xylophone drum"]})[0] == 1.0
    assert [str(warning.message).partition(" have")[0] for warning in caught] == [
        "1 of 2 words of the object labels",
        "2 of 3 words of the captions",
    ]
    evaluation = evaluate(scorer, {1: []}, {1: ["worda xylophone drum"]})
    assert evaluation.tallies["captions"].unknown == {"xylophone": 1, "drum": 1}
    assert evaluation.counts["unknown_words"] == 2


def test_vectors_that_know_almost_nothing_are_refused(random_vectors):
    scorer = Vifidel({1: ["worda"]}, random_vectors)
    caption = " ".join(f"unheard{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    with pytest.raises(VectorsError, match="26 of 26 words of the captions have no"):
        scorer.compute_score({1: ["worda"]}, {1: [caption]})


def test_a_label_of_several_words_is_its_phrase_or_the_mean_of_its_words(make_vectors):
    axes = {"hot": [1, 0, 0], "dog": [0, 1, 0], "sausage": [1, 1, 0], "hot_dog": [0, 0, 1]}
    listed = make_vectors(axes)
    del axes["hot_dog"]
    unlisted = make_vectors(axes)
    res = {1: ["a sausage"]}
    # The mean of "hot" and "dog" points where "sausage" does; the phrase is at right angles.
    assert Vifidel({1: ["hot dog"]}, unlisted).compute_score({1: []}, res)[0] == pytest.approx(1)
    assert Vifidel({1: ["hot dog"]}, listed).compute_score({1: []}, res)[0] == pytest.approx(
        math.exp(-2)
    )


def test_stop_words_are_an_argument_and_never_apply_to_labels(random_vectors):
    scorer = Vifidel({1: ["worda"]}, random_vectors, references=False, stop_words=["worda"])
    assert scorer.compute_score({1: []}, {1: ["worda"]})[0] == 0.0
    assert scorer.explain(1, "wordb").matches[0].label == "worda"


def test_numbers_too_large_for_distances_are_refused(make_vectors):
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(2, dtype=np.float64)
    vectors.add_vectors(["dog", "cat"], np.array([[1e200, 0], [-1e200, 1e200]]))
    labels, res = {1: ["dog"]}, {1: ["cat"]}
    score, _ = Vifidel(labels, vectors).compute_score({1: []}, res)
    assert score == pytest.approx(math.exp(-(2 + math.sqrt(2))))  # 1 - cos is 1 + 1/sqrt(2)
    with pytest.raises(VectorsError, match="have no distances"):
        Vifidel(labels, vectors, normalize=False).compute_score({1: []}, res)


def test_p_other_than_one_and_two_is_refused(random_vectors):
    with pytest.raises(VifidelError, match="p must be 1 or 2, not 3"):
        Vifidel({1: ["worda"]}, random_vectors, p=3)


def test_signature_changes_with_everything_that_changes_the_number(random_vectors, make_vectors):
    other = make_vectors({"worda": [1.0, 2.0]})
    labels = {1: ["worda"]}
    variants = [
        Vifidel(labels, random_vectors),
        Vifidel({1: ["wordb"]}, random_vectors),
        Vifidel({1: [["worda", 0.7]]}, random_vectors),
        Vifidel({1: [["worda", 0.7]]}, random_vectors, threshold=0.5),
        Vifidel(labels, other),
        Vifidel(labels, random_vectors, references=False),
        Vifidel(labels, random_vectors, p=1),
        Vifidel(labels, random_vectors, counts=False),
        Vifidel(labels, random_vectors, normalize=False),
        Vifidel(labels, random_vectors, stop_words=[]),
    ]
    signatures = [scorer.signature() for scorer in variants]
    assert len(set(signatures)) == len(signatures)
    assert all("\n" not in signature for signature in signatures)
    assert Vifidel(labels, random_vectors).signature() == signatures[0]
