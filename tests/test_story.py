"""docs/story.md: its commands run in order, print what it shows, and LaTeX takes their output."""

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(
    r"```(console|python|sh)\n(.*?)```", (ROOT / "docs/story.md").read_text("utf-8"), re.DOTALL
)
PAPER = r"""
\documentclass{article}
\usepackage{booktabs}
\begin{document}
\input{table}
\input{appendix}
\end{document}
"""


def commands():
    """The page's commands in order, each with the output shown below it; None where none is."""
    for language, text in BLOCKS:
        joined = text.replace("\\\n", "")
        if language == "console":
            command, _, shown = joined.partition("\n")
            yield language, command.removeprefix("$ "), shown
        elif language == "sh":
            yield from ((language, line, None) for line in joined.splitlines())
        else:
            yield language, text, None


@pytest.fixture(scope="module")
def told(tmp_path_factory, run):
    """Run the page; return the folder where it wrote, and what was shown and what was printed."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "examples").symlink_to(ROOT / "examples")
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for language, command, shown in commands():
            if language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(command, "story.md", "exec"), {})
                printed.append((shown, output.getvalue()))
                continue
            called, _, target = command.partition(" > ")
            program, *arguments = shlex.split(called)
            assert program == "vifidel-eval"
            result = run(*arguments)
            assert result.exit_code == 0, result.output
            if target:
                Path(target).write_text(result.stdout, "utf-8")
            printed.append((shown, result.stdout))
    return folder, printed


def test_commands_print_what_is_shown(told):
    _, printed = told
    compared = [(plain(shown), plain(output)) for shown, output in printed if shown is not None]
    assert len(compared) == 2
    for shown, output in compared:  # where "..." ends it, more is printed
        assert output.startswith(shown[:-3]) if shown.endswith("...") else output == shown


def plain(text):
    """Return a text without white space, and without versions of libraries in signatures."""
    return re.sub(r"(numpy|pot|textblob):[\w.]+|(?<=\w#)[0-9a-f]{8}", r"\1", "".join(text.split()))


@pytest.mark.latex
def test_latex_takes_the_end(told):
    folder, _ = told
    (folder / "paper.tex").write_text(PAPER, "utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    result = subprocess.run(latex, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-2000:]
    assert (folder / "paper.pdf").stat().st_size > 1000
