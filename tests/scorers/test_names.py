"""Names that users supply are names of things, however they are spelled and wherever they stand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import VifidelWarning, evaluate
from vifidel_eval.scorers import Chair, VifidelH, VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS

# Classes of public data sets, which are facts: of X-rays, aerial pictures, ports, streets, works.
NAMES = """
    cardiomegaly, pneumothorax, consolidation, pleural effusion, lung lesion, oedema, ship, helipad,
    container-crane, small-vehicle, large-vehicle, swimming-pool, ground-track-field, storage-tank,
    Expressway-Service-area, baseballfield, trainstation, golffield, crosswalk, hard hat, hardhat,
    trafficlight, traffic_light, traffic-light, diningtable, tvmonitor, aeroplane, grey wolf, x-ray,
    T-shirt, doughnut, tyre, bow_(decorative_ribbons), Skyscraper, Human face, pick-up, red bus
""".split(",")
LETTERS = st.text("bcdfglmnprstvz", min_size=2, max_size=5)
MADE_UP = st.lists(st.builds(lambda a, b: f"{a}o{b}", LETTERS, LETTERS), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def vectors(make_vectors):
    """Vectors that know none of the names: names alone decide."""
    return make_vectors({"zzz": [1, 0], "yyy": [0, 1]})


def said_of(name, objects, **given):
    caption = [f"A {name.partition('(')[0].strip().replace('_', ' ').replace('-', ' ')}."]
    columns = Chair(looked_for=given.get("looked_for")).score_columns(caption, objects=[objects])
    for scorer in (VifidelH(**given), VifidelPRF(**given)):
        columns |= scorer.score_columns(caption, objects=[objects])
    return {name: float(scores[0]) for name, scores in columns.items()}


def check(name, **given):
    there = said_of(name, {name: 1}, **given)
    assert (there["VIFIDEL-P"], there["CHAIRs"], there["CHAIRi"]) == (1, 0, 0)
    assert not there["VIFIDEL-Hn"] > 0
    declared = said_of(name, {name: 1}, looked_for=[name], **given)
    assert (declared["VIFIDEL-Hn"], declared["CHAIRs"]) == (0, 0)
    asked = {"objects": [], "asked": [name]}
    for objects, looked_for in (({name: 0}, None), (asked, None), ([], [name])):
        absent = said_of(name, objects, looked_for=looked_for, **given)
        assert (absent["VIFIDEL-Hn"], absent["VIFIDEL-Hs"], absent["CHAIRs"]) == (1, 1, 1)


@pytest.mark.parametrize("name", list(map(str.strip, NAMES)))
def test_a_name_can_be_there_and_can_be_made_up(name):
    check(name)


@pytest.mark.parametrize("name", ["pneumothorax", "container-crane", "trafficlight", "red bus"])
def test_without_vectors_names_decide(vectors, name):
    for objects, expected in (({name: 1, "zebra": 0}, 0), ({name: 0}, 1)):
        result = VifidelH(vectors=vectors).score_columns([f"A {name}."], objects=[objects])
        assert result["VIFIDEL-Hn"].tolist() == [expected]


@pytest.mark.slow
@settings(max_examples=12)
@given(MADE_UP.map(" ".join).filter(lambda name: name not in STOP_WORDS))
def test_whatever_the_name(name):
    check(name)


@pytest.mark.parametrize(
    ("label", "captions"),
    [
        ("t-shirt", ["a t-shirt", "a t shirt", "a tshirt", "two T-shirts"]),
        ("traffic light", ["a trafficlight", "a traffic-light", "traffic lights"]),
        ("grey wolf", ["a gray wolf", "gray wolves", "a grey wolf"]),
        ("helipad", ["a heli pad", "helipads", "a heli-pad"]),
        ("heli pad", ["a helipad", "a heli-pad", "helipads"]),
        ("x-rays", ["an x-ray", "an x ray", "x-rays"]),
        ("ti\ufb01n box", ["a tifin box", "a tifin-box"]),
    ],
)
def test_spellings_in_captions(label, captions):
    for objects, expected in (({label: 1, "zebra": 0}, 0), ({label: 0}, 1)):
        of_rows = [objects] * len(captions)
        for scorer, column in ((VifidelH(), "VIFIDEL-Hn"), (Chair(), "CHAIRs")):
            result = scorer.score_columns(captions, objects=of_rows)[column]
            assert set(result.tolist()) == {expected}


def test_a_kind_of_thing_is_that_thing_and_the_thing_need_not_be_of_the_kind():
    captions = ["a bus", "a red bus", "a bus", "a red bus"]
    objects = [{"red bus": 1, "dog": 0}] * 2 + [{"red bus": 0, "bus": 1}] * 2
    expected = [0, 0, 0, 1]
    assert VifidelH().score_columns(captions, objects=objects)["VIFIDEL-Hn"].tolist() == expected
    assert Chair().score_columns(captions, objects=objects)["CHAIRs"].tolist() == expected


def test_the_names_of_a_row_are_names_in_that_row_alone():
    captions = ["a helipad", "a helipad", "a helipad house", "a gizmo by a helipad"]
    objects = [{"helipad": 0}, {"dog": 0}, {"helipad house": 1, "dog": 0}, {"gizmo": 1, "dog": 0}]
    for scorer in (VifidelH(), VifidelPRF(), Chair()):
        together = scorer.score_columns(captions, objects=objects)
        for at, caption in enumerate(captions):
            alone = scorer.score_columns([caption], objects=[objects[at]])
            for column, (score,) in alone.items():
                assert score.tobytes() == together[column][at].tobytes()


def test_absence_is_one_fact_however_it_is_written(write_lines):
    # Of two captions the first makes up a gizmo, in CHAIR and in VIFIDEL-H alike.
    lists, captions = ([], ["gizmo"]), {1: "A gizmo.", 2: "A gizmo."}
    listed = [{"image_id": i, "objects": objects} for i, objects in enumerate(lists, 1)]
    for lines in (
        [{**listed[0], "objects": {"gizmo": 0}}, {**listed[1], "objects": {"gizmo": 1, "dog": 0}}],
        [{"classes": ["gizmo"]}, *listed],
        [{**line, "asked": ["gizmo"]} for line in listed],
    ):
        objects = write_lines(*lines)
        run = evaluate({"mine": captions}, objects=objects, metrics="VIFIDEL-H,CHAIR")
        [result] = run.scores.values()
        assert [result[n] for n in ("VIFIDEL-Hs", "VIFIDEL-Hi", "CHAIRs", "CHAIRi")] == [0.5] * 4


def test_lists_of_users_add_names_or_stand_alone(write):
    # A dog stays visible beside a line of one's own; *pooch* joins it, a gizmo is new.
    mine = write("dog, pooch\ngizmo, doohickey\n- dog house\n", "mine.txt")
    captions = ["a dog", "a pooch", "a puppy", "a doohickey", "a cat", "a dog house"]
    objects = [{"gizmo": 0, "dog": 0, "cat": 0}] * len(captions)
    more, alone = VifidelH(things=mine), VifidelH(only_things=mine)
    assert more.score_columns(captions, objects=objects)["VIFIDEL-Hn"].tolist() == [1] * 5 + [0]
    # The cat is a name of the row, and *puppy* of nothing.
    absent = alone.score_columns(captions, objects=objects)["VIFIDEL-Hn"]
    assert absent.tolist() == [1, 1, 0, 1, 1, 0]
    assert "|things:things+mine#" in more.signature()
    assert "|things:mine#" in alone.signature()
    assert more.signature() != VifidelH(things=write("dog, pooch\n", "mine.txt")).signature()


def test_labels_that_no_caption_can_mention_are_one_warning():
    objects = {1: {"n02084071": 1, "1234": 0, "other": 0, "helipad": 0}}
    with pytest.warns(VifidelWarning) as caught:
        evaluate({"mine": {1: "A helipad."}}, objects=objects, metrics="VIFIDEL-H,VIFIDEL-PRF")
    messages = [str(warning.message) for warning in caught if "can mention" in str(warning.message)]
    assert len(set(messages)) == 1
    assert messages[0].startswith("no caption can mention '1234', 'n02084071', 'other': ")


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("fireplace", "fire place"),
        ("teapot", "tea pots"),
        ("suitcase", "suit case"),
        ("drive in cinema", "drive-in cinema"),
        ("café au blorf", "cafe au blorf"),
        # A plural of which the singular ends with s, ie or x, or is no regular one.
        ("wine glasses", "wine glass"),
        ("wedding dresses", "wedding dress"),
        ("camera lenses", "camera lens"),
        ("neckties", "necktie"),
        ("hoodies", "hoodie"),
        ("blorf", "blorfs"),
        ("zorbix", "zorbixes"),
    ],
)
def test_two_words_and_plurals_are_the_same_name(label, sentence):
    for name, caption in ((label, sentence), (sentence, label)):
        columns = said_of(caption, {name: 0, "giraffe": 1})
        assert (columns["VIFIDEL-Hn"], columns["CHAIRs"], columns["CHAIRi"]) == (1, 1, 1)
        columns = said_of(caption, {name: 1, "giraffe": 0})
        assert (columns["VIFIDEL-P"], columns["VIFIDEL-Hn"], columns["CHAIRs"]) == (1, 0, 0)


def test_synonyms_of_users_are_names_in_any_spelling(write):
    for name in ("cell-phone", "Cell_Phone", "cellphone", "cell phones"):
        scorer = Chair(synonyms=write(f"{name}\ndog\n", "mine.txt"))
        captions = ["A cell phone.", "Two cell phones."]
        scores = scorer.score_columns(captions, objects=[["dog"]] * 2)
        assert scores["CHAIRi"].tolist() == [1, 1]
        scores = scorer.score_columns(captions, objects=[["cell phone"]] * 2)
        assert scores["CHAIRi"].tolist() == [0, 0]


def test_names_without_vectors_decide_p_and_r(make_vectors):
    scorer = VifidelPRF(vectors=make_vectors({"dog": [1, 0], "cat": [0, 1]}))
    captions = ["A gizmo.", "Gizmos and a dog.", "A dog.", "A gizmo and a dog.", "A gizmo."]
    objects = [{"gizmo": 1}, {"gizmo": 1, "dog": 1}, {"gizmo": 1, "dog": 1}, {"gizmo": 0, "dog": 1}]
    columns = scorer.score_columns(captions, objects=[*objects, {"cat": 1}])
    # The fourth makes up one of two things: 1 / (1 + ln 2), less four tenths for an invention. Of
    # the last one nobody says whether it is there: there is no word to score.
    assert columns["VIFIDEL-P"] == pytest.approx([1, 1, 1, 0.6 / (1 + math.log(2)), 0])
    assert columns["VIFIDEL-R"].tolist() == [1, 1, 0.5, 1, 0]
