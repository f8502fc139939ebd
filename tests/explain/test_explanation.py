import math
import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import penalty, vifidel

from vifidel_eval import Vifidel
from vifidel_eval.explain.explanation import tables
from vifidel_eval.kernels.grounding import Verdict
from vifidel_eval.show.explanations import plan_table
from vifidel_eval.words.synonyms import ClassList

# Unit vectors whose cosines are read off: puppy has .9 to dog, wolf .6, fox .3; cats .9 to cat.
VECTORS = {
    "dog": [1, 0, 0, 0, 0],
    "cat": [0, 1, 0, 0, 0],
    "kite": [0, 0, 1, 0, 0],
    "puppy": [0.9, 0, 0, 0, math.sqrt(1 - 0.81)],
    "cats": [0, 0.9, 0, 0, math.sqrt(1 - 0.81)],
    "wolf": [0.6, 0, 0, 0, 0.8],
    "fox": [0.3, 0, 0, 0, math.sqrt(1 - 0.09)],
    "large": [0, 0, 0, 1, 0],
}
OBJECTS = {1: ["dog", "dog", "kite"], 2: ["cat"], 3: []}
THINGS = ClassList("small", (("dog", "puppy"), ("cat",), ("kite",), ("wolf",), ("person", "child")))
THERE, ABSENT, UNCONFIRMED = Verdict.THERE, Verdict.ABSENT, Verdict.UNCONFIRMED


@pytest.fixture(scope="module")
def scorer(make_vectors):
    return Vifidel(OBJECTS, make_vectors(VECTORS), only_things=THINGS)


def by_word(explanation):
    return {word.word: word for word in explanation.words}


def verdicts(explanation):
    return [(m.words, m.verdict) for m in explanation.mentions]


def test_words_and_objects_are_judged_by_their_support(scorer):
    explanation = scorer.explain(1, "A puppy, a wolf, a fox and cats are large.")
    words = by_word(explanation)
    result = {
        w.word: (w.supported_by, round(w.support, 6), w.mention, w.category, w.judged)
        for w in words.values()
    }
    # All labels are COCO's: the source looks for COCO's 80 and knows nothing of wolves.
    assert result == {
        "puppy": ("dog", 0.9, "puppy", "dog", THERE),
        "wolf": ("dog", 0.6, "wolf", "wolf", UNCONFIRMED),
        "fox": ("dog", 0.3, None, None, None),
        "cats": (None, 0.0, "cats", "cat", ABSENT),
        "large": (None, 0.0, None, None, None),
    }
    assert explanation.hallucinated == ("cats",)
    assert explanation.unmentioned == ("kite",)
    assert [words[word].verdict for word in ("puppy", "wolf", "fox", "cats")] == [
        "there", "unconfirmed", "not checked", "made up",
    ]  # fmt: skip
    mentions = [(m.words, m.category, m.supported_by) for m in explanation.mentions]
    assert mentions == [("puppy", "dog", "dog"), ("wolf", "wolf", "dog"), ("cats", "cat", None)]


def test_costs_worked_by_hand(scorer):
    # Without references a word at cosine c costs 2 - 2c. Two thirds dog, one third kite; half
    # puppy, half large: half the mass stays near dog at .2, all else moves at 2.
    explanation = scorer.explain(1, "puppy large")
    words = by_word(explanation)
    assert words["puppy"].cost == pytest.approx(0.5 * 0.2, abs=1e-7)
    assert words["large"].cost == pytest.approx(0.5 * 2, abs=1e-7)
    assert explanation.distance == pytest.approx(1.1, abs=1e-7)
    assert [word.word for word in explanation.words] == ["large", "puppy"]


def test_image_of_which_nothing_is_known(scorer):
    explanation = scorer.explain(3, "a cat")
    assert math.isnan(explanation.score)
    assert not explanation.known
    assert math.isnan(explanation.words[0].cost)
    assert math.isnan(explanation.words[0].support)
    assert verdicts(explanation) == [("cat", UNCONFIRMED)]
    assert (explanation.matches, explanation.unmentioned) == ((), ())
    assert str(explanation).endswith(
        "it has no usable object label and no reference.\nScore undefined"
    )


def test_a_printed_explanation(scorer):
    explanation = scorer.explain(1, "puppy\x1b\ncats unheard wolf")
    text = str(explanation)
    lines = text.splitlines()
    assert lines[0] == "image 1: puppy cats unheard wolf"
    assert lines[3].split()[:4] == ["!", "cats", "made", "up"]
    [puppy] = [line.split() for line in lines if line.startswith("+")]
    assert puppy[1:5] == ["puppy", "there", "dog", "0.90"]
    assert "Made up: cats\nUnconfirmed: wolf\nMissed: kite\nWithout a vector: unheard" in text
    assert "Transport plan" not in text
    words, plan = tables(explanation, plan=True)
    assert plan.render("table").startswith("Transport plan")
    assert words.render("table") == text


