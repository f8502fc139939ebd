import csv
import io
import json
import re

import numpy as np
import pytest
from report.score_examples import scores

from vifidel_eval import VifidelError
from vifidel_eval.evaluation import Evaluation
from vifidel_eval.report.comparison_tables import compared, level_with_the_best
from vifidel_eval.report.score_tables import (
    Layout,
    beside,
    chosen_columns,
    comparison_csv,
    in_html,
    in_short,
    per_image_csv,
    render,
)
from vifidel_eval.runs.comparison import Comparison, Comparisons, Standing, compare
from vifidel_eval.runs.harness import Scores

TWO = scores({"VIFIDEL": {"a": [0.5, 0.25], "b": [1.0, 0.5]}, "LEN": {"a": [8, 9], "b": [9, 9]}},
             unranked=["LEN"])  # fmt: skip
METRICS = {"Bleu_1": "BLEU", "Bleu_2": "BLEU", "CIDEr": "CIDEr", "VIFIDEL-P": "VIFIDEL-PRF"}


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_are_chosen_ordered_and_found_in_any_case():
    assert chosen_columns(["cider", "BLEU"], METRICS) == ["CIDEr", "Bleu_1", "Bleu_2"]
    assert chosen_columns(["Bleu_2", "BLEU"], METRICS) == ["Bleu_2", "Bleu_1"]
    header = render(TWO, "csv", layout=Layout(("LEN", "VIFIDEL"))).splitlines()[0]
    assert header.startswith("System,LEN,VIFIDEL,Scored")
    only = json.loads(render(TWO, "json", layout=Layout(("LEN",))))
    assert list(only["signatures"]) == ["LEN"]
    assert only["systems"]["a"]["imgToEval"]["1"] == {"image_id": 1, "LEN": 8.0}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CIDRe", "there is no column 'CIDRe'. Did you mean CIDEr? The columns are Bleu_1, B"),
        ("vifidel-pr", "Did you mean VIFIDEL-P"),
        ("xyzzy", "there is no column 'xyzzy'. The columns are Bleu_1, Bleu_2, CIDEr, VIFIDEL-P."),
    ],
)
def test_a_mistyped_column_is_one_sentence(name, said):
    with pytest.raises(VifidelError, match=re.escape(said)):
        chosen_columns([name], METRICS)


def test_percent_is_of_scores_and_not_of_lengths():
    text = render(TWO, "markdown", layout=Layout(percent=True))
    assert "| a        |     37.50 |  8.50 |" in text
    assert "| b        | **75.00** |  9.00 |" in text
    assert "Scores times 100, but not LEN." in text
    assert rows(render(TWO, "csv", layout=Layout(percent=True)))[0]["VIFIDEL"] == "37.5"
    one = rows(render(TWO, "csv", layout=Layout(percent=True, digits=1)))[1]
    assert (one["VIFIDEL"], one["LEN"]) == ("75.0", "9.0")
    assert "37.500" in render(TWO, "table", layout=Layout(percent=True, digits=3))


def test_what_reads_the_same_is_bold_in_both():
    close = scores({"M": {"a": [0.12341], "b": [0.12339], "c": [0.1]}})
    assert render(close, "markdown").count("**0.1234**") == 2
    assert render(close, "markdown", layout=Layout(digits=5)).count("**") == 2


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
    assert bold == ["best", "tied"]
    assert "Bold: not significantly worse than the best (randomisation, p > 0.05)." in of_scores
    latex = render(run, "latex", comparisons).split("Intervals")[0]
    assert latex.count(r"\textbf") == 2
    assert latex.count(r"$\downarrow$") == lower


def test_one_system_and_a_column_without_direction_have_nothing_bold():
    alone = scores({"M": draw(1, {"a": 0.5})})
    assert "**" not in render(alone, "markdown", compare(alone))
    assert "textbf" not in render(TWO, "latex", layout=Layout(("LEN",)))


