"""Arguments of a wrong kind are named, and a scorer's repr says what it was given."""

import importlib
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from vifidel_eval import Scorer, Vifidel, VifidelError, evaluate, scorers
from vifidel_eval.doors.arguments import constructor, name_wrong_argument

DOORS = (".annotations", ".captions", ".run", ".vectors", ".words.content_words")


class Length(Scorer):
    """Somebody else's metric."""

    @constructor
    def __init__(self, weight: int = 1, names: object = None) -> None:
        super().__init__()
        self.weighted = 1 / weight

    def method(self):
        return "LENGTH"

    def signature(self, image_ids=None):
        return "LENGTH"

    def _evaluate(self, rows, on_progress):
        return {}


class Longer(Length):
    """A metric that is derived from it."""

    @constructor
    def __init__(self, more: float = 0.5) -> None:
        super().__init__(weight=3)


def doors():
    """Return what names a wrong argument: functions of the rooms that users call, and scorers."""
    modules = [importlib.import_module(f"vifidel_eval{name}") for name in DOORS]
    functions = [function for module in modules for function in vars(module).values()]
    classes = [getattr(scorers, name) for name in scorers.__all__]
    return {
        function
        for function in [*functions, *(of.__init__ for of in classes if inspect.isclass(of))]
        if inspect.isfunction(function) and hasattr(function, "__wrapped__")
        if ".io." not in function.__module__  # context managers, which users do not call
    }


def test_what_every_argument_stands_for_is_known():
    result = doors()
    assert {"read_objects", "read_results", "evaluate", "load", "load_vectors"} <= {
        function.__name__ for function in result
    }
    for door in result:
        assert inspect.get_annotations(door, eval_str=True), door


def test_a_constructor_names_its_argument_and_that_of_the_class_above():
    with pytest.raises(VifidelError, match=r"^Length: weight must be int, not 'x'\.$"):
        Length("x")
    with pytest.raises(VifidelError, match=r"^normalize must be True or False, not \[5\]\.$"):
        Vifidel(normalize=[5])
    with pytest.raises(TypeError, match=r"^Longer\.__init__\(\) .*unexpected .* 'wieght'$"):
        Longer(wieght=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scorers.VifidelPRF(references="r.json"), "references must be True or False"),
        (lambda: scorers.Chair(references="r.json"), "references must be True or False"),
        (lambda: Vifidel(counts="no"), "counts must be True or False, not 'no'"),
        (lambda: evaluate({"a": {1: "a"}}, weighted=[]), "weighted must be True or False"),
        (lambda: evaluate({"a": {1: "a"}}, samples=5), "samples must be True or False, not 5"),
        (
            lambda: evaluate({"a": {1: "a"}}, objects={1: ["a"]}, looked_for=3),
            r"evaluate: looked_for must be str \| PathLike\[str\] \| Collection\[str\] \| ",
        ),
        (
            lambda: scorers.VifidelH(things=Path("a"), only_things=Path("b")),
            "only_things: b: no such file",
        ),
    ],
)
def test_an_argument_is_named_as_the_user_knows_it(call, message):
    with pytest.raises(VifidelError, match=f"^{message}"):
        call()


@name_wrong_argument
def weighted(
    weights: Sequence[float] = (),
    shares: Mapping[str, float] = {},
    options: Mapping = {},
    key: Callable[[int], int] = abs,
    most: int = 1,
) -> None:
    """Fail, so that the first argument of a wrong kind is named."""
    raise TypeError("does not fit")


@pytest.mark.parametrize(
    ("wrong", "given"),
    [
        ("weights", {"weights": [1, "x"], "most": "x"}),
        ("weights", {"weights": "12", "most": "x"}),
        ("shares", {"shares": {"a": 1, "b": "x"}, "most": "x"}),
        ("shares", {"shares": {1: 1}, "most": "x"}),
        ("most", {"weights": [1, 2.5], "shares": {"a": 1}, "options": {1: "x"}, "most": "x"}),
        ("most", {"weights": np.array(1.0), "key": len, "most": "x"}),
    ],
)
def test_the_first_argument_of_which_a_member_is_wrong_is_named(wrong, given):
    with pytest.raises(VifidelError, match=f"^weighted: {wrong} must be "):
        weighted(**given)
    right = {name: value for name, value in given.items() if name != "most"}
    if wrong == "most":  # no argument is to blame
        with pytest.raises(TypeError, match="does not fit"):
            weighted(**right)


def test_repr_says_what_was_given_and_is_no_default():
    assert repr(Length()) == repr(Length(1)) == "Length()"
    assert repr(Length(2, names=[1])) == "Length(weight=2, names=list(...))"
    assert repr(Longer(more=2)) == "Longer(more=2)"
    assert repr(pickle.loads(pickle.dumps(Vifidel(p=1).as_written()))) == (
        "Vifidel(p=1).as_written()"
    )


def test_completion_lists_what_users_call():
    listed = {name for name in dir(Vifidel()) if not name.startswith("_")}
    assert listed == {
        *("score", "score_columns", "compute_score", "add_to", "as_written", "by_column"),
        *("explain", "explanations", "objects", "looked_for", "columns", "method", "signature"),
    }


def test_a_metric_without_columns_has_one_of_its_name():
    assert [column.name for column in Length().columns] == ["LENGTH"]
    assert [column.name for column in scorers.Wmd("mean").columns] == ["WMD-mean"]
