"""The registry: what joins it, in which order, and packages that are broken or at odds."""

import re
import sys
import warnings

import pytest
from fake_scorer import FakeScorer
from own_metric import package

import vifidel_eval
from vifidel_eval import Column, Metric, VifidelError, VifidelWarning, register
from vifidel_eval.scorers import Option
from vifidel_eval.scorers.registry import METRICS, parse

METRICS.load()  # those of our plug-ins
RANKED = list(METRICS)


def record(name, scorer=FakeScorer, **fields):
    return Metric(name, "A metric.", scorer, lambda settings: scorer(name), **fields)


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Restore the registry afterwards, and look for packages in a folder of the test's own."""
    monkeypatch.setattr(METRICS, "data", dict(METRICS))
    monkeypatch.setattr(METRICS, "_problems", dict(METRICS._problems))
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def module(name, body=""):
    """Return the text of a module that registers a metric."""
    return f"""\
from vifidel_eval import Metric, Scorer, register

class One(Scorer):
    def method(self):
        return {name!r}

    def signature(self, image_ids=None):
        return {name!r}

    def _evaluate(self, rows, on_progress):
        raise NotImplementedError

{body}
register(Metric({name!r}, "A metric", One, lambda settings: One(), references=False))
"""


def test_a_registered_metric_follows_those_of_this_package_whatever_came_first():
    register(record("ZETA"))
    register(record("ALPHA"))
    register(record("FIRST", rank=1))
    assert [name for name in METRICS if name in RANKED] == RANKED
    first, *others = METRICS
    assert (first, others[-1]) == ("FIRST", "ZETA")
    assert others.index("VIFIDEL") < others.index("ALPHA")
    assert parse("zeta,Alpha") == ["ZETA", "ALPHA"]


def test_a_column_and_its_direction_are_said_by_the_class():
    class Lower(FakeScorer):
        columns = (Column("A", True), Column("B"))

        def __init__(self, name):
            super().__init__(name)

    assert record("X").columns == (Column("X"),)
    assert record("X", Lower).columns == Lower.columns
    assert record("X", Lower).main == Column("B")


def test_a_cell_that_runs_again_registers_its_metric_again():
    register(record("MINE", spellings=("OURS",)))
    again = record("MINE")
    register(again)
    assert METRICS["MINE"] is again
    assert "ours" not in METRICS.spellings


class OfInstance(FakeScorer):
    columns = property(lambda self: (Column("X"),))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (record("X", OfInstance), "X: columns is a tuple of Columns, of its class, so that help"),
        ("VIFIDEL", "register takes a Metric, not 'VIFIDEL'."),
        (record("vifidel"),
         "there is a metric or column vifidel already (vifidel_eval.scorers.vifidel); give"),
        (record("X", spellings=("prf",)),
         "there is a metric or column prf already (vifidel_eval.scorers.vif"),
        (record("A+B"), "a metric cannot be called 'A+B': a name has no blank, comma, plus, bar"),
        (record(""),
         "a metric cannot be called '': a name has no blank, comma, plus, bar or paren"),
        (record("Default"), "a metric cannot be called 'Default': that means the defaults."),
        (record("X-1", options=(Option("seed", "A seed."),)), "X-1: the option 'seed' could clash"),
        (record("VILBERT", options=(Option("vilbert_layer", "?"),)),
         "VILBERT: the option 'vilbert_"),
        (Metric("X", "?", lambda: 1, print), "X: scorer is a Scorer's class, not <function"),
    ],
)  # fmt: skip
def test_what_cannot_be_registered_is_one_sentence(wrong, expected):
    with pytest.raises(VifidelError, match=re.escape(expected)):
        register(wrong)
    assert list(METRICS) == RANKED


def test_an_option_begins_with_the_name_or_is_that_of_another_metric():
    things = next(option for option in METRICS.options() if option.name == "things")
    register(record("X-1", options=(Option("x_1_seed", "A seed."), things)))
    assert [option.name for option in METRICS["X-1"].options] == ["x_1_seed", "things"]


