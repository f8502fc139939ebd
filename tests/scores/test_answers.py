"""Answers of language models in runs: what is scored, counted, pinned and said of them."""

import json

import numpy as np
import pytest

import vifidel_eval
from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.scorers import Chair, Vifidel, VifidelH, VifidelPRF

OBJECTS = {i: {"dog": 1, "cat": 0, "zebra": 0} for i in range(4)}
REFERENCES = {0: ["a dog"], 1: ["it is cold"], 2: ["a dog in the snow"], 3: ["some grass"]}
THOUGHT = "<think>A cat? A zebra on a couch? No.</think>\n"
REFUSAL = "I'm sorry, I can't help with that."
CLEAN = {0: "A dog.", 1: "A zebra.", 2: "A dog in the snow.", 3: "A cat and a dog."}
ALL = "VIFIDEL,VIFIDEL-PRF,VIFIDEL-H,VIFIDEL-D,CHAIR,WMD,BLEU,ROUGE_L,CIDEr"


def scored(systems, **options):
    options = {"references": REFERENCES, "objects": OBJECTS, "metrics": ALL} | options
    return vifidel_eval.evaluate(systems, **options)


def test_every_metric_has_the_scores_of_the_captions_alone():
    around = {
        0: THOUGHT + CLEAN[0],
        1: f"Here is a caption: {CLEAN[1]}",
        2: f"```\n{CLEAN[2]}\n```<|im_end|>",
        3: f"<reasoning>cat</reasoning><answer>{CLEAN[3]}</answer>",
    }
    run = scored({"clean": CLEAN, "around": around})
    assert run.scores["around"] == run.scores["clean"]
    assert run.counts["around"]["reasoning"] == 2
    assert run.counts["around"]["around"] == 3
    assert {"reasoning", "around", "no_claim"}.isdisjoint(run.counts["clean"])
    assert all("|captions:answers-1" in text for text in run.signatures.values())
    written = scored({"around": around}, as_written=True)
    assert written.scores["around"]["VIFIDEL-F"] < run.scores["around"]["VIFIDEL-F"]
    assert all("|captions:as-written" in text for text in written.signatures.values())
    assert "reasoning" not in written.counts["around"]


