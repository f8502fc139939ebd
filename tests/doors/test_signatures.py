"""What users can choose is in the signatures and docstrings of the doors, and nothing is forgotten.

Signatures are written out. Here they are compared with the records in which options are declared.
"""

import inspect
import re
from importlib.util import find_spec

import pytest

import vifidel_eval
from vifidel_eval import Scorer, scorers
from vifidel_eval.captions.fields import CaptionFields, Selection
from vifidel_eval.doors.arguments import options_of
from vifidel_eval.words.settings import OF_TABLES, Settings


def keyword_arguments(called, options):
    """Return names, defaults and annotations, in order: of a signature, and of options."""
    own = inspect.signature(called).parameters
    expected = [(option.name, option.default, kind) for option, kind in options]
    result = [(own[name].name, own[name].default, own[name].annotation) for name, *_ in expected]
    order = [name for name in own if name in {name for name, *_ in expected}]
    return result, expected, order


def declared(record, only=None):
    """Return the options of a record with their annotations, as texts."""
    options = options_of(record, only)
    return [(option, record.__annotations__[at]) for at, option in options.items()]


def described(called):
    """Return the parameters that a docstring lists, in order."""
    section = re.search(r"\nParameters\n-+\n(.*?)(\n\n\w|\Z)", inspect.getdoc(called), re.S)[1]
    entries = re.findall(r"^(\S.*?)(?: : .*)?$", section, re.M)
    return [name.lstrip("*") for entry in entries for name in entry.split(", ")]


def test_evaluate_takes_every_option_of_a_run():
    options = [*declared(Settings), *declared(Selection), *declared(CaptionFields)]
    result, expected, order = keyword_arguments(vifidel_eval.evaluate, options)
    # `objects` is one of its first arguments.
    assert [parameter for parameter in result if parameter[0] != "objects"] == [
        parameter for parameter in expected if parameter[0] != "objects"
    ]
    assert order[1:] == [name for name, *_ in expected[1:]]


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="PyArrow is not installed")
def test_table_scorer_takes_the_options_of_tables():
    from vifidel_eval.tables import TableScorer

    result, expected, order = keyword_arguments(TableScorer, declared(Settings, OF_TABLES))
    assert result == expected
    assert order == OF_TABLES
    assert described(TableScorer) == list(inspect.signature(TableScorer).parameters)


def test_docstrings_describe_every_argument_in_order():
    classes = [getattr(scorers, name) for name in scorers.__all__]
    metrics = [
        scorer
        for scorer in classes
        if isinstance(scorer, type) and issubclass(scorer, Scorer) and scorer != Scorer
    ]
    assert len(metrics) >= 14
    for called in (vifidel_eval.evaluate, *metrics):
        assert described(called) == list(inspect.signature(called).parameters), called
