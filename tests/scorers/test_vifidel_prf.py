"""VIFIDEL-PRF against an oracle written from its page, by hand, and its properties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prf_oracle import IMAGES, Piece, World, prf

from vifidel_eval import VifidelWarning
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import VifidelPRF

THINGS = "dog, puppy\ncat\nkite\nfox, vixen\nlamp\nhot dog\nmotorcycle\nbicycle\n"
THINGS += "bike < bicycle, motorcycle\nterrier < dog\nbeagle < dog\nyorkie < terrier\n"
THINGS += "rag < kite?, lamp?\n"
CLASS_OF = {
    **{name: name for name in ("dog", "cat", "kite", "fox", "lamp", "hot dog", "motorcycle")},
    **{"puppy": "dog", "vixen": "fox", "lamps": "lamp", "bicycle": "bicycle", "bike": "bike"},
    **{name: name for name in ("terrier", "beagle", "yorkie", "rag")},
}
COCO = {"dog", "cat", "kite", "hot dog", "motorcycle", "bicycle"}
#: Some names of things, and some other words, have no vector.
KNOWN = "dog puppy cat vixen lamp lamps hot motorcycle bike terrier runs large brown blick".split()
OTHERS = ["runs", "large", "brown", "blick", "zorp"]
ROWS = np.random.default_rng(4).normal(size=(len(KNOWN), 3)).astype(np.float32)
PARENTS = {
    "bike": [("bicycle", True), ("motorcycle", True)],
    "terrier": [("dog", True)],
    "beagle": [("dog", True)],
    "yorkie": [("terrier", True)],
    "rag": [("kite", False), ("lamp", False)],
}
WORLD = World(dict(zip(KNOWN, ROWS.astype(float), strict=True)), CLASS_OF, PARENTS)


@pytest.fixture(scope="module")
def vectors(make_vectors):
    return make_vectors(dict(zip(KNOWN, ROWS.tolist(), strict=True)))


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    path = tmp_path_factory.mktemp("things") / "things.txt"
    path.write_text(THINGS, encoding="utf-8")
    return path


def mention(name):
    return Piece(f"the {name}", tuple(name.split()), CLASS_OF[name])


def denial(name):
    return Piece(f"without a {name}", tuple(name.split()), CLASS_OF[name], denied=True)


names = st.sampled_from(sorted(CLASS_OF))
pieces = st.one_of(names.map(mention), st.sampled_from([Piece(w, (w,)) for w in OTHERS]))
sentences = st.builds(
    lambda said, denied: (*said, *denied),
    st.lists(pieces, min_size=1, max_size=4),
    st.lists(names.map(denial), max_size=1),
)
some_texts = st.lists(sentences, max_size=3)
labels_ = st.dictionaries(
    st.sampled_from([*sorted(CLASS_OF), "blick", "zorp"]), st.integers(0, 2), max_size=4
)
some_rows = st.lists(
    st.tuples(some_texts, labels_, st.lists(some_texts, max_size=4)), min_size=1, max_size=4
)


def written(text):
    return " ".join(", ".join(piece.text for piece in s).capitalize() + "." for s in text)


def named_by(labels, text):
    """Return a text in whose image labels are names of things too."""
    return [
        tuple(
            p._replace(category=p.text) if p.category is None and p.text in labels else p
            for p in sentence
        )
        for sentence in text
    ]


def looked_for(counts):
    """As docs/objects.md has it: zeros, else COCO's 80 if all labels are among them."""
    if 0 in counts.values():
        return {CLASS_OF.get(label, label) for label in counts}
    return COCO if counts and counts.keys() <= {*COCO} else None


def columns_of(scorer, rows):
    result = scorer.score_columns(
        [written(text) for text, _, _ in rows],
        objects=[labels for _, labels, _ in rows],
        references=[[written(r) for r in references] for _, _, references in rows],
    )
    return np.column_stack([result[f"VIFIDEL-{letter}"] for letter in "PRF"])


@settings(max_examples=100)
@given(some_rows)
def test_the_page_is_the_code(vectors, things, rows):
    scorer = VifidelPRF(vectors=vectors, only_things=things)
    columns = columns_of(scorer, rows)
    expected = [
        [
            *prf(
                replace(WORLD, class_of={label: label for label in of} | CLASS_OF),
                named_by(of, text),
                [label for label, n in of.items() if n],
                looked_for(of),
                [named_by(of, reference) for reference in references],
            )
        ]
        for text, of, references in rows
    ]
    for of_row, (text, _, _) in zip(expected, rows, strict=True):
        of_row[0] = of_row[0] if text else math.nan  # without a claim there is no fidelity
    np.testing.assert_allclose(columns, expected, rtol=0, atol=1e-9)
    defined = columns[~np.isnan(columns)]
    assert ((defined >= 0) & (defined <= 1)).all()
    # A row's bits are its own.
    np.testing.assert_array_equal(columns_of(scorer, rows[:1]), columns[:1])


