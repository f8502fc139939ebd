import json
import os
import warnings
from collections import Counter

import numpy as np
import pytest

from vifidel_eval import ImageIdError, VifidelError, VifidelWarning
from vifidel_eval.files import write_whole
from vifidel_eval.runs.harness import System, score_systems
from vifidel_eval.scorers import Scorer
from vifidel_eval.scorers.base import Evaluation, candidates


class Length(Scorer):
    """Scores a caption by its number of words: enough to see which caption went where."""

    def __init__(self):
        self.calls = 0

    def method(self):
        return "LENGTH"

    def signature(self):
        return "LENGTH|version:1"

    def evaluate(self, gts, res, on_progress=None):
        from vifidel_eval.kernels.bags import Tally

        self.calls += 1
        captions = candidates(gts, res)
        if on_progress is not None:
            on_progress(len(captions))
        lengths = [len(c.split()) or float("nan") for c in captions]
        return Evaluation(
            list(gts), np.array(lengths, dtype=float), Tally(len(captions), Counter())
        )


def counts(**of_images):
    return {**of_images, "no_words": 0, "unknown_words": 0, "unweighted": 0}


REFERENCES = {3: ["c"], 1: ["a"], 2: []}


def test_systems_are_scored_in_the_order_of_the_references():
    done = []
    scores = score_systems(
        [System("x", {1: "a", 2: "a b", 3: "a b c"}), System("y", {3: "", 2: "a", 1: "a b"})],
        {"LENGTH": Length()},
        REFERENCES,
        on_progress=done.append,
    )
    assert scores.to_json() == {
        "signatures": {"LENGTH": "LENGTH|version:1"},
        "systems": {
            "x": {
                "overall": {"LENGTH": 2.0},
                "counts": {"LENGTH": counts(scored=3, undefined=0)},
                "imgToEval": {
                    "3": {"image_id": 3, "LENGTH": 3.0},
                    "1": {"image_id": 1, "LENGTH": 1.0},
                    "2": {"image_id": 2, "LENGTH": 2.0},
                },
            },
            "y": {
                "overall": {"LENGTH": 1.5},
                "counts": {"LENGTH": counts(scored=2, undefined=1)},
                "imgToEval": {
                    "3": {"image_id": 3, "LENGTH": None},
                    "1": {"image_id": 1, "LENGTH": 2.0},
                    "2": {"image_id": 2, "LENGTH": 1.0},
                },
            },
        },
    }
    assert done == [3, 3]


def test_ids_of_all_systems_are_checked_before_any_is_scored():
    scorer = Length()
    systems = [System("x", {1: "a", 2: "a", 3: "a"}), System("y", {1: "a", 4: "a"})]
    with pytest.raises(
        ImageIdError,
        match=r"the reference side .* system 'y': 4; it has 3 .*: 3, 1, 2;",
    ):
        score_systems(systems, {"LENGTH": scorer}, REFERENCES)
    assert scorer.calls == 0


def test_two_names_of_one_image_are_refused():
    system = System("x", {1: "a", 2: "a", 3: "a", "000000000003": "b"})
    with pytest.raises(ImageIdError, match="two of its image ids mean the same image"):
        score_systems([system], {"LENGTH": Length()}, REFERENCES)


def test_two_systems_of_one_name_are_refused():
    systems = [System("x", {1: "a"}), System("x", {1: "b"})]
    with pytest.raises(VifidelError, match="two systems have the same name"):
        score_systems(systems, {"LENGTH": Length()})


def test_numpy_ids_become_json(tmp_path):
    scores = score_systems([System("x", {np.int64(7): "a"})], {"LENGTH": Length()})
    assert json.loads(json.dumps(scores.to_json()))["systems"]["x"]["imgToEval"] == {
        "7": {"image_id": 7, "LENGTH": 1.0}
    }


def test_without_references_the_captions_decide_which_images_there_are():
    scores = score_systems([System("x", {"b": "a", "a": "a b"})], {"LENGTH": Length()})
    assert scores.evaluations["x"]["LENGTH"].ids == ["b", "a"]


def test_a_failed_write_leaves_the_old_file_and_no_part(tmp_path, monkeypatch):
    target = tmp_path / "scores.json"
    target.write_text("old")

    def full_disk(source, destination):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(VifidelError, match=r"scores\.json: cannot be written: no space left"):
        write_whole(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
    assert target.read_text() == "old"


class Infinite(Length):
    def __init__(self, *scores, corpus_score=None):
        super().__init__()
        self._scores, self._corpus_score = scores, corpus_score

    def evaluate(self, gts, res, on_progress=None):
        return Evaluation(list(gts), np.array(self._scores), corpus_score=self._corpus_score)


@pytest.mark.parametrize(
    ("scorer", "which"),
    [
        (Infinite(0.5, -np.inf, np.inf), "of image 'b'"),
        (Infinite(0.5, np.nan, np.inf), "of image 3"),
        (Infinite(0.5, 0.5, 0.5, corpus_score=np.inf), "of the corpus"),
    ],
)
def test_an_infinite_score_is_refused(scorer, which):
    systems = [System("mine", {7: "a", "b": "a", 3: "a"})]
    with pytest.raises(VifidelError) as refused:
        score_systems(systems, {"LENGTH": Length(), "M": scorer})
    assert str(refused.value) == (
        f"M: the score {which} of system 'mine' is infinite; a scorer returns finite numbers, and "
        "NaN where a score is undefined."
    )


class Complaining(Length):
    """Warns of the references, and of candidates that say so."""

    def evaluate(self, gts, res, on_progress=None):
        warnings.warn("the references are odd.", VifidelWarning, stacklevel=2)
        if "odd" in str(res):
            warnings.warn("the captions are odd.", VifidelWarning, stacklevel=2)
        return super().evaluate(gts, res, on_progress)


def test_warnings_name_the_system_unless_all_have_them():
    systems = [System("x", {1: "odd"}), System("y", {1: "a"}), System("z", {1: "odd"})]
    with pytest.warns(VifidelWarning) as caught:
        score_systems(systems, {"LENGTH": Complaining()})
    assert [str(warning.message) for warning in caught] == [
        "the references are odd.",
        "systems 'x', 'z': the captions are odd.",
    ]
    with pytest.warns(VifidelWarning) as caught:
        score_systems(systems[:1], {"LENGTH": Complaining()})
    assert str(caught[1].message) == "the captions are odd."
