"""Sums that are exact: whatever order files and batches come in, no bit of a result changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..evaluation import Floats

_MANTISSA = 53  # bits of a float64
_LOW = 27  # bits that are added apart, so that 2**36 numbers do not overflow
_SCALE = 1074 + _MANTISSA  # the smallest float64 times 2**_SCALE is a whole number, cut or not


def exact_sum(values: Floats) -> Fraction:
    """Return the sum of numbers without rounding.

    Parameters
    ----------
    values : (n,) float64
        Finite.

    Examples
    --------
    >>> float(exact_sum(np.array([1e16, 0.5, -1e16, 0.5])))
    1.0
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, _MANTISSA).astype(np.int64)
    total = 0
    for exponent in np.unique(exponents).tolist():
        some = whole[exponents == exponent]
        low = some & ((1 << _LOW) - 1)
        of_exponent = (int((some >> _LOW).sum()) << _LOW) + int(low.sum())
        total += of_exponent << (exponent - _MANTISSA + _SCALE)
    return Fraction(total, 1 << _SCALE)
