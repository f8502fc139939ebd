"""Metrics by name: which can be computed, and the scorers of a run; a count in every output."""

import pytest
from fake_scorer import FakeScorer

from vifidel_eval import VifidelError
from vifidel_eval.scorers import Metric, Option, Settings
from vifidel_eval.scorers.registry import METRICS, check_needs, defaults, lacking, parse


def record(name, make=None, **needs):
    """Return the record of a metric that needs nothing but what is said."""
    make = make or (lambda settings: FakeScorer(name))
    return Metric(name, "A metric.", FakeScorer, make, **{"references": False, **needs})


@pytest.fixture
def register(monkeypatch):
    """Add records to the registry, or put them in the place of others."""

    def register(*records):
        monkeypatch.setattr(METRICS, "data", {**METRICS, **{one.name: one for one in records}})

    return register


def test_names_are_found_in_any_case_and_written_as_papers_do():
    assert parse("vifidel,CIDER + vifidel, rouge-l,VIFIDEL,wmd-BEST") == [
        "VIFIDEL", "CIDEr+VIFIDEL", "ROUGE_L", "WMD",
    ]  # fmt: skip


def test_what_a_metric_lacks_is_said_in_the_words_of_the_caller(register):
    files = (Option("a_file", "A file.", required=True), Option("b_file", "B.", required=True))
    register(record("FILES", options=files), record("GOLD", references=True, objects=True))
    nothing = Settings(references=False)
    assert lacking(METRICS["GOLD"], nothing) == ["references", "objects"]
    with pytest.raises(VifidelError, match=r"^GOLD needs references= and objects=; give them, or"):
        check_needs(["GOLD"], nothing, lambda name: f"{name}=")
    with pytest.raises(VifidelError, match=r"^FILES needs b_file; give it, or name other metrics"):
        check_needs(["FILES"], Settings(options={"a_file": "x"}), str)
    check_needs(["FILES"], Settings(options={"a_file": "x", "b_file": "y"}), str)


def test_defaults_are_those_that_have_what_they_need():
    reference_metrics = ["WMD", "BLEU", "ROUGE_L", "CIDEr"]
    assert defaults(Settings(objects={})) == ["VIFIDEL", "VIFIDEL-PRF", *reference_metrics]
    assert defaults(Settings()) == ["VIFIDEL-PRF", *reference_metrics]
    assert defaults(Settings(objects={}, references=False)) == ["VIFIDEL", "VIFIDEL-PRF"]
    assert defaults(Settings(references=False)) == []
