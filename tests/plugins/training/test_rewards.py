"""Rewards as TRL's and verl's trainers call them, whose calls are replayed here."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from vifidel_eval import VifidelError, VifidelWarning
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
    rewards = reward(
        prompts=[row["prompt"] for row in rows],
        completions=completions,
        completion_ids=[[1, 2]] * len(rows),
        trainer_state=None,
        log_extra=lambda column, values: None,
        log_metric=logged.__setitem__,
        **columns,
    )
    assert len(rewards) == len(rows)
    return rewards, logged


def rows(objects=OBJECTS):
    return [
        {"prompt": "Describe the image.", "image": None, "objects": known, "references": said}
        for known, said in zip(objects, REFERENCES, strict=True)
    ]


def messages(text):
    return [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": text}]}]


@pytest.mark.parametrize(
    "completions",
    [
        CAPTIONS,
        [[{"role": "assistant", "content": caption}] for caption in CAPTIONS],
        list(map(messages, CAPTIONS)),
    ],
)
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
    of_agent = [
        [
            {"role": "assistant", "content": None, "tool_calls": [{"name": "look"}]},
            {"role": "tool", "content": "an elephant and a train"},
            {"role": "assistant", "content": caption},
        ]
        for caption in CAPTIONS
    ]
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
    (found,) = verl_calls(CAPTIONS[2:], in_file[2:], [{"references": None}])
    assert found["score"] == expected[1]


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
        (lambda: trl_reward(references=None)("a dog", objects=[["dog"]]),
         "completions must be a list of texts, not 'a dog'"),
        (lambda: trl_reward(references=None)(["a dog"], objects="dog"),
         "objects must be a list with objects for each completion, not 'dog'"),
        (
            lambda: trl_reward(references=None, strict=True)(
                completions=["x", 7], objects=[["dog"]] * 2
            ),
            "completion 1: 7 is neither a text nor a list of messages",
        ),
        (
            lambda: trl_reward(references=None, strict=True)(
                completions=[[{"role": "assistant", "content": [{"type": "text"}]}]],
                objects=[["dog"]],
            ),
            "completion 0: .* is neither a text nor a list of messages",
        ),
        (
            lambda: trl_reward(references=None, transform=lambda score: math.inf)(
                completions=["a dog"], objects=[["dog"]]
            ),
            "the transform of vifidel_f makes inf of",
        ),
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
        with ThreadPoolExecutor(4) as executor:
            calls = [
                loop.run_in_executor(
                    executor,
                    lambda row=row: compute_score(
                        data_source="coco",
                        solution_str=row[0],
                        ground_truth=row[1],
                        extra_info=row[2],
                        **reward_kwargs,
                    ),
                )
                for row in zip(solutions, ground_truths, extra_infos, strict=True)
            ]
            return await asyncio.gather(*calls)

    with ThreadPoolExecutor(1) as thread:  # other tests may have left a loop running in this one
        return thread.submit(asyncio.run, every_row()).result()


def test_verl():
    # Parquet files come back as arrays.
    truths = [np.array(known, dtype=object) for known in OBJECTS[:2]]
    extra = [
        {"references": np.array(said, dtype=object), "num_turns": None} for said in REFERENCES[:2]
    ]
    found = verl_calls(CAPTIONS[:2], truths, extra)
    expected = VifidelPRF().score(CAPTIONS[:2], objects=OBJECTS[:2], references=REFERENCES[:2])
    assert found == [
        {"score": score, "vifidel_f": score, "undefined": 0.0} for score in expected.tolist()
    ]


def test_verl_takes_lower_columns_negatively():
    (found,) = verl_calls(["a dog and a zebra"], [["dog"]], [None], column="VIFIDEL-Hi")
    assert found == {"score": -0.5, "vifidel_hi": 0.5, "undefined": 0.0}


def test_verl_says_once_what_is_undefined():
    rewards._warn_once.cache_clear()
    with pytest.warns(VifidelWarning, match="VIFIDEL-F is undefined for a row") as messages:
        first = compute_score("coco", "a dog", [], {})
    assert first == {"score": 0.0, "vifidel_f": 0.0, "undefined": 1.0}
    assert messages[0].filename == __file__
    assert compute_score("coco", "a dog", [], {})["score"] == 0  # no warning
