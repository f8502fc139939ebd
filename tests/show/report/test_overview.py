import html
import re

import numpy as np
import pytest
from show.score_examples import scores_of

from vifidel_eval.scorers import Evaluation
from vifidel_eval.scores.comparison import Comparison, Comparisons, Pair, Standing, compare
from vifidel_eval.scores.scores import Scores
from vifidel_eval.scores.significance import EqualLength
from vifidel_eval.scores.verdict import verdict
from vifidel_eval.show.report import Content, overview, page, render_page

NONE = overview.NONE


def page_of(scores, comparisons):
    ids = next(iter(scores.evaluations.values()))["M"].ids
    captions = {name: dict.fromkeys(ids, "") for name in scores.evaluations}
    claims = {name: [] for name in captions}
    references = {image: [] for image in ids}
    return render_page(Content(scores, comparisons, references, captions, claims=claims))


def rows_of(page, name):
    """Return the attributes and texts of the cells of a table, row by row, by their headings."""
    table = page[page.index(f'<table class="{name}') :]
    body = table.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]
    rows = [[(about, re.sub("<[^>]+>", " ", text).split()) for about, text in row] for row in cells]
    name_at = 0 if name != "ranking" else 1
    return {row[name_at][1][0]: row for row in rows}


def said(page):
    """Return the sentence that decides."""
    sentence = page.partition('<div class="verdict"><p>')[2].partition("</p>")[0]
    return html.unescape(" ".join(re.sub("<[^>]+>", "", sentence).split()))


