"""Ranges of positions, as sparse matrices in CSR layout have them."""

from __future__ import annotations

import numpy as np

from ..evaluation import Integers


def positions(starts: Integers, sizes: Integers) -> Integers:
    """Return all positions of ranges, one range after the other."""
    ends = np.cumsum(sizes)
    at = np.repeat(starts - ends + sizes, sizes)
    at += np.arange(len(at))
    return at
