"""Who is best, in one sentence: systems whose scores are worked out by hand."""

import numpy as np
import pytest
from show.score_examples import scores

from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.scores import PEOPLE, People
from vifidel_eval.scores.verdict import (
    figure,
    ordered_columns,
    ordered_systems,
    shown_columns,
    verdict,
)

IMAGES = 40


def constant(value):
    return [value] * IMAGES


def noisy(mean, seed):
    return (mean + np.random.default_rng(seed).normal(0, 0.1, IMAGES)).tolist()


def test_the_best_is_named_with_its_lead_and_how_sure_that_is():
    run = scores({"VIFIDEL-F": {"low": constant(0.5), "high": constant(0.75)}})
    decided = verdict(run, compare(run))
    assert decided.systems == ("high", "low")
    assert decided.places == {"high": "1", "low": "2"}
    # Of two systems that differ by .25 on each image, no resample has another difference.
    assert decided.sentence == (
        "high describes the images best: VIFIDEL-F .750, .250 above low (.250 to .250, p < .001), "
        "on 40 images."
    )


def test_lower_may_be_better_and_other_columns_have_their_own_words():
    run = scores({"CHAIRi": {"a": constant(0.5), "b": constant(0.25)}}, lower=["CHAIRi"])
    assert ordered_systems(run, "CHAIRi", None) == ["b", "a"]
    assert verdict(run, compare(run)).sentence == (
        "b has the lowest CHAIRi: .250, .250 below a (.250 to .250, p < .001), on 40 images."
    )


def test_systems_that_cannot_be_told_apart_share_a_place():
    values = {name: noisy(0.6, seed) for seed, name in enumerate("abcde")}
    run = scores({"VIFIDEL-F": {**values, "worst": constant(0.1)}})
    comparisons = compare(run)
    decided = verdict(run, comparisons)
    means = {name: np.mean(numbers) for name, numbers in values.items()}
    order = sorted(means, key=means.__getitem__, reverse=True)
    assert list(decided.systems) == [*order, "worst"]
    assert decided.places == {**dict.fromkeys(order, "1-5"), "worst": "6"}
    sentence = decided.sentence
    assert sentence.startswith(
        f"{', '.join(order[:3])} and 2 more cannot be told apart. {order[0]} "
    )
    assert "would settle it" not in sentence  # millions of images are no advice


def test_about_how_many_images_would_settle_a_difference():
    run = scores({"VIFIDEL-F": {"a": noisy(0.6, 1), "b": noisy(0.57, 3)}})
    comparisons = compare(run)
    [pair] = comparisons.metrics["VIFIDEL-F"].pairs
    assert pair.winner is None
    needed = comparisons.images_needed("VIFIDEL-F", pair)
    assert f"About {needed} images would settle it." in verdict(run, comparisons).sentence


def test_systems_with_the_same_scores_are_not_ranked_against_each_other():
    same = noisy(0.7, 1)
    run = scores({"VIFIDEL-F": {"a": same, "b": same, "c": noisy(0.2, 2)}})
    decided = verdict(run, compare(run))
    assert decided.sentence.startswith("a and b describe the images best: VIFIDEL-F ")
    assert decided.sentence.endswith("a and b have the same score on every image.")
    assert decided.places == {"a": "1-2", "b": "1-2", "c": "3"}


def test_people_are_the_baseline():
    run = scores({"VIFIDEL-F": {"a": constant(0.5), PEOPLE: constant(0.75), "b": constant(0.25)}})
    run = type(run)(run.signatures, run.evaluations, people=People(1, 9.0, IMAGES))
    comparisons = compare(run)
    decided = verdict(run, comparisons)
    assert decided.systems == ("a", "b")
    column = "VIFIDEL-F"
    assert ordered_systems(run, column, comparisons) == ["a", "b", PEOPLE]
    of_that_name = type(run)(run.signatures, run.evaluations)  # a system's, not the baseline's
    assert ordered_systems(of_that_name, column, None) == [PEOPLE, "a", "b"]
    assert decided.places == {"a": "1", "b": "2"}
    assert decided.sentence.startswith("a describes the images best: VIFIDEL-F .500, .250 above b ")
    assert decided.sentence.endswith("People have .750; a is .250 below.")
    ranks = {n: s.rank for n, s in comparisons.metrics["VIFIDEL-F"].systems.items()}
    assert ranks == {"a": 1, "b": 2, PEOPLE: None}


def test_one_system_few_images_and_nothing_to_compare():
    alone = scores({"VIFIDEL-F": {"mine": [0.25, 0.75]}})
    assert verdict(alone, compare(alone)).sentence == (
        "mine has VIFIDEL-F .500 (.250 to .750) on 2 images."
    )
    few = scores({"VIFIDEL-F": {"a": [0.25, 0.5], "b": [0.75, 0.5]}})
    with pytest.warns(match="too few"):
        comparisons = compare(few)
    assert verdict(few, comparisons).sentence == (
        "b has the highest VIFIDEL-F, .625, .250 above a, on 2 images: too few to be sure."
    )
    nothing = scores({"VIFIDEL-F": {"a": [np.nan] * 2, "b": [np.nan] * 2}})
    assert verdict(nothing, compare(nothing)).sentence == "VIFIDEL-F is undefined for all systems."
    assert verdict(scores({"Words": {"a": [3, 4]}}, unranked=["Words"])) is None
    assert verdict(nothing, None, "CIDEr") is None


def test_the_order_of_columns():
    columns = ["Words", "Bleu_1", "Bleu_4", "CLIPScore", "CIDEr", "VIFIDEL-T", "VIFIDEL-R"]
    columns += ["VIFIDEL-Hi", "VIFIDEL", "VIFIDEL-P", "VIFIDEL-F"]
    ordered = ordered_columns(columns)
    assert ordered == [
        *("VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-R", "VIFIDEL", "VIFIDEL-Hi", "VIFIDEL-T"),
        *("CIDEr", "Bleu_4", "Bleu_1", "CLIPScore", "Words"),
    ]
    assert shown_columns(columns) == [c for c in ordered if c not in ("VIFIDEL-T", "Bleu_1")]
    assert shown_columns(["Bleu_1"]) == ["Bleu_1"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.6824, ".682"), (1.0205, "1.020"), (-0.0119, "-.012"), (0.0, ".000"), (-4e-4, ".000")],
)
def test_figures(number, text):
    assert figure(number) == text


def test_a_run_that_was_not_compared_does_not_blame_its_images():
    run = scores({"VIFIDEL-F": {"a": constant(0.5), "b": constant(0.25)}})
    expected = "a has the highest VIFIDEL-F, .500 (differences are not tested)."
    assert verdict(run).sentence == expected
