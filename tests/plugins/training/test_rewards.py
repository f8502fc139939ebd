"""Rewards as TRL's and verl's trainers call them, whose calls are replayed here."""

import asyncio
import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.captions.rows import MOST_CHARACTERS
from vifidel_eval.plugins.training import rewards
from vifidel_eval.rewards import compute_score, trl_reward
from vifidel_eval.scorers import VifidelH, VifidelPRF, Wmd

CAPTIONS = ["a dog catches a frisbee", "a zebra in the snow", "two cats"]
OBJECTS = [["dog", "frisbee"], ["dog", "frisbee"], {"cat": 2, "couch": 1}]
REFERENCES = [["a dog jumps for a frisbee"], ["a dog with a frisbee"], ["cats on a couch"]]


def trl_calls(reward, completions, rows):
    """Call a reward as TRL's GRPOTrainer does (trl 1.16, `_calculate_rewards`).

    Every column of the data set but the prompt and the completion comes as a keyword.
    """
    columns = {key: [row[key] for row in rows] for key in rows[0] if key != "prompt"}
    logged = {}
    columns |= {"prompts": [row["prompt"] for row in rows], "completion_ids": [[1, 2]] * len(rows)}
    columns |= {"trainer_state": None, "log_extra": lambda column, values: None}
    rewards = reward(completions=completions, log_metric=logged.__setitem__, **columns)
    assert len(rewards) == len(rows)
    return rewards, logged


def rows(objects=OBJECTS):
    return [
        {"prompt": "Describe the image.", "image": None, "objects": known, "references": message}
        for known, message in zip(objects, REFERENCES, strict=True)
    ]


def messages(text):
    return [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": text}]}]


CHATS = [[{"role": "assistant", "content": caption}] for caption in CAPTIONS]


@pytest.mark.parametrize("completions", [CAPTIONS, CHATS, list(map(messages, CAPTIONS))])
def test_trl(completions):
    reward = trl_reward()
    rewards, logged = trl_calls(reward, completions, rows())
    expected = VifidelPRF().score(CAPTIONS, objects=OBJECTS, references=REFERENCES)
    assert rewards == expected.tolist()
    assert all(type(reward) is float for reward in rewards)
    assert reward.__name__ == "vifidel_f"
    assert logged == {"vifidel_f/undefined": 0.0}


def test_undefined_is_none_and_logged():
    reward = trl_reward(references=None)
    rewards, logged = trl_calls(reward, CAPTIONS, rows([["dog"], [], ["cat"]]))
    assert rewards[1] is None
    assert not any(map(math.isnan, filter(None, rewards)))
    assert logged == {"vifidel_f/undefined": pytest.approx(1 / 3)}


def test_where_lower_is_better_less_is_worse_on_purpose():
    scores = VifidelH().score_columns(CAPTIONS, objects=OBJECTS, references=REFERENCES)
    minus = trl_reward("VIFIDEL-Hi", weight=2)
    rewards, _ = trl_calls(minus, CAPTIONS, rows())
    assert rewards == (-2 * scores["VIFIDEL-Hi"]).tolist()
    assert minus.__name__ == "minus_vifidel_hi"
    one_minus = trl_reward("VIFIDEL-Hi", transform=lambda share: 1 - share)
    rewards, _ = trl_calls(one_minus, CAPTIONS, rows())
    assert rewards == (1 - scores["VIFIDEL-Hi"]).tolist()
    assert one_minus.__name__ == "vifidel_hi"


def test_without_objects():
    rewards, _ = trl_calls(trl_reward("WMD", objects=None), CAPTIONS, rows())
    assert rewards == Wmd().score(CAPTIONS, references=REFERENCES).tolist()


def test_a_tool_s_answer_is_no_caption():
    looked = {"role": "assistant", "content": None, "tool_calls": [{"name": "look"}]}
    seen = {"role": "tool", "content": "an elephant and a train"}
    of_agent = [[looked, seen, *chat] for chat in CHATS]
    assert trl_calls(trl_reward(), of_agent, rows()) == trl_calls(trl_reward(), CAPTIONS, rows())


def test_rows_of_parquet_files():
    # A struct has every name of the file in every row, and a missing list is null.
    in_file = [
        {"dog": 1, "frisbee": 1, "cat": None, "couch": None},
        None,
        {"dog": None, "frisbee": None, "cat": 2, "couch": 1},
    ]
    rewards, _ = trl_calls(trl_reward(references=None), CAPTIONS, rows(in_file))
    known = [OBJECTS[0], OBJECTS[2]]
    expected = VifidelPRF(references=False).score(CAPTIONS[::2], objects=known)
    assert rewards == [expected[0], None, expected[1]]
    (result,) = verl_calls(CAPTIONS[2:], in_file[2:], [{"references": None}])
    assert result["score"] == expected[1]


def of_dogs(completions, objects=None, **settings):
    reward = trl_reward(references=None, **settings)
    return reward(completions, objects=objects or [["dog"]] * len(completions))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: trl_reward("VIFIDEL-G"), "'VIFIDEL-G' is not a column .* Did you mean VIFIDEL"),
        (lambda: trl_reward("CIDEr"), "'CIDEr' is not a column that can be scored row by row"),
        (lambda: trl_reward(weight=-1), "weight must be a positive number, not -1"),
        (lambda: trl_reward(weight=math.nan), "weight must be a positive number, not nan"),
        (lambda: trl_reward("WMD", references=None), "WMD compares captions with references"),
        (lambda: trl_reward(objects=None, references=None),
         "without objects and references VIFIDEL-F is undefined for every row: name a column"),
        (lambda: trl_reward(references=None, transform=lambda score, other: score),
         r"the transform of vifidel_f fails on 0.5 \(.* argument: 'other'\); it takes"),
        (lambda: trl_reward(references=None, transform=lambda score: "much"),
         "transform of vifidel_f fails on 0.5"),
        (lambda: trl_reward("VIFIDEL", objects=None), "VIFIDEL needs the objects of the images"),
        (lambda: trl_reward(references=None)(completions=["x"], labels=[[]], prompts=["p"]),
         "no column 'objects'; it has: labels, prompts"),
        (lambda: trl_reward()(completions=["x"], objects=[["dog"]]),
         "no column 'references'; it has: objects. .* references=None to score without"),
        (lambda: of_dogs("a dog"), "completions must be a list of texts, not 'a dog'"),
        (lambda: of_dogs(["a dog"], "dog"),
         "objects must be a list with objects for each completion, not 'dog'"),
        (lambda: of_dogs(["x", 7], strict=True),
         "completion 1: 7 is neither a text nor a list of messages"),
        (lambda: of_dogs([[{"role": "assistant", "content": [{"type": "text"}]}]], strict=True),
         "completion 0: .* is neither a text nor a list of messages"),
        (lambda: of_dogs(["a dog"], transform=lambda score: math.inf),
         "the transform of vifidel_f makes inf of"),
        (lambda: compute_score("coco", "a dog", ["dog"], undefined=math.nan),
         "undefined must be a finite number or 'worst', not nan"),
    ],
)  # fmt: skip
def test_what_is_refused(make, sentence):
    with pytest.raises(VifidelError, match=sentence):
        make()


