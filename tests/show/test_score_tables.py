import csv
import io
import re

import numpy as np
import pytest
from show.score_examples import scores

from vifidel_eval.evaluation import Evaluation
from vifidel_eval.scores.comparison import Comparison, Comparisons, Standing, compare
from vifidel_eval.scores.scores import Scores
from vifidel_eval.show.comparison_tables import compared, level_with_the_best
from vifidel_eval.show.first_screen import notes_of
from vifidel_eval.show.score_tables import TableLayout, beside, comparison_csv, in_html, render

TWO = scores({"VIFIDEL": {"a": [0.5, 0.25], "b": [1.0, 0.5]}, "LEN": {"a": [8, 9], "b": [9, 9]}},
             unranked=["LEN"])  # fmt: skip


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_percent_is_of_scores_and_not_of_lengths():
    text = render(TWO, "markdown", layout=TableLayout(percent=True))
    assert "| a        |     37.50 |  8.50 |" in text
    assert "| b        | **75.00** |  9.00 |" in text
    assert "Scores times 100, but not LEN." in text
    assert rows(render(TWO, "csv", layout=TableLayout(percent=True)))[0]["VIFIDEL"] == "37.5"
    one = rows(render(TWO, "csv", layout=TableLayout(percent=True, digits=1)))[1]
    assert (one["VIFIDEL"], one["LEN"]) == ("75.0", "9.0")
    assert "37.500" in render(TWO, "table", layout=TableLayout(percent=True, digits=3))


def test_what_reads_the_same_is_bold_in_both():
    close = scores({"M": {"a": [0.12341], "b": [0.12339], "c": [0.1]}})
    assert render(close, "markdown").count("**0.1234**") == 2
    assert render(close, "markdown", layout=TableLayout(digits=5)).count("**") == 2


def draw(seed, means, images=200):
    noise = np.random.default_rng(seed)
    return {name: (mean + noise.normal(0, 0.1, images)).tolist() for name, mean in means.items()}


@pytest.mark.parametrize("lower", [False, True])
def test_bold_are_all_that_are_not_significantly_worse(lower):
    sign = -1 if lower else 1
    means = {"bad": sign * 0.2, "best": sign * 0.602, "tied": sign * 0.6}
    run = scores({"M": draw(1, means)}, lower=["M"] if lower else ())
    comparisons = compare(run)
    ranks = {name: s.rank for name, s in comparisons.metrics["M"].systems.items()}
    assert ranks == {"bad": 3, "best": 1, "tied": 1}
    assert sorted(level_with_the_best(comparisons.metrics["M"])) == ["best", "tied"]
    markdown = render(run, "markdown", comparisons)
    of_scores = markdown.split("Intervals")[0]
    bold = [line.split("|")[1].strip() for line in of_scores.splitlines() if "**" in line]
    assert sorted(bold) == ["best", "tied"]
    assert "Bold: not significantly worse than the best (randomisation, p > 0.05)." in of_scores
    latex = render(run, "latex", comparisons).split("Intervals")[0]
    assert latex.count(r"\textbf") == 2
    assert latex.count(r"$\downarrow$") == lower


def test_what_no_test_compared_is_not_bold():
    halves = {"a": [0.5] * 20 + [np.nan] * 20, "b": [np.nan] * 20 + [0.6] * 20}
    run = scores({"M": draw(1, {"a": 0.5, "b": 0.6}, 40), "N": halves})
    markdown = render(run, "markdown", compare(run)).split("Intervals")[0]
    assert markdown.count("**") == 2
    assert "**0.6000**" not in markdown
    assert "**0.6000**" in render(run, "markdown")


def test_one_system_and_a_column_without_direction_have_nothing_bold():
    alone = scores({"M": draw(1, {"a": 0.5})})
    assert "**" not in render(alone, "markdown", compare(alone))
    assert "textbf" not in render(TWO, "latex", layout=TableLayout(("LEN",)))


def test_the_comparison_is_one_table_in_csv():
    run = scores({"M": draw(2, {"x": 0.2, "y": 0.6}), "N": draw(3, {"x": 0.1, "y": 0.1})})
    comparisons = compare(run, resamples=200)
    table = rows(comparison_csv(run, comparisons, TableLayout(("M",), percent=True)))
    assert [(row["System"], row["Against"]) for row in table] == [("x", ""), ("y", ""), ("x", "y")]
    assert {row["Metric"] for row in table} == {"M"}
    assert [row["Rank"] for row in table] == ["2", "1", ""]
    assert table[2]["Better"] == "y"
    value, score = (float(table[at]["Value"]) for at in (2, 1))
    assert score == pytest.approx(100 * run.evaluations["y"]["M"].score)
    assert value == pytest.approx(float(table[0]["Value"]) - score)
    assert {row["Seed"] + "/" + row["Resamples"] for row in table} == {"0/200"}
    assert beside(run, "csv", comparisons)[-2:] == ["M|version:1", "N|version:1"]


