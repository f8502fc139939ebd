import numpy as np
import pytest

from vifidel_eval import MetricUnavailable, VifidelError
from vifidel_eval.metrics import build, parse
from vifidel_eval.report.score_tables import render
from vifidel_eval.runs.harness import System, score_systems
from vifidel_eval.scorers import Evaluation, Mean, Scorer
from vifidel_eval.text_tables import FORMATS


class Constant(Scorer):
    def __init__(self, name, columns=(0.5,), problem=None):
        self.name, self.columns, self.problem = name, columns, problem
        self.calls = 0

    def method(self):
        return self.name

    def signature(self):
        return f"{self.name}|x"

    def evaluate(self, gts, res, on_progress=None):
        self.calls += 1
        if self.problem:
            raise MetricUnavailable(self.problem)
        return Evaluation(list(gts), np.full(len(gts), self.columns[-1]))

    def evaluate_columns(self, gts, res, on_progress=None):
        if len(self.columns) == 1:
            return super().evaluate_columns(gts, res, on_progress)
        return {
            f"{self.name}_{at}": Evaluation(list(gts), np.full(len(gts), value), corpus_score=9.0)
            for at, value in enumerate(self.columns, 1)
        }


def test_names_are_found_in_any_case_and_written_as_papers_do():
    assert parse("vifidel,CIDER + vifidel, rouge_l,VIFIDEL") == [
        "VIFIDEL", "CIDEr+VIFIDEL", "ROUGE_L",
    ]  # fmt: skip
    with pytest.raises(VifidelError, match="no metric 'spider'; there is VIFIDEL, WMD"):
        parse("CIDEr,WMD+spider")


def test_scorers_are_made_once_and_the_unavailable_named():
    made = []

    def make(name):
        def maker():
            made.append(name)
            if name == "SPICE":
                raise MetricUnavailable("SPICE has no Java.")
            return Constant(name)

        return maker

    makers = {name: make(name) for name in ("WMD", "SPICE", "METEOR", "VIFIDEL", "CIDEr")}
    names = ["WMD", "WMD+SPICE+METEOR", "VIFIDEL+CIDEr", "SPICE", "CIDEr"]
    scorers, unavailable = build(names, makers)
    assert list(scorers) == ["WMD", "VIFIDEL+CIDEr", "CIDEr"]
    assert isinstance(scorers["VIFIDEL+CIDEr"], Mean)
    assert unavailable == dict.fromkeys(["WMD+SPICE+METEOR", "SPICE"], "SPICE has no Java.")
    assert made == ["WMD", "SPICE", "VIFIDEL", "CIDEr"]


def test_only_kilickayas_combination_is_scaled():
    makers = {name: lambda name=name: Constant(name) for name in ("WMD", "SPICE", "METEOR", "LM")}
    scorers, _ = build(["METEOR+WMD+SPICE", "WMD+LM"], makers)
    assert "|scaled:run|" in scorers["METEOR+WMD+SPICE"].signature()
    assert "|scaled:no|" in scorers["WMD+LM"].signature()


SYSTEMS = [System("x", {1: "a", 2: "b"}), System("y", {1: "a", 2: "b"})]


def test_columns_of_a_metric_and_metrics_that_fail():
    good, bad = Constant("BLEU", (0.1, 0.2)), Constant("SPICE", problem="its download failed.")
    scorers = {"SPICE": bad, "BLEU": good, "BLEU+SPICE": Mean(good, bad), "A+B": Mean(good, good)}
    scores = score_systems(SYSTEMS, scorers)
    assert list(scores.evaluations["y"]) == ["BLEU_1", "BLEU_2", "A+B"]
    assert scores.evaluations["x"]["BLEU_1"].score == 9.0  # its own corpus score
    assert scores.evaluations["x"]["A+B"].score == pytest.approx(0.2)
    assert scores.unavailable == dict.fromkeys(["SPICE", "BLEU+SPICE"], "its download failed.")
    assert scores.to_json()["unavailable"] == scores.unavailable
    assert bad.calls == 1  # a metric that failed is not tried again for its combinations
    for style in FORMATS:
        text = render(scores, style)
        assert ("its download failed." in text) == (style != "csv")
        assert "9.0" in text


def test_no_metric_at_all_is_an_error():
    with pytest.raises(MetricUnavailable, match="its download failed"):
        score_systems(SYSTEMS, {"SPICE": Constant("SPICE", problem="its download failed.")})
