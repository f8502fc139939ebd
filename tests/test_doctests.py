import doctest
import importlib
from pathlib import Path

import pytest

import vifidel_eval
from vifidel_eval import MetricUnavailable, annotations, scorers


def modules():
    """Yield the name of every module; in a checkout two packages lie beside the others."""
    for package in (vifidel_eval, annotations, scorers):
        folder = Path(package.__file__).parent
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join([package.__name__, *(part for part in parts if part != "__init__")])


MODULES = sorted({name for name in modules() if name != "vifidel_eval.__main__"})  # it runs


def test_every_package_is_looked_at():
    for package in ("annotations", "scorers", "plugins", "show", "kernels"):
        assert any(name.startswith(f"vifidel_eval.{package}.") for name in MODULES)


@pytest.mark.filterwarnings("ignore:vifidel_eval:DeprecationWarning")  # of modules that moved
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    try:
        module = importlib.import_module(name)
    except MetricUnavailable as problem:  # an adapter for a package that is not installed
        pytest.skip(f"needs {problem.__cause__.name}")
    except ModuleNotFoundError as problem:  # a network, which is imported once its library is there
        if problem.name.partition(".")[0] not in ("nltk", "torch", "transformers"):
            raise
        pytest.skip(f"needs {problem.name}")
    assert doctest.testmod(module).failed == 0
