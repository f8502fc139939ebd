"""VIFIDEL-PRF, second edition, against its formulas in plain loops, by hand, and its properties."""

from __future__ import annotations

import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import VifidelError
from vifidel_eval.rows import coco_rows, make_rows
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.tables import TableScorer
from vifidel_eval.things.synonyms import class_names

# Names of three of COCO's 80, of a thing that COCO does not look for, and words of no thing.
LOOKED_FOR, UNASKED, OTHERS = ["dog", "cat", "kite"], "lamp", ["runs", "large", "brown"]
WORDS = [*LOOKED_FOR, UNASKED, *OTHERS]
ROWS = np.random.default_rng(4).normal(size=(len(WORDS), 3)).astype(np.float32)
VECTOR = {w: r / np.linalg.norm(r) for w, r in zip(WORDS, ROWS.astype(float), strict=True)}


@pytest.fixture(scope="module")
def vectors(make_vectors):
    return make_vectors(dict(zip(WORDS, ROWS.tolist(), strict=True)))


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    path = tmp_path_factory.mktemp("things") / "things.txt"
    path.write_text("dog\ncat\nkite\nlamp\n", encoding="utf-8")
    return path


def plain(caption: list[str], labels: list[str], references: list[list[str]]):
    """Follow docs/fidelity.md for one row of the words above; no clause is hedged."""
    words, labels = sorted(set(caption)), sorted(set(labels))
    references = [set(r) for r in references if r]
    said = sorted(set().union(*references))
    if not labels and not said:
        return math.nan, math.nan, math.nan
    if not words:
        return 0.0, 0.0, 0.0

    def near(x, y):
        return 1.0 if x == y else max(0.0, float(VECTOR[x] @ VECTOR[y]) - 0.1) / 0.9

    support = {w: max(near(w, e) for e in [*labels, *said]) for w in words}
    things = {w for w in words if w in {*LOOKED_FOR, UNASKED}}
    doubt = len(references) / (len(references) + 5)
    absent, denied, sure = set(), set(), {}
    for thing in things - {*labels, *said}:
        cosine = max(0.0, *(float(VECTOR[thing] @ VECTOR[e]) for e in [*labels, *said]))
        is_denied = bool(labels) and thing in LOOKED_FOR
        if cosine < 0.4 and (is_denied or said):
            absent.add(thing)
            sure[thing] = 1.0 if is_denied else doubt * (1 - cosine / 0.4)
            if is_denied:
                denied.add(thing)
    supported = unsupported = 0.0
    for word in words:
        s = 0.0 if word in denied else support[word]
        own = s * s if said or s >= 0.75 else 0.0
        weight = own + (1 - own) * (1.0 if word in denied else doubt)
        if word not in things:
            weight = 0.4 * (s + (1 - s) * 0.5 * doubt) if said else 0.0
        supported, unsupported = supported + weight * s, unsupported + weight * (1 - s)
    unsupported = min(unsupported, unsupported ** (1 / 3))
    total = supported + unsupported
    kept = math.prod(1 - 0.12 * x for x in sure.values())
    p = max(0.01, supported / total) if total else 0.5

    def reached(target, without):
        return max((near(target, w) for w in words if w not in without), default=0.0)

    if said:
        shares = Counter(w for r in references for w in r)
        h = {w: n / len(references) for w, n in shares.items()}
        idf = {w: RARITY.get(w, 6.0) for w in said}
        total = sum(h[w] * idf[w] for w in said)
        k = sum(h[w] * idf[w] * reached(w, denied) for w in said) / total
        d = math.sqrt(sum(h[w] ** 2 * idf[w] for w in said) / total)
        r = k / (k + (1 - k) * d) if k else 0.0
    else:
        r = sum(1.0 if x in things else reached(x, absent) for x in labels) / len(labels)
    enough = min(1.0, p / (1 - 0.35 * (1 - doubt)))
    return kept * p, r, enough**0.4 * max(r, 0.01) ** 0.6 * kept**0.8


# ln(4955 / images with the word) in the captions of val2017.
IMAGES = {}
RARITY = {}


