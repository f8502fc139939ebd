import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{page}.md"
        for page in ("index", "start", "python", "hallucination", "comparing")
    ),
]
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"```(\w+)\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
]


def commands():
    """Commands that score the example, with the output shown below them."""
    for language, text in BLOCKS:
        if language == "console":
            command, _, output = text.replace("\\\n", "").partition("\n")
            yield pytest.param(command.removeprefix("$ "), output, id=command[:60])


@pytest.mark.parametrize(("command", "output"), list(commands()))
def test_commands_print_what_is_shown(command, output, monkeypatch, tmp_path, run):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # where they may write
    program, *arguments = shlex.split(command)
    assert program == "vifidel-eval"
    assert run(*arguments).stdout.split() == output.split()


@pytest.mark.parametrize("code", [text for language, text in BLOCKS if language == "python"])
def test_python_blocks_run_in_a_checkout(code, monkeypatch, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # where they may write
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), {})
