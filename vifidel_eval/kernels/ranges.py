"""Ranges of positions, as sparse matrices in CSR layout have them."""

from __future__ import annotations

import numpy as np

from ..evaluation import Integers


def positions(starts: Integers, sizes: Integers) -> Integers:
    """Return all positions of ranges, one range after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
