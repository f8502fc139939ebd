import json

import pytest

from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.scorers import Chair
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.scores_file import scores_text
from vifidel_eval.scores.systems import score_aligned
from vifidel_eval.words.synonyms import ClassList

SMALL = ClassList("small", (("person", "man"), ("dog", "puppy"), ("cat",), ("couch", "sofa")))
COLUMNS = ["CHAIRs", "CHAIRi", "CHAIR-Recall", "CHAIR-Precision", "CHAIR-F1", "CHAIR-Len"]

# Image 1 has a person, a zebra, and by its reference a dog; image 2 a couch, image 3 a dog.
OBJECTS = {1: ["person", "person", "zebra"], 2: ["sofa"], 3: ["dog"]}
REFERENCES = {1: ["A puppy sits.", "nothing"], 2: [], 3: ["nothing"]}
CAPTIONS = {
    # 12 tokens; mentions person, person, cat, zebra: 4, of which 1 is absent
    1: "A man, a man and a cat near a zebra.",
    2: "A sofa.",  # 3 tokens, 1 mention
    3: "nothing to see",  # 3 tokens
}
CORPUS = {
    "CHAIRs": 1 / 3,
    "CHAIRi": 1 / 5,
    "CHAIR-Recall": (2 + 1 + 0) / (3 + 1 + 1),
    "CHAIR-Precision": (2 + 1) / (3 + 1),
    "CHAIR-F1": 2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4),
    "CHAIR-Len": (12 + 3 + 3) / 3,
}
NAN = float("nan")
ROWS = {
    "CHAIRs": [1, 0, 0],
    "CHAIRi": [1 / 4, 0, NAN],
    "CHAIR-Recall": [2 / 3, 1, 0],
    "CHAIR-Precision": [2 / 3, 1, NAN],
    "CHAIR-F1": [2 / 3, 1, 0],
    "CHAIR-Len": [12, 3, 3],
}


def scored(captions=CAPTIONS, scorer=None, references=REFERENCES, **others):
    scorer = scorer or Chair(OBJECTS, SMALL)
    systems = [System("one", captions), *(System(name, of) for name, of in others.items())]
    return score_aligned(align(systems, references), {"CHAIR": scorer})


def test_numbers_of_a_worked_example():
    scores = scored()
    evaluations = scores.evaluations["one"]
    assert list(evaluations) == COLUMNS
    assert {column: e.score for column, e in evaluations.items()} == pytest.approx(CORPUS)
    for column, expected in ROWS.items():
        assert evaluations[column].scores == pytest.approx(expected, nan_ok=True)
    columns = scores.columns()
    assert [c.name for c in columns if c.lower_is_better] == ["CHAIRs", "CHAIRi"]
    assert [c.name for c in columns if not c.ranked] == ["CHAIR-Len"]
    assert Chair(OBJECTS).main == "CHAIRi"


def test_output_holds_words_and_categories_and_what_was_counted():
    document = json.loads(scores_text(scored()))
    assert document["lower_is_better"] == ["CHAIRs", "CHAIRi"]
    system = document["systems"]["one"]
    assert system["imgToEval"]["1"]["CHAIR"] == {
        "mentioned": [["man", "person"], ["man", "person"], ["cat", "cat"], ["zebra", "zebra"]],
        "hallucinated": [["cat", "cat"]],
        "objects": ["dog", "person", "zebra"],
    }
    assert system["imgToEval"]["3"]["CHAIRi"] is None
    assert system["counts"]["CHAIRi"]["no_mentions"] == 1
    # The caption that mentions nothing counts in every corpus number.
    assert scored().counts("one")["scored"] == 3


def test_references_add_objects_unless_they_are_left_out():
    captions = {1: "A puppy.", 2: "A sofa.", 3: "A dog."}
    assert scored(captions).evaluations["one"]["CHAIRs"].score == 0
    alone = scored(captions, Chair(OBJECTS, SMALL, references=False))
    assert alone.evaluations["one"]["CHAIRs"].scores.tolist() == [1, 0, 0]
    none = scored(captions, references=None)
    assert none.evaluations["one"]["CHAIRs"].scores.tolist() == [1, 0, 0]
    assert none.signatures == alone.signatures


def test_an_incomplete_last_sentence_is_left_out_and_counted():
    captions = {1: "A man. A cat", 2: "A cat", 3: "A dog."}
    as_written = scored(captions).evaluations["one"]["CHAIRi"]
    cut = scored(captions, Chair(OBJECTS, SMALL, drop_incomplete=True)).evaluations["one"]["CHAIRi"]
    assert as_written.scores == pytest.approx([1 / 2, 1, 0])
    assert cut.scores == pytest.approx([0, 1, 0])
    assert (as_written.counts["incomplete"], cut.counts["incomplete"]) == (0, 1)


def test_what_is_missing_is_said():
    with pytest.raises(VifidelError, match="CHAIR needs to know what the images show"):
        Chair().score(["a dog"])
    with pytest.raises(VifidelError, match="has its own objects"):
        Chair(OBJECTS).score(["a dog"], objects=[["dog"]])
    with pytest.raises(VifidelError, match="lacks 1 image id"):
        Chair(OBJECTS).compute_score({9: []}, {9: ["a dog"]})
    with pytest.raises(VifidelError, match="check the path"):
        Chair(OBJECTS, synonyms="no such file")


def test_a_run_that_says_nothing_is_warned_of():
    with pytest.warns(VifidelWarning, match="none of the captions mentions an object"):
        Chair(OBJECTS, SMALL).compute_score(REFERENCES, {i: ["ein Hund"] for i in REFERENCES})
    with pytest.warns(VifidelWarning, match="none of the captions has an image with an object"):
        Chair({1: []}, SMALL).compute_score({1: []}, {1: ["a dog"]})


def signature(scorer=None, ids=(1, 2, 3), references=REFERENCES):
    scorer = scorer or Chair(OBJECTS, SMALL)
    return scored(
        {i: CAPTIONS[i] for i in ids}, scorer, {i: references[i] for i in ids}
    ).signatures["CHAIRi"]


def test_the_signature_pins_everything_that_changes_the_number():
    there = signature()
    assert there == signature(ids=(3, 1, 2))
    assert there == signature(references={**REFERENCES, 1: REFERENCES[1][::-1]})
    other = ClassList("small", (*SMALL.classes, ("bird",)))
    others = [
        signature(Chair(OBJECTS, other)),
        signature(Chair({**OBJECTS, 3: ["cat"]}, SMALL)),
        signature(Chair(OBJECTS, SMALL, drop_incomplete=True)),
        signature(Chair(OBJECTS, SMALL, references=False)),
        signature(Chair(OBJECTS, SMALL, undefined=0)),
        signature(ids=(1, 2)),
        signature(references={**REFERENCES, 3: ["A cat"]}),
    ]
    assert len({there, *others}) == len(others) + 1
    parts = dict(part.partition(":")[::2] for part in there.split("|")[1:])
    assert parts["images"].startswith("3#")
    assert parts["synonyms"].startswith("small#")
    assert parts["drop-incomplete"] == "no"
    assert "+references#" in parts["objects"]
    assert "textblob" in parts
