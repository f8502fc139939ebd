"""Evidence that says what was looked for: the table of its rules, and all ways into the scorers."""

import numpy as np
import pytest

import vifidel_eval
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.errors import AnnotationError, VifidelWarning
from vifidel_eval.scorers import Chair, Vifidel, VifidelH, VifidelPRF

CAPTION = "A squirrel eats a nut beside a skateboard and a bench under a lamp."


def verdicts(mentions):
    return {m["category"]: m["verdict"] for m in mentions}


def judged(objects, **settings):
    """Return what VIFIDEL-H says of the caption with these objects, and its numbers."""
    result = VifidelH({1: objects}, **settings).evaluate(make_rows([CAPTION], [1]))
    [of_row] = result["VIFIDEL-T"].details["VIFIDEL-H"]
    numbers = {name: evaluation.score for name, evaluation in result.items()}
    return verdicts(of_row["mentions"]), numbers, result["VIFIDEL-Hi"].counts


@pytest.mark.parametrize(
    ("looked_for", "absent"),
    [
        ("all", {"nut", "skateboard", "bench", "lamp"}),
        ("coco", {"skateboard", "bench"}),
        ("voc", set()),
        (["lamp", "nuts"], {"nut", "lamp"}),
    ],
)
def test_users_declare_what_was_looked_for(looked_for, absent, tmp_path):
    result, numbers, _ = judged(["squirrel"], looked_for=looked_for)
    assert {thing for thing, verdict in result.items() if verdict == "made up"} == absent
    assert numbers["VIFIDEL-Hi"] == pytest.approx(len(absent) / (1 + len(absent)))
    if isinstance(looked_for, list):
        path = tmp_path / "names.txt"
        path.write_text("\n".join(looked_for))
        assert judged(["squirrel"], looked_for=path)[0] == result
    signatures = {
        VifidelH(looked_for=given).signature() for given in (None, "all", "coco", ["lamp"], ["nut"])
    }
    assert len(signatures) == 5


@pytest.mark.parametrize(
    ("asked", "expected", "by_references"),
    [
        # Who looked for something judges that; what a reference has besides is there.
        (["wolf"], {"wolf": "answer", "cup": None, "dog": None}, 0),
        (None, dict.fromkeys(("wolf", "cup", "dog"), "references"), 1),
    ],
)
def test_references_judge_alone_where_nobody_looked_for_anything(asked, expected, by_references):
    asked, references = [asked and frozenset(asked)], [["a dog in the snow"]]
    rows = make_rows(["a wolf, a cup and a dog"], None, references, [{}], asked=asked)
    result = VifidelH().evaluate(rows)
    [of_row] = result["VIFIDEL-T"].details["VIFIDEL-H"]
    assert {m["words"]: m["judged_by"] for m in of_row["mentions"]} == expected
    shown = verdicts(of_row["mentions"])
    assert (shown["wolf"], shown["dog"]) == ("made up", "there")
    assert shown["cup"] == ("made up" if by_references else "unconfirmed")
    numbers = {name: evaluation.score for name, evaluation in result.items()}
    assert numbers["VIFIDEL-Hi"] == (2 / 3 if by_references else 1)
    assert numbers["VIFIDEL-Hn"] == (2 if by_references else 1)
    assert result["VIFIDEL-Hi"].counts.get("judged_by_references", 0) == by_references


def test_a_warning_says_how_to_declare():
    given = {"objects": {1: ["squirrel"]}, "metrics": "VIFIDEL-H"}
    with pytest.warns(VifidelWarning, match=r"1 caption do.*--looked-for coco, voc, all or FILE"):
        run = vifidel_eval.evaluate({"mine": {1: CAPTION}}, **given)
    assert run.counts["mine"]["nothing_looked_for"] == 1
    declared = vifidel_eval.evaluate({"mine": {1: CAPTION}}, **given, looked_for="all")
    assert declared.scores["mine"]["VIFIDEL-Hi"] == 0.8


