"""What benchmarks take from the package beside its public names."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def ablation():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import ablation
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return ablation


@pytest.mark.parametrize("table", ["PRF", "H"])
def test_every_row_of_the_ablation_replaces_what_is_there(ablation, table):
    for patches in getattr(ablation, table).values():
        with ablation.patched(patches):  # `mock.patch` wants that the attribute exists
            pass
