"""Several answers about an image: what they mention, and in how many of them; worked by hand."""

import csv
import json

import pytest
from conftest import call

import vifidel_eval

# A dog is in 3 of 4 answers to image 1, of which one says *dogs* too; a cat, which is not there, in
# 2, of which one says it twice; a frisbee in 1.
ANSWERS = {
    "1": ["A dog and a cat.", "Two dogs. A dog sleeps.", "A cat, another cat.", "Dog, frisbee."],
    "2": ["A zebra.", "A bus."],
}  # fmt: skip
OBJECTS = {"1": {"dog": 2, "frisbee": 1, "cat": 0}, "2": {"bus": 1, "zebra": 0}}
SAID = [
    ("dog", {"dog": 3, "dogs": 1}, "there", 3),
    ("cat", {"cat": 2}, "made up", 2),
    ("frisbee", {"frisbee": 1}, "there", 1),
]


@pytest.fixture
def explain(tmp_path):
    for name, content in (("mine.json", ANSWERS), ("objects.json", OBJECTS)):
        (tmp_path / name).write_text(json.dumps(content), "utf-8")

    def run(*arguments, status=0):
        given = ("explain", tmp_path / "mine.json", "--objects", tmp_path / "objects.json")
        result = call(*given, "--samples", *arguments)
        assert result.exit_code == status, result.output
        return result.output if status else result.stdout

    return run


def test_mentions_of_an_image_are_said_in_k_of_n_answers_the_most_frequent_first(explain):
    of_image = json.loads(explain("--image", 1, "--format", "json"))["systems"]["mine"]
    result = [(mention["category"], mention["words"], mention["verdict"], mention["said_in"])
             for mention in of_image["mentions"]]  # fmt: skip
    assert result == SAID
    assert {one["answers"] for one in of_image["mentions"]} == {4}
    assert [answer["caption"] for answer in of_image["answers"]] == ANSWERS["1"]
    rows = [line.split() for line in explain("--image", 1).splitlines()]
    shown = [(row[0], row[-3:]) for row in rows if row[:1] in (["+"], ["!"])]
    assert shown == [("+", "3 of 4".split()), ("!", "2 of 4".split()), ("+", "1 of 4".split())]
    assert ["mine,", "image", "1:", "4", "answers"] in rows
    markdown = explain("--image", 1, "--format", "markdown")
    assert "| dog 3, dogs 1 (dog)" in markdown
    table = list(csv.DictReader(explain("--image", 1, "--format", "csv").splitlines()))
    assert [(row["Class"], row["Said in"], row["Answers"]) for row in table] == [
        ("dog", "3", "4"), ("cat", "2", "4"), ("frisbee", "1", "4"),
    ]  # fmt: skip


def test_findings_count_answers_and_name_the_image_where_most_have_it(explain):
    result = json.loads(explain("--format", "json"))["systems"]["mine"]
    assert (result["captions"], result["hallucinating"]) == (6, 3)
    things = {
        mention["what"]: [
            (image["image_id"], image["said_in"], image["answers"]) for image in mention["by_image"]
        ]
        for mention in result["hallucinated_words"]
    }
    assert things == {"cat": [(1, 2, 4)], "zebra": [(2, 1, 2)]}
    shown = explain()
    assert "1 (2 of 4): A dog and a cat." in shown
    assert "2 (1 of 2): A zebra." in shown


def test_inventions_say_how_many_answers_have_them(explain, tmp_path):
    explain("--inventions", tmp_path / "made_up.csv")
    rows = list(csv.DictReader((tmp_path / "made_up.csv").read_text("utf-8").splitlines()))
    result = [(row["system"], row["word"], row["said_in"], row["answers"]) for row in rows]
    # The third answer names its cat twice, in two rows.
    assert result == [
        ("mine, sample 1", "cat", "2", "4"),
        ("mine, sample 3", "cat", "2", "4"),
        ("mine, sample 3", "cat", "2", "4"),
        ("mine, sample 1", "zebra", "1", "2"),
    ]
    run = vifidel_eval.evaluate(
        {"mine": ANSWERS}, objects=OBJECTS, metrics="VIFIDEL-H", samples=True
    )
    shown = [(row.system, row.word, str(row.said_in), str(row.answers)) for row in run.inventions()]
    assert shown == result


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(("--image", "1", "--plan"), "--plan is of one caption"), (("--image", "7"), "system 'mine'")],
)
def test_what_is_of_one_caption_or_of_no_image_is_refused(explain, options, sentence):
    assert sentence in explain(*options, status=2 if "--plan" in options else 1)


def test_an_answer_that_claims_nothing_is_shown_with_a_mark(explain, tmp_path):
    refusal = "I'm sorry, I can't help with that."
    (tmp_path / "mine.json").write_text(json.dumps({"1": ["A dog.", refusal], "2": ["A bus.", ""]}))
    mark = "[claims nothing: a refusal] I'm sorry"
    assert mark in explain("--image", "1")
    assert mark in explain()  # the first one that leaves out the frisbee
