import json
import math

import pytest

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.explain.sentences import PlacedMention, absent_mentions, sentence_table
from vifidel_eval.rows import make_rows
from vifidel_eval.scorers import VifidelH, VifidelPRF
from vifidel_eval.things.claims import has_several
from vifidel_eval.things.mentions import Unit

TEXT = (
    "A dog runs next to a zebra. The light suggests that a train is late. "
    "A dog sits, as if a cow were near. A Dog and two zebras."
)
OBJECTS = {"dog": 1, "person": 1}


@pytest.fixture(scope="module")
def sentences():
    rows = make_rows([TEXT], objects=[OBJECTS])
    (found,) = VifidelPRF().judge_sentences(rows)
    return found


def text_of(place):
    return TEXT[place.start : place.end]


def test_sentences_are_places_in_the_text(sentences):
    assert [text_of(sentence) for sentence in sentences] == [
        "A dog runs next to a zebra.",
        "The light suggests that a train is late.",
        "A dog sits, as if a cow were near.",
        "A Dog and two zebras.",
    ]


def test_inventions_have_their_places(sentences):
    assert [[text_of(m) for m in sentence.inventions] for sentence in sentences] == [
        ["zebra"],
        [],
        [],
        ["zebras"],
    ]
    assert sentences[3].inventions[0].category == "zebra"


def test_what_is_supposed_is_hedged_and_not_invented(sentences):
    assert [[TEXT[a:b] for a, b in sentence.hedged] for sentence in sentences] == [
        [],
        ["The light suggests that a train is late."],
        ["as if a cow were near."],
        [],
    ]
    assert [[text_of(m) for m in sentence.hedged_mentions] for sentence in sentences] == [
        [],
        ["train"],
        ["cow"],
        [],
    ]


def test_p_is_that_of_the_sentence_alone(sentences):
    assert [sentence.claims for sentence in sentences] == [True, False, True, True]
    alone = ["A dog runs next to a zebra.", "A dog sits,", "A Dog and two zebras."]
    expected = VifidelPRF().score_columns(alone, objects=[OBJECTS] * 3)["VIFIDEL-P"].tolist()
    found = [sentence.p for sentence in sentences]
    assert math.isnan(found[1])
    assert [found[0], found[2], found[3]] == expected


def test_inventions_are_those_of_vifidel_h(sentences):
    claimed = ["A dog runs next to a zebra.", "A Dog and two zebras."]
    rows = make_rows(claimed, objects=[OBJECTS] * 2)
    details = VifidelH().evaluate(rows)["VIFIDEL-T"].details["VIFIDEL-H"]
    absent = [
        [m["words"] for m in of_row["mentions"] if m["verdict"] == "not in the image"]
        for of_row in details
    ]
    assert [[m.words for m in sentences[at].inventions] for at in (0, 3)] == absent


def test_a_word_that_appears_twice_has_the_place_of_its_mention():
    text = "A cat food bowl near a cat"
    units = [
        Unit("cat", "cat", None),
        Unit("food", "food", None),
        Unit("bowl", "bowl", "bowl"),
        Unit("cat", "cat", "cat"),
    ]
    assert absent_mentions(text, units, [1, 2]) == (PlacedMention("cat", "cat", 23, 26),)
    hot_dog = [Unit("hot dog", "hot dogs", "hot dog")]
    assert absent_mentions("(Hot-Dogs!)", hot_dog, [2])[0][2:] == (1, 9)
    # Spelled otherwise: all of the text, without the blanks around it.
    assert absent_mentions("  a cat ", [Unit("dog", "dog", "dog")], [2])[0][2:] == (2, 7)


@pytest.mark.parametrize(
    ("text", "several"),
    [("", False), ("A dog", False), ("A dog. ", False), ("A dog. A cat", True), ("a\nb", True)],
)
def test_a_text_has_several_sentences_or_one(text, several):
    assert has_several(text) == several


def test_the_table_says_all_of_it_in_a_line_each(sentences):
    rows = sentence_table(TEXT, sentences).rows
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert rows[0][2:4] == ["zebra (21-26)", None]
    assert rows[1][2:] == [None, "The light suggests that a train is late.", None]
    assert rows[2][3] == "as if a cow were near."


# --- In a run ---


def evaluated(text=TEXT, metrics="VIFIDEL-PRF", **arguments):
    arguments = {"objects": {1: OBJECTS}, **arguments}
    return vifidel_eval.evaluate({"ours": {1: text}}, metrics=metrics, **arguments)


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_a_run_has_them_whatever_its_metrics(sentences):
    assert repr(evaluated().sentences("ours")) == repr({1: sentences})
    assert repr(evaluated(metrics="VIFIDEL").sentences("ours")) == repr({1: sentences})
    with pytest.raises(VifidelError, match=r"no system 'our'\. Did you mean 'ours'"):
        evaluated().sentences("our")
    by_references = vifidel_eval.evaluate(
        {"ours": {1: "a dog"}}, {1: ["a dog runs"]}, metrics="ROUGE_L", weighted=False
    )
    with pytest.raises(VifidelError, match="nothing is known of the images"):
        by_references.sentences("ours")


def test_files_have_them_only_where_a_caption_has_several(tmp_path, sentences):
    evaluated().save(tmp_path / "several.json")
    saved = json.loads((tmp_path / "several.json").read_text("utf-8"))
    row = saved["systems"]["ours"]["imgToEval"]["1"]
    assert [(s["start"], s["end"], s["claims"]) for s in row["sentences"]] == [
        (s.start, s.end, s.claims) for s in sentences
    ]
    assert row["sentences"][1]["hedged"] == [[28, 68]]
    assert row["sentences"][1]["p"] is None
    assert row["sentences"][0]["inventions"] == [
        {"words": "zebra", "category": "zebra", "start": 21, "end": 26}
    ]
    vifidel_eval.load(tmp_path / "several.json").save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "several.json").read_bytes()
    evaluated("A dog runs.").save(tmp_path / "one.json")
    assert "sentences" not in (tmp_path / "one.json").read_text("utf-8")
    loaded = vifidel_eval.load(tmp_path / "one.json")
    with pytest.raises(VifidelError, match="holds only scores"):
        loaded.sentences("ours")


def test_words_are_rows_of_a_frame():
    frame = evaluated().to_dataframe(words=True)
    assert list(frame.columns) == [
        *("system", "image_id", "sentence", "start", "end", "word", "thing", "support", "weight"),
        *("by", "hedged", "invented"),
    ]
    said = [TEXT[start:end] for start, end in zip(frame["start"], frame["end"], strict=True)]
    assert said[:3] == ["dog", "runs", "zebra."]
    assert list(frame[frame["invented"]]["word"]) == ["zebra", "zebras"]
    assert list(frame[frame["hedged"]]["word"]) == [
        "light",
        "suggests",
        "train",
        "late",
        "cow",
        "near",
    ]
    assert list(frame["sentence"].unique()) == [0, 1, 2, 3]
    assert set(frame[frame["word"] == "dog"]["support"]) == {1.0}
    assert set(frame[frame["hedged"]]["weight"]) == {0.0}
