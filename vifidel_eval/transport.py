"""Exact optimal transport between bags of words: Eq. 1, 2 and 5 of the VIFIDEL paper.

All calls of the solver go through `transport_plan`, which keeps what POT cannot take away from
it: empty bags crash the process and costs that are not finite give wrong plans without a word.
"""

from __future__ import annotations

import numpy as np

from .bags import Bags, Floats, Lexicon
from .distances import meetings, squared_distances

# Far more pivots than bags of words can need; POT's default gives up at a tenth of it.
_MOST_PIVOTS = 1_000_000


def travel_costs(
    lexicon: Lexicon,
    left: Bags,
    right: Bags,
    p: int,
    left_penalties: Floats,
    right_penalties: Floats,
) -> Floats:
    """Return the cost of every pair of atoms that meet, in the order of `meetings`.

    Eq. 5, c'(i, j) = ||rho_i x_i - rho_j x_j||^p, is written here as
    (rho_i - rho_j) (rho_i ||x_i||^2 - rho_j ||x_j||^2) + rho_i rho_j ||x_i - x_j||^2: a word
    costs exactly nothing to move onto itself, and penalties of 1 leave Eq. 1.
    """
    left_at, right_at = meetings(left, right)
    i, j = left.atoms[left_at], right.atoms[right_at]
    a, b = left_penalties[left_at], right_penalties[right_at]
    lengths = lexicon.squared_lengths
    apart = (a - b) * (a * lengths[i] - b * lengths[j])
    costs = np.maximum(apart + a * b * squared_distances(lexicon, i, j), 0)
    return costs if p == 2 else np.sqrt(costs)


def transport_plan(left_masses: Floats, right_masses: Floats, costs: Floats) -> Floats:
    """Return the transport plan of least cost, (left atoms, right atoms): Eq. 2, exactly.

    Parameters
    ----------
    left_masses, right_masses : float64, each summing to 1
        Marginals of the plan; neither may be empty.
    costs : (left atoms, right atoms) float64
        Finite.

    Raises
    ------
    ArithmeticError
        If a bag is empty, a cost is not finite, or the solver does not finish.
    """
    if not costs.size or not np.isfinite(costs).all():
        raise ArithmeticError(f"no transport plan for {costs.shape} costs {costs!r:.200}")
    if 1 in costs.shape:
        return np.outer(left_masses, right_masses)
    import ot

    plan: Floats
    plan, log = ot.emd(
        left_masses,
        right_masses,
        costs,
        numItermax=_MOST_PIVOTS,
        log=True,
        center_dual=False,
        check_marginals=False,
    )
    if log["warning"] is not None:
        raise ArithmeticError(f"POT found no optimal plan: {log['warning']}")
    return plan


def transport_distances(left: Bags, right: Bags, costs: Floats) -> Floats:
    """Return the transport distance of bag i of `left` and bag i of `right`, for all i.

    Parameters
    ----------
    costs : float64
        As `travel_costs` returns them.

    Returns
    -------
    (number of bags,) float64
        Not negative; NaN where either bag is empty.
    """
    distances = np.full(len(left), np.nan)
    ends = np.cumsum(left.sizes * right.sizes)
    for bag in np.flatnonzero((left.sizes > 0) & (right.sizes > 0)):
        rows = slice(left.starts[bag], left.starts[bag + 1])
        columns = slice(right.starts[bag], right.starts[bag + 1])
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        of_bag = costs[ends[bag] - shape[0] * shape[1] : ends[bag]].reshape(shape)
        plan = transport_plan(left.masses[rows], right.masses[columns], of_bag)
        distances[bag] = (plan * of_bag).sum()
    return distances
