import json

import pytest

import vifidel_eval
from vifidel_eval import Vifidel
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.explain.findings import find
from vifidel_eval.show.explanations import findings_in_width, findings_table, summary_table

AXES = ("dog", "cat", "kite", "bus", "large", "wolf")
OBJECTS = {1: ["dog", "dog", "kite"], 2: ["dog"], 3: [], 4: ["bus"], 5: ["dog", "bus"]}
CAPTIONS = {
    1: "a large cat",
    2: "a dog and a cat and a cat",
    3: "a cat",
    4: "it is",
    5: "a bus, a kite, a wolf, a zzz",
}


@pytest.fixture(scope="module")
def found(make_vectors):
    vectors = {word: [float(i == k) for i in range(6)] for k, word in enumerate(AXES)}
    objects = {**OBJECTS, 6: ["cat"]}
    scorer = Vifidel(objects, make_vectors(vectors), references=False)
    return find_in_captions(scorer, CAPTIONS)


def find_in_captions(scorer, captions):
    rows = make_rows(list(captions.values()), list(captions))
    return find(part for (part,) in scorer.explained([rows]))


def test_counts_worked_by_hand(found):
    # Image 3 has no objects, caption 4 no word. Mentions: cat, dog, cat, cat, bus, kite, wolf, of
    # which the source does not look for the last. Objects: dog and kite, dog, bus, dog and bus;
    # not mentioned: both of 1, bus of 4, dog of 5.
    numbers = {k: v for k, v in vars(found).items() if isinstance(v, int)}
    assert numbers == {
        **{"captions": 4, "rated": 4, "undefined": 1, "wordless": 1, "unknown_words": 1},
        **dict.fromkeys(("no_claim", "reasoning", "around", "judged_by_references"), 0),
        **{"hallucinating": 3, "mentions": 7, "judged": 6, "unconfirmed": 1, "not_in_image": 4},
        **{"objects": 6, "unmentioned": 4},
    }
    words = [(f.what, f.category, f.captions, f.of) for f in found.hallucinated_words]
    assert words == [("cat", "cat", 2, 2), ("kite", "kite", 1, 1)]
    objects = [(f.what, f.category, f.captions, f.of) for f in found.unmentioned_objects]
    assert objects == [("dog", None, 2, 3), ("bus", None, 1, 2), ("kite", None, 1, 1)]
    assert found.hallucinated_words[0].examples == [(1, CAPTIONS[1]), (2, CAPTIONS[2])]


def test_tables_and_json_show_the_counts(found):
    summary = summary_table({"mine": found}, "VIFIDEL-H")
    assert summary.headers[2::4][:2] == ["VIFIDEL-Hs", "VIFIDEL-Hi"]
    assert summary.rows == [["mine", 4, 3 / 4, 7, 6, 1, 4 / 6, 6, "66.7%", 1, 1, 1]]
    rows = findings_table({"mine": found}, number=1).rows
    assert rows == [
        ["mine", "made up", "cat", "cat", "1 2", "a large cat", 2, 2, "50.0%"],
        ["mine", "missed", "dog", None, "1 5", "a large cat", 2, 3, "50.0%"],
        ["mine", "unconfirmed", "wolf", "wolf", "5", CAPTIONS[5], 1, 1, "25.0%"],
    ]
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert document["hallucinating"] == 3
    assert document["hallucinated_words"][1] == {
        **{"what": "kite", "category": "kite", "captions": 1, "share": 0.25, "of": 1},
        **{"examples": [{"image_id": 5, "caption": CAPTIONS[5]}], "images": [5]},
    }


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_rates_are_those_of_the_columns_where_some_images_do_not_say_what_was_looked_for():
    # Image 2 does not say it, so that nothing is judged there: 1 of 1 caption, 1 of 2 mentions.
    objects = {1: {"dog": 1, "cat": 0}, 2: ["dog"]}
    captions = {1: "a dog and a cat", 2: "a dog and a cat"}
    run = vifidel_eval.evaluate(
        {"mine": captions}, objects=objects, metrics="VIFIDEL-H", weighted=False
    )
    (scorer,) = run.plan.scorers.values()
    result = find_in_captions(scorer, captions)
    assert (result.captions, result.rated) == (2, 1)
    table = summary_table({"mine": result}, "VIFIDEL-H")
    shown = dict(zip(table.headers, table.rows[0], strict=True))
    for column, rate in (("VIFIDEL-Hs", 1.0), ("VIFIDEL-Hi", 0.5)):
        assert shown[column] == run.scores["mine"][column] == rate


def test_nothing_to_find_is_said():
    nothing = find([])
    assert summary_table({"mine": nothing}, "CHAIR").rows[0][:3] == ["mine", 0, None]
    text = findings_table({"mine": nothing}, 10).render("table")
    assert text == "Nothing is made up, and no object is missed."
    [(table, _)] = findings_in_width({"mine": nothing}, 10, 80)
    assert table.render("table") == text
    assert nothing.to_json()["unmentioned_objects"] == []
