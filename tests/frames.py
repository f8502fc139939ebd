"""The same records as a DataFrame of pandas or polars, or a Table of pyarrow."""

import pytest

LIBRARIES = ("pandas", "polars", "pyarrow")


def frame_of(library, records):
    module = pytest.importorskip(library)
    if library == "pyarrow":
        return module.Table.from_pylist(records)
    return module.DataFrame(records)
