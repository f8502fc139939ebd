"""Objects from anything, in docs/objects.md: its blocks run in order and keep their promises."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from vifidel_eval.annotations import read_objects

PAGE = Path(__file__).parents[1] / "docs/objects.md"
SECTION = PAGE.read_text("utf-8").partition("## Objects from anything\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Run the blocks in an empty folder; return their names, and what each prints."""
    monkeypatch.chdir(tmp_path)
    names, printed = {}, []
    for block in BLOCKS:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, PAGE.name, "exec"), names)
        printed.append(out.getvalue().split())
    return names, printed


def test_detections_say_what_was_looked_for(ran):
    _, (absent, _) = ran
    assert float(absent[0]) == 2 / 5


def test_answers_of_a_model(ran):
    names, (_, rates) = ran
    # of mine: squirrel, dog, grass and sky are there; base: the lake is not
    assert dict(zip(rates[::2], map(float, rates[1::2]), strict=True)) == {"mine": 0, "base": 1 / 4}
    answers = read_objects("answers.jsonl")
    assert answers.unsure == 1
    assert answers.denied == 1
    assert len(names["questions"]) == len(Path("answers.jsonl").read_text().splitlines())
