"""Sums and totals: exact, and the same in any order and any batches."""

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

from vifidel_eval.plugins.tables.totals import Sums, Totals, corpus_scores, exact_sum  # noqa: E402

finite = st.floats(-1e300, 1e300)  # so that the sum is a number, too


def added(doubles):
    return sum(map(Fraction, doubles), Fraction(0))


@given(st.lists(finite, max_size=50))
def test_sums_are_those_of_fractions(values):
    assert added(exact_sum(values)) == added(values)


def test_extreme_numbers():
    values = [5e-324, 1.7976931348623157e308, -5e-324, 2.2250738585072014e-308, -0.0, 1.0]
    assert added(exact_sum(values)) == added(values)
    small = exact_sum([1.0] * 5000 + [2**-60] * 5000)
    assert added(small) == 5000 + Fraction(5000, 2**60)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_a_mean_has_the_same_bits_in_any_order_and_batches(values, chance):
    shuffled = chance.sample(values, len(values))
    at = chance.randint(0, len(values))
    parts = [Sums.over(np.array(part)[:, None]) for part in (values, shuffled[:at], shuffled[at:])]
    assert parts[1] + parts[2] == parts[0]
    scores = corpus_scores(["VIFIDEL"], Totals(sums={"VIFIDEL": parts[1] + parts[2]}))
    mean = scores["VIFIDEL"]["score"]
    assert mean == float(sum(map(Fraction, values)) / len(values))
    assert math.isclose(mean, math.fsum(values) / len(values), rel_tol=1e-15, abs_tol=1e-320)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1e200, 1e200)), max_size=20))
def test_sums_survive_json(values):
    sums = Sums.over(np.array(values, dtype=np.float64).reshape(-1, 2))
    said = json.loads(json.dumps([sums.rows, sums.of]))
    assert Sums.from_json(said) == sums
    for doubles, column in zip(said[1], zip(*values, strict=True), strict=False):
        exact = added(column)
        assert added(doubles) == exact
        assert doubles[:1] == ([float(exact)] if exact else [])


def test_totals_survive_json():
    totals = Totals(
        3,
        2,
        {"ok": 2, "no words": 1},
        {
            "VIFIDEL": Sums(2, ((0.25,),)),
            "VIFIDEL_P": Sums(),
            "counts of VIFIDEL-H": Sums.over(np.array([[1.0, 3, 2], [1, 1, 0], [np.nan] * 3])),
        },
        {"captions": Tally(9, Counter(zzz=2), 4)},
        {"unconfirmed": 5, "judged_by_references": 0},
    )
    again = Totals.from_json(json.loads(json.dumps(totals.to_json())))
    assert again.to_json() == totals.to_json()
    assert (again.rows, again.kept, again.sums, again.tallies) == (
        3, 2, totals.sums, totals.tallies,
    )  # fmt: skip
    assert again.counted["unconfirmed"] == 5
    twice = again + totals
    assert (twice.rows, twice.kept, twice.counted["unconfirmed"]) == (6, 4, 10)
    assert twice.statuses == {"ok": 4, "no words": 2}
    assert twice.sums["VIFIDEL"] == Sums(4, ((0.5,),))
    assert twice.sums["VIFIDEL_P"] == Sums()
    assert twice.sums["counts of VIFIDEL-H"] == Sums(4, ((4.0,), (8.0,), (4.0,)))
    assert (totals + Totals()).sums == totals.sums
    assert (totals + Totals()).to_json() == totals.to_json()
    assert twice.tallies["captions"] == Tally(18, Counter(zzz=4), 8)


def test_the_words_of_a_file_are_written_with_the_most_frequent_unknown_ones():
    words = Counter({f"w{at:02d}": at for at in range(1, 31)})
    said = Totals(tallies={"captions": Tally(1000, words, 7)}).to_json()["words"]["captions"]
    assert (said["words"], said["without_vector"]) == (1000, sum(range(31)) + 7)
    assert said["such_as"] == {f"w{at:02d}": at for at in range(30, 10, -1)}


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
