"""Tests of the package on real data, which is beside the checkout and not part of it.

    pytest benchmarks/real_data --data FOLDER

FOLDER holds `data` (COCO, and data sets of people's judgements) and `oracles` (what the published
programs of CHAIR, TIGEr and ViLBERTScore computed). They need Java and PyTorch.
"""

from pathlib import Path

import pytest
from conftest import cache_folder, run, write  # noqa: F401  (fixtures of tests/)


def pytest_addoption(parser):
    parser.addoption("--data", metavar="FOLDER", help="the folder that holds data and oracles")


def pytest_configure(config):
    if config.option.help:
        return
    folder = config.getoption("--data", None)
    if folder is None or not all((Path(folder) / name).is_dir() for name in ("data", "oracles")):
        raise pytest.UsageError(
            "benchmarks/real_data needs --data FOLDER, the folder that holds data and oracles"
            + (f"; {folder} does not." if folder else ".")
        )


@pytest.fixture(scope="session")
def data(pytestconfig) -> Path:
    """The folder of data sets."""
    return Path(pytestconfig.getoption("--data")) / "data"


@pytest.fixture(scope="session")
def oracles(pytestconfig) -> Path:
    """The folder of what published programs computed."""
    return Path(pytestconfig.getoption("--data")) / "oracles"


@pytest.fixture(scope="session")
def coco(data) -> Path:
    """The folder with captions and instances of COCO's val2017."""
    return data / "coco"
