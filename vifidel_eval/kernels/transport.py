"""Exact optimal transport between bags of words: Eq. 1, 2, 3 and 5 of the VIFIDEL paper.

The solver is POT's network simplex without the package around it, whose checks take eight times as
long as a caption, and whose import a second. It is not documented: it is used only if it solves a
known problem as it did. Empty bags would crash it, infinite costs make it wrong without a word.
"""

from __future__ import annotations

import math
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

from ..errors import VifidelError
from ..evaluation import Floats
from .bags import Bags, meetings, slices
from .lexicon import WordDistances

#: From left masses, right masses and costs to the plan.
Solver: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

# Far more pivots than bags of words can need; POT's default gives up at a tenth of it.
_MOST_PIVOTS = 1_000_000
_OPTIMAL = 1  # POT's code for a finished solution
_COMPILED = "ot.lp.emd_wrap"
_loading = Lock()
# Less mass than this is what subtractions in the simplex leave behind (4e-17), not a move.
_ROUNDING = 1e-12


def check_exponent(p: Any) -> int:
    """Return the exponent of the travel cost (Eq. 1); a VifidelError if it is neither 1 nor 2."""
    if not isinstance(p, int | float | np.integer) or p not in (1, 2):
        raise VifidelError(f"p must be 1 or 2, not {p!r}.")
    return int(p)


def travel_costs(
    distances: WordDistances,
    left: Bags,
    right: Bags,
    p: int,
    left_penalties: Floats,
    right_penalties: Floats,
) -> Floats:
    """Return c'(i, j) = ||rho_i x_i - rho_j x_j||^p (Eq. 5) of pairs, in the order of `meetings`.

    By this way of writing it, a word costs exactly nothing to move onto itself.
    """
    left_at, right_at = meetings(left, right)
    i, j = left.atoms[left_at], right.atoms[right_at]
    a, b = left_penalties[left_at], right_penalties[right_at]
    lengths = distances.squared_lengths
    apart = (a - b) * (a * lengths[i] - b * lengths[j])
    costs = np.maximum(apart + a * b * distances.squared(i, j), 0)
    return costs if p == 2 else np.sqrt(costs)


def transport_plans(left: Bags, right: Bags, costs: Floats) -> Floats:
    """Return the mass that moves between each pair of `meetings` at least cost, exactly (Eq. 2)."""
    if not np.isfinite(costs).all():
        raise ArithmeticError(f"a travel cost is not finite: {costs!r:.200}")
    solve = simplex()
    plans: Floats = np.zeros(len(costs))
    decided: list[tuple[slice, Floats]] = []
    lefts, rights, end = left.starts.tolist(), right.starts.tolist(), 0
    for i, j, k, m in zip(lefts, lefts[1:], rights, rights[1:], strict=False):
        start, end = end, end + (j - i) * (m - k)
        masses, others = left.masses[i:j], right.masses[k:m]
        if j - i > 1 and m - k > 1:
            plan = solve(masses, others, costs[start:end].reshape(j - i, m - k))
            plans[start:end] = plan.ravel()
        elif start < end:  # one atom on either side: the product of the masses
            decided.append((slice(start, end), masses * others))
    plans[plans < _ROUNDING] = 0
    for pairs, masses in decided:
        plans[pairs] = masses
    return plans


def travel_distances(
    distances: WordDistances,
    left: Bags,
    right: Bags,
    p: int,
    left_penalties: Floats,
    right_penalties: Floats,
) -> Floats:
    """Return the transport distance of bag i of `left` and bag i of `right`; NaN if one is empty.

    It is the exactly rounded sum of mass times cost, whatever the order of atoms.
    """
    found: list[Floats] = []
    for start, end in slices(left.sizes * right.sizes):
        some, others = left.part(start, end), right.part(start, end)
        rho = left_penalties[left.starts[start] : left.starts[end]]
        rho_of_others = right_penalties[right.starts[start] : right.starts[end]]
        costs = travel_costs(distances, some, others, p, rho, rho_of_others)
        found.append(sums_of_bags(transport_plans(some, others, costs) * costs, some, others))
    return found[0] if len(found) == 1 else np.concatenate([np.empty(0), *found])


def sums_of_bags(amounts: Floats, left: Bags, right: Bags) -> Floats:
    """Return the exactly rounded sum of `meetings`' amounts for each two bags; NaN if empty."""
    if len(left) == 1:
        return np.array([math.fsum(amounts.tolist()) if len(amounts) else np.nan])
    pairs = left.sizes * right.sizes
    # Most of a plan is 0, which adds nothing.
    moved = amounts.nonzero()[0]
    listed = amounts[moved].tolist()
    ends = moved.searchsorted(pairs.cumsum()).tolist()
    sums = [math.fsum(listed[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    return np.where(pairs > 0, np.array(sums, dtype=np.float64), np.nan)


def similarities(is_usable: Any, words: Bags, distances: Floats) -> Floats:
    """Return exp(-distance) (Eq. 3); 0 for a caption without words, NaN without an image side."""
    speechless = is_usable & (words.sizes == 0)
    return np.where(speechless, 0.0, np.exp(-distances))


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
