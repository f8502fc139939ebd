import warnings

import pytest
from fake_scorer import FakeScorer

import vifidel_eval
from vifidel_eval import MetricUnavailable, VifidelWarning
from vifidel_eval.scores.run_warnings import lengths_matter
from vifidel_eval.scores.systems import System
from vifidel_eval.show.score_tables import render


def heard(**lengths):
    systems = [
        System(name, {i: "word " * words for i, words in enumerate(of_system)})
        for name, of_system in lengths.items()
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lengths_matter(systems)
    assert all(issubclass(warning.category, VifidelWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def test_lengths_that_differ_little_and_are_short_are_no_matter():
    assert heard(one=[10, 10], other=[20, 20], third=[60, 5]) != []  # 32.5 on average
    assert heard(one=[10, 10], other=[20, 20]) == []
    assert heard(one=[60]) == []
    assert heard(one=[]) == []


def test_a_factor_of_two_between_means_is_said_with_both():
    (said,) = heard(short=[10, 10], middle=[15], long=[21, 21])
    assert "system 'long' have 21.0 words on average, those of 'short' 10.0" in said


def test_long_captions_are_counted_by_system_in_the_same_warning():
    (said,) = heard(short=[10, 10], long=[61, 60, 100])
    assert "2 of 3 captions of system 'long' have more than 60 words" in said
    assert "on average" in said
    assert "'short' have" not in said


@pytest.mark.parametrize("words", [0, 1])
def test_captions_without_a_word_have_a_length(words):
    assert heard(empty=[0], other=[words]) == [] or words


# --- The column ---


def captions_of(**words):
    return {
        name: {i: " ".join(["word"] * n) for i, n in enumerate(of_system)}
        for name, of_system in words.items()
    }


def evaluated(metrics=None, references=None, **words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VifidelWarning)
        return vifidel_eval.evaluate(
            captions_of(**words),
            references or {0: ["word"], 1: ["word"]},
            metrics=FakeScorer() if metrics is None else metrics,
        )


def test_mean_words_are_a_column_from_half_as_many_more_on():
    assert evaluated(one=[10, 10], other=[14, 15]).columns == ["FAKE"]
    assert evaluated(one=[10, 10]).columns == ["FAKE"]
    run = evaluated(one=[10, 10], other=[14, 16])
    assert [run.scores[name]["Words"] for name in ("one", "other")] == [10, 15]
    assert run.per_image("other")[0]["Words"] == 14


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "latex", "json"])
def test_every_output_shows_the_column(style):
    run = evaluated(one=[10, 10], other=[14, 16])
    text = render(run.detail, style)
    assert "Words" in text
    assert "15" in text
    if style != "csv":
        assert "nranked" in text if style == "json" else "Words: neither higher nor lower" in text


def test_a_metric_of_that_name_keeps_it():
    words = FakeScorer("Words", lambda caption, references: 1.0)
    assert evaluated(words, one=[10, 10], other=[14, 16]).scores["other"] == {"Words": 1.0}


def test_lengths_alone_are_no_result():
    missing = FakeScorer(problem=MetricUnavailable("FAKE needs what is not here."))
    with pytest.raises(MetricUnavailable, match="needs what is not here"):
        evaluated(missing, one=[10, 10], other=[14, 16])


# --- Metrics that compare texts of about one length ---

_SHORT = {0: ["a dog runs on grass"], 1: ["a cat sits there"]}


def out_of_range(**captions):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = vifidel_eval.evaluate(captions, _SHORT, metrics="CIDEr,BLEU,ROUGE_L")
    said = [str(warning.message) for warning in caught]
    return run, [message for message in said if "near zero" in message]


def test_scores_of_texts_far_longer_than_references_are_out_of_range_once():
    texts = dict.fromkeys((0, 1), "something else entirely was written here " * 6)
    run, (said,) = out_of_range(one=texts, other=texts, short={0: "a dog", 1: "x y"})
    assert run.scores["one"]["CIDEr"] == 0
    assert said.startswith(
        "CIDEr, Bleu_1, Bleu_2, Bleu_3, Bleu_4, ROUGE_L near zero: captions of 'one', 'other' are "
        "more than 3 times as long as the references, which have 4.5 words on average."
    )


def test_short_captions_with_a_score_of_zero_are_in_range():
    assert out_of_range(one={0: "x y z", 1: "x y z"})[1] == []
    # 13 words are less than three times 4.5.
    texts = {i: " ".join(["word"] * 13) for i in (0, 1)}
    assert out_of_range(one=texts)[1] == []


def test_only_scores_near_zero_are_said():
    texts = {i: f"{_SHORT[i][0]} " * 4 for i in (0, 1)}
    run, said = out_of_range(one=texts)
    assert run.scores["one"]["ROUGE_L"] > 0.05
    assert all("ROUGE_L" not in message for message in said)