def test_counts_of_missing_images_are_a_column_where_there_are_some():
    assert "Missing" not in render(TWO, "csv")
    some = scores({"M": {"a": [1.0]}}, counts={"missing": 3})
    assert rows(render(some, "csv"))[0]["Missing"] == "3"


def test_a_row_for_each_system_and_image():
    text = per_image_csv(TWO, Layout(("VIFIDEL",), percent=True))
    assert text.splitlines() == ["System,Image,VIFIDEL", "a,1,50.0", "a,2,25.0", "b,1,100.0",
                                 "b,2,50.0"]  # fmt: skip
    undefined = per_image_csv(scores({"M": {"a": [float("nan"), 0.125]}}))
    assert undefined.splitlines()[1:] == ["a,1,", "a,2,0.125"]


def test_the_comparison_is_one_table_in_csv():
    run = scores({"M": draw(2, {"x": 0.2, "y": 0.6}), "N": draw(3, {"x": 0.1, "y": 0.1})})
    comparisons = compare(run, resamples=200)
    table = rows(comparison_csv(run, comparisons, Layout(("M",), percent=True)))
    assert [(row["System"], row["Against"]) for row in table] == [("x", ""), ("y", ""), ("x", "y")]
    assert {row["Metric"] for row in table} == {"M"}
    assert [row["Rank"] for row in table] == ["2", "1", ""]
    assert table[2]["Better"] == "y"
    value, score = (float(table[at]["Value"]) for at in (2, 1))
    assert score == pytest.approx(100 * run.evaluations["y"]["M"].score)
    assert value == pytest.approx(float(table[0]["Value"]) - score)
    assert {row["Seed"] + "/" + row["Resamples"] for row in table} == {"0/200"}
    assert beside(run, "csv", comparisons)[-2:] == ["M|version:1", "N|version:1"]


def test_p_values_keep_their_digits():
    run = scores({"M": draw(2, {"x": 0.2, "y": 0.6})})
    pairs = render(run, "table", compare(run), Layout(digits=1)).split("Pairs")[1]
    assert "0.0010" in pairs
    assert "[-0.4, -0.4]" in pairs


def test_comparison_says_what_is_compared_of_meteor():
    metric = Comparison("METEOR", {"a": Standing(0.5, 0.4, 0.6, 1)}, (), 9, own_score=False)
    comparisons = Comparisons({"METEOR": metric}, 0, 1000, 0.95, ("WMD",))
    (table,) = compared(comparisons, "table", None, lambda score, _: score)
    assert "METEOR: the mean of the images' scores is compared" in table.render("table")
    assert "WMD: no image has a score from every system" in table.render("table")


def test_a_run_without_java_says_what_differs_from_pycocoevalcap():
    evaluation = Evaluation([1], np.array([0.5]))
    parts = "(VIFIDEL|refs:yes) + (CIDEr|tok:python|version:1)"
    signatures = {
        "VIFIDEL": "VIFIDEL|refs:yes",
        "Bleu_4": "BLEU|tok:python|version:1",
        "VIFIDEL+CIDEr": f"VIFIDEL+CIDEr|scaled:no|{parts}",
    }
    scores = Scores(signatures, {"a": dict.fromkeys(signatures, evaluation)})
    said = "corpus scores differ from pycocoevalcap's by at most this: BLEU by 0, CIDEr by 1.3e-06."
    for style in ("table", "markdown"):
        assert said in " ".join(render(scores, style).split())
    assert said in " ".join(in_short(scores).split())
    assert "CIDEr by 1.3e-06" in in_html(scores)
    for style in ("csv", "json"):
        assert "CIDEr by 1.3e-06" in "\n".join(beside(scores, style))
    exact = {name: text.replace("tok:python", "tok:ptb") for name, text in signatures.items()}
    scores = Scores(exact, scores.evaluations)
    assert "pycocoevalcap's" not in render(scores, "table") + in_html(scores) + in_short(scores)
    assert beside(scores, "json") == []
