"""Systems as people and metrics rank them, against scipy's coefficients and a planted order."""

import json

import numpy as np
import pytest
from scipy import stats

from vifidel_eval.errors import AnnotationError
from vifidel_eval.plugins.agreement.correlation import correlate
from vifidel_eval.plugins.agreement.forced_choice import forced_choice
from vifidel_eval.plugins.agreement.judgements import Columns, Judged, Ratings, read_judgements
from vifidel_eval.plugins.agreement.systems import WITHIN, read_battles, with_systems

SYSTEMS, IMAGES = 6, 40


@pytest.fixture(scope="module")
def table():
    """System, image, rating and score of captions; some ties, and a score that is missing."""
    random = np.random.default_rng(3)
    system, image = np.divmod(np.arange(SYSTEMS * IMAGES), IMAGES)
    ratings = np.clip(np.round(2 + 0.4 * system + random.normal(size=system.size)), 1, 5)
    scores = np.round(0.3 * ratings + random.normal(size=system.size), 1)
    scores[7] = np.nan
    return system, image, ratings, scores


def found_of(table, given_trials, **metrics):
    system, image, ratings, scores = table
    data = Ratings(
        "made",
        [Judged(int(at), (f"caption {n}",), ()) for n, at in enumerate(image)],
        {"quality": ratings[:, np.newaxis]},
        {"all": np.ones(len(image), dtype=bool)},
        [f"system {n}" for n in system],
    )
    trials = given_trials(**{name: [[of]] for name, of in (metrics or {"M": scores}).items()})
    result = with_systems(correlate(data, trials), data)
    return {(f["metric"], f["statistic"]): f for f in result.findings["systems"]}


def test_coefficients_are_scipys(table, given_trials):
    system, image, ratings, scores = table
    result = found_of(table, given_trials)
    defined = ~np.isnan(scores)
    x, y = (
        [of[defined & (system == n)].mean() for n in range(SYSTEMS)] for of in (ratings, scores)
    )
    assert result["M", "Spearman"]["value"] == pytest.approx(stats.spearmanr(x, y)[0])
    assert result["M", "tau-b"]["value"] == pytest.approx(stats.kendalltau(x, y)[0])
    right = [(x[i] - x[j]) * (y[i] - y[j]) > 0 for i in range(SYSTEMS) for j in range(i)]
    assert result["M", "pairs right"]["value"] == pytest.approx(np.mean(right))
    assert result["M", "pairs right"]["n"] == 15
    taus = []
    for n in range(IMAGES):
        of_image = defined & (image == n)
        if len(set(ratings[of_image])) > 1:
            tau = stats.kendalltau(ratings[of_image], scores[of_image])[0]
            taus.append(0 if np.isnan(tau) else tau)
    assert result["M", WITHIN]["value"] == pytest.approx(np.mean(taus))
    assert result["M", WITHIN]["n"] == len(taus)
    for one in result.values():
        assert one["low"] <= one["value"] <= one["high"]


def test_a_planted_order_and_its_reverse(table, given_trials):
    _, _, ratings, _ = table
    scores = {"same": ratings, "reverse": -ratings, "flat": 0 * ratings}
    result = found_of(table, given_trials, **scores)
    for name in ("Spearman", "tau-b", WITHIN):
        assert result["same", name]["value"] == pytest.approx(1)
        assert result["reverse", name]["value"] == pytest.approx(-1)
        assert result["same", name]["low"] == pytest.approx(1)
    assert result["same", "clear pairs right"]["value"] == 1
    assert 0 < result["same", "clear pairs right"]["n"] < 15
    assert result["reverse", "clear pairs right"]["value"] == 0
    assert np.isnan(result["flat", "Spearman"]["value"])
    assert result["flat", WITHIN]["value"] == 0
    assert result["flat", "clear pairs right"]["value"] == 0
    low, high = result["same", "pairs right"]["of_systems"]
    assert (low, high) == (1, 1)  # a system drawn twice is no pair


def test_clear_pairs_are_those_that_a_paired_test_tells_apart(table, given_trials):
    system, _, ratings, _ = table
    by_system = [ratings[system == n] for n in range(SYSTEMS)]
    p = [stats.ttest_rel(by_system[i], by_system[j])[1] for i in range(SYSTEMS) for j in range(i)]
    assert all(abs(value - 0.05) > 0.004 for value in p)  # no test is on the edge
    result = found_of(table, given_trials)
    assert result["M", "clear pairs right"]["n"] == sum(value < 0.05 for value in p)


