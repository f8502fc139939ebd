import dataclasses
import itertools
import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from host_metrics import GTS, RES, python_tokens
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu import Bleu as HostBleu
from show.score_examples import scores, scores_of

from vifidel_eval import ImageIdError, VifidelError, VifidelWarning
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.evaluation import Evaluation, Statistics
from vifidel_eval.scorers import Bleu, Cider
from vifidel_eval.scores import significance
from vifidel_eval.scores.comparison import compare, holm
from vifidel_eval.scores.scores import Scores
from vifidel_eval.show.comparison_tables import level_with_the_best

NAN = math.nan

# Most tests have a handful of images.
pytestmark = pytest.mark.filterwarnings("ignore:.*images are too few:vifidel_eval.VifidelWarning")


def only(comparisons):
    return next(iter(comparisons.metrics.values()))


def ranks(compared):
    return {name: standing.rank for name, standing in compared.systems.items()}


def words(seed, size):
    return [int(word) for word in np.random.PCG64(seed).random_raw(size)]


def ends_of(values, level=0.95):
    """The values at both ends, interpolated between the two neighbours."""
    values = sorted(values)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        place = share * (len(values) - 1)
        below = math.floor(place)
        above = min(below + 1, len(values) - 1)
        ends.append(values[below] + (place - below) * (values[above] - values[below]))
    return ends