def test_chair_judges_what_was_asked():
    scorer = Chair({1: {"bench": 1, "skateboard": 0}, 2: {"dog": 0}, 3: ["dog"]})
    captions = ["a bench, a skateboard and a bicycle", "a puppy and a cat", "a dog"]
    result = scorer.evaluate(make_rows(captions, [1, 2, 3]))
    assert result["CHAIRi"].scores.tolist()[:2] == [1 / 2, 1]
    assert np.isnan(result["CHAIRi"].scores[2])
    assert result["CHAIRi"].score == 2 / 3
    assert result["CHAIRs"].score == 1
    assert result["CHAIRi"].counts["unconfirmed"] == 2
    plain = Chair({1: ["dog"]}).evaluate(make_rows(["a cat"], [1]))
    assert "unconfirmed" not in plain["CHAIRi"].counts
    # A row that does not say what was asked is held against all categories, as ever.
    rows = Chair().score_columns(
        ["a bench and a bicycle"] * 2, objects=[{"bench": 1, "dog": 0}, ["bench"]]
    )
    assert rows["CHAIRi"].tolist() == [0, 1 / 2]


PHRASE = "a red double-decker bus"


def test_a_phrase_is_what_it_ends_with():
    assert judged_phrase(PHRASE, "A bus and a car.") == {"bus": "there", "car": "made up"}
    assert judged_phrase("big hot dog", "A hot dog.") == {"hot dog": "there"}
    assert judged_phrase("brown teddy bear", "A teddy bear.") == {"teddy bear": "there"}
    captions = ["A bus.", "A dog.", "A bear and a teddy bear."]
    phrases = [[PHRASE], ["big hot dog"], ["brown teddy bear"]]
    chair = Chair().score_columns(captions, objects=phrases)
    assert chair["CHAIRi"].tolist() == [0, 1, 1 / 2]
    prf, plain = (
        VifidelPRF().score_columns(["A bus."], objects=[[label]])
        for label in (PHRASE, "double-decker bus")
    )
    for name, scores in prf.items():
        assert scores.tobytes() == plain[name].tobytes()
    # VIFIDEL keeps the paper's bag of labels.
    assert Vifidel().score(["A bus."], objects=[[PHRASE]]) < 1
    explanation = Vifidel({1: [PHRASE]}, looked_for="all").explain(1, "A bus and a car.")
    assert explanation.hallucinated == ("car",)


def judged_phrase(label, caption):
    scorer = VifidelH({1: [label]}, looked_for="all")
    [of_row] = scorer.evaluate(make_rows([caption], [1]))["VIFIDEL-T"].details["VIFIDEL-H"]
    return verdicts(of_row["mentions"])


@pytest.mark.parametrize(
    ("looked_for", "message"),
    [
        ("nothing.txt", "neither coco, voc nor all, and there is no such file"),
        ([], "there is no label"),
        ([3], "3 is not a label; give text"),
    ],
)
def test_what_cannot_be_declared(looked_for, message):
    with pytest.raises(AnnotationError, match=message):
        VifidelH(looked_for=looked_for)


def test_unsure_answers_are_counted(write_lines):
    answers = [("nut", "yes"), ("lamp", "I cannot tell"), ("bench", "no"), ("dog", "not sure")]
    lines = [{"image_id": 1, "thing": thing, "answer": answer} for thing, answer in answers]
    captions = {"mine": {1: "A squirrel eats a nut beside a lamp and a bench."}}
    run = vifidel_eval.evaluate(captions, objects=write_lines(*lines), metrics="VIFIDEL-H")
    assert run.counts["mine"]["unsure"] == 2
    assert run.counts["mine"]["unconfirmed"] == 2  # squirrel and lamp
    assert run.scores["mine"]["VIFIDEL-Hi"] == 0.5
    assert "Unsure" in str(run)