def test_what_nobody_scored_or_rated_is_left_out(table, given_trials):
    system, image, ratings, scores = table
    scores = np.where(system == 5, np.nan, ratings)
    result = found_of((system, image, ratings, scores), given_trials)
    assert result["M", "pairs right"]["value"] == 1  # of the ten pairs that have scores
    assert np.isnan(result["M", "Spearman"]["value"])
    unrated = np.where(system == 0, ratings, np.nan)
    assert found_of((system, image, unrated, ratings), given_trials) == {}


NAMES = ("img", "source1", "source2", "caption1", "caption2")
ROWS = ["t_1.jpg a b x y", "t_1.jpg b c y z", "t_2.jpg c a z x", "t_3.jpg a c x z"]
BATTLES = [dict(zip(NAMES, row.split(), strict=True)) for row in ROWS]


def written(tmp_path, winners, **changed):
    rows = [{**battle, "winner": w, **changed} for battle, w in zip(BATTLES, winners, strict=True)]
    path = tmp_path / "battles.json"
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("spelled", [["a", "2", "tie", "source1"], ["a", "c", "Equal", "a"]])
def test_battles_are_read_and_systems_have_their_share_of_wins(tmp_path, given_trials, spelled):
    battles = read_battles(written(tmp_path, spelled))
    assert battles.preferred.tolist() == [1, -1, 0, 1]
    assert battles.systems[1] == ("b", "c")
    assert [judged.image_id for judged in battles.judged] == ["t_1", "t_1", "t_2", "t_3"]
    # Wins: a 2.5 of 3, b 0 of 2, c 1.5 of 3; means of scores: a 2, b 1, c 3.
    trials = given_trials(M=[[[2, 1, 3, 2], [1, 3, 2, 3]]])
    result = with_systems(forced_choice(battles, trials), battles)
    results = {f["statistic"]: f["value"] for f in result.findings["systems"]}
    assert results["tau-b"] == pytest.approx(1 / 3)
    assert results["pairs right"] == pytest.approx(2 / 3)
    assert results["Spearman"] == pytest.approx(0.5)
    assert WITHIN not in results


def test_the_name_of_a_system_wins_over_that_of_a_side(tmp_path):
    battles = read_battles(written(tmp_path, ["b", "b", "a", "c"]))  # a is the second of the third
    assert battles.preferred.tolist() == [-1, 1, -1, -1]
    numbered = written(tmp_path, ["1", "2", "tie", "b"], source1="2", source2="1")
    assert read_battles(numbered).preferred.tolist() == [-1, 1, 0, -1]


def test_conversations_of_an_arena(tmp_path):
    talk = [{"role": "user", "content": "Describe it."}, {"role": "assistant", "content": "A cow."}]
    row = {"model_a": "m", "model_b": "n", "conversation_a": talk, "conversation_b": talk}
    path = tmp_path / "arena.jsonl"
    rows = [{**row, "winner": "model_b"}, {**row, "winner": "tie (bothbad)"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    battles = read_battles(path)
    assert battles.judged[0].captions == ("A cow.", "A cow.")
    assert battles.preferred.tolist() == [-1, 0]


def test_refusals(tmp_path, refusal):
    for name in ("d", "EqualNet", "tie-9b"):
        assert "or 'tie'" in refusal(read_battles, written(tmp_path, [name, "a", "a", "a"]))
    assert "all battles are ties" in refusal(read_battles, written(tmp_path, ["tie"] * 4))
    alone = written(tmp_path, ["tie"] * 4, source1="a", source2="a")
    assert "one system only" in refusal(read_battles, alone)
    rated = tmp_path / "rated.csv"
    rated.write_text("caption,score,model\na dog,1,m\na cat,2,m\n")
    assert "'caption_a' and 'caption_b'" in refusal(read_battles, rated)
    assert "one system only" in refusal(read_judgements, rated, Columns(system_field="model"))
    assert "no 'maker'" in refusal(read_judgements, rated, Columns(system_field="maker"))
    with pytest.raises(AnnotationError):
        read_battles(tmp_path / "none.json")
