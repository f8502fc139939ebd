"""The setting of the papers, by hand, and raw vectors that leave nothing of the scores."""

import json
import math

import pytest

import vifidel_eval
from vifidel_eval import VifidelWarning

FAR = {"dog": [100.0, 0.0], "cat": [0.0, 100.0], "runs": [9.0, 9.0]}


@pytest.fixture
def files(write):
    """A system, references, objects and word vectors."""
    captions = write([{"image_id": 1, "caption": "The cat: fire!"}])
    references, objects = (
        write({"1": ["a dog"]}, "refs.json"),
        write({"1": ["dog"]}, "objects.json"),
    )
    vectors = write("3 2\ndog 3 0\ncat 3 0.5\nfire 0 3\n", "vectors.txt")
    return captions, references, objects, vectors


def test_the_papers_setting_is_raw_with_the_whole_stop_list(files, run, tmp_path):
    captions, references, objects, vectors = files
    output = tmp_path / "scores.json"
    asked = ("score", captions, "--objects", objects, "--references", references)
    asked += ("--metrics", "VIFIDEL,WMD", "--output", output)
    result = run(*asked, "--vectors", vectors, "--paper")
    assert result.exit_code == 0, result.output
    document = json.loads(output.read_text("utf-8"))
    # Fire is a stop word there. The distance of dog and cat is .5, of which VIFIDEL takes the
    # square; it has penalties (Eq. 4, 5): of dog 0, of cat (1 - 3 / sqrt(9.25)) / 2.
    penalty = (1 - 3 / math.sqrt(9.25)) / 2
    [scores] = document["systems"].values()
    assert scores["overall"]["VIFIDEL"] == pytest.approx(math.exp(-(penalty**2) * 9.25))
    assert scores["overall"]["WMD"] == pytest.approx(math.exp(-0.5))
    assert all("setting:paper" in text for text in document["signatures"].values())
    lacking = run(*asked, "--paper")
    assert (lacking.exit_code, lacking.stderr.count("\n")) == (1, 1)
    assert "needs the papers' Google News vectors: give --vectors word2vec-goog" in lacking.stderr
    assert "--paper sets p, the threshold," in run(*asked, "--paper", "--p", "1").stderr


def test_other_settings_are_not_called_the_papers(files):
    captions, references, objects, vectors = files
    for settings in ({"normalize": True}, {"stop_words": ["fire", "the", "a"]}):
        given = {"vectors": vectors, "normalize": False, **settings}
        run = vifidel_eval.evaluate({"mine": captions}, references, objects, "VIFIDEL", **given)
        assert "setting:paper" not in run.signatures["VIFIDEL"]


@pytest.mark.parametrize("metric", ["VIFIDEL", "WMD"])
def test_raw_vectors_that_leave_nothing_are_said(make_vectors, metric, recwarn):
    given = {"references": {1: ["a dog"], 2: ["dog"]}, "objects": {1: ["dog"], 2: ["dog"]}}
    given |= {"vectors": make_vectors(FAR), "metrics": metric, "normalize": False}
    with pytest.warns(
        VifidelWarning, match=rf"^{metric} is below 1e-06 for 1 of 1 captions, because"
    ):
        vifidel_eval.evaluate({"mine": {1: "a cat", 2: "zzz"}}, **given)
    recwarn.clear()
    for shown in ({**given, "normalize": True}, given):  # scaled; one that does not vanish
        second = "a cat" if shown["normalize"] else "a dog"
        vifidel_eval.evaluate({"mine": {1: "a cat", 2: second}}, **shown)
    assert not [w for w in recwarn if "is below" in str(w.message)]
