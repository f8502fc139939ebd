import math

import numpy as np
import pytest

from vifidel_eval.kernels import bags as of_bags
from vifidel_eval.kernels.bags import bags_of_captions, penalties
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.kernels.support import nearest
from vifidel_eval.kernels.transport import (
    sums_of_bags,
    transport_plans,
    travel_costs,
    travel_distances,
)
from vifidel_eval.words.word_vectors import load_vectors


def penalty_of(vectors, word, references):
    lexicon = Lexicon(load_vectors(vectors), normalize=False, stop_words=())
    bags, _ = bags_of_captions(lexicon, [word])
    of_references, _ = bags_of_captions(lexicon, references)
    owners = np.zeros(len(of_references), dtype=np.int64)
    return penalties(lexicon.distances, bags, of_references, owners)


# Fig. 3 of the paper: 1 - cos of a word to the closest word of each of five references, and rho.
@pytest.mark.parametrize(
    ("one_minus_cosines", "rho"),
    [
        ([0, 0, 0, 0.25, 0.25], 0.05),  # cat
        ([0.46, 0.79, 0.73, 0.73, 0.46], 0.32),  # encyclopedias
        ([0.26, 0.69, 0.71, 0.71, 0.26], 0.26),  # book
    ],
)
def test_figure_3_of_the_paper(make_vectors, one_minus_cosines, rho):
    in_the_plane = {"word": [2.0, 0.0]}
    for at, far in enumerate(one_minus_cosines):
        cosine = 1 - far
        in_the_plane[f"ref{at}"] = [cosine, math.sqrt(1 - cosine**2)]
    references = [f"ref{at}" for at in range(5)]
    (result,) = penalty_of(make_vectors(in_the_plane), "word", references)
    assert round(float(result), 2) == rho
    assert result == pytest.approx(sum(one_minus_cosines) / 10, abs=1e-6)


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon(load_vectors(None), normalize=True, stop_words=())


@pytest.mark.parametrize("at_once", [7, 60])
def test_pairs_in_memory_do_not_change_a_bit(lexicon, monkeypatch, at_once):
    """Words, references and labels in slices of any size give the same bits."""
    random = np.random.default_rng(5)
    words = "dog cat car tree street frisbee person bus kitchen beach red big".split()

    def bags(number, most):
        texts = [" ".join(random.choice(words, random.integers(0, most))) for _ in range(number)]
        return bags_of_captions(lexicon, texts)[0]

    labels, captions, references = bags(40, 6), bags(40, 12), bags(80, 9)
    owners = np.repeat(np.arange(40), 2)
    distances = lexicon.distances

    def everything():
        of_labels = penalties(distances, labels, references, owners)
        of_words = penalties(distances, captions, references, owners)
        together = travel_distances(distances, labels, captions, 2, of_labels, of_words)
        of_both = nearest(distances, captions, labels)
        return [of_labels, of_words, together, of_both.of_left, of_both.of_right, of_both.at_left]

    expected = everything()
    costs = travel_costs(distances, labels, captions, 2, *expected[:2])
    moved = transport_plans(labels, captions, costs) * costs
    np.testing.assert_array_equal(expected[2], sums_of_bags(moved, labels, captions))
    monkeypatch.setattr(of_bags, "PAIRS_AT_ONCE", at_once)
    for result, before in zip(everything(), expected, strict=True):
        np.testing.assert_array_equal(result, before)
