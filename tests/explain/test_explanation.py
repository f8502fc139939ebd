import json
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import penalty, transport_distance

from vifidel_eval import Vifidel
from vifidel_eval.explain.explanation import Thresholds, plan_table, tables

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


@pytest.fixture(scope="module")
def scorer(make_vectors):
    return Vifidel(OBJECTS, make_vectors(VECTORS))


def by_word(explanation):
    return {word.word: word for word in explanation.words}


def test_words_and_objects_are_judged_by_cosines(scorer):
    explanation = scorer.explain(1, "A puppy, a wolf, a fox and cats are large.")
    words = by_word(explanation)
    found = {
        w.word: (w.nearest, round(w.similarity, 6), w.near, w.names, w.hallucinated)
        for w in words.values()
    }
    assert found == {
        "puppy": ("dog", 0.9, True, "dog", False),
        "wolf": ("dog", 0.6, True, None, False),
        "fox": ("dog", 0.3, False, None, False),
        "cats": ("dog", 0.0, False, "cat", True),
        "large": ("dog", 0.0, False, None, False),
    }
    assert explanation.hallucinated == ("cats",)
    assert explanation.unmentioned == ("kite",)
    verdicts = [words[word].verdict for word in ("puppy", "wolf", "fox", "cats", "large")]
    assert verdicts == [
        "near dog", "near dog", "no claim", "not in the image: names cat", "no claim",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("thresholds", "hallucinated", "near", "unmentioned"),
    [
        (Thresholds(), ("cats",), {"puppy"}, ("kite",)),
        (Thresholds(names=0.95), (), {"puppy"}, ("kite",)),
        (Thresholds(names=0.5, near=0.95), ("cats", "puppy"), set(), ("kite",)),
        (Thresholds(far=0.0), ("cats",), {"puppy"}, ()),
        (Thresholds(far=0.95), ("cats",), {"puppy"}, ("dog", "kite")),
    ],
)
def test_thresholds_decide(scorer, thresholds, hallucinated, near, unmentioned):
    explanation = scorer.explain(1, "puppy cats", thresholds=thresholds)
    assert set(explanation.hallucinated) == set(hallucinated)
    assert {word.word for word in explanation.words if word.near} == near
    assert explanation.unmentioned == unmentioned
    [again] = scorer.explanations({1: []}, {1: ["puppy cats"]}, thresholds)
    assert again == explanation


def test_what_a_reference_mentions_is_not_hallucinated(scorer):
    # "cat" has .9 to the caption's "cats": the same thing; "large" does not vouch for it.
    assert scorer.explain(1, "cats", ["a large dog"]).hallucinated == ("cats",)
    assert scorer.explain(1, "cats", ["a large dog", "a cat"]).hallucinated == ()
    gts = {2: ["a cat"], 1: ["a dog"]}
    both = list(scorer.explanations(gts, {1: ["cats"], 2: ["kite"]}))
    assert [explanation.hallucinated for explanation in both] == [("kite",), ("cats",)]
    # References of another image do not vouch, nor do those that a scorer is told to ignore.
    gts = {2: ["a cat and a kite"], 1: ["a dog"]}
    both = list(scorer.explanations(gts, {1: ["cats"], 2: ["kite"]}))
    assert [explanation.hallucinated for explanation in both] == [(), ("cats",)]


def test_a_scorer_without_references_asks_none(make_vectors):
    scorer = Vifidel(OBJECTS, make_vectors(VECTORS), references=False)
    assert scorer.explain(1, "cats", ["a cat"]).hallucinated == ("cats",)


def test_only_labels_that_the_source_knows_can_be_missing(make_vectors):
    only = Vifidel({1: ["dog"]}, make_vectors(VECTORS))
    assert only.explain(1, "a cat").hallucinated == ()
    coco = {
        "images": [{"id": 1}],
        "annotations": [{"image_id": 1, "category_id": 7}],
        "categories": [{"id": 7, "name": "dog"}, {"id": 8, "name": "cat"}],
    }
    listed = Vifidel(coco, make_vectors(VECTORS))
    assert listed.explain(1, "a cat").hallucinated == ("cat",)


def test_costs_worked_by_hand(scorer):
    # Without references a word at cosine c costs 2 - 2c. Two thirds dog, one third kite; half
    # puppy, half large: half the mass stays near dog at .2, all else moves at 2.
    explanation = scorer.explain(1, "puppy large")
    words = by_word(explanation)
    assert words["puppy"].cost == pytest.approx(0.5 * 0.2, abs=1e-7)
    assert words["large"].cost == pytest.approx(0.5 * 2, abs=1e-7)
    assert explanation.distance == pytest.approx(1.1, abs=1e-7)
    assert [word.word for word in explanation.words] == ["large", "puppy"]