def test_a_package_is_imported_when_its_metric_is_named(tmp_path):
    package(tmp_path, "Mine", "my_metric", module("Mine"))
    assert "Mine" in METRICS.waiting()
    assert parse("WMD,rouge-l") == ["WMD", "ROUGE_L"]
    assert "my_metric" not in sys.modules
    assert parse("mine") == ["Mine"]
    assert "my_metric" in sys.modules
    assert "Mine" not in METRICS.waiting()


BROKEN = {
    "of_error": ("1 / 0\n", "importing of_error fails (ZeroDivisionError: division by zero)"),
    "of_syntax": ("def\n", "importing of_syntax fails (SyntaxError: invalid syntax"),
    "of_import": ("import nothing_like_it\n",
        "fails (ModuleNotFoundError: No module named 'nothing"),
    "of_exit": ("raise SystemExit(3)\n", "importing of_exit fails (SystemExit: 3)"),
    "of_silence": ("", "importing of_silence registers no metric of that name"),
    "of_name": (module("Other"), "importing of_name registers no metric of that name"),
    "of_clash": (module("WMD"),
        "(VifidelError: there is a metric or column WMD already (vifidel_eval.scorers."),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_package_is_one_sentence_and_breaks_nothing_else(tmp_path, broken):
    content, why = BROKEN[broken]
    package(tmp_path, "BROKEN", broken, content, name="some-package")
    package(tmp_path, "Mine", "my_metric", module("Mine"))
    assert parse("Mine,WMD") == ["Mine", "WMD"]
    for _ in range(2):
        with pytest.raises(VifidelError) as raised:
            parse("WMD,broken")
        message = str(raised.value)
        assert message.startswith("the metric BROKEN of the package some-package cannot be used: ")
        assert why in message
        assert message.endswith("; update or uninstall that package.")
        assert "\n" not in message
    with pytest.raises(VifidelError, match=r"there is no metric 'VIFDEL'. Did you mean VIFIDEL"):
        parse("VIFDEL")
    run = vifidel_eval.evaluate({"x": {1: "a dog"}}, objects={1: ["dog"]}, metrics="VIFIDEL")
    assert run.scores["x"]["VIFIDEL"] > 0


def test_a_broken_package_is_warned_of_once_where_all_are_imported(tmp_path):
    package(tmp_path, "BROKEN", "of_error", "1 / 0\n", name="some-package")
    with pytest.warns(
        VifidelWarning, match=r"^the metric BROKEN of the package some-package cannot"
    ):
        METRICS.load()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(METRICS.load()) == ["BROKEN"]
        assert "WMD" in METRICS


def test_two_packages_with_a_metric_of_one_name(tmp_path):
    package(tmp_path, "Mine", "one_metric", module("Mine"), name="zeta")
    package(tmp_path, "MINE", "other_metric", module("MINE"), name="alpha")
    message = (
        "the packages alpha and zeta each have a metric MINE; uninstall all but one of them to use"
    )
    with pytest.raises(VifidelError, match=re.escape(message)):
        parse("Mine")
    assert "one_metric" not in sys.modules
    assert parse("WMD") == ["WMD"]


def test_default_stands_for_the_default_metrics_among_others():
    systems = {"a": {1: "a dog", 2: "a cat"}}
    references, objects = {1: ["a pet"], 2: ["an animal"]}, {1: ["dog"], 2: ["cat"]}

    def columns(metrics, **given):
        run = vifidel_eval.evaluate(systems, metrics=metrics, progress=False, **given)
        return run.columns

    usual = columns(None, references=references, objects=objects)
    named = columns("Default, CHAIR", references=references, objects=objects)
    assert named[: len(usual)] == usual
    assert [name for name in named if name not in usual][:1] == ["CHAIRs"]
    assert columns(["CHAIR", "default"], objects=objects)[0] == "CHAIRs"
    assert columns(["default", "VIFIDEL"], objects=objects) == columns(None, objects=objects)
