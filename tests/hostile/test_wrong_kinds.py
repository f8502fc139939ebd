"""Every public function and constructor with every argument of every wrong kind.

The calls are made from the signatures. What counts: a `VifidelError`, whose message is one line, or
a result where the kind is not wrong after all. Nothing else may leave the package.
"""

import importlib
import inspect
import re
import shutil
from itertools import product

import pytest
from hostile.command import OBJECTS

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.doors.arguments import name_wrong_argument
from vifidel_eval.scorers import Bleu, Chair, Cider, Vifidel, VifidelD, VifidelH, VifidelPRF, Wmd
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

quiet = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

WRONG = {
    "None": None,
    "a number": 5,
    "NaN": float("nan"),
    "True": True,
    "text": "no such thing",
    "a null character": "no\0thing",
    "a lone surrogate": "no\ud800thing",
    "a name too long for files": 300 * "no such thing",
    "bytes": b"\xff",
    "a list": [5],
    "a set": {1},
    "a mapping": {"a": object()},
    "an object": object(),
    "a class": int,
    "a function": len,
}
# What no parameter takes: of the others, some are right somewhere.
NEVER_RIGHT = {"NaN", "bytes", "an object", "a class", "a list", "a set"}
# But image ids are numbers too, and of a list of sources the member is named.
RIGHT_HERE = {("image_ids", "a list"), ("image_ids", "a set"), ("source", "a list")}
PACKAGES = ["", *(f".{name}" for name in "annotations asking captions detect rewards".split())]
PACKAGES += [".scorers", ".vectors"]
# Right values of parameters that have no default.
RIGHT = {
    "source": "objects.json",
    "path": "objects.json",
    "caption": "a dog",
    "captions": ["a dog"],
    "objects": [["dog"]],
    "references": [["a dog"]],
}
OF_EVALUATE = {
    "systems": {"a": {1: "a dog"}, "b": {1: "a cat"}},
    "references": {1: ["one dog"]},
    "objects": {1: ["dog"]},
    "metrics": "VIFIDEL",
}
OF = {"vifidel_eval.evaluate": OF_EVALUATE}


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    """A current folder with a copy of what is read: some calls write."""
    shutil.copy(OBJECTS, tmp_path / "objects.json")
    monkeypatch.chdir(tmp_path)


def is_called(thing):
    if inspect.isclass(thing):
        return not issubclass(thing, BaseException) and not inspect.isabstract(thing)
    return callable(thing) and type(thing).__module__ != "typing"


def public():
    """Return every public function and class by its name."""
    result = {}
    for package in PACKAGES:
        module = importlib.import_module(f"vifidel_eval{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if is_called(thing) and thing not in result.values():
                result[f"{module.__name__}.{name}"] = thing
    return result


def methods():
    """Return what is called of scorers, by its name."""
    tokens = Tokenization(PythonTokenizer())
    scorers = [Vifidel(), VifidelPRF(), VifidelH(), VifidelD(), Wmd(), Chair()]
    return {
        f"{type(scorer).__name__}.{name}": getattr(scorer, name)
        for scorer in [*scorers, Bleu(tokens), Cider(tokens)]
        for name in ("score", "score_columns", "compute_score", "add_to", "rows")
    }


def given_to(name, function):
    """Return the names of arguments that are given by name, and right ones of those required."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        params = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin
        return [], {}
    params = [param for param in params if param.kind in named]
    required = {p.name: RIGHT.get(p.name, "x") for p in params if p.default is p.empty}
    return [param.name for param in params], required | OF.get(name, {})


def check(name, function):
    unnamed, works, (names, right) = [], True, given_to(name, function)
    try:
        function(**right)
    except Exception:  # whatever it lacks: two arguments may be wrong
        works = False
    for argument, (kind, value) in product(names, WRONG.items()):
        what = f"{name}, {argument}: {kind}"
        try:
            function(**{**right, argument: value})
        except VifidelError as problem:
            if not str(problem) or "\n" in str(problem):
                pytest.fail(f"{what}: {problem}")
            wrong = kind in NEVER_RIGHT and (argument, kind) not in RIGHT_HERE
            message = re.sub(r"[-_]", " ", str(problem))
            # A list of the wrong things: the sentence may say where it is wrong instead.
            placed = kind in ("a list", "a set") and re.match(r"(row|item|image) ", message)
            if works and wrong and not placed and argument.replace("_", " ") not in message:
                unnamed.append(f"{what} | {problem}")
        except Exception as problem:  # the class that must not be
            pytest.fail(f"{what}: {problem!r}")
    assert not unnamed, "\n".join(unnamed)


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("name", public())
@pytest.mark.usefixtures("in_a_folder")
def test_functions_and_constructors(name):
    check(name, public()[name])


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_methods_of_scorers(name):
    check(name, methods()[name])


@quiet
@pytest.mark.slow
@pytest.mark.usefixtures("in_a_folder")
def test_methods_of_a_run():
    run = vifidel_eval.evaluate(**OF_EVALUATE)
    for name, method in inspect.getmembers(run, callable):
        if not name.startswith("_"):
            check(f"Run.{name}", method)


@pytest.mark.parametrize("other", [5, None, "text", object()])
def test_add_to_something_else(other):
    with pytest.raises(VifidelError, match="add_to: coco_eval must be a finished COCOEvalCap run"):
        Vifidel().add_to(other)


def test_other_failures_stay_what_they_are():
    @name_wrong_argument
    def divided(number: int, by: int = 1) -> float:
        return number / by

    assert divided(4, by=2) == 2
    with pytest.raises(ZeroDivisionError):
        divided(1, by=0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'number'"):
        divided()
    with pytest.raises(VifidelError, match="divided: by must be int, not 'x'"):
        divided(1, by="x")
