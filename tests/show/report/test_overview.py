import re

import numpy as np
import pytest

from vifidel_eval.scorers import Evaluation
from vifidel_eval.scores.comparison import Comparison, Comparisons, Pair, Standing, compare
from vifidel_eval.scores.scores import Scores
from vifidel_eval.scores.significance import EqualLength
from vifidel_eval.show.report import Content, overview, render_page


def scores_of(**systems):
    ids = list(range(len(next(iter(systems.values())))))
    return Scores(
        {"M": "M|version:1"},
        {name: {"M": Evaluation(ids, np.array(s, float))} for name, s in systems.items()},
    )


def page_of(scores, comparisons):
    ids = next(iter(scores.evaluations.values()))["M"].ids
    captions = {name: dict.fromkeys(ids, "") for name in scores.evaluations}
    return render_page(Content(scores, comparisons, {image: [] for image in ids}, captions))


def standings(scores, comparisons):
    """Return score, rank, whether it is in bold and its place of each system's cell in the page."""
    page = page_of(scores, comparisons)
    cells = page[page.index('class="standings"') :].partition("</table>")[0].split("<td")[1:]
    found = []
    for cell in cells:
        rank = re.search('class="rank">([^<]*)<', cell)
        place = re.search('<circle cx="([^"]*)"', cell)
        found.append((
            re.search('class="score">([^<]*)<', cell)[1],
            rank and rank[1],
            ' class="best"' in cell.partition(">")[0],
            place and float(place[1]),
        ))  # fmt: skip
    return found


def test_standings_and_duels_say_what_the_comparison_found():
    scores = scores_of(good=[0.9] * 40, same=[0.9] * 40, bad=[0.1, 0.3] * 20)
    comparisons = compare(scores, resamples=200)
    good, same, bad = standings(scores, comparisons)
    assert good == same
    assert [one[:3] for one in (good, bad)] == [("0.9000", "#1=", True), ("0.2000", "#3", False)]
    assert bad[3] < good[3]
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
    found = overview.remarks(scores)
    assert {name: {c.phrase: n for c, n in of.items()} for name, of in found.items()} == {
        "one": {"undefined": 2, "without words": 1, "unweighted": 2},
        "two": {},
    }
    one = Evaluation(range(9), np.array([np.nan, *[1] * 8]), counts={"unweighted": 2})
    two = Evaluation(range(9), np.array([0.5] * 9), counts={"no_words": 1})
    scores = Scores({"M": "M"}, {"one": {"M": one}, "two": {"M": two}})
    page = page_of(scores, compare(scores, resamples=50))
    said = re.findall('class="remark"><b>(.*?)</b>: ', page)
    assert said == ["undefined", "without words", "unweighted"]


def test_a_histogram_counts_the_images():
    scores = scores_of(one=[0.0, 0.0, 0.5, 1.0], two=[0.0, np.nan, np.nan, 1.0])
    distribution = overview.distribution(scores, "M")
    one, two = distribution.spreads
    assert distribution.axis == ("0", "0.5", "1")
    assert (one.images, one.undefined, two.images, two.undefined) == (4, 0, 2, 2)
    assert one.quantiles == [0, 0, 0.25, 0.625, 1]
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
    distribution = overview.distribution(scores_of(one=scores), "M")
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
    bad, good = standings(scores, comparisons)
    assert (bad[1:3], good[1:3]) == (("#2", False), ("#1", True))
    assert overview.duels(scores, comparisons)["bad", "good"][0].winner == "good"


@pytest.mark.parametrize(
    ("lower", "difference", "winner", "left", "said"),
    [
        # Lower is better: the first is ahead where its score less the second's is below 0.
        (True, -0.5, "a", (-0.25, -0.375, 0.0625), "a by 0.2500 (-0.0625 to 0.3750)"),
        (True, -0.5, "a", (0.25, 0.125, 0.375), "b by 0.2500 (0.1250 to 0.3750)"),
        (False, 0.5, "a", (0.25, 0.125, 0.375), "a by 0.2500 (0.1250 to 0.3750)"),
        (False, -0.5, "b", (-0.25, -0.375, -0.125), "b by 0.2500 (0.1250 to 0.3750)"),
    ],
)
def test_equal_length_names_who_is_ahead_as_the_line_above_does(
    lower, difference, winner, left, said
):
    scores = Scores(
        {"M": "M"},
        {
            name: {"M": Evaluation([1, 2], np.array([0.5, 0.5]), lower_is_better=lower)}
            for name in "ab"
        },
    )
    pair = Pair("a", "b", difference, difference, difference, 0.01, 0.01, 0.01, 0.01, winner,
                EqualLength(*left))  # fmt: skip
    systems = {name: Standing(0.5, 0.5, 0.5, 1 + (name != winner)) for name in "ab"}
    compared = Comparison(
        metric="M",
        images=2,
        lower_is_better=lower,
        own_score=True,
        systems=systems,
        pairs=(pair,),
    )
    comparisons = Comparisons(
        metrics={"M": compared}, seed=0, resamples=100, interval_resamples=100, level=0.95
    )
    page = page_of(scores, comparisons)
    cell = page[page.index('class="duels"') :].partition("<td>")[2].partition("</td>")[0]
    text = " ".join(re.sub("<[^>]+>", " ", cell).split())
    assert text == f"{winner} by 0.5000 p = .010 at equal length {said}"


def test_the_score_is_that_of_all_images_and_the_one_compared_stands_beside_it():
    # Four images have a score of both systems; the first system has another score besides.
    scores = scores_of(one=[0.5, 0.5, 0.5, 0.5, 1.0], two=[0.25] * 4 + [np.nan])
    with pytest.warns(match="too few"):
        page = page_of(scores, compare(scores, resamples=100))
    one, two = page[page.index('class="standings"') :].split("<td")[1:3]
    assert 'class="score">0.6000<' in one
    assert "0.5000 to 0.5000, of 0.5000 there<" in one
    assert 'class="score">0.2500<' in two
    assert "there<" not in two


def test_a_metric_without_common_images_is_shown_without_comparison():
    scores = scores_of(one=[0.5, np.nan], two=[np.nan, 0.5])
    comparisons = compare(scores, resamples=100)
    assert "M" not in comparisons.metrics
    assert standings(scores, comparisons) == [("0.5000", None, False, None)] * 2
    assert overview.duels(scores, comparisons) == {("one", "two"): [None]}
