import json

import pytest

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.english import has_several_sentences

TEXT = (
    "A dog runs next to a zebra. The light suggests that a train is late. "
    "A dog sits, as if a cow were near. A Dog and two zebras."
)
OBJECTS = {"dog": 1, "person": 1}


@pytest.fixture(scope="module")
def sentences():
    rows = make_rows([TEXT], objects=[OBJECTS])
    (result,) = VifidelPRF().judge_sentences(rows)
    return result


def text_of(place):
    return TEXT[place.start : place.end]


def test_sentences_are_places_in_the_text(sentences):
    assert [text_of(sentence) for sentence in sentences] == [
        "A dog runs next to a zebra.",
        "The light suggests that a train is late.",
        "A dog sits, as if a cow were near.",
        "A Dog and two zebras.",
    ]


@pytest.mark.parametrize(
    ("text", "several"),
    [("", False), ("A dog", False), ("A dog. ", False), ("A dog. A cat", True), ("a\nb", True)],
)
def test_a_text_has_several_sentences_or_one(text, several):
    assert has_several_sentences(text) == several


# --- In a run ---


def evaluated(text=TEXT, metrics="VIFIDEL-PRF", **arguments):
    arguments = {"objects": {1: OBJECTS}, **arguments}
    return vifidel_eval.evaluate({"ours": {1: text}}, metrics=metrics, **arguments)


def test_files_have_them_only_where_a_caption_has_several_sentences(tmp_path, sentences):
    evaluated().save(tmp_path / "several.json")
    saved = json.loads((tmp_path / "several.json").read_text("utf-8"))
    row = saved["systems"]["ours"]["imgToEval"]["1"]
    assert [(s["start"], s["end"], s["claims"]) for s in row["sentences"]] == [
        (s.start, s.end, s.claims) for s in sentences
    ]
    assert row["sentences"][0]["inventions"] == [
        {"words": "zebra", "category": "zebra", "start": 21, "end": 26, "verdict": "made up"}
    ]
    vifidel_eval.load(tmp_path / "several.json").save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "several.json").read_bytes()
    evaluated("A dog runs.").save(tmp_path / "one.json")
    assert "sentences" not in (tmp_path / "one.json").read_text("utf-8")
    loaded = vifidel_eval.load(tmp_path / "one.json")
    with pytest.raises(VifidelError, match="holds only scores"):
        loaded.sentences("ours")