@pytest.mark.parametrize(
    ("systems", "lower", "places", "sure"),
    [
        ({"bad": [0.1, 0.3] * 20, "good": [0.9] * 40, "same": [0.9] * 40}, False,
         {"good": "1-2", "same": "1-2", "bad": "3"}, "No: places 1-2 are open"),
        ({"good": [0.9] * 40, "bad": [0.1, 0.3] * 20, "last": [0.0, 0.1] * 20}, False,
         {"good": "1", "bad": "2", "last": "3"}, "Yes, for first place"),
        ({"bad": [3.0, 5.0] * 20, "good": [0.5] * 40}, True,
         {"good": "1", "bad": "2"}, "Yes, for first place"),
        ({"alone": [0.25, 0.75] * 20}, False, {"alone": "1"}, "Not tested"),
        ({"one": [0.5, np.nan], "two": [np.nan, 0.5]}, False,
         {"one": NONE, "two": NONE}, "Not tested"),
        ({"one": [0.5, 0.25], "two": [0.75, 0.5]}, False,
         {"two": NONE, "one": NONE}, "Not tested"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_the_first_sentence_and_the_places(systems, lower, places, sure):
    scores = scores_of(systems, lower)
    compared = compare(scores, resamples=2000)
    page = page_of(scores, compared)
    assert said(page) == verdict(scores, compared, "M").sentence
    assert f"<b>{sure}</b>" in page
    rows = rows_of(page, "ranking")
    assert {name: "".join(row[0][1]) for name, row in rows.items()} == places
    assert list(rows) == list(places)  # the best first
    for name, row in rows.items():
        score = scores.evaluations[name]["M"].score
        assert row[2][1] == [f"{score:.3f}".removeprefix("0")]


def test_intervals_have_an_axis_with_round_ticks():
    systems = {"a": Standing(0.62, 0.58, 0.66, 1), "b": Standing(0.7, 0.68, 0.73, 1)}
    compared = Comparison(metric="M", images=9, own_score=True, systems=systems, pairs=())
    axis = page.axis_of(compared, 0.561)
    assert axis.ticks == pytest.approx([0.6, 0.65, 0.7])
    assert (axis.low, axis.high, axis.digits) == (0.561, 0.73, 2)
    assert (axis.place(0.561), axis.place(0.73)) == ("2", "98")


def test_where_to_look_are_captions_with_less_than_half_of_the_best_score():
    scores = scores_of({"good": [1.0, 0.9, 0.8, 0.0], "bad": [0.5, 0.7, 0.3, 0.9]})
    decided = verdict(scores, None, "M")
    message = page.half_as_good(scores, decided)
    assert message.startswith("1 image where a caption has less ")


def test_the_matrix_has_every_difference_both_ways():
    scores = scores_of({"good": [0.9] * 40, "same": [0.9] * 40, "bad": [0.1, 0.3] * 20})
    rows = rows_of(page_of(scores, compare(scores, resamples=2000)), "duels")
    cells = {name: [" ".join(text) for _, text in row[1:]] for name, row in rows.items()}
    assert cells == {
        "good": ["", ".000", "+.700*"],
        "same": [".000", "", "+.700*"],
        "bad": ["-.700*", "-.700*", ""],
    }
    kinds = {name: [about for about, _ in row[1:]] for name, row in rows.items()}
    better, worse = ' class="better"', ' class="worse"'
    assert kinds == {"good": ["", "", better], "same": ["", "", better], "bad": [worse, worse, ""]}


def test_remarks_count_what_is_not_scored_as_it_seems():
    images = list(range(4))
    of_metrics = {
        "M": Evaluation(images, np.array([np.nan, 0, 1, 1]), counts={"no_words": 1}),
        "N": Evaluation(
            images, np.array([np.nan, np.nan, 1, 1]), counts={"no_words": 1, "unweighted": 2}
        ),
    }
    scores = Scores({"M": "M", "N": "N"}, {"one": of_metrics, "two": {"M": Evaluation([], [])}})
    result = overview.remarks(scores)
    assert {name: {c.phrase: n for c, n in of.items()} for name, of in result.items()} == {
        "one": {"without some score": 2, "without words": 1, "unweighted": 2},
        "two": {},
    }
    one = Evaluation(range(9), np.array([np.nan, *[1] * 8]), counts={"unweighted": 2})
    two = Evaluation(range(9), np.array([0.5] * 9), counts={"no_words": 1})
    scores = Scores({"M": "M"}, {"one": {"M": one}, "two": {"M": two}})
    page = page_of(scores, compare(scores, resamples=50))
    message = re.findall('class="remark"><b>(.*?)</b>: ', page)
    assert message == ["without some score", "without words", "unweighted"]


def heights_of(spread):
    steps = re.findall(r"V([\d.]+)h(\d+)", spread.outline)
    return [24 - float(y) for y, bins in steps for _ in range(int(bins))]


def test_a_histogram_counts_the_images():
    scores = scores_of({"one": [0.0, 0.0, 0.5, 1.0], "two": [0.0, np.nan, np.nan, 1.0]})
    distribution = overview.distribution(scores, "M")
    two, one = distribution.spreads  # in order of their means
    assert distribution.axis == ("0", "1")
    assert (one.images, one.undefined, two.images, two.undefined) == (4, 0, 2, 2)
    assert one.quantiles == [0, 0, 0.25, 0.625, 1]
    heights = heights_of(one)
    # Half of the images in the first of 32 bins is the tallest; a quarter in the middle and last.
    assert {bin: height for bin, height in enumerate(heights) if height} == {0: 24, 16: 12, 31: 12}
    assert (one.median_at, two.median_at) == ("8", "16")


@pytest.mark.parametrize(
    ("scores", "axis"),
    [
        ([0.0, 0.0], ("0", "1")),
        ([0.0, 0.93], ("0", "1")),
        ([0.0, 1.01], ("0", "2")),
        ([3.0, 5.2], ("0", "6")),
        ([0.0, 0.034], ("0", "0.04")),
        ([-0.3, 0.7], ("-0.4", "0.8")),
        ([-7.5, -3.0], ("-8", "0")),
        ([1e-15, 3e-15], ("0", "3e-15")),
    ],
)
def test_axes_end_at_round_numbers(scores, axis):
    distribution = overview.distribution(scores_of({"one": scores}), "M")
    assert distribution.axis == axis
    (spread,) = distribution.spreads
    assert spread.images == 2
    start, end = map(float, axis)
    median = 32 * (sum(scores) / 2 - start) / (end - start)
    assert float(spread.median_at) == pytest.approx(median, abs=0.051)
    # Both scores are in the histogram, in one bin or in two.
    assert sum(heights_of(spread)) in (24, 48)


@pytest.mark.parametrize(
    ("lower", "difference", "winner", "left", "cells"),
    [
        (True, -0.5, "a", (-0.25, -0.375, 0.0625), ("-.500†", "+.500†")),
        (True, -0.5, "a", (0.25, 0.125, 0.375), ("-.500†", "+.500†")),
        (False, 0.5, "a", (0.25, 0.125, 0.375), ("+.500*", "-.500*")),
        (False, -0.5, None, (-0.25, -0.375, -0.125), ("-.500", "+.500")),
    ],
)
def test_a_dagger_says_that_nothing_certain_remains_at_equal_length(
    lower, difference, winner, left, cells
):
    scores = scores_of({"a": [0.5, 0.5], "b": [0.5, 0.5]}, lower)
    pair = Pair("a", "b", difference, difference, difference, 0.01, 0.01, 0.01, 0.01, winner,
                EqualLength(*left))  # fmt: skip
    systems = {name: Standing(0.5, 0.5, 0.5, 1 + (name != winner)) for name in "ab"}
    compared = Comparison(
        metric="M", images=2, lower_is_better=lower, own_score=True, systems=systems, pairs=(pair,)
    )
    text = compared.matrix().render("table")
    assert text.splitlines()[1].split() == ["M", "Place", "a", "b"]
    assert ("*: significantly better." in text, "†: mean lengths" in text) == (
        bool(winner),
        "†" in cells[0],
    )
    comparisons = Comparisons(
        metrics={"M": compared}, seed=0, resamples=100, interval_resamples=100, level=0.95
    )
    rows = rows_of(page_of(scores, comparisons), "duels")
    for (name, other), cell in zip(("ab", "ba"), cells, strict=True):
        about, shown = rows[name][1 + list(rows).index(other)]
        assert shown == [cell]
        kind = {None: "", name: "better"}.get(winner, "worse")
        assert re.findall('class="(.*?)"', about) == [kind][: bool(kind)]


def test_the_score_is_that_of_all_images_and_the_one_compared_stands_beside_it():
    # Four images have a score of both systems; the first system has another score besides.
    scores = scores_of({"one": [0.5, 0.5, 0.5, 0.5, 1.0], "two": [0.25] * 4 + [np.nan]})
    with pytest.warns(match="too few"):
        page = page_of(scores, compare(scores, resamples=100))
    one, two = page[page.index('class="standings"') :].split('<th scope="row"')[1:3]
    assert 'class="score">0.6000<' in one
    assert ".500 to .500, <span>of 0.5000 there<" in one
    assert 'class="score">0.2500<' in two
    assert "there<" not in two