# The second system is better by an eighth on each of 64 images: no swap but none and all is as
# large, so that p is 1 / 1001; the third differs by rounding.
EIGHTH = [n / 64 for n in range(64)]
BASED = scores(
    {
        "M": {
            "b_s": EIGHTH,
            "a&b": [n + 0.125 for n in EIGHTH],
            "c|d": [n + 1e-15 for n in EIGHTH],
        },
        "L": {"b_s": EIGHTH, "a&b": [n - 0.125 for n in EIGHTH], "c|d": EIGHTH},
    },
    lower=["L"],
    counts={"no_words": 3},
)
PINNED = (
    "Differences|baseline:b_s|test:randomisation|holm:2|interval:bootstrap|level:0.95|"
    "resamples:1000|seed:0"
)


def test_a_baseline_has_a_line_per_system_and_a_column_per_metric_in_a_terminal():
    layout = TableLayout(baseline="b_s", signatures=True)
    text = render(BASED, "table", compare(BASED), layout)
    title, _, _, *lines = text.splitlines()
    assert title == "Against b_s"
    assert [re.split("  +", line.strip()) for line in lines[:3]] == [
        ["b_s", "0.492", "0.492"],
        ["a&b", "0.617 (+0.125)*", "0.367 (-0.125)*"],  # L: lower is better
        ["c|d", "0.492 (+0.000)", "0.492 (+0.000)"],
    ]
    scores = [[at.start() for at in re.finditer(r"0\.\d+", line)] for line in lines[:3]]
    assert scores[0] == scores[1][::2] == scores[2][::2]  # digits below digits
    assert lines[3] == ""
    assert PINNED in "".join(line.strip() for line in lines)
    assert PINNED not in render(BASED, "table", compare(BASED), TableLayout(baseline="b_s"))
    assert "after Holm's correction over 2 systems)." in " ".join(text.split())
    assert "score from every system): 64." in " ".join(text.split())
    assert "L: lower is better." in text
    assert max(map(len, lines)) <= 100
    assert "Scored" not in text
    counted = render(BASED, "table", compare(BASED), TableLayout(baseline="b_s", counts=True))
    assert re.search(r"a&b +64 +0 +3\n", counted.split("Counts\n")[1])


def test_a_baseline_has_the_better_systems_in_bold_in_latex_by_systems_and_metrics():
    comparisons = compare(BASED)
    markdown = render(BASED, "markdown", comparisons, TableLayout(baseline="b_s"))
    assert re.search(r"a&b +\| +\*\*0.617\*\* \(\+0.125\)\* +\| +\*\*0.367\*\* \(-0", markdown)
    latex = render(BASED, "latex", comparisons, TableLayout(baseline="b_s"))
    lines = [" ".join(line.split()) for line in latex.splitlines()]
    assert [line for line in lines if "&" in line] == [
        r"System & M & L $\downarrow$ \\",
        r"b\_s & 0.492\phantom{ (+0.100)*} & 0.492\phantom{ (+0.100)*} \\",
        r"a\&b & \textbf{0.617} (+0.125)* & \textbf{0.367} ($-$0.125)* \\",
        r"c\textbar{}d & 0.492 (+0.000)\phantom{*} & 0.492 (+0.000)\phantom{*} \\",
    ]
    worse = render(BASED, "latex", comparisons, TableLayout(baseline="a&b"))
    (row,) = (line for line in worse.splitlines() if line.lstrip().startswith(r"b\_s"))
    assert " ".join(row.split()) == " & ".join(
        [r"b\_s", r"0.492 ($-$0.125)\phantom{*}", r"0.492 (+0.125)\phantom{*} \\"]
    )
    assert (
        "starred where it is significantly better (p ≤ 0.05 by approximate randomisation" in latex
    )
    assert f"% {PINNED}" in latex
    assert "Scored" not in latex


def test_pairs_have_minus_signs_in_latex():
    assert "% Pairs" not in render(BASED, "latex", compare(BASED))
    latex = render(BASED, "latex", compare(BASED), TableLayout(pairs=True)).split("% Pairs")[1]
    assert "[$-$0.1250, $-$0.1250]" in latex
    assert not re.search(r"(?<!\$)-\d", re.sub("(?m)^%.*", "", latex))


def test_a_run_without_java_says_what_differs_from_pycocoevalcap():
    evaluation = Evaluation([1], np.array([0.5]))
    parts = "(VIFIDEL|refs:yes) + (CIDEr|tok:python|version:1)"
    signatures = {
        "VIFIDEL": "VIFIDEL|refs:yes",
        "Bleu_4": "BLEU|tok:python|version:1",
        "VIFIDEL+CIDEr": f"VIFIDEL+CIDEr|scaled:no|{parts}",
    }
    scores = Scores(signatures, {"a": dict.fromkeys(signatures, evaluation)})
    message = (
        "corpus scores differ from pycocoevalcap's by at most this: BLEU by 0, CIDEr by 1.3e-06."
    )
    for style in ("table", "markdown"):
        assert message in " ".join(render(scores, style).split())
    assert message in " ".join(notes_of(scores, lambda score, _: str(score)))
    assert "CIDEr by 1.3e-06" in in_html(scores)
    for style in ("csv", "json"):
        assert "CIDEr by 1.3e-06" in "\n".join(beside(scores, style))
    exact = {name: text.replace("tok:python", "tok:ptb") for name, text in signatures.items()}
    scores = Scores(exact, scores.evaluations)
    assert "pycocoevalcap's" not in render(scores, "table") + in_html(scores)
    assert beside(scores, "json") == []


