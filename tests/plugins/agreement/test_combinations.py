"""The best combination is that of a search by hand, and is judged on other images."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import pearsonr

from vifidel_eval.plugins.agreement.combinations import _folds, with_combinations
from vifidel_eval.plugins.agreement.judgements import Choices, Judged, Ratings
from vifidel_eval.plugins.agreement.result import Agreement

RANDOM = np.random.default_rng(5)
IMAGES = [at // 2 for at in range(40)]
NAMES = ["CIDEr", "METEOR", "WMD"]


def result(trials):
    return Agreement("made", {}, [], [], [], trials)


def scaled(scores):
    return (scores - scores.min()) / (scores.max() - scores.min())


def search(scores, agree, places):
    """Return the agreement of all combinations on some judgements, the best first."""
    results = {}
    for size in range(1, len(scores) + 1):
        for chosen in combinations(scores, size):
            mean = sum(scaled(scores[name]) for name in chosen) / size
            results["+".join(chosen)] = agree(mean, places)
    return results


def held_out(scores, agree, names):
    """Return the mean agreement on each fold of what is best on the others."""
    folds = _folds(IMAGES, 0)
    values = []
    for fold in range(5):
        trained = search(scores, agree, folds != fold)
        best = max((name for name in trained if name in names(trained)), key=trained.get)
        values.append(search(scores, agree, folds == fold)[best])
    return np.mean(values)


def test_ratings_are_correlated_by_pearson(given_trials):
    truth = RANDOM.normal(size=40)
    scores = {
        n: truth + RANDOM.normal(scale=s, size=40) for n, s in zip(NAMES, (1, 1, 3), strict=True)
    }
    ratings = Ratings(
        "made",
        [Judged(image, (f"a {at}",), ("b",)) for at, image in enumerate(IMAGES)],
        {"fit": truth[:, None]},
        {"all": np.ones(40, bool)},
    )
    trials = given_trials(**{name: [[of.tolist()]] for name, of in scores.items()})
    combination, single = with_combinations(result(trials), ratings).findings["combinations"]

    def agree(mean, places):
        return pearsonr(mean[places], truth[places])[0]

    of_all = search(scores, agree, np.ones(40, bool))
    for found, names in ((combination, lambda found: found), (single, lambda _: NAMES)):
        best = max((name for name in of_all if name in names(of_all)), key=of_all.get)
        assert found["metric"] == best
        assert found["value"] == pytest.approx(of_all[best])
        assert found["held_out"] == pytest.approx(held_out(scores, agree, names))
        assert found["n"] == 40
    assert combination["value"] >= single["value"]


def test_choices_are_right_or_wrong_and_lines_of_one_image_are_held_out_together(given_trials):
    folds = _folds(IMAGES, 3)
    assert (folds[::2] == folds[1::2]).all()
    assert sorted(np.bincount(folds)) == [8] * 5
    preferred = RANDOM.choice([1.0, -1.0, 0.0], size=40)
    # Each metric is wrong about a third; where two disagree, the sum of both ties.
    good = np.where(np.arange(40) % 3 == 0, -preferred, preferred)
    other = np.where(np.arange(40) % 3 == 1, -preferred, preferred)
    pairs = {"CIDEr": [good, 0 * good], "WMD": [other, 0 * other]}
    choices = Choices(
        "made",
        [Judged(image, (f"a {at}", "b"), ("c",)) for at, image in enumerate(IMAGES)],
        preferred,
        [""] * 40,
    )
    trials = given_trials(**{n: [[side.tolist() for side in of]] for n, of in pairs.items()})
    combination, single = with_combinations(result(trials), choices).findings["combinations"]
    clear = preferred != 0
    right = {name: float((of[0] == preferred)[clear].mean()) for name, of in pairs.items()}
    assert single["value"] == pytest.approx(max(right.values()))
    both = ((good + other) * preferred)[clear]
    assert combination["value"] == pytest.approx(
        max(*right.values(), (both > 0).mean() + (both == 0).mean() / 2)
    )
    assert combination["n"] == clear.sum()