def output_of(run, *arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_claims_nothing_worked_by_hand():
    # Of four captions, one refuses and one makes a zebra up.
    with pytest.warns(VifidelWarning, match=r"1 of 4 texts of .* claims nothing \(refusals: 1\)"):
        run = scored({"mine": CLEAN | {2: REFUSAL, 3: "A dog."}})
    scores = run.scores["mine"]
    assert [scores[f"VIFIDEL-H{letter}"] for letter in "sin"] == pytest.approx([1 / 3] * 3)
    assert (scores["CHAIRs"], scores["CHAIRi"]) == pytest.approx((1 / 3, 1 / 3))
    assert scores["CHAIR-Precision"] == pytest.approx(2 / 3)
    assert scores["CHAIR-Recall"] == 2 / 4
    assert scores["CHAIR-F1"] == pytest.approx(2 * 2 / (3 + 4))
    assert scores["CHAIR-Len"] == 3  # "a dog ."
    refused = run.per_image("mine")[2]
    undefined = {name for name, score in refused.items() if score is None}
    assert undefined == {
        *("VIFIDEL-P", "VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn", "VIFIDEL-T"),
        *("CHAIRs", "CHAIRi", "CHAIR-Precision", "CHAIR-Len"),
    }
    for name in ("VIFIDEL", "VIFIDEL-R", "VIFIDEL-F", "WMD", "CHAIR-Recall", "ROUGE_L"):
        assert refused[name] == 0
    assert run.counts["mine"]["no_claim"] == 1


def test_every_output_counts_and_shows_what_was_written(tmp_path, run):
    texts = {0: THOUGHT + "A dog.", 1: REFUSAL, 2: "A dog.", 3: "A dog."}
    for name, content in (("mine", texts), ("objects", OBJECTS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    inputs = [str(tmp_path / "mine.json"), "--objects", str(tmp_path / "objects.json")]
    saved, page = tmp_path / "saved.json", tmp_path / "page.html"
    shown = output_of(
        run, "score", *inputs, "--metrics", "VIFIDEL-H", "--output", saved, "--report", page
    )
    assert "Answers with reasoning, which is not scored: 1 of mine." in shown
    csv = output_of(run, "score", *inputs, "--metrics", "VIFIDEL-H", "--format", "csv")
    assert "No claim,Reasoning" in csv
    of_images = json.loads(saved.read_text())["systems"]["mine"]["imgToEval"]
    written = [of_images[str(i)]["written"] for i in range(4)]
    assert written == [texts[0], REFUSAL, None, None]
    assert "[claims nothing: a refusal] I'm sorry" in page.read_text("utf-8").replace(
        "\\u0027", "'"
    )
    explained = output_of(run, "explain", *inputs, "--image", "1")
    assert "[claims nothing: a refusal] I'm sorry" in explained
    summary = output_of(run, "explain", *inputs, "--format", "csv")
    assert "zebra" not in summary
    assert 'dog,,1,"[claims nothing: a refusal]' in summary
    as_written = output_of(run, "explain", *inputs, "--as-written", "--format", "csv")
    assert "zebra" in as_written


def test_samples_of_an_image(tmp_path):
    samples = {i: [THOUGHT + "A dog.", REFUSAL, "A zebra."] for i in OBJECTS}
    samples[3] = ["A dog."]
    with pytest.warns(VifidelWarning, match="3 of 10 texts"):
        run = scored({"mine": samples}, samples=True, metrics="VIFIDEL-H")
    counts = run.counts["mine"]
    assert (counts["samples"], counts["no_claim"], counts["reasoning"]) == (10, 3, 3)
    # A dog and a zebra for three images each, and a dog for one.
    assert run.scores["mine"]["VIFIDEL-Hs mean"] == pytest.approx((3 * 1 / 2 + 0) / 4)
    notes = " ".join(repr(run).split())
    assert (
        "only reasoning): 3 of 10 of mine. They have no score in VIFIDEL-Hs, VIFIDEL-Hi," in notes
    )
    run.report(tmp_path / "page.html")  # the same mean, not 3 of all 7 that claim something
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "0.3750" in page
    assert "0.4286" not in page


@pytest.mark.parametrize("make", [Vifidel, VifidelPRF, VifidelH, Chair])
def test_scorers_of_a_users_own(make):
    scorer = make(OBJECTS)
    ids, written = [0, 1], [THOUGHT + "A dog.", "A dog."]
    one, other = scorer.score(written, image_ids=ids, references=[[], []])
    np.testing.assert_equal(one, other)
    assert "|captions:answers-1" in scorer.signature()
    as_written = scorer.as_written()
    assert "|captions:as-written" in as_written.signature()
    assert repr(as_written) == f"{scorer!r}.as_written()"
    assert as_written.score(written[:1], image_ids=[0], references=[[]])[0] != one
    gts, res = {0: []}, {0: [written[0]]}
    np.testing.assert_equal(scorer.compute_score(gts, res)[0], one)
    assert as_written.compute_score(gts, res)[0] != one
    with pytest.raises(VifidelError, match="give as_written=True"):
        scored({"mine": CLEAN}, metrics=as_written)
    assert scored({"mine": CLEAN}, metrics=as_written, as_written=True).scores["mine"]


def test_one_caption_for_many_images_is_suspicious():
    many = {i: ["dog"] for i in range(42)}
    captions = {i: f"A dog number {i}." if i < 30 else "" for i in many}  # nothing is no caption
    scored({"mine": captions}, objects=many, references=None, metrics="VIFIDEL")
    captions |= dict.fromkeys(range(12), "The picture shows something.")
    with pytest.warns(VifidelWarning, match="12 of 42 captions of system .* are the same"):
        scored({"mine": captions}, objects=many, references=None, metrics="VIFIDEL")
