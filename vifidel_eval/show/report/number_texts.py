"""Numbers as the tables of the page write them, digit for digit as base.js does."""

from __future__ import annotations

import math

from ...io.text_tables import readable

#: What is shown where there is no number.
NONE = "\N{EN DASH}"


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals, halves up as in JavaScript.

    >>> fixed(0.0625, 3), fixed(-2, 1)
    ('0.063', '-2.0')
    """
    return f"{math.floor(value * 10**digits + 0.5) / 10**digits:.{digits}f}"


def short(value: float) -> str:
    """Return a coordinate with at most one decimal.

    >>> short(12.04), short(12.06)
    ('12', '12.1')
    """
    return f"{math.floor(value * 10 + 0.5) / 10:g}"


def score(value: float | None) -> str:
    """Return a score with as many decimals as in all tables.

    >>> score(0.81249), score(0), score(None) == NONE
    ('0.8125', '0.0000', True)
    """
    return NONE if value is None or math.isnan(value) else readable(float(value))


def whole(number: int) -> str:
    """Return a whole number in groups of three digits.

    >>> whole(5000) == "5\N{THIN SPACE}000", whole(999)
    (True, '999')
    """
    return f"{number:,}".replace(",", "\N{THIN SPACE}")


def share(part: float, of: float) -> str:
    """Return a share in per cent.

    >>> share(1, 8), share(0, 0) == NONE
    ('12.5 %', True)
    """
    return f"{fixed(100 * part / of, 1)} %" if of else NONE


def correlation(value: float) -> str:
    """Return a correlation with two decimals.

    >>> correlation(0.456), correlation(-0.5) == "\N{MINUS SIGN}.50", correlation(1.0)
    ('.46', True, '1.00')
    """
    if math.isnan(value):
        return NONE
    text = fixed(abs(value), 2).removeprefix("0")
    return ("\N{MINUS SIGN}" if value < 0 and text != ".00" else "") + text
