from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.show.report import number_texts


@given(st.integers(0, 10**7), st.integers(0, 3))
def test_fixed_rounds_halves_up(ten_thousandths, digits):
    value = Decimal(ten_thousandths) / 10000
    expected = value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    shown = Decimal(number_texts.fixed(float(value), digits))
    # A decimal half is no float: it may fall to either side, never further.
    assert abs(shown - expected) <= Decimal(1).scaleb(-digits) * (
        value.as_tuple().exponent < -digits
    )
    if value == value.quantize(Decimal(1).scaleb(-digits)):
        assert shown == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, number_texts.NONE),
        (float("nan"), number_texts.NONE),
        (0.0, "0.0000"),
        (4e-5, "0.0000"),
        (1.23456, "1.2346"),
    ],
)
def test_scores(value, shown):
    assert number_texts.score(value) == shown
