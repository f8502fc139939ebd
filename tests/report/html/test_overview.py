import re

import numpy as np
import pytest

from vifidel_eval.report.html import overview
from vifidel_eval.runs.comparison import compare
from vifidel_eval.runs.harness import Scores
from vifidel_eval.scorers import Evaluation


def scores_of(**systems):
    ids = list(range(len(next(iter(systems.values())))))
    return Scores(
        {"M": "M|version:1"},
        {name: {"M": Evaluation(ids, np.array(s, float))} for name, s in systems.items()},
    )


def test_standings_and_duels_say_what_the_comparison_found():
    scores = scores_of(good=[0.9] * 40, same=[0.9] * 40, bad=[0.1, 0.3] * 20)
    comparisons = compare(scores, resamples=200)
    rows = overview.standings(scores, comparisons)
    assert [(row[0].score, row[0].rank, row[0].tied, row[0].best) for row in rows.values()] == [
        ("0.900", 1, True, True),
        ("0.900", 1, True, True),
        ("0.200", 3, False, False),
    ]
    assert float(rows["bad"][0].place) < float(rows["good"][0].place)
    duels = overview.duels(scores, comparisons)
    assert list(duels) == [("good", "same"), ("good", "bad"), ("same", "bad")]
    assert duels["good", "same"][0].winner is None
    assert duels["good", "bad"][0].winner == "good"
    assert duels["good", "bad"][0].difference == pytest.approx(0.7)


def test_remarks_count_what_is_not_scored_as_it_seems():
    images = list(range(4))
    of_metrics = {
        "M": Evaluation(images, np.array([np.nan, 0, 1, 1]), counts={"no_words": 1}),
        "N": Evaluation(
            images, np.array([np.nan, np.nan, 1, 1]), counts={"no_words": 1, "unweighted": 2}
        ),
    }
    scores = Scores({"M": "M", "N": "N"}, {"one": of_metrics, "two": {"M": Evaluation([], [])}})
    assert overview.remarks(scores) == {
        "one": {"undefined": 2, "without words": 1, "unweighted": 2},
        "two": {},
    }
    assert list(overview.meanings(scores)) == ["undefined", "without words", "unweighted"]


def test_a_histogram_counts_the_images():
    scores = scores_of(one=[0.0, 0.0, 0.5, 1.0], two=[0.0, np.nan, np.nan, 1.0])
    (distribution,) = overview.distributions(scores)
    one, two = distribution.spreads
    assert distribution.axis == ("0", "0.5", "1")
    assert (one.images, one.undefined, two.images, two.undefined) == (4, 0, 2, 2)
    assert one.quantiles == ["0.000", "0.000", "0.250", "0.625", "1.000"]
    heights = [24 - float(y) for y in re.findall(r"V([\d.]+)H", one.outline)]
    # Half of the images in the first of 32 bins is the tallest; a quarter in the middle and last.
    assert {bin: height for bin, height in enumerate(heights) if height} == {0: 24, 16: 12, 31: 12}
    assert (one.median_at, two.median_at) == ("25", "50")


@pytest.mark.parametrize(
    ("scores", "axis"),
    [
        ([0.0, 0.0], ("0", "0.5", "1")),
        ([0.0, 0.93], ("0", "0.5", "1")),
        ([0.5, 1.0], ("0", "0.5", "1")),
        ([0.0, 1.01], ("0", "1", "2")),
        ([3.0, 5.2], ("0", "3", "6")),
        ([12.0, 345.0], ("0", "200", "400")),
        ([0.0, 0.034], ("0", "0.02", "0.04")),
        ([-0.3, 0.7], ("-0.4", "0.2", "0.8")),
        ([-7.5, -3.0], ("-8", "-4", "0")),
        ([1e-15, 3e-15], ("0", "1.5e-15", "3e-15")),
    ],
)
def test_axes_end_at_round_numbers(scores, axis):
    (distribution,) = overview.distributions(scores_of(one=scores))
    assert distribution.axis == axis
    (spread,) = distribution.spreads
    assert spread.images == 2
    heights = [24 - float(y) for y in re.findall(r"V(-?[\d.]+)H", spread.outline)]
    assert sum(heights) in (24, 48)  # both scores are in the histogram, in one bin or in two


def test_where_lower_is_better_the_lowest_is_the_first():
    ids = list(range(40))
    scores = Scores(
        {"M": "M|version:1"},
        {
            name: {"M": Evaluation(ids, np.array(of_system), lower_is_better=True)}
            for name, of_system in {"bad": [3.0, 5.0] * 20, "good": [0.5] * 40}.items()
        },
    )
    comparisons = compare(scores, resamples=200)
    rows = overview.standings(scores, comparisons)
    assert {name: (row[0].rank, row[0].best) for name, row in rows.items()} == {
        "bad": (2, False),
        "good": (1, True),
    }
    assert overview.duels(scores, comparisons)["bad", "good"][0].winner == "good"


def test_a_metric_without_common_images_is_shown_without_comparison():
    scores = scores_of(one=[0.5, np.nan], two=[np.nan, 0.5])
    comparisons = compare(scores, resamples=100)
    assert "M" not in comparisons.metrics
    assert [row[0].score for row in overview.standings(scores, comparisons).values()] == [
        "0.500",
        "0.500",
    ]
    assert overview.duels(scores, comparisons) == {("one", "two"): [None]}