def test_worked_by_hand(make_vectors, tmp_path):
    # Unit axes: nothing is near to anything else. This is the example of docs/metrics.md.
    axes = dict(zip(["dog", "cat", "kite", "frobbed"], np.eye(4).tolist(), strict=True))
    path = tmp_path / "things.txt"
    path.write_text("dog\ncat\nkite\n", encoding="utf-8")
    result = VifidelPRF(vectors=make_vectors(axes), only_things=path).score_columns(
        ["A dog frobbed. A cat."],
        objects=[["dog"]],
        references=[["the dog", "a dog frobbed", "a kite"]],
    )
    # delta = 3/8. dog: a = s = 1. frobbed: a = .4, s = 1. cat: labels deny it, a = 1, s = 0, x = 1.
    p = 1.4 / (1.4 + math.log(2))
    assert result["VIFIDEL-P"][0] == pytest.approx(0.6 * p, abs=1e-6)
    # Shares: dog 2/3, kite and frobbed 1/3; all but kite are reached.
    i = {word: math.log(IMAGES["*"] / IMAGES[word]) for word in ("a", "the", "dog", "kite")}
    dog, kite, frobbed = i["dog"] * 2 / 3, i["kite"] / 3, 6 / 3
    k = (dog + frobbed) / (dog + kite + frobbed)
    d = (dog * 2 / 3 + (kite + frobbed) / 3) / (dog + kite + frobbed)
    r = k / (k + (1 - k) * math.sqrt(d))
    assert result["VIFIDEL-R"][0] == pytest.approx(r, abs=1e-6)

    # The first sentence is the second reference; the first has its "dog", and the third its "a",
    # both as far from the start as there.
    def likeness(both, ours, theirs):
        return both / math.sqrt(ours * theirs)

    own = i["a"] ** 2 + i["dog"] ** 2 + 36
    pairs = i["a"] ** 2 + (i["a"] + i["dog"]) ** 2 + (i["dog"] + 6) ** 2
    first = likeness(i["dog"] ** 2, own, i["the"] ** 2 + i["dog"] ** 2)
    first += likeness(i["dog"] ** 2 / 2, pairs, i["the"] ** 2 + (i["the"] + i["dog"]) ** 2)
    third = likeness(i["a"] ** 2, own, i["a"] ** 2 + i["kite"] ** 2)
    third += likeness(i["a"] ** 2, pairs, i["a"] ** 2 + (i["a"] + i["kite"]) ** 2)
    w = 0.05 + 0.95 * (first / 2 + 1 + third / 2) / 3
    # In F, p counts in full from 1 - .5 * 5/8 on.
    f = 0.6 * math.sqrt(p / 0.6875 * r)
    assert result["VIFIDEL-F"][0] == pytest.approx((f * w**0.08) ** (1 / 1.08), abs=1e-6)


def test_edges(vectors, things):
    scorer = VifidelPRF({1: ["dog"], 2: [], 3: ["unheard"]}, vectors, only_things=things)
    gts = {1: [], 2: [], 3: ["it is", "the dog"]}
    res = {1: ["it is"], 2: ["dog"], 3: ["the dog"]}
    evaluations = scorer.evaluate(coco_rows(gts, res))
    for column in ("VIFIDEL-P", "VIFIDEL-R"):
        np.testing.assert_array_equal(evaluations[column].scores, [0, math.nan, 1])
        assert evaluations[column].counts["undefined"] == 1
        assert evaluations[column].counts["no_words"] == 1
    assert scorer.main == "VIFIDEL-F"
    with pytest.warns(VifidelWarning, match="none of the 1 captions has an object label or a ref"):
        scorer.compute_score({2: []}, {2: ["dog"]})
    replaced = VifidelPRF({2: []}, vectors, only_things=things, undefined=0.0)
    assert replaced.score(["dog"], image_ids=[2]).tolist() == [0.0]
    assert "|undefined:0|" in replaced.signature()


def test_the_signature_pins_what_changes_the_number(vectors, things, tmp_path, monkeypatch):
    other = tmp_path / "other.txt"
    other.write_text("dog\n", encoding="utf-8")
    scorers = [
        VifidelPRF(vectors=vectors, only_things=things),
        VifidelPRF(vectors=vectors, only_things=other),
        VifidelPRF(vectors=vectors),
        VifidelPRF(vectors=vectors, only_things=things, references=False),
        VifidelPRF(vectors=vectors, only_things=things, stop_words=["dog"]),
        VifidelPRF({1: ["dog"]}, vectors, only_things=things),
    ]
    assert "|edition:3|rarities:caption_words#" in scorers[0].signature()
    assert len({scorer.signature() for scorer in scorers}) == len(scorers)


