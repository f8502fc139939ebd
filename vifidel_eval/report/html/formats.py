"""Numbers as the page writes them; base.js has the same functions, digit for digit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from urllib.parse import quote

#: What is shown where there is no number.
NONE = "\N{EN DASH}"

_SMALLEST = 0.001
# What JavaScript's encodeURIComponent leaves as it is, beside letters and digits.
_UNQUOTED = "!~*'()"


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
    """Return a score with three decimals; a small one is not shown as nothing.

    >>> score(0.81249), score(2e-6), score(0), score(None) == NONE
    ('0.812', '<0.001', '0.000', True)
    """
    if value is None or math.isnan(value):
        return NONE
    return f"<{_SMALLEST}" if 0 < value < _SMALLEST else fixed(value, 3)


def whole(number: int) -> str:
    """Return a whole number in groups of three digits.

    >>> whole(5000) == "5\N{THIN SPACE}000", whole(999)
    (True, '999')
    """
    return f"{number:,}".replace(",", "\N{THIN SPACE}")


def picked(texts: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the texts at some places.

    >>> picked(["nut", "lamp"], [1])
    ['lamp']
    """
    return [texts[place] for place in places]


def grouped(numbers: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Return numbers in groups of `size`.

    >>> list(grouped([1, 2, 3, 4], 2))
    [(1, 2), (3, 4)]
    """
    return zip(*[iter(numbers)] * size, strict=True)


def link(image_id: str) -> str:
    """Return the address within the page that shows one image, as the script writes it.

    >>> link("val2017/7 (a).jpg")
    '#images?image=val2017%2F7%20(a).jpg'
    """
    return f"#images?image={quote(image_id, safe=_UNQUOTED, errors='replace')}"


def signed(value: float) -> str:
    """Return a difference with three decimals and its sign.

    >>> signed(0.0312), signed(-0.2) == "\N{MINUS SIGN}0.200", signed(1e-5)
    ('+0.031', True, '0.000')
    """
    text = fixed(abs(value), 3)
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "\N{MINUS SIGN}") + text


def correlation(value: float) -> str:
    """Return a correlation with two decimals.

    >>> correlation(0.456), correlation(-0.5) == "\N{MINUS SIGN}.50", correlation(1.0)
    ('.46', True, '1.00')
    """
    if math.isnan(value):
        return NONE
    text = fixed(abs(value), 2).removeprefix("0")
    return ("\N{MINUS SIGN}" if value < 0 and text != ".00" else "") + text
