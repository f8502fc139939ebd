import operator as op
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.commands.paths import Condition
from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.tables.file_scoring import named_in, passing

pa = pytest.importorskip("pyarrow")

SIGNS = {">=": op.ge, ">": op.gt, "<=": op.le, "<": op.lt, "==": op.eq, "!=": op.ne}


NUMBERS = {
    **{getattr(pa, f"int{bits}")(): st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
       for bits in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    pa.decimal128(38, 3): st.decimals(-(10**9), 10**9, places=3),
    pa.decimal256(60, 0): st.integers(-(10**40), 10**40).map(Decimal),
    pa.float64(): st.floats(),
}  # fmt: skip
EDGES = [2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 0.1, 0.3, -0.0, 1e308, 5e-324]


@given(
    st.data(),
    st.sampled_from(sorted(NUMBERS, key=str)),
    st.sampled_from(sorted(SIGNS)),
    st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(EDGES),
)
def test_every_number_compares_as_python_does(data, kind, sign, number):
    near = (number, int(number) if abs(number) < 2**70 else 0)
    values = data.draw(st.lists(st.none() | NUMBERS[kind], max_size=8))
    for value in near:
        try:
            values += pa.array([value], kind).to_pylist()
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue  # the type does not hold it
    passed = passing(Condition("x", sign, number), pa.array(values, kind))
    assert passed == [
        value is not None and value == value and SIGNS[sign](value, number)  # noqa: PLR0124 - NaN
        for value in values
    ]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32()])
def test_a_number_is_compared_in_the_precision_of_the_column(kind):
    values = pa.array([0.7, None, float("nan"), 0.75, 0.5], pa.float64()).cast(kind, safe=False)
    assert passing(Condition("x", ">=", 0.7), values) == [True, False, False, True, False]
    assert passing(Condition("x", "!=", 0.7), values) == [False, False, False, True, True]


def test_numbers_that_are_spelt():
    cells = ["007", " 7 ", "7.0", "0.7e1", "1_0", "", "dog", "nan", "inf", None, f"{10**19}"]
    schema = pa.schema([("x", pa.string())])
    with pytest.raises(VifidelError, match="'x' holds string, not numbers"):
        named_in(Condition("x", ">", 0), pa.struct([]), schema)
    condition = named_in(Condition("x", "==", 7), pa.struct([]), schema, numbers_in_text=True)
    assert passing(condition, pa.array(cells)) == [True] * 4 + [False] * 7
    exact = Condition("x", "==", 10**19)
    assert passing(exact, pa.array(cells)) == [False] * 10 + [True]


def test_columns_of_scores_may_be_written_with_hyphens():
    schema = pa.schema([("VIFIDEL-P", pa.float64()), ("a-b", pa.int8()), ("caption", pa.string())])
    scores = pa.struct([("VIFIDEL", pa.float64()), ("VIFIDEL_P", pa.float64())])
    for name in ("VIFIDEL-P", "VIFIDEL_P"):
        assert named_in(Condition(name, ">", 0), scores, schema).column == "VIFIDEL_P"
    assert named_in(Condition("a-b", ">", 0), scores, schema).column == "a-b"
    with pytest.raises(VifidelError, match=r"no column 'gone'; the scores are VIFIDEL, VIFIDEL_P"):
        named_in(Condition("gone", ">", 0), scores, schema)
    with pytest.raises(VifidelError, match="'caption' holds string, not numbers"):
        named_in(Condition("caption", ">", 0), scores, schema)
