import os
import subprocess
import sys

import numpy as np
import pytest

from vifidel_eval.kernels import transport as module

AFTERWARDS = """
import sys
import numpy as np
from vifidel_eval.kernels.transport import simplex

masses, costs = np.array([0.5, 0.5]), np.array([[0.0, 1], [1, 0]])
assert simplex()(masses, np.array([0.25, 0.75]), costs).tolist() == [[0.25, 0.25], [0, 0.5]]
assert simplex().__name__ == "direct"
loaded = {name.partition(".")[0] for name in sys.modules}
assert loaded.isdisjoint({"ot", "scipy", "torch"}), loaded

import ot
from ot.lp.emd_wrap import emd_c

assert ot.lp.emd_wrap.emd_c is emd_c
assert ot.emd(masses, np.array([0.25, 0.75]), costs).tolist() == [[0.25, 0.25], [0, 0.5]]
# What the solver has of POT's in some releases.
points = np.array([[0.0], [3.0]])
assert ot.lp.emd_wrap.dist(points, points + 1).tolist() == ot.dist(points, points + 1).tolist()
"""


def test_pot_itself_is_not_imported_and_works_afterwards():
    names = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")  # which POT imports otherwise
    environment = os.environ | {f"POT_BACKEND_DISABLE_{name}": "1" for name in names}
    run = [sys.executable, "-c", AFTERWARDS]
    done = subprocess.run(run, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")  # POT's own
def test_a_solver_that_is_missing_or_wrong_is_replaced_by_the_documented_one(monkeypatch):
    class Wrong:
        @staticmethod
        def emd_c(left, right, costs, pivots, threads):
            return np.outer(left, right), 0.0, left, right, 1

    def missing():
        raise ImportError

    left, right = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    costs = np.array([[0.0, 1], [1, 0]])
    for result in (missing, Wrong):
        monkeypatch.setattr(module, "_compiled_alone", result)
        solve = module.simplex.__wrapped__()
        assert solve(left, right, costs).tolist() == [[0.25, 0.25], [0, 0.5]]


@pytest.mark.filterwarnings("ignore")
def test_a_problem_that_is_not_solved_is_an_error(monkeypatch):
    known = module.simplex()
    monkeypatch.setattr(module, "_MOST_PIVOTS", 1)
    costs = np.random.default_rng(1).random((6, 7))
    assert known.__name__ == "direct"
    for solve in (known, module._checked):
        with pytest.raises(ArithmeticError, match="no optimal plan"):
            solve(np.full(6, 1 / 6), np.full(7, 1 / 7), costs)