def half(values, seed=0):
    """Half of the percentile interval of a mean, by NumPy's own draws."""
    values = np.asarray(values)
    draws = np.random.default_rng(seed).integers(len(values), size=(4000, len(values)))
    return np.diff(np.quantile(values[draws].mean(axis=1), [0.025, 0.975])).item() / 2


def test_a_terminal_shows_intervals_and_what_is_best_by_test():
    means = {"bad": 0.2, "best": 0.602, "tied": 0.6}
    values = {"VIFIDEL-F": draw(1, means), "CIDEr": draw(2, dict.fromkeys(means, 0.5))}
    run = scores({"LEN": {name: [7.64] * 200 for name in means}, **values}, unranked=["LEN"])
    lines = render(run, intervals=compare(run), style="table").split("\n\n", 1)[1].splitlines()
    assert lines[0].split() == ["System", "VIFIDEL-F", "CIDEr", "LEN", "Scored"]
    for line in lines[2:5]:
        name = line.split()[0]
        score, beside_it = line.split()[1:3]
        assert score == "*" * (name != "bad") + f"{np.mean(values['VIFIDEL-F'][name]):.4f}"
        assert float(beside_it.removeprefix("±")) == pytest.approx(
            half(values["VIFIDEL-F"][name]), abs=2e-3
        )
        assert "7.6 ±0.0" in line
    notes = " ".join(lines[5:])
    assert "±: half of the 95 % interval, by bootstrap over images. *: best, or" in notes
    assert "F: fidelity and coverage in one number." in notes
    assert "version:1" not in notes
    whole = render(run, "table", layout=TableLayout(signatures=True))
    assert "All: version:1" in whole
    assert "±" not in render(run, "table", layout=TableLayout(width=40), intervals=compare(run))
    untested = render(run, "table", intervals=compare(run, tests=False))
    assert untested.count("*0.") == 2
    assert "*: the best score; --compare tests the difference." in " ".join(untested.split())


def test_a_comparison_begins_with_who_beats_whom():
    comparisons = compare(BASED)
    text = render(BASED, "table", comparisons)
    title, header, _, *lines = text.split("\n\n", 1)[1].splitlines()
    assert title == "M: who beats whom (64 images)"
    assert header.split() == ["M", "Place", "a&b", "c|d", "b_s"]
    assert [line.split() for line in lines[:3]] == [
        ["a&b", "1", "-", "*+0.125", "*+0.125"],
        ["c|d", "2", "-0.125", "-", "0.000"],
        ["b_s", "2", "-0.125", "0.000", "-"],
    ]
    assert re.search(r"a&b +0.6172 ±0.0\d+ #1 +0.3672 ±0.0\d+ #1", text)
    of_lower = render(BASED, "table", comparisons, TableLayout(("L",), percent=True))
    assert "\n\nL: who beats whom" in of_lower
    assert "*-12.50" in of_lower
    led = scores({name: draw(2, {"a": 0.5, "b": 1.0}) for name in ("M", "VIFIDEL-F")})
    for layout, first in ((TableLayout(), "VIFIDEL-F"), (TableLayout(("M", "VIFIDEL-F")), "M")):
        text = render(led, "table", compare(led), layout)
        assert text.index("\n\n") == text.index(f"\n\n{first}: who beats whom")
    many = scores({"M": draw(3, {f"a system with a long name {n}": n / 10 for n in range(5)})})
    text = render(many, "table", compare(many))
    assert text.split("\n\n", 1)[1].splitlines()[1].split() == ["M", "Place", *"12345"]
    assert "5 a system with a long name 0" in text
    alone = scores({"M": draw(1, {"a": 0.5})})
    assert "who beats whom" not in render(alone, "table", compare(alone))


def test_comparison_says_what_is_compared_of_meteor():
    systems = {"a": Standing(0.5, 0.4, 0.6, 1)}
    metric = Comparison(metric="METEOR", systems=systems, pairs=(), images=9, own_score=False)
    given = {"seed": 0, "resamples": 1000, "interval_resamples": 1000, "level": 0.95}
    comparisons = Comparisons(metrics={"METEOR": metric}, left_out=("WMD",), **given)
    (table,) = compared(comparisons, "table", TableLayout())
    assert "METEOR: the mean of the images' scores is compared" in table.render("table")
    assert "WMD: no image has a score from every system" in table.render("table")
