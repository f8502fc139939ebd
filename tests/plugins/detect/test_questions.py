"""Questions that captions give rise to."""

import json

import pytest

import vifidel_eval
from vifidel_eval.commands.printing import size_of
from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.detect.questions import named_by_several, read_asked

MINE = {7: "a squirrel eats a nut on a bench", 8: "two dogs and a puppy by a lamp"}
BASE = {7: "a squirrel with a frisbee", 8: "a man walks his dog"}


def asked(*given, **settings):
    by_image: dict = {}
    for question in vifidel_eval.questions(*given, **settings):
        by_image.setdefault(question["image_id"], []).append(question["thing"])
    return by_image


def test_one_question_per_image_and_class_for_all_systems():
    assert asked({"mine": MINE, "base": BASE}) == {
        7: ["squirrel", "nut", "bench", "frisbee"],
        8: ["dog", "lamp", "person"],
    }


def test_what_is_answered_is_not_asked_again(write_lines):
    known = [
        {"image_id": 7, "thing": "squirrel", "answer": "yes"},
        {"image_id": "000000000007.jpg", "thing": "nut", "score": 0.1},
        {"image_id": 8, "thing": "Puppy", "answer": "unsure"},
        {"image_id": 8, "thing": "lamp", "answer": None},
        {"image_id": 8, "thing": "person"},
    ]
    expected = {7: ["bench", "frisbee"], 8: ["lamp", "person"]}
    # One image has two spellings here, as two programs would write it.
    for of_seven in (7, "000000000007.jpg"):
        spelt = [{**line, "image_id": of_seven if line["image_id"] != 8 else 8} for line in known]
        assert asked({"mine": MINE, "base": BASE}, answers=spelt) == expected
        assert asked({"mine": MINE, "base": BASE}, answers=write_lines(*spelt)) == expected


def test_what_detect_asked_is_answered(write_lines):
    seen = {"image_id": "7.jpg", "labels": [], "scores": [], "boxes": []}
    path = write_lines(
        {"vifidel_eval": "detections", "version": 1},
        *(seen | {"asked": things} for things in (["squirrel"], ["nut", "bench"])),
        {"image_id": "8.jpg", "problem": "not a picture"},
    )
    assert asked({"mine": MINE}, answers=path) == {8: ["dog", "lamp"]}


def test_answers_of_other_captions_are_refused():
    answers = [{"image_id": 7, "thing": thing, "answer": "no"} for thing in ("cat", "cow", "nut")]
    with pytest.raises(VifidelError, match="1 of 3 answers belong to the 5 questions about these"):
        vifidel_eval.questions({"mine": MINE}, answers=answers)
    # Most of what there is may be open, and most answers may be about other systems.
    vifidel_eval.questions({"mine": MINE}, answers=answers[2:])
    many = [{"image_id": 7, "thing": thing, "answer": "no"}
            for thing in ("cat", "cow", "nut", "car", "bus", "bench", "squirrel")]  # fmt: skip
    assert asked({"mine": {7: MINE[7]}}, answers=many) == {}


def test_lines_that_are_no_answers():
    good = {"image_id": 7, "thing": "nut", "answer": "no"}
    for line, wrong in (({"image_id": 7}, "missing"), (good | {"thing": 3}, "3")):
        sentence = rf"answers: line 2 \(image 7\): 'thing' is {wrong}; expected text"
        with pytest.raises(VifidelError, match=sentence):
            vifidel_eval.questions({"mine": MINE}, answers=[good, line])


def test_controls_are_what_only_other_images_mention():
    systems = {"mine": MINE, "base": BASE}
    mentioned = asked(systems)
    for number in (1, 2, 3, 10):
        result = vifidel_eval.questions(systems, controls=number)
        for image, other in ((7, 8), (8, 7)):
            controls = [q["thing"] for q in result if q["image_id"] == image and "control" in q]
            assert len(controls) == len(set(controls)) == min(number, len(mentioned[other]))
            assert set(controls) <= set(mentioned[other])
        assert all(question.get("control", True) is True for question in result)
    draws = {json.dumps(vifidel_eval.questions(systems, controls=1, seed=n)) for n in range(6)}
    assert len(draws) > 1


def test_things_that_several_references_name():
    references = {
        7: ["a dog by a lamp", "two puppies", "a dog and a dog", "a lamp", "a man"],
        8: ["a dog", "a dog"],
    }
    assert named_by_several(references) == {7: {"dog"}, 8: set()}
    assert named_by_several(references, least=2) == {7: {"dog", "lamp"}, 8: {"dog"}}


@pytest.fixture
def captions(write_lines):
    def captions(name, of_images):
        entries = ({"image_id": i, "caption": text} for i, text in of_images.items())
        return write_lines(*entries, name=name)

    return captions


def test_the_command_writes_what_python_returns(tmp_path, write_lines, captions, run):
    mine, base = captions("mine.jsonl", MINE), captions("base.jsonl", BASE)
    output = tmp_path / "q.jsonl"
    arguments = ["questions", str(mine), f"b={base}", "--output", str(output), "--controls", "2"]
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, f"{output}: {size_of(output)}\n")
    expected = vifidel_eval.questions({"mine": MINE, "b": BASE}, controls=2)
    assert [json.loads(line) for line in output.read_text().splitlines()] == expected
    assert result.stdout == f"{output}: {len(expected)} questions about 2 images\n"
    # The answers come back in the same lines.
    answers = write_lines(*({**line, "answer": "no"} for line in expected[:5]), name="a.jsonl")
    again = [*arguments[:-3], str(tmp_path / "q2.jsonl"), *arguments[-2:]]
    result = run(*again, "--answers", answers)
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "q2.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == expected[5:]
    single = run("questions", captions("one.jsonl", {7: "a dog"}), "--output", output)
    assert single.stdout == f"{output}: 1 question about 1 image\n"


def test_questions_and_captions_are_both_taken_to_ask(write_lines, captions):
    listed = write_lines(*vifidel_eval.questions({"mine": MINE}, controls=1), name="q.jsonl")
    base = captions("base.jsonl", BASE)
    result = read_asked([listed, base])
    assert result[7][:3] == ["squirrel", "nut", "bench"]
    assert result[7][-1] == "frisbee"
    with pytest.raises(VifidelError, match=r"q.jsonl: line 2: 'image_id' is missing"):
        read_asked([write_lines({"image_id": 7, "thing": "nut"}, {"thing": 3}, name="q.jsonl")])
