"""Word vectors and data that the tests share."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import numpy as np
import pytest
from gensim.models import KeyedVectors

# Tests are about results: how long an example takes depends on what else the machine does.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def keyed_vectors(words: dict[str, list[float]]) -> KeyedVectors:
    """Return gensim vectors of the given words."""
    vectors = KeyedVectors(vector_size=len(next(iter(words.values()))))
    vectors.add_vectors(list(words), np.array(list(words.values()), dtype=np.float32))
    return vectors


@pytest.fixture(scope="session")
def make_vectors():
    return keyed_vectors


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data beside the checkout; the test is skipped where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data is not beside this checkout")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch) -> Path:
    """Keep converted word vectors of the tests out of the user's cache."""
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(folder))
    return folder