def verl_calls(solutions, ground_truths, extra_infos, **reward_kwargs):
    """Call `compute_score` as verl's reward loop does (verl 0.9.1, `NaiveRewardManager`).

    Every row is a call in an executor of an event loop.
    """

    async def every_row():
        loop = asyncio.get_running_loop()
        names = ("data_source", "solution_str", "ground_truth", "extra_info")
        with ThreadPoolExecutor(4) as executor:
            calls = []
            for row in zip(solutions, ground_truths, extra_infos, strict=True):
                given = dict(zip(names, ("coco", *row), strict=True)) | reward_kwargs
                calls.append(loop.run_in_executor(executor, partial(compute_score, **given)))
            return await asyncio.gather(*calls)

    with ThreadPoolExecutor(1) as thread:  # other tests may have left a loop running in this one
        return thread.submit(asyncio.run, every_row()).result()


def test_verl():
    # Parquet files come back as arrays.
    truths = [np.array(known, dtype=object) for known in OBJECTS[:2]]
    message = [np.array(of_image, dtype=object) for of_image in REFERENCES[:2]]
    extra = [{"references": of_image, "num_turns": None} for of_image in message]
    result = verl_calls(CAPTIONS[:2], truths, extra)
    expected = VifidelPRF().score(CAPTIONS[:2], objects=OBJECTS[:2], references=REFERENCES[:2])
    assert result == [
        {"score": score, "vifidel_f": score, "undefined": 0.0} for score in expected.tolist()
    ]


def test_verl_takes_lower_columns_negatively():
    (result,) = verl_calls(["a dog and a zebra"], [["dog"]], [None], column="VIFIDEL-Hi")
    assert result == {"score": -0.5, "vifidel_hi": 0.5, "undefined": 0.0}


