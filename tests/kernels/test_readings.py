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


def contents_in_run():
    scores = score_rows(systems(), scorers())
    return {name: contents(columns) for name, columns in scores.evaluations.items()}


def test_scores_counts_and_details_are_those_of_each_metric_alone():
    assert contents_in_run() == contents_alone()


#: A lexicon that is always full, and one that fills up between parts of the rows.
FULL = {"lexicon.CAPACITY": 10, "lexicon._SLOT_BITS": 2}
FILLED = {"lexicon.CAPACITY": 24, "word_vectors._ROWS_AT_ONCE": 1}


@pytest.mark.parametrize("sizes", [FULL, FILLED])
def test_no_size_of_a_lexicon_changes_a_bit(monkeypatch, sizes):
    expected = contents_alone()
    for name, size in {**sizes, "lexicon._SPACES": {}}.items():
        room = "scorers" if name.startswith("word_vectors") else "kernels"
        monkeypatch.setattr(f"vifidel_eval.{room}.{name}", size)
    assert contents_in_run() == expected
