"""Rewards of answers: only the caption earns, silence is worst, and a batch survives a row."""

import warnings

import pytest

from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.captions.rows import MOST_CHARACTERS
from vifidel_eval.plugins.training import rewards
from vifidel_eval.plugins.training.rewards import compute_score, trl_reward

OBJECTS = {"dog": 1, "zebra": 0}
RIGHT, WRONG = "A dog.", "A zebra."
REFUSAL = "I'm sorry, I can't describe this image."
SILENT = ["", "...", REFUSAL, "<think>A dog.", "<think>A dog.</think><answer></answer>"]
# What mentions nothing that is there or looked for.
VAGUE = ["It is a nice picture.", "There is no zebra."]
WORST = {"VIFIDEL": 0, "VIFIDEL-P": 0, "VIFIDEL-R": 0, "VIFIDEL-F": 0, "VIFIDEL-T": 0}
WORST |= {"VIFIDEL-Hi": -1, "VIFIDEL-Hs": -1, "VIFIDEL-Hn": -10}


def rewards_of(column, completions, objects=OBJECTS, **settings):
    reward = trl_reward(column, references=None, **settings)
    return reward(completions=completions, objects=[objects] * len(completions))


@pytest.fixture(autouse=True)
def warned_of_nothing():
    rewards._warn_once.cache_clear()


@pytest.mark.parametrize("column", WORST)
def test_silence_gets_the_worst_of_every_column(column):
    assert rewards_of(column, SILENT) == [WORST[column]] * len(SILENT)
    right, wrong = rewards_of(column, [RIGHT, WRONG])
    assert right > WORST[column]
    assert right > wrong >= WORST[column]
    with pytest.warns(VifidelWarning, match="claims or mentions nothing"):
        found = [compute_score("x", text, OBJECTS, column=column) for text in SILENT]
    assert [one["score"] for one in found] == [WORST[column]] * len(SILENT)
    assert {one["undefined"] for one in found} == {1.0}


@pytest.mark.parametrize("column", ["VIFIDEL-Hi", "VIFIDEL-T"])
def test_nothing_mentioned_is_not_best(column):
    for text, reward in zip(VAGUE, rewards_of(column, VAGUE), strict=True):
        assert reward < rewards_of(column, [RIGHT])[0]
        with pytest.warns(VifidelWarning):
            assert compute_score("x", text, OBJECTS, column=column)["score"] == reward
        rewards._warn_once.cache_clear()


def test_what_the_user_says():
    assert rewards_of("VIFIDEL-Hi", SILENT, undefined=-0.25) == [-0.25] * len(SILENT)
    assert rewards_of("VIFIDEL-F", [REFUSAL, RIGHT], undefined=None)[0] is None
    assert rewards_of("VIFIDEL-Hi", [REFUSAL], transform=lambda score: 3 - score) == [2.0]
    assert rewards_of("VIFIDEL-Hi", [REFUSAL], weight=0.5) == [-0.5]
    with pytest.warns(VifidelWarning):
        assert compute_score("x", REFUSAL, OBJECTS, undefined=-2.0)["score"] == -2
    with pytest.raises(VifidelError, match="a finite number or 'worst'"):
        trl_reward(undefined="best")


@pytest.mark.parametrize("text", [RIGHT, REFUSAL, *VAGUE])
def test_an_unknown_image_is_nobodys_fault(text):
    shares = {}
    reward = trl_reward("VIFIDEL-Hi", references=None)
    assert reward(completions=[text], objects=[None], log_metric=shares.__setitem__) == [None]
    assert shares == {"minus_vifidel_hi/undefined": 1.0}
    with pytest.warns(VifidelWarning, match="no object label, or nothing to judge"):
        assert compute_score("x", text, None, column="VIFIDEL-Hi")["score"] == 0


def test_only_the_answer_earns():
    texts = [
        RIGHT,
        f"<think> {WRONG} </think> {RIGHT}",
        f"<think>{WRONG}</think><answer>{RIGHT}</answer>",
    ]
    for column in ("VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-Hi"):
        assert len(set(rewards_of(column, texts))) == 1
    first, other, _ = rewards_of("VIFIDEL-Hi", texts, as_written=True)
    assert other < first


@pytest.mark.parametrize("column", ["VIFIDEL-F", "VIFIDEL-Hi"])
def test_a_batch_survives_a_row(column):
    many = " ".join(f"word{'abcdefghij'[n % 10]}{n}" for n in range(2100))
    broken = [
        "dog " * 60_000,
        many,
        7,
        None,
        [{"role": "assistant", "content": [{"type": "text"}]}],
    ]
    assert len(broken[0]) > MOST_CHARACTERS
    reward = trl_reward(column, references=None)
    batch = {"completions": [RIGHT, *broken], "objects": [OBJECTS] * 6}
    with pytest.warns(VifidelWarning) as warned:
        found = reward(**batch)
    assert found[0] == rewards_of(column, [RIGHT])[0]
    assert found[1] == found[2] == found[3] == found[4] == found[5] == WORST[column]
    [warning] = [str(w.message) for w in warned if "cannot be read" in str(w.message)]
    assert warning.startswith("5 of 6 completions cannot be read")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reward(**batch) == found  # is said once
    with pytest.raises(VifidelError, match=r"^completion 1: the caption is 240000"):
        trl_reward(column, references=None, strict=True)(**batch)
    with pytest.warns(VifidelWarning):
        assert compute_score("x", broken[0], OBJECTS, column=column)["score"] == WORST[column]
    with pytest.raises(VifidelError, match="240000 characters"):
        compute_score("x", broken[0], OBJECTS, column=column, strict=True)


def test_what_is_wrong_with_the_data_is_still_an_error():
    reward = trl_reward()
    with pytest.raises(VifidelError, match="reference"):
        reward(completions=[RIGHT], objects=[OBJECTS], references=[["x" * (MOST_CHARACTERS + 1)]])