def test_image_without_objects(scorer):
    explanation = scorer.explain(3, "a cat")
    assert math.isnan(explanation.score)
    assert math.isnan(explanation.words[0].cost)
    assert (explanation.words[0].nearest, explanation.hallucinated) == (None, ())
    assert (explanation.matches, explanation.unmentioned) == ((), ())
    assert explanation.words[0].verdict == "no claim"
    assert str(explanation).endswith("nothing can be said of the caption.\nScore undefined")


def test_caption_without_a_usable_word(scorer):
    explanation = scorer.explain(1, "it is")
    assert (explanation.words, explanation.matches) == ((), ())
    assert explanation.unmentioned == ("dog", "kite")
    assert str(explanation) == (
        "image 1: it is\n\n\n"
        "The caption has no usable word.\nUnmentioned objects: dog, kite\nScore 0.0000"
    ).replace("\n\n\n", "\n\n")


def test_a_printed_explanation(scorer):
    text = str(scorer.explain(1, "puppy\x1b\ncats unheard"))
    lines = text.splitlines()
    assert lines[0] == "image 1: puppy cats unheard"
    assert "!   cats    not in the image: names cat  dog" in text
    assert "+   puppy   near dog" in text
    assert "Probably not in the image: cats (names cat)\nUnmentioned objects: kite" in text
    assert "Without a vector: unheard" in text


def test_json_of_the_undefined_is_valid(scorer):
    for image_id, caption in ((1, "it is"), (3, "a cat"), (1, "puppy cats unheard")):
        explanation = scorer.explain(image_id, caption)
        document = json.loads(json.dumps(explanation.to_json(), allow_nan=False))
        assert document["hallucinated"] == list(explanation.hallucinated)
        amounts = [match["contribution"] for match in document["matches"]]
        if amounts:
            assert math.fsum(amounts) == document["distance"]
        else:
            assert document["distance"] is None


WORDS = [f"word{letter}" for letter in "abcdefghij"]
RANDOM = np.random.default_rng(6).normal(size=(len(WORDS), 5)).astype(np.float32)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)


def unit(word):
    row = RANDOM[WORDS.index(word)].astype(np.float64)
    return row / np.linalg.norm(row)


@settings(max_examples=60)
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
    for table, column in zip(tables(explanation), (5, 6), strict=True):
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
    left, right = Counter(labels), Counter(caption)
    every_cost = np.array(
        [
            [
                np.linalg.norm(
                    penalty(label, references, unit) * unit(label)
                    - penalty(word, references, unit) * unit(word)
                )
                ** p
                for word in right
            ]
            for label in left
        ]
    )
    masses = [np.array(list(side.values())) / side.total() for side in (left, right)]
    least = transport_distance(*masses, every_cost)
    assert explanation.distance == pytest.approx(least, abs=1e-6)


def test_words_for_people_mention_a_person(make_vectors):
    scorer = Vifidel(
        {1: ["person", "kite"]},
        make_vectors(
            {
                "person": [1, 0, 0],
                "children": [0, 1, 0],
                "kite": [0, 0, 1],
                "large": [0, 0.6, 0.8],
            }
        ),
    )
    assert scorer.explain(1, "children").unmentioned == ("kite",)
    assert scorer.explain(1, "large").unmentioned == ("person",)


def test_a_word_is_not_near_a_longer_label_that_contains_it(make_vectors):
    vectors = {"dog": [1, 0], "dogs": [0.99, 0.14], "hot": [0, 1]}
    scorer = Vifidel({1: ["hot dog"], 2: ["dog", "hot dog"]}, make_vectors(vectors))
    dogs = by_word(scorer.explain(1, "two dogs"))["dogs"]
    assert (dogs.nearest, dogs.near, dogs.names) == ("hot dog", False, "dog")
    assert dogs.verdict == "not in the image: names dog"
    assert scorer.explain(1, "two dogs", ["a dog"]).hallucinated == ()
    # The caption holds the whole label; or the image has the object itself.
    assert by_word(scorer.explain(1, "two hot dogs"))["dogs"].near
    assert by_word(scorer.explain(2, "a dog"))["dog"].near


def test_a_word_names_no_label_that_only_begins_alike(make_vectors):
    words = ["car", "cars", "caring", "ca", "automobile"]
    labels = {1: ["car"], 2: ["kite"]}
    scorer = Vifidel(labels, make_vectors({"kite": [0, 1], **{word: [1, 0] for word in words}}))
    found = scorer.explain(2, " ".join(words)).hallucinated
    assert set(found) == {"car", "cars", "automobile"}
