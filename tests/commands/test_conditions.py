"""Requirements on corpus scores: what they state, which fail, and the exit status of ``score``."""

import json
import math

import pytest

from vifidel_eval import VifidelError
from vifidel_eval.commands.paths import Condition, check_requirements, failures, requirement

SCORES = {"mine": {"VIFIDEL-Hi": 0.1, "F": 0.5}, "a: b": {"VIFIDEL-Hi": 0.2, "F": math.nan}}


@pytest.mark.parametrize(
    ("text", "system", "column", "sign", "number"),
    [
        ("VIFIDEL-Hi <= .1", None, "VIFIDEL-Hi", "<=", 0.1),
        ("mine:VIFIDEL-Hi<=.1", "mine", "VIFIDEL-Hi", "<=", 0.1),
        ("a b != 9007199254740993", None, "a b", "!=", 9007199254740993),
        (" a: b : F = 1 ", "a: b", "F", "==", 1),
    ],
)
def test_what_is_stated(text, system, column, sign, number):
    assert requirement(text) == Condition(column, sign, number, system)


@pytest.mark.parametrize(
    "text", ["", "VIFIDEL", "F > x", "mine: F", "F > nan", ">= 3", "F => 3", "F > 3 4"]
)
def test_what_states_nothing(text):
    with pytest.raises(VifidelError, match=r"is not a condition; expected a column"):
        requirement(text)


def test_a_colon_wants_a_name():
    with pytest.raises(VifidelError, match="': F > 1' lacks the name of a system"):
        requirement(": F > 1")


def failing(*texts):
    return failures(map(requirement, texts), SCORES)


def test_every_system_must_meet_it_and_an_undefined_score_never_does():
    assert failing("VIFIDEL-Hi <= .2", "mine: F > .4", "mine: F != 1") == []
    assert failing("VIFIDEL-Hi <= .1") == [
        "a: b: VIFIDEL-Hi is 0.2, but VIFIDEL-Hi <= 0.1 is required."
    ]
    assert failing("a: b: F >= 0", "a: b: F < 1", "a: b: F != 2") == [
        "a: b: F is undefined, but F >= 0 is required.",
        "a: b: F is undefined, but F < 1 is required.",
        "a: b: F is undefined, but F != 2 is required.",
    ]


def test_columns_and_systems_are_checked():
    check_requirements([requirement("mine: F > 0")], ["F"], ["mine"])
    with pytest.raises(VifidelError, match=r"there is no column 'G'\. The columns are F\."):
        check_requirements([requirement("G > 0")], ["F"], ["mine"])
    with pytest.raises(VifidelError, match=r"there is no system 'your'\. The systems are mine\."):
        check_requirements([requirement("your: F > 0")], ["F"], ["mine"])


@pytest.fixture
def score(tmp_path, run):
    """Run ``score`` on two captions under VIFIDEL with requirements; scores are printed as JSON."""
    (tmp_path / "captions.json").write_text(json.dumps({"1": "a dog", "2": "a cat"}))
    (tmp_path / "objects.json").write_text(json.dumps({"1": ["dog"], "2": ["dog"]}))

    def score(*required, objects="objects.json"):
        arguments = ["score", f"mine={tmp_path / 'captions.json'}", "--no-references"]
        arguments += ["--objects", str(tmp_path / objects), "--metrics", "VIFIDEL"]
        arguments += ["--format", "json"]
        for text in required:
            arguments += ["--require", text]
        return run(*arguments)

    return score


def test_exit_status(score):
    met = score("VIFIDEL > .2", "mine: VIFIDEL < 1")
    assert met.exit_code == 0
    failed = score("VIFIDEL > .2", "VIFIDEL >= .99")
    assert failed.exit_code == 3
    assert failed.stdout == met.stdout  # the scores are printed all the same
    number = json.loads(met.stdout)["systems"]["mine"]["overall"]["VIFIDEL"]
    assert f"mine: VIFIDEL is {number:.10g}, but VIFIDEL >= 0.99 is required." in failed.stderr
    for wrong in ("VIFIDEL", "CIDEr > 1", "yours: VIFIDEL > 0"):
        assert score(wrong).exit_code == 2