def test_verl_says_once_what_is_undefined():
    rewards._warn_once.cache_clear()
    with pytest.warns(VifidelWarning, match="VIFIDEL-F is undefined for a row") as messages:
        first = compute_score("coco", "a dog", [], {})
    assert first == {"score": 0.0, "vifidel_f": 0.0, "undefined": 1.0}
    assert messages[0].filename == __file__
    assert compute_score("coco", "a dog", [], {})["score"] == 0  # no warning


# Answers


LOOKED_FOR = {"dog": 1, "zebra": 0}
RIGHT, WRONG = "A dog.", "A zebra."
REFUSAL = "I'm sorry, I can't describe this image."
SILENT = ["", "...", REFUSAL, "<think>A dog.", "<think>A dog.</think><answer></answer>"]
# What mentions nothing that is there or looked for.
VAGUE = ["It is a nice picture.", "There is no zebra."]
WORST = {"VIFIDEL": 0, "VIFIDEL-P": 0, "VIFIDEL-R": 0, "VIFIDEL-F": 0, "VIFIDEL-T": 0}
WORST |= {"VIFIDEL-Hi": -1, "VIFIDEL-Hs": -1, "VIFIDEL-Hn": -10}


def rewards_of(column, completions, objects=LOOKED_FOR, **settings):
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
        result = [compute_score("x", text, LOOKED_FOR, column=column) for text in SILENT]
    assert [one["score"] for one in result] == [WORST[column]] * len(SILENT)
    assert {one["undefined"] for one in result} == {1.0}


@pytest.mark.parametrize("column", ["VIFIDEL-Hi", "VIFIDEL-T"])
def test_nothing_mentioned_is_not_best(column):
    for text, reward in zip(VAGUE, rewards_of(column, VAGUE), strict=True):
        assert reward < rewards_of(column, [RIGHT])[0]
        with pytest.warns(VifidelWarning):
            assert compute_score("x", text, LOOKED_FOR, column=column)["score"] == reward
        rewards._warn_once.cache_clear()


def test_what_the_user_says():
    assert rewards_of("VIFIDEL-Hi", SILENT, undefined=-0.25) == [-0.25] * len(SILENT)
    assert rewards_of("VIFIDEL-F", [REFUSAL, RIGHT], undefined=None)[0] is None
    assert rewards_of("VIFIDEL-Hi", [REFUSAL], transform=lambda score: 3 - score) == [2.0]
    assert rewards_of("VIFIDEL-Hi", [REFUSAL], weight=0.5) == [-0.5]
    with pytest.warns(VifidelWarning):
        assert compute_score("x", REFUSAL, LOOKED_FOR, undefined=-2.0)["score"] == -2
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
    thought = f"<think> {WRONG} </think>"
    texts = [RIGHT, f"{thought} {RIGHT}", f"{thought}<answer>{RIGHT}</answer>"]
    for column in ("VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-Hi"):
        assert len(set(rewards_of(column, texts))) == 1
    first, other, _ = rewards_of("VIFIDEL-Hi", texts, as_written=True)
    assert other < first


@pytest.mark.parametrize("column", ["VIFIDEL-F", "VIFIDEL-Hi"])
def test_a_batch_survives_a_row(column):
    many = " ".join(f"word{'abcdefghij'[n % 10]}{n}" for n in range(2100))
    empty = [{"role": "assistant", "content": [{"type": "text"}]}]
    broken = ["dog " * 60_000, many, 7, None, empty]
    assert len(broken[0]) > MOST_CHARACTERS
    reward = trl_reward(column, references=None)
    batch = {"completions": [RIGHT, *broken], "objects": [LOOKED_FOR] * 6}
    with pytest.warns(VifidelWarning) as warned:
        result = reward(**batch)
    assert result == [*rewards_of(column, [RIGHT]), *[WORST[column]] * 5]
    [warning] = [str(w.message) for w in warned if "cannot be read" in str(w.message)]
    assert warning.startswith("5 of 6 completions cannot be read")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reward(**batch) == result  # is said once
    with pytest.raises(VifidelError, match=r"^completion 1: the caption is 240000"):
        trl_reward(column, references=None, strict=True)(**batch)
    with pytest.warns(VifidelWarning):
        assert compute_score("x", broken[0], LOOKED_FOR, column=column)["score"] == WORST[column]
    with pytest.raises(VifidelError, match="240000 characters"):
        compute_score("x", broken[0], LOOKED_FOR, column=column, strict=True)


def test_what_is_wrong_with_the_data_is_still_an_error():
    reward = trl_reward()
    with pytest.raises(VifidelError, match="reference"):
        reward(
            completions=[RIGHT], objects=[LOOKED_FOR], references=[["x" * (MOST_CHARACTERS + 1)]]
        )
