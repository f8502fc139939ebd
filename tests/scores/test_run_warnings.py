"""Warnings of languages, of scores at their floor, and of lengths; the Words column."""

import warnings

import pytest
from fake_scorer import FakeScorer

import vifidel_eval
from vifidel_eval import MetricUnavailable, VifidelWarning
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.scores.alignment import System
from vifidel_eval.scores.run_warnings import lengths_matter
from vifidel_eval.show.score_tables import render
from vifidel_eval.words.content_words import unsegmented_text

GERMAN = [
    "Ein brauner Hund läuft mit einem Ball über die Wiese.",
    "Eine Katze sitzt auf dem Sofa neben einem Kissen.",
    "Zwei Kinder spielen am Strand mit einem Drachen.",
]
ENGLISH = [
    "A brown dog runs across the grass with a ball.",
    "A cat sits on the sofa next to a cushion.",
    "Two children play on the beach with a kite.",
]
OBJECTS = {0: ["dog", "sports ball"], 1: ["cat", "couch"], 2: ["person", "kite"]}


def by_image(captions):
    return dict(enumerate(captions))


def heard(call, *given, **more):
    """Return what a call returns, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VifidelWarning)
        result = call(*given, **more)
    return result, [str(warning.message) for warning in caught]


def warned(systems, **given):
    """Return the warnings of a run that speak of language or of the lowest score."""
    given = {"objects": OBJECTS, "metrics": "VIFIDEL-PRF,VIFIDEL", **given}
    _, messages = heard(vifidel_eval.evaluate, systems, **given)
    return [text for text in messages if "seem to be" in text or "the lowest score" in text]


def test_german_captions_under_the_defaults_are_warned_of_once_with_what_to_do():
    (message,) = warned({"de": by_image(GERMAN), "auch": by_image(GERMAN), "en": by_image(ENGLISH)})
    assert message == (
        "captions of system 'de' and system 'auch' seem to be German ('einem', 'mit', 'am'), but "
        "the vectors and stop words of VIFIDEL-PRF and VIFIDEL are English, so the scores say "
        "little. Give those of that language: --vectors FILE (vectors=) and --stop-words FILE "
        "(stop_words=)."
    )


def test_what_the_user_gives_is_not_asked_for_again(make_vectors):
    words = {word for text in GERMAN for word in text.lower().replace(".", "").split()}
    vectors = make_vectors({word: [1.0, n + 1.0] for n, word in enumerate(sorted(words))})
    labels = {0: ["hund"], 1: ["katze"], 2: ["kinder"]}
    given = {"systems": {"de": by_image(GERMAN)}, "objects": labels, "metrics": "VIFIDEL"}
    (message,) = warned(**given, vectors=vectors)
    assert "but the stop words of VIFIDEL are English" in message
    assert message.endswith("Give those of that language: --stop-words FILE (stop_words=).")
    (message,) = warned(**given, stop_words={"ein", "eine", "auf"})
    assert message.endswith("Give those of that language: --vectors FILE (vectors=).")
    assert warned(**given, vectors=vectors, stop_words={"ein", "eine", "auf"}) == []


def test_metrics_that_read_no_word_vectors_and_scorers_of_one_s_own():
    references = {i: [text, text] for i, text in enumerate(ENGLISH)}
    german = {"de": by_image(GERMAN)}
    assert warned(german, references=references, metrics="ROUGE_L") == []
    (message,) = warned(german, metrics=[VifidelPRF(OBJECTS)])
    assert "of VIFIDEL-PRF are English" in message
    (message,) = warned(german, references=references, metrics="VIFIDEL+ROUGE_L")
    assert "of VIFIDEL+ROUGE_L are English" in message


# Scores at their floor


JAPANESE = ["犬が草原を走る", "猫がソファにいる", "馬に乗る男がいる"]


@pytest.mark.parametrize(
    ("captions", "begins"),
    [
        (JAPANESE, "犬が草原を走る"),
        (["สุนัขกำลังวิ่งบนหญ้า", "แมวนั่งบนโซฟาสีแดง"], "สุนัขกำลังวิ"),
        (["a_brown_dog_runs_on_the_grass", "a_black_cat_sits_on_the_sofa"], "a_brown_dog_"),
    ],
)
def test_texts_without_blanks_are_said_once_and_nothing_is_guessed(captions, begins):
    # Each sentence is one word, and shares none with its reference: CIDEr and BLEU are 0.
    captions = (captions * 12)[:12]
    assert unsegmented_text(["12", *captions]) == begins
    references = {i: [f"{caption}X"] for i, caption in enumerate(captions)}
    systems = {"mine": by_image(captions)}
    run, (message,) = heard(vifidel_eval.evaluate, systems, references, metrics="CIDEr,BLEU")
    if begins[0] != "ส":  # Thai is cut at its marks, which are no ends of words
        assert run.scores["mine"]["CIDEr"] == 0
        assert run.scores["mine"]["Bleu_1"] < 1e-9
    assert message.startswith(
        "captions of system 'mine' and the references have no blanks between words "
        f"({begins!r}), so that CIDEr and BLEU cannot tell words apart: segment "
    )


@pytest.mark.parametrize(
    "captions",
    [
        ["犬 が 草原 を 走っ て いる"] * 12,
        ["สุนัข กำลัง วิ่ง บน หญ้า"] * 12,
        ["一只 狗 在 草地 上 跑"] * 12,
        ["강아지가 잔디 위를 달린다"] * 12,
        ["Donaudampfschifffahrtskapitän winkt"] * 12,
        ["dog"] * 12,
        ENGLISH,
    ],
)
def test_texts_with_blanks_between_words_are_segmented(captions):
    assert unsegmented_text(captions) is None


def test_captions_of_other_images_are_warned_of_by_metric():
    references = {n: [f"some dog{n} eats cake{n}", f"dog{n} was here"] for n in range(12)}
    systems = {"wrong": {n: f"the car{n} stops" for n in range(12)},
               "right": {n: f"some dog{n} eats" for n in range(12)}}  # fmt: skip
    (message,) = warned(systems, references=references, metrics="ROUGE_L,CIDEr,BLEU")
    metrics = message.partition("under ")[2].partition("; the likely cause")[0]
    assert set(metrics.split("; ")) == {"ROUGE_L of 'wrong'", "CIDEr of 'wrong'", "BLEU of 'wrong'"}
    assert "captions belong to other images than their ids say" in message


def test_captions_without_a_word_that_counts():
    systems = {"mute": dict.fromkeys(range(12), "it is so")}
    (message,) = warned(systems, objects={n: ["dog"] for n in range(12)}, metrics="VIFIDEL")
    assert message == (
        "almost all images have the lowest score, 0, under VIFIDEL of 'mute'; the likely cause: "
        "most captions have no usable word: are they in the script and language of the stop "
        "words and vectors?"
    )


@pytest.mark.parametrize("zeros", [0, 1, 15, 18, 19, 20])
def test_almost_all_is_nineteen_of_twenty(zeros):
    captions = {n: "it is so" if n < zeros else "a dog" for n in range(20)}
    messages = warned({"a": captions}, objects={n: ["dog"] for n in range(20)}, metrics="VIFIDEL")
    assert len(messages) == (zeros >= 19)


def of_cider(captions, references, **given):
    """Return the scores and the warnings of CIDEr."""
    given = {"metrics": "CIDEr", **given}
    run, messages = heard(vifidel_eval.evaluate, captions, references, **given)
    return run.scores, messages


@pytest.mark.parametrize("metrics", ["CIDEr", "CIDEr+BLEU"])
def test_cider_of_one_image_says_why_it_is_0(metrics):
    systems = {"mine": {1: "a dog runs"}, "other": {1: "a cat"}}
    _, messages = of_cider(systems, {1: ["a dog runs", "a dog"]}, metrics=metrics)
    assert messages == [
        "CIDEr of 'mine' and 'other' is 0, because it weighs words by how few images have them in "
        "their references, and there is one image; score more images together."
    ]


def test_cider_of_few_images_says_why_it_is_0():
    references = {1: ["a dog runs", "a dog"], 2: ["a dog sits", "the dog"]}
    scores, messages = of_cider({"mine": {1: "a dog", 2: "a dog"}}, references)
    assert scores["mine"]["CIDEr"] == 0
    (one,) = messages
    assert (
        "and all that captions share with their references is in the references of all 2 images"
        in one
    )
    scores, messages = of_cider({"mine": {1: "a dog runs", 2: "a dog"}}, references)
    assert scores["mine"]["CIDEr"] > 0
    assert messages == []


def test_cider_of_captions_that_share_nothing_is_0_without_a_word():
    references = {1: ["a dog runs"], 2: ["a cat sits"]}
    scores, messages = of_cider({"mine": {1: "zebras", 2: "boats"}}, references)
    assert (scores["mine"]["CIDEr"], messages) == (0, [])


def of_lengths(**lengths):
    """Return the warnings of systems whose captions have so many words."""
    return heard(lengths_matter, [System(*one) for one in captions_of(**lengths).items()])[1]


def test_a_factor_of_two_between_means_is_said_with_both():
    (message,) = of_lengths(short=[10, 10], middle=[15], long=[21, 21])
    assert "system 'long' have 21.0 words on average, those of 'short' 10.0" in message


def test_long_captions_are_counted_by_system_in_the_same_warning():
    (message,) = of_lengths(short=[10, 10], long=[61, 60, 100])
    assert "2 of 3 captions of system 'long' have more than 60 words" in message
    assert "on average" in message
    assert "'short' have" not in message


# --- The column ---


def captions_of(**words):
    return {
        name: {i: " ".join(["word"] * n) for i, n in enumerate(of_system)}
        for name, of_system in words.items()
    }


def evaluated(metrics=None, references=None, **words):
    references = references or {0: ["word"], 1: ["word"]}
    metrics = FakeScorer() if metrics is None else metrics
    return heard(vifidel_eval.evaluate, captions_of(**words), references, metrics=metrics)[0]


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
    run, messages = heard(vifidel_eval.evaluate, captions, _SHORT, metrics="CIDEr,BLEU,ROUGE_L")
    return run, [message for message in messages if "near zero" in message]


def test_scores_of_texts_far_longer_than_references_are_out_of_range_once():
    texts = dict.fromkeys((0, 1), "something else entirely was written here " * 6)
    run, (message,) = out_of_range(one=texts, other=texts, short={0: "a dog", 1: "x y"})
    assert run.scores["one"]["CIDEr"] == 0
    assert message.startswith(
        "CIDEr, Bleu_1, Bleu_2, Bleu_3, Bleu_4, ROUGE_L near zero: captions of 'one', 'other' are "
        "more than 3 times as long as the references, which have 4.5 words on average."
    )


def test_only_scores_near_zero_are_said():
    texts = {i: f"{_SHORT[i][0]} " * 4 for i in (0, 1)}
    run, messages = out_of_range(one=texts)
    assert run.scores["one"]["ROUGE_L"] > 0.05
    assert all("ROUGE_L" not in message for message in messages)
