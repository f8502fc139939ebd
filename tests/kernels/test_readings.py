"""The metrics of a run that read words alike read each text once, and say what they say alone."""

from __future__ import annotations

import pytest

from vifidel_eval import Vifidel
from vifidel_eval.captions.rows import Rows
from vifidel_eval.kernels import lexicon
from vifidel_eval.scorers import VifidelH, VifidelPRF, Wmd
from vifidel_eval.scores.systems import score_rows

OBJECTS = {1: ["dog", "frisbee", "dog"], 2: ["cat", "hot dog"], 3: ["car"], 4: []}
REFERENCES = [
    ["a dog catches a frisbee", "the puppy jumps over grass"],
    ["a cat beside a snack", "two kittens sleep", "qwzxv on the sofa"],
    ["a taxi drives along the street"],
    [],
]
CAPTIONS = {
    "good": ["a puppy and its toy", "a cat eats", "a car on the road", "a quiet room"],
    "bad": ["seven zebras", "an airplane lands", "qwzxv qwzxv qwzxw", "!!!"],
}


def systems() -> dict[str, Rows]:
    return {
        name: Rows(list(captions), [list(refs) for refs in REFERENCES], list(OBJECTS))
        for name, captions in CAPTIONS.items()
    }


def scorers():
    return {
        "VIFIDEL": Vifidel(OBJECTS),
        "VIFIDEL-PRF": VifidelPRF(OBJECTS),
        "VIFIDEL-H": VifidelH(OBJECTS),
        "WMD": Wmd(),
        "WMD-worst": Wmd("worst"),
        "WMD-mean": Wmd("mean"),
    }


def contents(evaluations):
    """Return everything that evaluations say, in a shape that compares."""
    return {
        column: (
            e.scores.tobytes(),
            e.score,
            dict(e.counts),
            {what: (tally.words, tally.unknown) for what, tally in e.tallies.items()},
            {name: list(values) for name, values in e.details.items()},
        )
        for column, e in evaluations.items()
    }


def contents_alone():
    """Return what each metric says of each system outside a run, each with new lexicons."""
    alone = {}
    for name, rows in systems().items():
        alone[name] = {}
        for metric in scorers():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lexicon, "_SPACES", {})
                alone[name] |= contents(scorers()[metric].evaluate(rows))
    return alone


def contents_in_run(**settings):
    scores = score_rows(systems(), settings.pop("scorers", None) or scorers(), **settings)
    return {name: contents(columns) for name, columns in scores.evaluations.items()}


def test_scores_counts_and_details_are_those_of_each_metric_alone():
    assert contents_in_run() == contents_alone()


def test_a_lexicon_that_is_always_full_changes_no_bit(monkeypatch):
    expected = contents_alone()
    monkeypatch.setattr(lexicon, "CAPACITY", 10)
    monkeypatch.setattr(lexicon, "_SLOT_BITS", 2)
    monkeypatch.setattr(lexicon, "_SPACES", {})
    assert contents_in_run() == expected


def test_a_lexicon_that_fills_up_between_parts_changes_no_bit(monkeypatch):
    expected = contents_alone()
    monkeypatch.setattr(lexicon, "CAPACITY", 24)
    monkeypatch.setattr("vifidel_eval.scorers.word_vectors._ROWS_AT_ONCE", 1)
    monkeypatch.setattr(lexicon, "_SPACES", {})
    assert contents_in_run() == expected


@pytest.mark.parametrize("change", ["a caption", "a reference", "the objects"])
def test_lists_that_change_during_a_run_are_read_again(change):
    def changed(rows: Rows) -> Rows:
        if change == "a caption":
            rows.captions[0] = "a cat and a frisbee"
        elif change == "a reference":
            rows.references[0][0] = "a zebra catches a frisbee"
        else:
            rows.objects[0]["zebra"] = 2
        return rows

    def rows_of(name: str) -> Rows:
        rows = systems()[name]
        return Rows(rows.captions, rows.references, None, [{"dog": 1} for _ in rows.captions])

    def two_scorers():
        return {"VIFIDEL": Vifidel(), "again": Vifidel()}

    rows = rows_of("good")
    first = score_rows({"good": rows}, {"VIFIDEL": Vifidel()}).evaluations["good"]
    second = score_rows({"good": changed(rows_of("good"))}, {"VIFIDEL": Vifidel()})

    def between(metric: str) -> None:
        if metric == "again":
            changed(rows)

    found = score_rows({"good": rows}, two_scorers(), on_metric=between).evaluations["good"]
    assert contents({"VIFIDEL": found["VIFIDEL"]}) == contents(first)
    assert (
        contents({"VIFIDEL": found["again"]})
        == contents(second.evaluations["good"])
        != contents(first)
    )
