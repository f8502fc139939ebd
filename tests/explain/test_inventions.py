"""Inventions as rows: from a run, whatever its metrics, and from every place that tells them."""

import json

import pytest
from example_files import EXAMPLE

import vifidel_eval
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.explain.sentences import Invention
from vifidel_eval.scorers import Chair

*SYSTEMS, REFERENCES, OBJECTS = EXAMPLE

TEXT = (
    "A dog runs next to a zebra. The light suggests that a train is late. "
    "A dog sits, as if a cow were near. A Dog and two zebras."
)
KNOWN = {1: {"dog": 1, "person": 1, "zebra": 0, "train": 0, "cow": 0}}

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")


def placed(rows):
    return [(row.sentence, row.word, row.category, row.start, row.end) for row in rows]


def test_rows_worked_by_hand():
    run = vifidel_eval.evaluate({"ours": {1: TEXT}}, objects=KNOWN, metrics="VIFIDEL-H")
    first, train, cow, second = run.inventions()
    assert (train.word, train.sentence, cow.word, cow.sentence) == ("train", 1, "cow", 2)
    assert isinstance(first, Invention)
    assert (first.system, first.image_id, first.sentence) == ("ours", 1, 0)
    assert (first.text, first.word) == ("A dog runs next to a zebra.", "zebra")
    assert (first.category, first.start, first.end) == ("zebra", 21, 26)
    assert (second.sentence, second.text) == (3, "A Dog and two zebras.")
    assert TEXT[second.start : second.end] == second.word == "zebras"
    # An answer, whatever is near.
    content = {"support": 0.0, "evidence": None, "verdict": "made up", "judged_by": "answer"}
    names = ("system", "image_id", "sentence", "text", "word", "category", "start", "end")
    assert first.to_json() == {name: getattr(first, name) for name in names} | content


@pytest.mark.parametrize(
    ("references", "verdicts"),
    [
        # A label names the dog; of the references, half mention the cup, and one of four a cat.
        (
            ["A dog.", "A cup.", "A cup and a cat.", "Nothing."],
            {"dog": "labels", "cup": "references"},
        ),
        ([], {"dog": "labels"}),
    ],
)
def test_wrong_denials_are_listed_and_right_ones_are_no_mentions(references, verdicts):
    text = "There is no dog here, no cup, and no cat. A person without a zebra."
    run = vifidel_eval.evaluate(
        {"ours": {1: text}}, {1: references} if references else None, KNOWN, metrics="VIFIDEL-H"
    )
    result = run.inventions()
    assert {row.word: row.judged_by for row in result} == verdicts
    assert {row.verdict for row in result} == {"wrong denial"}
    assert all(text[row.start : row.end] == row.word for row in result)
    numbers = run.scores["ours"]
    assert numbers["VIFIDEL-Hn"] == len(verdicts)
    assert numbers["VIFIDEL-Hi"] == len(verdicts) / (1 + len(verdicts))  # the person is there
    (sentence, _) = run.sentences("ours")[1]
    assert [str(m.verdict) for m in sentence.inventions] == ["wrong denial"] * len(verdicts)
    shown = str(next(run.plan.scorers["VIFIDEL-H"].explain_rows(make_rows([text], [1]))))
    assert "Wrong denials: dog" in shown


@pytest.mark.parametrize("hedge", ["", "Perhaps a giraffe is near. "])
@pytest.mark.parametrize("objects", [OBJECTS, None])
def test_sentences_words_and_inventions_agree(objects, hedge):
    captions = {
        path.stem: {
            line["image_id"]: f"{line['caption']} {hedge}A kite and a dog, and a zebra."
            for line in json.loads(path.read_text("utf-8"))
        }
        for path in SYSTEMS
    }
    run = vifidel_eval.evaluate(captions, REFERENCES, objects, metrics="VIFIDEL-PRF")
    rows = run.inventions()
    assert any(row.word == "giraffe" for row in rows) == bool(hedge)
    frame = run.to_dataframe(words=True)
    for system in run.systems:
        own = [row for row in rows if row.system == system]
        judged = run.sentences(system)
        assert [(row.image_id, *placed([row])[0]) for row in own] == [
            (image_id, number, m.words, m.category, m.start, m.end)
            for image_id, sentences in judged.items()
            for number, sentence in enumerate(sentences)
            for m in sentence.inventions
        ]
        words = frame[(frame["system"] == system) & frame["invented"]]
        assert {(row.image_id, row.sentence) for row in own} == set(
            zip(words["image_id"], words["sentence"], strict=True)
        )
        for row in own:
            caption = captions[system][row.image_id]
            assert caption[row.start : row.end].lower() == row.word
            assert row.text in caption
            assert row.word in row.text.lower()


# --- CHAIR ---


def test_chair_judges_only_what_was_looked_for():
    scorer = Chair({1: ["dog"]}, looked_for=["cat", "dog"])
    explanation = scorer.explain(1, "A dog, a cat and a bus")
    assert [(m.words, str(m.verdict), m.supported_by) for m in explanation.mentions] == [
        ("dog", "there", "dog"),
        ("cat", "made up", None),
        ("bus", "unconfirmed", None),
    ]
    assert explanation.hallucinated == ("cat",)
    shown = str(explanation)
    assert "Made up: cat" in shown
    assert "Unconfirmed: bus" in shown
    assert "Score 0.5000" in shown


def test_chair_reads_what_it_scores():
    text = "A dog. An orange cat eats an orange. A zebra"
    explanation = Chair({1: ["dog"]}, drop_incomplete=True).explain(1, text)
    assert [m.words for m in explanation.mentions] == ["dog", "cat", "orange"]
    scorer = Chair({1: ["dog"]})
    explanation = scorer.explain(1, text)
    assert [m.words for m in explanation.mentions] == ["dog", "cat", "orange", "zebra"]
    # A sentence that only supposes counts for CHAIR as any other.
    assert scorer.explain(1, "Perhaps a zebra.").hallucinated == ("zebra",)
