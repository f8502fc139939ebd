import json
import warnings

import pytest
from fake_scorer import FakeScorer

from vifidel_eval import ImageIdError, MetricUnavailable, VifidelError, VifidelWarning
from vifidel_eval.evaluation import Column
from vifidel_eval.run.reading import with_labels
from vifidel_eval.scorers import Mean, Settings
from vifidel_eval.scorers.registry import build
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.scores_file import scores_text
from vifidel_eval.scores.systems import score_aligned
from vifidel_eval.show.score_tables import render


def length(name="LENGTH"):
    """Return a metric that counts words: enough to see which caption went where."""
    return FakeScorer(name, lambda caption, _: len(caption.split()) or float("nan"))


def document_of(scores):
    return json.loads(scores_text(scores))


REFERENCES = {3: ["c"], 1: ["a"], 2: []}


def test_a_metric_reports_what_it_counts_and_nothing_else():
    settings = with_labels(Settings(objects={1: ["dog"]}))
    names = ["VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "WMD", "BLEU", "ROUGE_L", "CIDEr", "CHAIR"]
    scorers, _ = build(names, settings)
    systems = [System("x", {1: "a dog"})]
    document = document_of(score_aligned(align(systems, {1: ["a dog runs"]}), scorers))
    common = ["scored", "missing", "undefined"]
    of_words = [*common, "no_words", "unknown_words"]
    counted = {
        "VIFIDEL": [*of_words, "unweighted"],
        "VIFIDEL-PRF": of_words,
        "VIFIDEL-H": [*common, "unknown_words", "unconfirmed"],
        "WMD": of_words,
        "CHAIR": [*common, "no_mentions", "incomplete"],
    }
    assert {name: list(of) for name, of in document["systems"]["x"]["counts"].items()} == {
        column.name: counted.get(name, common)
        for name, scorer in scorers.items()
        for column in scorer.columns
    }
    of_mean = score_aligned(
        align(systems), {"VIFIDEL+CIDEr": Mean(scorers["VIFIDEL"], scorers["CIDEr"])}
    )
    assert list(of_mean.counts("x")) == counted["VIFIDEL"]
    of_bleu = score_aligned(align(systems, {1: ["a dog runs"]}), {"BLEU": scorers["BLEU"]})
    assert list(of_bleu.counts("x")) == common
    assert render(of_bleu, "csv").splitlines()[0].endswith(",Bleu_4,Scored,Undefined")


def test_ids_of_all_systems_are_checked_before_any_is_scored():
    scorer = length()
    systems = [System("x", {1: "a", 2: "a", 3: "a"}), System("y", {1: "a", 4: "a"})]
    with pytest.raises(
        ImageIdError, match=r"the reference side .* system 'y': 4; it has 3 .*: 3, 1, 2;"
    ):
        score_aligned(align(systems, REFERENCES), {"LENGTH": scorer})
    assert scorer.calls == []


def test_two_names_of_one_image_are_refused():
    system = System("x", {1: "a", 2: "a", 3: "a", "000000000003": "b"})
    with pytest.raises(ImageIdError, match="two of its image ids mean the same image"):
        score_aligned(align([system], REFERENCES), {"LENGTH": length()})


def test_two_systems_of_one_name_are_refused():
    systems = [System("x", {1: "a"}), System("x", {1: "b"})]
    with pytest.raises(VifidelError, match="two systems have the same name"):
        score_aligned(align(systems), {"LENGTH": length()})


class Complaining(FakeScorer):
    """Warns of the references, and of candidates that say so."""

    def _evaluate(self, rows, on_progress):
        warnings.warn("the references are odd.", VifidelWarning, stacklevel=2)
        if "odd" in rows.captions:
            warnings.warn("the captions are odd.", VifidelWarning, stacklevel=2)
        return super()._evaluate(rows, on_progress)


def test_warnings_name_the_system_unless_all_have_them():
    systems = [System("x", {1: "odd"}), System("y", {1: "a"}), System("z", {1: "odd"})]
    with pytest.warns(VifidelWarning) as caught:
        score_aligned(align(systems), {"FAKE": Complaining()})
    assert [str(warning.message) for warning in caught] == [
        "the references are odd.",
        "systems 'x', 'z': the captions are odd.",
    ]
    with pytest.warns(VifidelWarning) as caught:
        score_aligned(align(systems[:1]), {"FAKE": Complaining()})
    assert str(caught[1].message) == "the captions are odd."
    with pytest.warns(VifidelWarning) as caught:
        score_aligned(
            align([systems[0], systems[2]]), {"A": Complaining("A"), "B": Complaining("B")}
        )
    assert len(caught) == len({str(warning.message) for warning in caught}) == 2


class Judging(FakeScorer):
    """Judges a run by how many rows it has in all."""

    def judge(self, evaluations):
        rows = sum(len(evaluation.ids) for evaluation in evaluations)
        if rows > 3:
            raise VifidelError(f"{rows} rows are too many.")


def test_a_run_is_judged_as_a_whole():
    systems = [System("x", {1: "a", 2: "b"}), System("y", {1: "a", 2: "b"})]
    score_aligned(align(systems[:1]), {"FAKE": Judging()})
    with pytest.raises(VifidelError, match="4 rows are too many"):
        score_aligned(align(systems), {"FAKE": Judging()})


def test_columns_of_two_metrics_with_one_name_are_both_there():
    columns = [Column("X_1"), Column("X_2")]
    metrics = {
        "one": FakeScorer("X", lambda *_: (1.0, 2.0), columns),
        "other": FakeScorer("X", lambda *_: (3.0, 4.0), columns),
    }
    scores = score_aligned(align([System("x", {1: "a"})]), metrics)
    overall = document_of(scores)["systems"]["x"]["overall"]
    assert overall == {"X_1": 1, "X_2": 2, "other X_1": 3, "other X_2": 4}


def test_a_metric_that_fails_is_not_tried_again_for_its_combinations():
    good = FakeScorer("A", lambda *_: 0.5)
    bad = FakeScorer("B", problem=MetricUnavailable("its download failed."))
    scores = score_aligned(
        align([System("x", {1: "a"})]), {"B": bad, "A": good, "A+B": Mean(good, bad)}
    )
    assert list(scores.evaluations["x"]) == ["A"]
    assert list(scores.unavailable) == ["B", "A+B"]
    assert {str(why) for why in scores.unavailable.values()} == {"its download failed."}
    assert len(bad.calls) == 1
    with pytest.raises(MetricUnavailable, match="its download failed"):
        score_aligned(align([System("x", {1: "a"})]), {"B": bad})


def test_a_signature_is_of_the_images_of_all_systems():
    class OfImages(FakeScorer):
        def signature(self, image_ids=None):
            return f"FAKE|images:{sorted(image_ids or ())}"

    systems = [System("x", {1: "a", 2: "b"}), System("y", {3: "a"})]
    scores = score_aligned(align(systems, {i: [] for i in (3, 1, 2)}), {"FAKE": OfImages()})
    assert scores.signatures == {"FAKE": "FAKE|images:[1, 2, 3]|captions:answers-1"}
    for name in "xy":
        assert scores.evaluations[name]["FAKE"].signature == scores.signatures["FAKE"]