def test_json_of_words_and_mentions(scorer):
    document = scorer.explain(1, "cats wolf large").to_json()
    names = ["words", "category", "support", "by", "verdict", "judged_by"]
    mentions = [
        ("cats", "cat", 0.0, None, "made up", "labels"),
        ("wolf", "wolf", pytest.approx(0.6), "dog", "unconfirmed", None),
    ]
    assert document["mentions"] == [dict(zip(names, one, strict=True)) for one in mentions]
    [large] = [word for word in document["words"] if word["word"] == "large"]
    assert (large.pop("support"), large.pop("verdict")) == (0.0, "not checked")
    assert large.keys() == {"word", "supported_by", "mention", "category", "cost"}
    assert [large[name] for name in ("supported_by", "mention", "category")] == [None] * 3


WORDS = [f"word{letter}" for letter in "abcdefghij"]
RANDOM = np.random.default_rng(6).normal(size=(len(WORDS), 5)).astype(np.float32)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)


def unit(word):
    row = RANDOM[WORDS.index(word)].astype(np.float64)
    return row / np.linalg.norm(row)


@given(
    labels=words, caption=words, references=st.lists(words, max_size=3), p=st.sampled_from([1, 2])
)
def test_rows_add_up_and_cost_no_more_than_a_linear_program(
    make_vectors, labels, caption, references, p
):
    vectors = make_vectors(dict(zip(WORDS, RANDOM.tolist(), strict=True)))
    scorer = Vifidel({1: labels}, vectors, p=p)
    texts = [" ".join(reference) for reference in references]
    explanation = scorer.explain(1, " ".join(caption), texts)

    # The rows, as numbers and as printed.
    contributions = [match.contribution for match in explanation.matches]
    assert math.fsum(contributions) == explanation.distance
    costs = math.fsum(word.cost for word in explanation.words)
    assert costs == pytest.approx(explanation.distance, abs=1e-15)
    for table, column in zip(tables(explanation, plan=True), (5, 6), strict=True):
        *rows, total = [Decimal(str(row[column])) for row in table.rows]
        assert sum(rows) == total
        assert float(total) == pytest.approx(explanation.distance, abs=5.1e-7)
    assert [row[-1] for row in plan_table({"": explanation}).rows] == contributions

    # The plan: its marginals, its costs, and its least sum.
    moved = Counter()
    for match in explanation.matches:
        moved[match.label] += match.mass
        rho = [penalty(word, references, unit) for word in (match.label, match.word)]
        assert (match.label_penalty, match.word_penalty) == pytest.approx(rho, abs=1e-6)
        between = rho[0] * unit(match.label) - rho[1] * unit(match.word)
        assert match.cost == pytest.approx(np.linalg.norm(between) ** p, abs=1e-6)
    assert moved == pytest.approx({k: n / len(labels) for k, n in Counter(labels).items()})
    least = vifidel(Counter(labels), caption, references, unit, p)
    assert explanation.distance == pytest.approx(-math.log(least), abs=1e-6)


def test_a_notebook_shows_the_caption_with_marks():
    html = Vifidel({1: ["dog"]}).explain(1, "A Dog & a <b>zebra</b>.")._repr_html_()
    marked = re.sub(r' style="[^"]*"', "", html.partition("</p>")[0])
    assert marked == (
        '<p>A <mark title="there">Dog<sup>+</sup></mark> &amp; a &lt;b&gt;'
        '<mark title="made up">zebra<sup>!</sup></mark>&lt;/b&gt;.'
    )
    assert "<table>" in html


def test_what_fits_is_said():
    from vifidel_eval.scorers import VifidelH

    explanation = VifidelH({1: ["horse"]}).explain(1, "A pony and a zebra.")
    result = {word.word: word.verdict for word in explanation.words}
    assert result == {"pony": "fits: horse", "zebra": "made up"}
    shown = [mention.to_json()["verdict"] for mention in explanation.mentions]
    assert shown == ["fits: horse", "made up"]
    assert "fits: horse" in repr(explanation)
    assert 'title="fits: horse"' in explanation._repr_html_()


def test_what_a_mention_fits_is_not_missed():
    from vifidel_eval.scorers import VifidelPRF

    scorer = VifidelPRF({1: ["person", "dining table", "dog"]})
    assert scorer.explain(1, "Surfers at a desk.").unmentioned == ("dog",)