def exact_p(first, second):
    """The randomisation test over all 2**n swaps."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    observed = abs(math.fsum(differences))
    null = [
        abs(math.fsum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(value >= observed - 1e-9 for value in null) / len(null)


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_steps_of_the_procedure_reject(p_values, alpha):
    rejected = Counter()
    for step, p in enumerate(sorted(p_values)):
        if (len(p_values) - step) * p > alpha:
            break
        rejected[p] += 1
    assert Counter(p for p, q in zip(p_values, holm(p_values), strict=True) if q <= alpha) == (
        rejected
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]),
        ([0.5, 0.75, 1, 0.25, 1, 0.5], [0.25, 0.5, 0.5, 0.5, 0, 0.25]),
        ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]),  # 2 of 32
    ],
)
def test_randomisation_nears_the_exact_test(first, second):
    (pair,) = only(compare(scores_of({"a": first, "b": second}), resamples=20_000)).pairs
    exact = exact_p(first, second)
    by_scipy = scipy.stats.permutation_test(
        (np.array(first), np.array(second)),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
    )
    assert exact == pytest.approx(by_scipy.pvalue)
    spread = 4 * math.sqrt(exact * (1 - exact) / 20_000)
    assert pair.randomisation_p == pytest.approx(exact, abs=spread + 1e-4)


def test_a_difference_of_rounding_has_no_winner():
    rng = np.random.default_rng(2)
    cases = {
        "vanishing": ([5e-45] * 40, [1e-46] * 40),  # CIDEr's of captions of 130 words
        "last bits": (rng.random(40) * 1e-12 + 0.5, [0.5] * 40),
    }
    for first, second in cases.values():
        compared = only(compare(scores_of({"a": first, "b": second})))
        (pair,) = compared.pairs
        assert (pair.bootstrap_p, pair.randomisation_p, pair.winner) == (1, 1, None)
        assert (pair.bootstrap_holm, pair.randomisation_holm) == (1, 1)
        assert [*ranks(compared).values()] == [1, 1]
    (pair,) = only(compare(scores_of({"a": [0.5 + 1e-9] * 40, "b": [0.5] * 40}))).pairs
    assert pair.winner == "a"


def test_ranks_show_ties_as_ties():
    rng = np.random.default_rng(1)
    base = rng.random(200)
    systems = {"worst": base - 0.5}
    for name, apart in (("good", 0), ("as good", 0), ("middle", -0.2)):
        systems[name] = base + apart + rng.normal(0, 0.1, 200)
    compared = only(compare(scores_of(systems)))
    assert ranks(compared) == {"worst": 4, "good": 1, "as good": 1, "middle": 3}
    raw = [pair.randomisation_p for pair in compared.pairs]
    assert [pair.randomisation_holm for pair in compared.pairs] == holm(raw)


def by_name(comparisons):
    """Return everything in the result whatever its order, and the pairs both ways round."""
    result = {}
    for metric, compared in comparisons.metrics.items():
        for name, standing in compared.systems.items():
            result[metric, name] = (compared.images, standing)
        for p in compared.pairs:
            tests = p.bootstrap_p, p.randomisation_p, p.bootstrap_holm, p.randomisation_holm
            # An interpolated end has a last bit of its own, seen from the other side.
            ends = tuple(round(end, 12) for end in (p.difference, p.low, p.high))
            turned = tuple(-end for end in (ends[0], ends[2], ends[1]))
            result[metric, p.first, p.second] = (ends, tests, p.winner)
            result[metric, p.second, p.first] = (turned, tests, p.winner)
    return result


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_systems_metrics_and_images_does_not_matter(random):
    ids = [7, "beach", 3, "a", 12, *range(20, 60)]
    table = {
        name: {metric: {i: random.random() for i in ids} for metric in ("M", "N")}
        for name in ("x", "y", "z")
    }

    def compared(systems, metrics, images):
        columns = {
            metric: {name: {i: table[name][metric][i] for i in images} for name in systems}
            for metric in metrics
        }
        return by_name(compare(scores(columns), resamples=99))

    expected = compared(["x", "y", "z"], ["M", "N"], ids)
    mixed = random.sample(ids, len(ids))
    assert compared(random.sample(["x", "y", "z"], 3), ["N", "M"], mixed) == expected


def test_where_lower_is_better_only_ranks_and_winners_change():
    systems = {"a": [0.1, 0.2] * 20, "b": [0.5, 0.7] * 20, "c": [0.7, 0.5] * 20}
    higher, lower = (only(compare(scores_of(systems, lower))) for lower in (False, True))
    assert (higher.lower_is_better, lower.lower_is_better) == (False, True)
    assert ranks(higher) == {"a": 3, "b": 1, "c": 1}
    assert ranks(lower) == {"a": 1, "b": 2, "c": 2}
    assert [pair.winner for pair in higher.pairs] == ["b", "c", None]
    assert [pair.winner for pair in lower.pairs] == ["a", "a", None]
    for of_up, of_down in zip(higher.pairs, lower.pairs, strict=True):
        assert dataclasses.replace(of_up, winner=None) == dataclasses.replace(of_down, winner=None)


def test_what_fits_in_memory_at_a_time_does_not_matter(monkeypatch):
    # The last of them differ by little: what adding leaves over must not be shown as digits.
    rows = np.random.default_rng(2).normal(size=(3, 700))
    systems = {"a": rows[0], "b": rows[1], "c": rows[1], "d": rows[1] + 1e-5 * rows[2]}
    scores = scores_of({**systems, "zero": 0 * rows[0]})
    expected = compare(scores, resamples=200).to_json()
    for chunk in (1, 1400, 2500, 5000, 2**22):
        monkeypatch.setattr(significance, "_CHUNK", chunk)
        assert compare(scores, resamples=200).to_json() == expected


def test_systems_without_a_shared_image_are_refused():
    with pytest.raises(ImageIdError, match=r"^a, b share no image"):
        compare(scores_of({"a": {1: 0.5}, "b": {2: 0.5}}))


def test_a_metric_that_no_image_has_from_all_systems_is_left_out():
    comparisons = compare(scores_of({"a": [NAN, 1], "b": [1, NAN]}))
    assert (comparisons.metrics, comparisons.left_out) == ({}, ("M",))


def test_too_few_resamples_for_the_pairs_are_warned_of_and_nobody_has_a_rank():
    systems = {str(at): [at + n / 50 for n in range(40)] for at in range(12)}
    with pytest.warns(VifidelWarning, match=r"over 66 pairs of systems; take at least 1319\."):
        compared = compare(scores_of(systems), resamples=1318)
    assert {*ranks(only(compared)).values()} == {None}
    assert level_with_the_best(only(compared)) == []
    # As many resamples make the smallest p-value times the pairs .05.
    assert 66 / 1320 <= 0.05 < 66 / 1319
    result = ranks(only(compare(scores_of(systems), resamples=1319)))
    assert [*result.values()] == list(range(12, 0, -1))


@pytest.mark.parametrize(
    ("systems", "level", "tests"),
    [(1, 0.95, 1000), (5, 0.95, 1000), (6, 0.95, 1500), (11, 0.95, 5500), (6, 0.9, 1000),
     (11, 0.99, 27_500)],
)  # fmt: skip
def test_resamples_follow_from_the_pairs_so_that_p_can_be_a_fifth_of_the_level(
    systems, level, tests
):
    # Every system is better than the one before on every image: no p-value can be lower.
    rows = {str(at): [at + n / 50 for n in range(40)] for at in range(systems)}
    compared = compare(scores_of(rows), level=level)
    assert (compared.resamples, compared.interval_resamples) == (tests, 1000)
    pairs = math.comb(systems, 2)
    for pair in only(compared).pairs:
        assert pair.randomisation_holm == pytest.approx(pairs / (tests + 1))
        assert pair.randomisation_holm <= (1 - level) / 5 + 1e-12
        assert pair.winner == pair.second
    assert [*ranks(only(compared)).values()] == list(range(systems, 0, -1))
    assert compare(scores_of(rows), resamples=7000, level=level).interval_resamples == 7000


def test_many_systems_with_undefined_images_and_counts_equal_plain_loops():
    rng = np.random.default_rng(4)
    n, resamples = 70, 120
    means = rng.integers(0, 9, (4, n)) / 3
    means[1, [3, 50]] = NAN
    counts = rng.integers(0, 4, (4, n, 2)).astype(float)
    counts[2, 9] = NAN
    names = "abcd"

    def share(sums):
        return sums[..., 0] / sums[..., 1]

    scores = Scores(
        {"M": "M", "S": "S"},
        {
            name: {
                "M": Evaluation(list(range(n)), means[at]),
                "S": Evaluation(
                    list(range(n)), np.zeros(n), corpus_score=0.5,
                    statistics=Statistics(counts[at], share),
                ),
            }
            for at, name in enumerate(names)
        },
    )  # fmt: skip
    compared = compare(scores, seed=2, resamples=resamples)
    draws, swaps = words([2, 0], resamples * n), words([2, 1], resamples * 2)

    def mean_of(images, at):
        return math.fsum(means[at, i] for i in images) / len(images)

    def share_of(images, at):
        return sum(counts[at, i, 0] for i in images) / sum(counts[at, i, 1] for i in images)

    for metric, score_of, left_out in (("M", mean_of, {3, 50}), ("S", share_of, {9})):
        counted = [i for i in range(n) if i not in left_out]
        assert compared.metrics[metric].images == len(counted)
        for pair in compared.metrics[metric].pairs:
            one, other = names.index(pair.first), names.index(pair.second)
            observed = score_of(counted, one) - score_of(counted, other)
            as_large, differences = [0, 0], []
            for r in range(resamples):
                images = [(word >> 32) * n >> 32 for word in draws[r * n : (r + 1) * n]]
                images = [i for i in images if i not in left_out]
                differences.append(score_of(images, one) - score_of(images, other))
                as_large[0] += abs(differences[-1] - observed) >= abs(observed) - 1e-8
                bits = b"".join(w.to_bytes(8, "little") for w in swaps[2 * r : 2 * r + 2])
                moved = [bool(bits[i // 8] & (128 >> i % 8)) for i in range(n)]
                if metric == "M":
                    first, second = (
                        math.fsum(means[b if moved[i] else a, i] for i in counted) / len(counted)
                        for a, b in ((one, other), (other, one))
                    )
                else:
                    first, second = (
                        sum(counts[b if moved[i] else a, i, 0] for i in counted)
                        / sum(counts[b if moved[i] else a, i, 1] for i in counted)
                        for a, b in ((one, other), (other, one))
                    )
                as_large[1] += abs(first - second) >= abs(observed) - 1e-8
            expected = [(larger + 1) / (resamples + 1) for larger in as_large]
            assert [pair.bootstrap_p, pair.randomisation_p] == expected
            assert [pair.low, pair.high] == pytest.approx(ends_of(differences), abs=1e-9)


def test_too_few_images_for_a_significant_difference_are_warned_of_once(recwarn):
    # Two of 2**5 ways to swap, and of 2**6; .05 lies between 1/16 and 1/32.
    rows = {"a": np.arange(1.0, 7), "b": np.zeros(6)}
    two = scores_of({name: row[:5] for name, row in rows.items()})
    metrics = {name: dict.fromkeys(("M", "N"), of["M"]) for name, of in two.evaluations.items()}
    (pair,) = only(compare(Scores({"M": "M", "N": "N"}, metrics), resamples=9999)).pairs
    assert pair.winner is None
    assert [each.filename for each in recwarn] == [__file__]
    (warning,) = [str(each.message) for each in recwarn]
    assert warning == (
        "5 images are too few for a significant difference under M, N (pairs of systems: 1), and "
        "with so few the bootstrap's p-values mean nothing; compare at least 6."
    )
    with pytest.warns(match="^1 image is too few for a significant difference under M "):
        compare(scores_of({name: row[:1] for name, row in rows.items()}), resamples=9999)
    for of in metrics.values():  # under N, a caption has no score
        of["N"] = scores_of({"x": [NAN, *range(4)]}).evaluations["x"]["M"]
    with pytest.warns(match="^4 images are too few .* under N; 5 under M [(]") as caught:
        compared = compare(Scores({"M": "M", "N": "N"}, metrics), resamples=9999)
    assert compared.too_few() == [str(caught[0].message)]
    assert compared.too_few("M")[0].startswith("5 images are too few")
    recwarn.clear()
    (pair,) = only(compare(scores_of(rows), resamples=9999)).pairs
    assert pair.winner == "a"
    compare(scores_of({"a": [1.0, 2.0]}))  # one system: no test
    compare(scores_of({"a": [NAN], "b": [1.0]}))  # no image, which is said elsewhere
    assert not recwarn.list


@pytest.mark.parametrize(
    "wrong",
    [
        *({"seed": -1}, {"resamples": 0}, {"level": 1.0}, {"level": 1 - 1e-15}, {"level": NAN}),
        *({"seed": 1.5}, {"seed": "1"}, {"resamples": 1e3}, {"level": ".9"}),
        {"resamples": 10**30},
    ],
)
def test_arguments_of_another_type_or_out_of_range_are_refused(wrong):
    with pytest.raises(VifidelError, match=f"^{next(iter(wrong))} must be a"):
        compare(scores_of({"a": [1]}), **wrong)


def test_bleu_of_resampled_images_is_pycocoevalcaps_of_that_corpus():
    rng, tokens = np.random.default_rng(5), python_tokens()
    shorter = {i: [caption[:14]] for i, [caption] in RES.items()}
    for res in (RES, shorter, {i: [""] for i in GTS}):
        columns = list(Bleu(tokens).evaluate(coco_rows(GTS, res)).values())
        for places in (range(5), *(rng.choice(5, 5).tolist() for _ in range(20))):
            ids = [list(GTS)[place] for place in places]
            corpus = (tokens.tokens(dict(enumerate(map(of.get, ids)))) for of in (GTS, res))
            expected = HostBleu(4).compute_score(*corpus, verbose=0)[0]
            result = [
                float(c.statistics.score(c.statistics.of_rows[places].sum(axis=0))) for c in columns
            ]
            assert result == pytest.approx(expected, rel=1e-14, abs=0)


def test_a_corpus_score_that_cannot_be_resampled_is_said_to_be_replaced_by_the_mean():
    aggregate = Evaluation([1, 2], np.array([0.25, 0.75]), corpus_score=0.4)
    compared = only(compare(Scores({"METEOR": "s"}, {"a": {"METEOR": aggregate}})))
    assert not compared.own_score
    assert compared.systems["a"].score == 0.5
    cider = Cider(python_tokens()).evaluate(coco_rows(GTS, RES))["CIDEr"]
    compared = only(compare(Scores({"CIDEr": "s"}, {"a": {"CIDEr": cider}})))
    assert compared.own_score
    assert compared.systems["a"].score == pytest.approx(cider.score, rel=1e-14)
    centred = scores_of({"a": [0.1, 0.2, -0.3, 0.7, -0.7]})  # NumPy's mean is another zero
    assert only(compare(centred)).own_score


def test_one_image_has_no_interval():
    with pytest.warns(VifidelWarning, match="1 image is too few"):
        result = compare(scores_of({"a": [1.0], "b": [0.5]}))
    standing, (pair,) = result.metrics["M"].systems["a"], result.metrics["M"].pairs
    assert (standing.score, pair.difference) == (1.0, 0.5)
    assert all(math.isnan(end) for of in (standing, pair) for end in (of.low, of.high))
    assert "M (1 image): a 1.0000; b 0.5000" in repr(result)
    of_metric = result.to_json()["metrics"]["M"]
    assert of_metric["systems"]["a"]["low"] is None
    assert "metric" not in of_metric  # which is its key
