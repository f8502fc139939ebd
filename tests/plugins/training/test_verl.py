"""The reward for verl, by its own loader and reward manager, as docs/training.md has it."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vifidel_eval.plugins.training import rewards
from vifidel_eval.scorers import VifidelPRF

pytestmark = [pytest.mark.pytorch, pytest.mark.slow]

PAGE = Path(__file__).parents[3] / "docs" / "training.md"
CAPTIONS = ["a dog catches a frisbee", "a zebra in the snow"]
OBJECTS = ["dog", "frisbee"]
REFERENCES = ["a dog jumps for a frisbee"]

# What a reward loop worker of verl 0.9.1 does with each row; Parquet files come back as arrays.
RUN = """
import asyncio, json, sys
import numpy as np, torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

options, captions, objects, references = map(json.loads, sys.argv[1:])
config = OmegaConf.create({"reward": {"reward_manager": {"source": "register", "name": "naive"}}})
config = OmegaConf.merge(config, OmegaConf.from_dotlist(options))

class Tokenizer:
    def decode(self, ids, skip_special_tokens):
        return captions[int(ids[0])]

def row(number):
    of_row = {
        "data_source": "coco",
        "reward_model": {"ground_truth": np.array(objects, dtype=object)},
        "extra_info": {"references": np.array(references, dtype=object)},
    }
    return DataProto.from_dict(
        tensors={
            "responses": torch.tensor([[number, 0]]),
            "attention_mask": torch.ones(1, 4, dtype=torch.long),
        },
        non_tensors={name: np.array([value], object) for name, value in of_row.items()},
    )

async def every_row():
    manager = load_reward_manager(config, Tokenizer())
    return [await manager.run_single(row(number)) for number in range(len(captions))]

print("\\n" + json.dumps(asyncio.run(every_row())))
"""


def options():
    """Return the options of the page's command, as verl's command line takes them."""
    (command,) = re.findall(r"```sh\n(python -m verl.*?)```", PAGE.read_text("utf-8"), re.S)
    return [word.lstrip("+") for word in command.replace("\\\n", " ").split() if "=" in word]


@pytest.mark.parametrize(
    "given", [[], [f"reward.custom_reward_function.path={rewards.__file__}"]], ids=["page", "path"]
)
def test_its_own_loader_and_reward_manager_take_the_recipe_of_the_page(given):
    if importlib.util.find_spec("verl") is None:
        pytest.skip("needs verl")
    arguments = map(json.dumps, ([*options(), *given], CAPTIONS, OBJECTS, REFERENCES))
    printed = subprocess.check_output([sys.executable, "-c", RUN, *arguments], text=True)
    expected = VifidelPRF().score(CAPTIONS, objects=[OBJECTS] * 2, references=[REFERENCES] * 2)
    assert json.loads(printed.splitlines()[-1]) == [
        {
            "reward_score": score,
            "reward_extra_info": {"score": score, "vifidel_f": score, "undefined": 0.0},
        }
        for score in expected.tolist()
    ]
