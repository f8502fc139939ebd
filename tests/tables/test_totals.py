"""Sums, digests and totals: exact, and the same in any order and any batches."""

import json
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.evaluation import Tally

pa = pytest.importorskip("pyarrow")

from vifidel_eval.tables.digests import NO_ROWS, add_digests, digest_rows  # noqa: E402
from vifidel_eval.tables.totals import exact_sum  # noqa: E402
from vifidel_eval.tables.totals import Counted, Mean, Totals  # noqa: E402

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=50))
def test_sums_are_those_of_fractions(values):
    assert exact_sum(np.array(values, dtype=np.float64)) == sum(map(Fraction, values), Fraction(0))


def test_extreme_numbers():
    values = [5e-324, 1.7976931348623157e308, -5e-324, 2.2250738585072014e-308, -0.0, 1.0]
    expected = sum(map(Fraction, values), Fraction(0))
    assert exact_sum(np.array(values)) == expected
    assert exact_sum(np.array([1.0] * 5000 + [2**-60] * 5000)) == 5000 + Fraction(5000, 2**60)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_a_mean_has_the_same_bits_in_any_order_and_batches(values, chance):
    mean = Mean(len(values), exact_sum(np.array(values)))
    shuffled = chance.sample(values, len(values))
    at = chance.randint(0, len(values))
    parts = [
        Mean(len(part), exact_sum(np.array(part, dtype=float)))
        for part in (shuffled[:at], shuffled[at:])
    ]
    again = parts[0] + parts[1]
    assert again.value == mean.value
    assert mean.value == float(sum(map(Fraction, values)) / len(values))
    assert math.isclose(mean.value, math.fsum(values) / len(values), rel_tol=1e-15, abs_tol=1e-320)


rows = st.lists(
    st.tuples(
        st.none() | st.text(max_size=5),
        st.none()
        | st.lists(
            st.none()
            | st.fixed_dictionaries(
                {"label": st.none() | st.text(max_size=3), "score": st.none() | finite}
            ),
            max_size=3,
        ),
    ),
    max_size=12,
)
LABELS = pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())]))


def digest(some):
    return digest_rows(
        [
            pa.array([row[0] for row in some], pa.string()),
            pa.array([row[1] for row in some], LABELS),
        ]
    )


@given(rows, st.randoms(use_true_random=False))
def test_a_digest_is_the_same_in_any_order_and_batches(some, chance):
    shuffled = chance.sample(some, len(some))
    at = chance.randint(0, len(some))
    assert add_digests([digest(shuffled[:at]), digest(shuffled[at:])]) == digest(some)


def canonical(row):
    return json.dumps(row, sort_keys=True).replace("-0.0", "0.0")


@given(rows, rows)
def test_other_rows_have_another_digest(some, others):
    same = Counter(map(canonical, some)) == Counter(map(canonical, others))
    assert (digest(some) == digest(others)) == same


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (["a", None, ""], [pa.string(), pa.large_string(), pa.string_view(),
                           pa.dictionary(pa.int8(), pa.string())]),
        ([["a", "b"], None, [], [None]], [pa.list_(pa.string()), pa.large_list(pa.large_string()),
                                          pa.list_view(pa.string())]),
        ([[0.5, None], [2, 0.25]], [pa.list_(pa.float32()), pa.large_list(pa.float64()),
                                    pa.list_(pa.float64(), 2)]),
        ([[("a", 1)], None, []], [pa.map_(pa.string(), pa.int64()),
                                  pa.map_(pa.large_string(), pa.int8())]),
    ],
)  # fmt: skip
def test_a_digest_depends_on_values_and_not_on_types(values, kinds):
    columns = [pa.array(values, kind) for kind in kinds]
    assert len({digest_rows([column]) for column in columns}) == 1
    assert len({digest_rows([column.slice(1)]) for column in columns}) == 1
    assert digest_rows([columns[0]]) != digest_rows([columns[0].slice(1)])


def test_rows_are_not_what_is_moved_between_columns():
    one = digest_rows([pa.array(["ab", "c"]), pa.array(["", "d"])])
    other = digest_rows([pa.array(["a", "c"]), pa.array(["b", "d"])])
    assert one != other
    assert digest_rows([pa.array([], pa.string())]) == NO_ROWS


def test_totals_survive_json():
    totals = Totals(
        3,
        2,
        {"ok": 2, "no words": 1},
        {"VIFIDEL": Mean(2, Fraction(1, 3)), "VIFIDEL_P": Mean()},
        {"VIFIDEL-H": Counted.of(np.array([[1.0, 3, 2], [1, 1, 0], [np.nan] * 3]))},
        {"captions": Tally(9, Counter(zzz=2), 4)},
        (1, 2, 3, 2**64 - 1),
    )
    assert Totals.from_json(json.loads(json.dumps(totals.to_json()))) == totals
    twice = totals + totals
    assert twice.means["VIFIDEL"] == Mean(4, Fraction(2, 3))
    assert twice.means["VIFIDEL_P"].value is None
    assert twice.counted == {"VIFIDEL-H": Counted(4, (4, 8, 4))}
    assert (totals + Totals()).counted == totals.counted
    assert twice.tallies["captions"] == Tally(18, Counter(zzz=4), 8)
    assert twice.digest == (2, 4, 6, 2**64 - 2)


def test_unknown_words_take_bounded_memory_and_still_count():
    totals, chance = Totals(), random.Random(0)
    for batch in range(30):
        words = Counter({f"token{batch}-{at}": 1 for at in range(1000)})
        words["often"] = 50 + chance.randint(0, 1)
        totals += Totals(tallies={"captions": Tally(2000, words)})
    tally = totals.tallies["captions"]
    assert len(tally.unknown) <= 10_000
    assert tally.others > 0
    assert tally.unknown.most_common(1)[0][0] == "often"
    assert tally.unknown.total() - tally.unknown["often"] + tally.others == 30_000
