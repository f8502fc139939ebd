import math

import numpy as np
import pytest
import scipy.stats
from show.score_examples import scores

from vifidel_eval.scores.comparison import compare

pytestmark = pytest.mark.filterwarnings("ignore:.*images are too few:vifidel_eval.VifidelWarning")

NAN = math.nan


def scores_of(**systems):
    """Return scores of a metric M and of Words from {system: (scores, words)}."""
    columns = ({name: rows[at] for name, rows in systems.items()} for at in (0, 1))
    return scores(dict(zip(("M", "Words"), columns, strict=True)), unranked=["Words"])


def equal_length(scores, **settings):
    (pair,) = compare(scores, **settings).metrics["M"].pairs
    return pair.equal_length


def test_an_equal_plain_loop_over_the_same_draws():
    random = np.random.default_rng(5)
    n, resamples = 40, 99
    long, short = random.integers(20, 90, n), random.integers(5, 15, n)
    one, other = random.uniform(size=n), random.uniform(size=n)
    result = equal_length(scores_of(a=(one, long), b=(other, short)), seed=3, resamples=resamples)
    d, w = one - other, long - short
    assert result.difference == pytest.approx(scipy.stats.linregress(w, d).intercept)
    draws = [int(word) for word in np.random.PCG64([3, 0]).random_raw(resamples * n)]
    intercepts = []
    for at in range(resamples):
        images = [(word >> 32) * n >> 32 for word in draws[at * n : (at + 1) * n]]
        intercepts.append(scipy.stats.linregress(w[images], d[images]).intercept)
    assert [result.low, result.high] == pytest.approx(np.quantile(intercepts, [0.025, 0.975]))


def test_only_where_lengths_differ_by_half():
    short = ([0.1, 0.2, 0.3, 0.1], [9, 11, 10, 10])
    assert equal_length(scores_of(a=([0.5] * 4, [14, 15, 15, 15]), b=short)) is None  # 14.75
    assert equal_length(scores_of(a=([0.5] * 4, [14, 15, 15, 16]), b=short)) is not None


def test_nothing_where_words_do_not_vary_or_images_are_few():
    assert equal_length(scores_of(a=([1, 2, 3], [9, 9, 9]), b=([0, 0, 0], [3, 3, 3]))) is None
    assert equal_length(scores_of(a=([1, 2, NAN], [9, 8, 7]), b=([0, 0, 0], [3, 3, 3]))) is None


def test_columns_without_a_direction_and_runs_without_lengths_have_none():
    scores = scores_of(a=([0.6, 0.8, 1.0], [2, 4, 6]), b=([0] * 3, [1] * 3))
    (pair,) = compare(scores).metrics["Words"].pairs
    assert pair.equal_length is None
    assert equal_length(scores.only(["M"])) is None
