import doctest
import importlib
import pkgutil

import pytest

import vifidel_eval

MODULES = ["vifidel_eval"] + [
    f"vifidel_eval.{name}"
    for name in (
        *(m.name for m in pkgutil.iter_modules([vifidel_eval.__path__[0]])),
        *(
            f"{package}.{m.name}"
            for package in ("annotations", "scorers")
            for m in pkgutil.iter_modules(
                importlib.import_module(f"vifidel_eval.{package}").__path__
            )
        ),
    )
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