def _read_counts():
    from importlib.resources import files

    text = files("vifidel_eval.things").joinpath("caption_words.txt").read_text("utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, number = line.split()
            IMAGES[word] = int(number)
    RARITY.update({w: min(6.0, math.log(IMAGES["*"] / n)) for w, n in IMAGES.items() if w != "*"})


_read_counts()
words_ = st.lists(st.sampled_from(WORDS), max_size=6)


@settings(max_examples=200)
@given(
    rows=st.lists(
        st.tuples(
            words_,
            st.lists(st.sampled_from(LOOKED_FOR), max_size=3),
            st.lists(words_, max_size=4),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_equals_its_formulas_word_by_word(vectors, things, rows):
    scorer = VifidelPRF(vectors=vectors, things=things)
    found = scorer.score_columns(
        [" ".join(caption) for caption, _, _ in rows],
        objects=[labels for _, labels, _ in rows],
        references=[[" ".join(r) for r in references] for _, _, references in rows],
    )
    columns = np.column_stack([found[f"VIFIDEL-{letter}"] for letter in "PRF"])
    np.testing.assert_allclose(columns, [plain(*row) for row in rows], rtol=0, atol=1e-6)
    defined = columns[~np.isnan(columns)]
    assert ((defined >= 0) & (defined <= 1)).all()
    # A row's bits are its own.
    alone = scorer.score_columns(
        [" ".join(rows[0][0])],
        objects=[rows[0][1]],
        references=[[" ".join(r) for r in rows[0][2]]],
    )
    first = np.array([alone[f"VIFIDEL-{letter}"][0] for letter in "PRF"])
    np.testing.assert_array_equal(columns[0], first)


def test_worked_by_hand(make_vectors, tmp_path):
    # Unit axes: nothing is near to anything else.
    axes = dict(zip(["dog", "cat", "kite", "frobbed"], np.eye(4).tolist(), strict=True))
    path = tmp_path / "things.txt"
    path.write_text("dog\ncat\nkite\n", encoding="utf-8")
    scorer = VifidelPRF(vectors=make_vectors(axes), things=path)
    found = scorer.score_columns(
        ["A dog frobbed. A cat.", "A dog and a cat, suggesting that a kite frobbed. It frobbed."],
        objects=[["dog"], ["dog", "kite"]],
        references=[["the dog", "a dog frobbed", "a kite"], []],
    )
    # Row 0: doubt 3/8. dog: a = s = 1. frobbed: a = .4, s = 1. cat: labels deny it, a = 1, s = 0.
    # S = 1.4, U = 1; one sure invention keeps .88.
    assert found["VIFIDEL-P"][0] == pytest.approx(0.88 * 1.4 / 2.4, abs=1e-6)
    # Shares: dog 2/3, kite and frobbed 1/3; all but kite are reached.
    dog, kite, frobbed = (
        h * RARITY.get(word, 6.0)
        for word, h in (("dog", 2 / 3), ("kite", 1 / 3), ("frobbed", 1 / 3))
    )
    k = (dog + frobbed) / (dog + kite + frobbed)
    d = (dog * 2 / 3 + (kite + frobbed) / 3) / (dog + kite + frobbed)
    r = k / (k + (1 - k) * math.sqrt(d))
    assert found["VIFIDEL-R"][0] == pytest.approx(r, abs=1e-6)
    # In F, P without the invention counts in full from 1 - .35 * 5/8 on.
    f = (1.4 / 2.4 / 0.78125) ** 0.4 * r**0.6 * 0.88**0.8
    assert found["VIFIDEL-F"][0] == pytest.approx(f, abs=1e-6)
    # Row 1, objects alone: the kite is hedged, the last sentence mentions nothing. dog 1, cat 0.
    assert found["VIFIDEL-P"][1] == pytest.approx(0.88 / 2, abs=1e-6)
    assert found["VIFIDEL-R"][1] == pytest.approx(1 / 2, abs=1e-6)
    # 1 / 2 is less than .65, which is full P where nothing is heard from references.
    f = (0.5 / 0.65) ** 0.4 * 0.5**0.6 * 0.88**0.8
    assert found["VIFIDEL-F"][1] == pytest.approx(f, abs=1e-6)


def test_unsupported_weight_above_1_counts_as_its_cube_root(make_vectors, tmp_path):
    # Labels deny eight things: U = 8 counts as 2, beside S = 1.
    names = [f"thing{letter}" for letter in "abcdefghi"]
    path = tmp_path / "things.txt"
    path.write_text("\n".join(names) + "\n", encoding="utf-8")
    scorer = VifidelPRF(
        vectors=make_vectors(dict(zip(names, np.eye(9).tolist(), strict=True))), things=path
    )
    p = scorer.score_columns([" ".join(names)], objects=[names[:1]])["VIFIDEL-P"]
    assert p == pytest.approx(0.88**8 / 3, abs=1e-6)


def test_of_many_labels_the_ten_things_count_that_are_spoken_of_most(make_vectors, tmp_path):
    # One class has two names. Of eleven more things, the caption mentions three.
    names = ["dog", "puppy", *(f"thing{letter}" for letter in "abcdefghijk")]
    path = tmp_path / "things.txt"
    path.write_text("\n".join(["dog, puppy", *names[2:]]) + "\n", encoding="utf-8")
    vectors = make_vectors(dict(zip(names, np.eye(13).tolist(), strict=True)))
    scorer = VifidelPRF(vectors=vectors, things=path)
    captions = ["a puppy, thinga and thingb"] * 3
    found = scorer.score_columns(captions, objects=[names, names[:6], names[:2]])["VIFIDEL-R"]
    # Of 12 things ten count; of 5 all do; of one that.
    np.testing.assert_allclose(found, [3 / 10, 3 / 5, 1], atol=1e-6)


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
    "This adds to the atmosphere, suggesting that a train is about to leave.",
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
@pytest.mark.parametrize("text", [TRUE[0], " ".join(TRUE + PROSE), "a dog and a zebra", PROSE[0]])
def test_a_text_twice_has_the_scores_of_the_text_once(references, text):
    for column in scored([text, f"{text} {text}", f"{text}\n{text}"], references):
        np.testing.assert_array_equal(column, column[0])


def test_what_is_only_prose_is_scored_as_a_whole():
    _, _, f = scored(["Perhaps a dog.", "a dog"], references=False)
    assert f[0] == f[1] > 0


def test_a_list_of_300_tags_leaves_half_of_r():
    looks = (
        "red blue green white black brown grey small large big old new young wet dry clean dirty "
        "bright dark shiny plain striped spotted wooden metal plastic round long short tall wide "
        "narrow open closed empty full broken painted colorful pretty ugly heavy light soft hard "
        "warm cold fast slow quiet"
    ).split()
    tags = [f"{look} {label}" for look in looks for label in LABELS]
    assert len(tags) == 300
    scorer = VifidelPRF(references=False)
    text = " ".join(TRUE)
    few, many = scorer.score_columns([text] * 2, objects=[LABELS, tags])["VIFIDEL-R"]
    assert many >= few / 2


@pytest.mark.parametrize("seed", range(5))
def test_300_unrelated_tags_leave_half_of_r(seed):
    # Names of other classes that the text has nothing to do with.
    classes = class_names()
    own = set(map(classes.class_of.get, [*LABELS, "man", "beach", "water", "shirt"]))
    others = sorted({c for name, c in classes.class_of.items() if c not in own and " " not in c})
    tags = [others[at] for at in np.random.default_rng(seed).permutation(len(others))[:300]]
    assert len(tags) == 300
    scorer = VifidelPRF(references=False)
    text = " ".join(TRUE)
    few, many = scorer.score_columns([text] * 2, objects=[LABELS, LABELS + tags])["VIFIDEL-R"]
    assert few == 1
    assert many >= 1 / 2


@pytest.mark.parametrize("references", [1, 2, 5])
def test_what_few_references_lack_costs_no_f(make_vectors, tmp_path, references):
    # Unit axes. dog: a = s = 1. Each thing that nobody mentions: a = delta, s = 0, x = delta.
    names = ["dog", "lamp"]
    path = tmp_path / "things.txt"
    path.write_text("dog\nlamp\n", encoding="utf-8")
    vectors = make_vectors(dict(zip(names, np.eye(2).tolist(), strict=True)))
    found = VifidelPRF(vectors=vectors, things=path).score_columns(
        ["a dog and a lamp"], references=[["dog"] * references]
    )
    doubt = references / (references + 5)
    p = 1 / (1 + doubt)
    kept = 1 - 0.12 * doubt
    assert found["VIFIDEL-P"][0] == pytest.approx(kept * p, abs=1e-6)
    enough = min(1.0, p / (1 - 0.35 * (1 - doubt)))
    assert found["VIFIDEL-F"][0] == pytest.approx(enough**0.4 * kept**0.8, abs=1e-6)
    if references <= 2:
        assert enough == 1


def test_labels_deny_only_what_their_source_looks_for():
    # COCO does not look for a guitar; references that do not mention it doubt it.
    p, _, f = scored(["a dog", "a dog and a guitar"], references=False)
    assert p[1] == p[0]
    assert f[1] >= f[0]
    p, _, f = scored(["a dog", "a dog and a guitar", "a dog and a zebra"])
    assert p[0] > p[1] > p[2]
    assert f[0] > f[1] > f[2]


def test_all_ways_in_give_the_same_bits():
    texts = [" ".join(TRUE), "a dog and a zebra", " ".join(TRUE + PROSE), "it is", "a kite. A hat."]
    of_rows = scored(texts)
    ids = list(range(len(texts)))
    scorer = VifidelPRF(dict.fromkeys(ids, LABELS))
    gts, res = dict.fromkeys(ids, REFERENCES), {i: [text] for i, text in enumerate(texts)}
    by_id = scorer.evaluate(coco_rows(gts, res))
    again = pickle.loads(pickle.dumps(scorer)).evaluate(coco_rows(gts, res))
    table = TableScorer(metrics=("VIFIDEL-PRF",), references="references").score(
        texts, [LABELS] * len(texts), references=[REFERENCES] * len(texts)
    )
    for letter, column in zip("PRF", of_rows, strict=True):
        np.testing.assert_array_equal(by_id[f"VIFIDEL-{letter}"].scores, column)
        np.testing.assert_array_equal(again[f"VIFIDEL-{letter}"].scores, column)
        in_table = table.field(f"VIFIDEL_{letter}").to_numpy(zero_copy_only=False)
        np.testing.assert_array_equal(in_table, column)


def test_details_show_the_weight_of_every_word():
    text = "A dog runs, suggesting that a zebra is near. The mood is calm."
    evaluation = VifidelPRF().evaluate(make_rows([text], None, [REFERENCES]))["VIFIDEL-F"]
    weights = {x["word"]: x["weight"] for x in evaluation.details["VIFIDEL-PRF"][0]}
    assert weights["dog"] == 1
    assert 0 < weights["runs"] < 0.4
    assert weights["suggesting"] == weights["zebra"] == weights["mood"] == weights["calm"] == 0


def test_edition_1_has_the_digits_of_0_2_0():
    # Written by version 0.2.0.
    columns = VifidelPRF(edition=1).score_columns(
        [
            "A brown dog chases a red ball on the grass.",
            "Two men ride a motorcycle, suggesting that they are in a hurry.",
            "A zebra. The mood is calm.",
            "a cat on a sofa next to a lamp",
        ],
        objects=[["dog", "sports ball"], ["person", "person", "motorcycle"], ["horse"], []],
        references=[
            ["A dog runs after a ball", "the puppy plays on a lawn"],
            [],
            ["a horse in a field"],
            ["The cat sleeps on the couch", "a kitten"],
        ],
    )
    expected = {
        "VIFIDEL-P": [0.7470367346703443, 0.40539719320722983, 0.0016821798489139094,
                      0.4842484246453682],
        "VIFIDEL-R": [0.6477077602829524, 0.5, 0.0011775258942397365, 0.5804774144478825],
        "VIFIDEL-F": [0.6792558483876993, 0.4662371929799626, 0.0013261860425549646,
                      0.546444790417935],
    }  # fmt: skip
    for name, values in expected.items():
        np.testing.assert_allclose(columns[name], values, rtol=1e-13)


@pytest.mark.parametrize("edition", [0, 3, True, "2"])
def test_there_are_two_editions(edition):
    with pytest.raises(VifidelError, match="edition must be 1 or 2"):
        VifidelPRF(edition=edition)
