"""How many images a difference needs, against the textbook's formula and simulated tests."""

import math

import numpy as np
import pytest
from scipy import stats
from show.score_examples import scores_of

from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.significance import images_needed


def compared(differences):
    """Compare two systems whose scores of images differ by so much."""
    base = np.linspace(0.2, 0.6, len(differences))
    return compare(scores_of({"a": base + differences, "b": base}))


@pytest.mark.parametrize("pairs", [1, 3])
def test_the_textbook_formula(pairs):
    error = 0.03 / math.sqrt(50) * math.sqrt(49 / 50)  # of a bootstrap over 50 images
    width = stats.norm.ppf(0.975) * error
    z = stats.norm.ppf(1 - 0.025 / pairs) + stats.norm.ppf(0.8)
    needed = images_needed(0.004, (0.004 - width, 0.004 + width), 50, pairs=pairs)
    assert 0 <= needed - (z * 0.03 / 0.004) ** 2 < 10  # two digits


def power_of_test(seed):
    """Return the power of Student's test on the images that skewed differences are said to need."""
    random = np.random.default_rng(seed)
    differences = random.gamma(2, 0.02, 150)
    differences += 0.003 - differences.mean()
    comparisons = compared(differences)
    [pair] = comparisons.metrics["M"].pairs
    size = 4000, comparisons.images_needed("M", pair)
    drawn = differences.std(ddof=1) * (random.gamma(2, 1, size) - 2) / math.sqrt(2) + 0.003
    return (stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05).mean()


def test_a_test_on_so_many_images_has_that_power():
    assert 0.78 < np.mean([power_of_test(seed) for seed in range(6)]) < 0.84


def test_nothing_is_said_where_there_is_a_winner_or_nothing_to_find():
    random = np.random.default_rng(1)
    comparisons = compared(0.1 + 0.01 * random.random(30))
    [pair] = comparisons.metrics["M"].pairs
    assert pair.winner == "a"
    assert comparisons.images_needed("M", pair) is None
    assert images_needed(0.0, (-0.1, 0.1), 30) is None
    assert images_needed(0.1, (math.nan, math.nan), 1) is None
    assert images_needed(0.1, (0.1, 0.1), 30) is None
