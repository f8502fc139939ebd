"""The network simplex of POT, without the package around it.

The checks around `ot.emd` take eight times as long as problems of a caption's size, and importing
`ot` takes a second: it loads SciPy's statistics, networkx, and PyTorch where that is installed. The
compiled solver inside needs none of them. It is not documented, so it is used only if it solves a
known problem as it did.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..evaluation import Floats

#: From left masses, right masses and costs to the plan.
Solver: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

# Far more pivots than bags of words can need; POT's default gives up at a tenth of it.
_MOST_PIVOTS = 1_000_000
_OPTIMAL = 1  # POT's code for a finished solution
_COMPILED = "ot.lp.emd_wrap"
_loading = Lock()


@cache
def simplex() -> Solver:
    """Return POT's exact network simplex."""

    def direct(left: Floats, right: Floats, costs: Floats) -> Floats:
        plan: Floats
        plan, _, _, _, outcome = compiled(left, right, costs, _MOST_PIVOTS, 1)
        if outcome != _OPTIMAL:
            raise ArithmeticError(f"POT found no optimal plan: outcome {outcome}")
        return plan

    try:
        with _loading:
            compiled = _compiled_alone().emd_c
        known = direct(np.array([0.5, 0.5]), np.array([0.25, 0.75]), np.array([[0.0, 1], [1, 0]]))
        if np.array_equal(known, [[0.25, 0.25], [0, 0.5]]):
            return direct
    except Exception:  # another release of POT: whatever its solver says, ot.emd is documented
        pass
    return _checked


def _checked(left: Floats, right: Floats, costs: Floats) -> Floats:
    import ot

    plan: Floats
    plan, log = ot.emd(left, right, costs, numItermax=_MOST_PIVOTS, log=True)
    if log["warning"] is not None:
        raise ArithmeticError(f"POT found no optimal plan: {log['warning']}")
    return plan


def _compiled_alone() -> Any:
    """Return the module of the compiled solver; `import ot` still works as ever afterwards."""
    loaded = sys.modules.get(_COMPILED)
    if loaded is not None:
        return loaded
    package = find_spec("ot")
    folders = package.submodule_search_locations if package else None
    # By this name, what it imports from `..utils` is the module below.
    spec = PathFinder.find_spec(
        f"{__name__}.lp.emd_wrap", [str(Path(folder, "lp")) for folder in folders or ()]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{_COMPILED} was not found")
    utils = ModuleType(f"{__name__}.utils")
    vars(utils)["dist"] = _dist
    sys.modules[utils.__name__] = utils
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        del sys.modules[utils.__name__]
        sys.modules.pop(_COMPILED, None)  # where Cython puts it, and `import ot` would stumble
    return module


def _dist(*args: Any, **kwargs: Any) -> Any:
    """Return what `ot.utils.dist` does: the solver shares its module with all who import `ot`."""
    from ot.utils import dist

    return dist(*args, **kwargs)
