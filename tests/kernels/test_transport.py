import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracle import transport_distance

from vifidel_eval.kernels import bags as of_bags
from vifidel_eval.kernels.bags import Bags, bags_of_captions
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.kernels.transport import sums_of_bags, transport_plans, travel_distances
from vifidel_eval.words.word_vectors import load_vectors


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


def test_distances_of_many_bags_take_each_its_own_costs():
    left = bags([1.0], [], [0.5, 0.5], [0.25, 0.75])
    right = bags([0.5, 0.5], [1.0], [], [0.75, 0.25])
    # The last: a quarter stays with a quarter for nothing, the rest moves at cost 2.
    costs = np.array([1.0, 3.0, *[2.0, 0.0, 2.0, 7.0]])
    # Empty bags never reach the solver, which they would crash.
    distances = sums_of_bags(transport_plans(left, right, costs) * costs, left, right)
    assert distances[0] == 2.0
    assert np.isnan(distances[1:3]).all()
    assert distances[3] == pytest.approx(0.75 * 2.0)


@pytest.mark.parametrize("left", [True, False])
def test_all_mass_of_a_single_atom_moves_however_small_its_parts(left):
    # No solver has its say; less than 1e-12 of a plan is otherwise what rounding leaves behind.
    one, parts = bags([1.0], [1.0]), bags([1 - 1e-13, 1e-13], [0.25, 0.75])
    sides = (one, parts) if left else (parts, one)
    assert transport_plans(*sides, np.ones(4)).tolist() == [1 - 1e-13, 1e-13, 0.25, 0.75]


WORDS = {"wa": [1.0, 0.0], "wb": [0.5, 2.0], "wc": [0.0, 1.0], "wd": [-1.5, 0.5]}
texts = st.lists(st.sampled_from(list(WORDS)), max_size=5).map(" ".join)


@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=4),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 7, 1 << 16]),
)
def test_travel_distances_are_those_of_equation_5(make_vectors, rows, p, at_once):
    lexicon = Lexicon(load_vectors(make_vectors(WORDS)), normalize=False, stop_words=())
    left, right = (bags_of_captions(lexicon, side)[0] for side in zip(*rows, strict=True))
    random = np.random.default_rng(len(rows))
    rho, rho_of_right = random.random(len(left.atoms)), random.random(len(right.atoms))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_bags, "PAIRS_AT_ONCE", at_once)
        found = travel_distances(lexicon.distances, left, right, p, rho, rho_of_right)

    def weighted(bags, row, penalties):
        of_row = slice(*bags.starts[row : row + 2])
        words = [lexicon.words[atom] for atom in bags.atoms[of_row].tolist()]
        vectors = np.array([WORDS[word] for word in words]).reshape(-1, 2)
        return vectors * penalties[of_row, None], bags.masses[of_row]

    for row, distance in enumerate(found.tolist()):
        (x, of_x), (y, of_y) = weighted(left, row, rho), weighted(right, row, rho_of_right)
        if not (len(x) and len(y)):
            assert np.isnan(distance)
            continue
        costs = np.linalg.norm(x[:, None] - y[None], axis=2) ** p
        assert distance == pytest.approx(transport_distance(of_x, of_y, costs), abs=1e-7)


def test_what_rounding_leaves_behind_is_no_move():
    # .1 + .2 is not .3: the simplex moves the difference somewhere.
    left, right = bags([0.1 + 0.2, 0.7]), bags([0.3, 0.1, 0.6])
    plan = transport_plans(left, right, np.array([0.0, 5, 5, 5, 0, 0]))
    assert plan[plan > 0].min() > 1e-12
