import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracle import transport_distance

from vifidel_eval.kernels.bags import Bags
from vifidel_eval.kernels.transport import transport_plans


def bags(*masses):
    sizes = [len(of_bag) for of_bag in masses]
    flat = np.array([mass for of_bag in masses for mass in of_bag])
    return Bags(np.concatenate([[0], np.cumsum(sizes)]), np.arange(len(flat)), flat)


sides = st.integers(1, 7)
positive = st.floats(0.01, 10)


@st.composite
def problems(draw):
    rows, columns = draw(sides), draw(sides)
    left = draw(arrays(float, rows, elements=positive))
    right = draw(arrays(float, columns, elements=positive))
    costs = draw(arrays(float, (rows, columns), elements=st.floats(0, 4)))
    return left / left.sum(), right / right.sum(), costs


@given(problems())
def test_plan_has_the_marginals_and_the_least_cost(problem):
    left, right, costs = problem
    plan = transport_plans(bags(left), bags(right), costs.ravel()).reshape(costs.shape)
    assert (plan >= 0).all()
    np.testing.assert_allclose(plan.sum(axis=1), left, atol=1e-12)
    np.testing.assert_allclose(plan.sum(axis=0), right, atol=1e-12)
    assert (plan * costs).sum() == pytest.approx(transport_distance(left, right, costs), abs=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_costs_that_are_not_finite_never_reach_the_solver(bad):
    costs = np.ones((2, 2))
    costs[1, 0] = bad
    with pytest.raises(ArithmeticError):
        transport_plans(bags([0.5, 0.5]), bags([0.5, 0.5]), costs.ravel())


@pytest.mark.parametrize("left", [True, False])
def test_all_mass_of_a_single_atom_moves_however_small_its_parts(left):
    # No solver has its say; less than 1e-12 of a plan is otherwise what rounding leaves behind.
    one, parts = bags([1.0], [1.0]), bags([1 - 1e-13, 1e-13], [0.25, 0.75])
    sides = (one, parts) if left else (parts, one)
    assert transport_plans(*sides, np.ones(4)).tolist() == [1 - 1e-13, 1e-13, 0.25, 0.75]


def test_what_rounding_leaves_behind_is_no_move():
    # .1 + .2 is not .3: the simplex moves the difference somewhere.
    left, right = bags([0.1 + 0.2, 0.7]), bags([0.3, 0.1, 0.6])
    plan = transport_plans(left, right, np.array([0.0, 5, 5, 5, 0, 0]))
    assert plan[plan > 0].min() > 1e-12
