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

pa = pytest.importorskip("pyarrow")

from vifidel_eval.plugins.tables import file_scoring  # noqa: E402
from vifidel_eval.plugins.tables.file_scoring import add_up, sums_of  # noqa: E402
from vifidel_eval.words.word_vectors import Tally  # noqa: E402


def part(**counted):
    return {**add_up([]), **counted}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_a_mean_has_the_same_bits_in_any_order_and_batches(values, chance):
    shuffled = chance.sample(values, len(values))
    at = chance.randint(0, len(values))
    parts = [
        part(sums={"VIFIDEL": sums_of(np.array(some)[:, None])})
        for some in (values, shuffled[:at], shuffled[at:])
    ]
    totals = add_up(parts[1:])
    assert totals == add_up(parts[:1])
    mean = file_scoring.corpus_scores(["VIFIDEL"], totals)["VIFIDEL"]["score"]
    assert mean == float(sum(map(Fraction, values)) / len(values))
    assert math.isclose(mean, math.fsum(values) / len(values), rel_tol=1e-15, abs_tol=1e-320)


def test_totals_add_up():
    counts = sums_of(np.array([[1.0, 3, 2], [1, 1, 0], [np.nan] * 3]))
    sums = {"VIFIDEL": [2, [[0.25]]], "VIFIDEL_P": [0, [[]]], "counts of VIFIDEL-H": counts}
    words = {"captions": {"words": 9, "without_vector": 6, "such_as": {"zzz": 2}}}
    counted = {"rows": 3, "kept": 2, "unconfirmed": 5, "judged_by_references": 0}
    one = part(statuses={"ok": 2, "no words": 1}, sums=sums, words=words, **counted)
    twice = add_up(map(file_scoring.totals_of, (json.loads(json.dumps(one)), one)))
    assert (twice["rows"], twice["kept"], twice["unconfirmed"]) == (6, 4, 10)
    assert "judged_by_references" not in twice
    assert Counter(twice["statuses"]) == Counter({"ok": 4, "no words": 2})
    assert twice["sums"] == {
        "VIFIDEL": [4, [[0.5]]],
        "VIFIDEL_P": [0, [[]]],
        "counts of VIFIDEL-H": [4, [[4.0], [8.0], [4.0]]],
    }
    assert twice["words"] == {"captions": Tally(18, Counter(zzz=4), 8)}


def test_unknown_words_take_bounded_memory_and_still_count():
    totals, chance = add_up([]), random.Random(0)
    for batch in range(30):
        words = Counter(f"token{batch}-{at}" for at in range(1000))
        words["often"] = 50 + chance.randint(0, 1)
        totals = add_up([totals, part(words={"captions": Tally(2000, words)})])
    message = totals["words"]["captions"]
    assert len(message.unknown) <= 10_000
    assert message.others
    assert message.unknown.most_common(1)[0][0] == "often"
    assert message.without_vector - message.unknown["often"] == 30_000
