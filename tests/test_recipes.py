"""docs/recipes.md: every block of Python runs, and gives what it promises."""

import contextlib
import importlib.util
import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import vifidel_eval

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs/recipes.md").read_text("utf-8"), re.DOTALL
)
_, _, REWARD, HOST, EVALUATE = range(5)  # test_pages runs the first two


def run_block(number, monkeypatch, needs=None):
    """Run a block in a checkout; return its names, and what it prints."""
    if needs is not None and importlib.util.find_spec(needs) is None:
        pytest.skip(f"needs {needs}")
    monkeypatch.chdir(ROOT)
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(BLOCKS[number], "recipes.md", "exec"), names)
    return names, printed.getvalue()


def test_reward(monkeypatch):
    names, _ = run_block(REWARD, monkeypatch)
    rewards = names["rewards"]
    assert rewards.shape == (2, 3)
    assert (rewards.argmax(axis=1) == 0).all()
    assert (rewards.argmin(axis=1) == 2).all()
    np.testing.assert_allclose(names["advantages"].mean(axis=1), 0, atol=1e-12)
    assert names["reward"](["a dog"], [[]]) == [0.0]  # no NaN in a loss


def test_a_host_with_a_list_of_scorers(monkeypatch):
    names, printed = run_block(HOST, monkeypatch)
    lines = [line.split(":")[0] for line in printed.splitlines()]
    assert lines == ["VIFIDEL", "VIFIDEL-F", "P", "R", "F"]
    references, captions = names["gts"].values(), [caption for (caption,) in names["res"].values()]
    columns = vifidel_eval.scorers.VifidelPRF().score_columns(
        captions, objects=names["objects"], references=list(references)
    )
    by_column, listed = names["scorers"][2]
    corpus, images = by_column.compute_score(names["gts"], names["res"])
    assert dict(zip(listed, images, strict=True)) == {
        name: columns[f"VIFIDEL-{name}"].tolist() for name in "PRF"
    }
    assert corpus == pytest.approx([of.mean() for of in columns.values()], rel=1e-12)
    main, _ = names["scorers"][1]
    assert main.compute_score(names["gts"], names["res"])[0] == corpus[2]
    assert by_column.method() == str(main) == "VIFIDEL-PRF"


def test_evaluate(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("HF_HOME", "HF_MODULES_CACHE", "HF_METRICS_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of evaluate and what it imports
        _, printed = run_block(EVALUATE, monkeypatch, "evaluate")
    scores = eval(printed)  # our own dictionary
    columns = vifidel_eval.scorers.VifidelPRF().score_columns(
        ["a dog catches a frisbee", "a zebra in the snow"],
        references=[["a dog jumps for a frisbee"], ["a dog with a frisbee"]],
        objects=[["dog", "frisbee"]] * 2,
    )
    assert scores == pytest.approx({name: of.mean() for name, of in columns.items()}, rel=1e-12)