TRUE = [
    "A brown dog runs on the beach with a red frisbee.",
    "A man in a white shirt watches the dog.",
    "Two boats are on the water behind them.",
    "An umbrella stands near a bench.",
]
LABELS = ["dog", "frisbee", "person", "boat", "umbrella", "bench"]
REFERENCES = [
    "A dog carries a frisbee along the beach while a man watches.",
    "The man throws a red frisbee for his brown dog; boats sail by.",
]
PROSE = [
    "The overall mood is one of calm.",
    "It might well be the end of a long week, as if time had stopped.",
    "This adds to the atmosphere, suggesting that more is about to come.",
    "Perhaps, one day, they will remember it.",
]


def scored(captions, references=True):
    scorer = VifidelPRF(references=references)
    columns = scorer.score_columns(
        captions, objects=[LABELS] * len(captions), references=[REFERENCES] * len(captions)
    )
    return columns["VIFIDEL-P"], columns["VIFIDEL-R"], columns["VIFIDEL-F"]


@pytest.mark.parametrize("references", [True, False])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_prose_is_free(references, length):
    text = " ".join(TRUE[:length])
    texts = [text, *(f"{text} {' '.join(PROSE[:n])}" for n in range(1, 5))]
    for column in scored(texts, references):
        np.testing.assert_array_equal(column, column[0])


@pytest.mark.parametrize("references", [True, False])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_each_invention_costs_at_any_length(references, length):
    text = " ".join(TRUE[:length])
    added = ["There is a zebra.", "A toaster is on the left.", "Beside it is a laptop."]
    p, _, f = scored([f"{text} {' '.join(added[:n])}" for n in range(4)], references)
    assert (np.diff(p) < 0).all()
    assert (np.diff(f) < 0).all()
    assert p[1] <= 0.9 * p[0]
    assert f[1] <= 0.92 * f[0]


@pytest.mark.parametrize("references", [True, False])
def test_longer_and_true_is_no_lower(references):
    _, _, f = scored([" ".join(TRUE[:n]) for n in (1, 2, 3, 4)], references)
    assert (np.diff(f[:3]) >= 0).all()
    if not references:  # who mentions neither umbrella nor bench does not deny them, but doubts
        assert f[3] >= f[2]


@pytest.mark.parametrize("references", [True, False])
def test_denials_of_absent_things_are_free_and_wrong_ones_cost(references):
    text = " ".join(TRUE)
    true, absent, wrong = scored(
        [text, f"{text} There is no zebra.", f"{text} There are no boats."], references
    )[2]
    assert absent == true
    assert wrong < true


def test_300_tags_are_covered_by_what_a_text_mentions_of_them():
    looks = (
        "red blue green white black brown grey small large big old new young wet dry clean dirty "
        "bright dark shiny plain striped spotted wooden metal plastic round long short tall wide "
        "narrow open closed empty full broken painted colorful pretty ugly heavy light soft hard "
        "warm cold fast slow quiet"
    ).split()
    tags = [f"{look} {label}" for look in looks for label in LABELS]
    assert len(tags) == 300
    text = " ".join(TRUE)
    few, many = VifidelPRF(references=False).score_columns([text] * 2, objects=[LABELS, tags])[
        "VIFIDEL-R"
    ]
    assert many == few == 1  # those of one class are one thing


def test_labels_deny_only_what_their_source_looks_for():
    # COCO does not look for a guitar; references that do not mention it doubt it.
    p, _, f = scored(["a dog", "a dog and a guitar"], references=False)
    assert p[1] == p[0]
    assert f[1] >= f[0]
    p, _, f = scored(["a dog", "a dog and a guitar", "a dog and a zebra"])
    assert p[0] > p[1] > p[2]
    assert f[0] > f[1] > f[2]


def test_the_labels_of_a_file_are_one_closed_set():
    # PASCAL VOC looked for 20 classes, and a book is none of them; a row alone may be of COCO.
    caption, labels = "a cat beside a book", {1: ["cat"], 2: ["sofa", "tv monitor"]}
    of_file = VifidelPRF(labels, references=False).score_columns([caption], image_ids=[1])
    of_row = VifidelPRF(references=False).score_columns([caption], objects=[["cat"]])
    assert of_file["VIFIDEL-P"][0] == pytest.approx(1.0)
    # One of two things is made up: 1 / (1 + ln 2), less four tenths.
    assert of_row["VIFIDEL-P"][0] == pytest.approx(0.6 / (1 + math.log(2)))


@pytest.mark.parametrize("reference", ["A bicycle.", "A hot dog.", "A bicycle and no hot dog."])
def test_what_labels_alone_name_is_there_whatever_longer_names_references_have(reference):
    # No reference names a dog, so that a puppy needs no word near to it.
    row = {"objects": [{"dog": 1, "bicycle": 0}], "references": [[reference]]}
    assert VifidelPRF().score_columns(["A puppy."], **row)["VIFIDEL-P"][0] == pytest.approx(1.0)
