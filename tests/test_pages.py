"""Each block of the pages stands alone: it runs in a folder of its own, and prints what it shows.

Where the last line that is shown is ``...``, more is printed.

Blocks marked ``bash`` or ``text`` are patterns to fill in. What ``<!-- needs: ... -->`` names
cannot be here (published data, weights): of such a block the options are checked.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import shlex
import shutil
import warnings
from pathlib import Path

import pytest
from PIL import Image

from vifidel_eval.scorers.registry import METRICS

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:<!-- needs: ([^\n]*) -->\n)?```(console|python|sh)\n(.*?)```", re.DOTALL)
# Pages whose blocks follow one another, or need an engine: they have tests of their own.
ELSEWHERE = {"story", "tables"}
# Of a whole signature, and so of the versions that are installed.
DIGEST = re.compile(r"#[0-9a-f]{8}(?=,| \(|\n)")
# Packages that a block may import and that a newcomer may lack.
OPTIONAL = "evaluate fiftyone inspect_ai mlflow sacrebleu torch torchmetrics wandb".split()


def blocks(*languages):
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if page.stem in ELSEWHERE:
            continue
        for needs, language, text in BLOCK.findall(page.read_text("utf-8")):
            if language in languages and "evaluate.load(" not in text:  # test_recipes has that
                name = f"{page.stem}: {text.strip().splitlines()[0][:50]}"
                yield pytest.param(needs, text, id=name)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Go to a folder with the examples, and files under the names that pages give a user's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(METRICS, "data", dict(METRICS))  # a page registers a metric of its own
    examples = tmp_path / "examples"
    examples.symlink_to(ROOT / "examples")
    for name, source in {
        "captions_val2017.json": "captions_example.json",
        "instances_val2017.json": "instances_example.json",
        "results.json": "captions_example_careful_results.json",
    }.items():
        shutil.copy(examples / source, tmp_path / name)
    captions = json.loads((tmp_path / "results.json").read_text("utf-8"))
    for name in ("mine", "base", "captions"):
        lines = "".join(json.dumps(caption) + "\n" for caption in captions)
        (tmp_path / f"{name}.jsonl").write_text(lines, "utf-8")
    (tmp_path / "photos").mkdir()
    for caption in captions:
        Image.new("RGB", (8, 8)).save(tmp_path / "photos" / f"{caption['image_id']}.png")
    return tmp_path


@pytest.mark.parametrize(("needs", "text"), list(blocks("console")))
def test_a_command_prints_what_is_shown(needs, text, desk, run):
    command, _, output = text.replace("\\\n", "").partition("\n")
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "vifidel-eval"
    shown, printed = (DIGEST.sub("", text).split() for text in (output, run(*arguments).stdout))
    if shown[-1] == "...":
        printed[len(shown) - 1 :] = ["..."]
    assert printed == shown


@pytest.mark.parametrize(("needs", "text"), list(blocks("sh")))
def test_commands_run(needs, text, desk, run):
    for line in text.replace("\\\n", "").splitlines():
        command, _, target = line.partition(" > ")
        program, *arguments = shlex.split(command, comments=True)
        if program == "python" and arguments[0].startswith("benchmarks"):
            assert (ROOT / arguments[0]).exists()
        if program != "vifidel-eval":
            continue
        result = run(*arguments)
        if needs and result.exit_code:
            assert result.exit_code == 1, result.output
            assert re.search(f"no such|pip install|{needs}", result.stderr), result.stderr
        else:
            assert result.exit_code == 0, result.output
        if target:
            Path(target).write_text(result.stdout, "utf-8")


@pytest.mark.parametrize(("needs", "text"), list(blocks("python")))
def test_lines_of_python_run(needs, text, desk):
    code = compile(text, "page", "exec")  # also where it cannot run
    imports = rf"^(?:import |from (?:vifidel_eval\.integrations\.)?)({'|'.join(OPTIONAL)})\b"
    for package in re.findall(imports, text, re.MULTILINE):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
        warnings.simplefilter("ignore")  # of what it uses itself
    if not needs:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"__name__": "__main__"})


TROUBLE = re.findall(
    r"^### (.*)\n\n<!-- try: vifidel-eval (.*) -->$",
    (ROOT / "docs/errors.md").read_text("utf-8"),
    re.MULTILINE,
)


@pytest.fixture
def faults(desk):
    """Add the files of docs/errors.md, each with its fault."""
    captions = json.loads((desk / "results.json").read_text("utf-8"))
    other = [{**caption, "image_id": caption["image_id"] + 5000} for caption in captions]
    rows = [{**caption, "image_id": row} for row, caption in enumerate(captions)]
    named = [{"image_id": caption["image_id"], "words": "a dog"} for caption in captions]
    plain = {str(caption["image_id"]): ["squirrel"] for caption in captions}
    files = {
        "mine.json": captions,
        "short.json": captions[:20],
        "silent.json": [{**one, "caption": "I cannot help."} for one in captions[:2]]
        + captions[2:],
        "few.json": captions[:3],
        "one.json": captions[:1],
        "twice.json": [*captions, captions[0]],
        "other.json": other,
        "rows.json": rows,
        "named.json": named,
        "plain.json": plain,
        "codes.json": plain | {str(captions[0]["image_id"]): {"c3": 1}},
    }
    for name, content in files.items():
        (desk / name).write_text(json.dumps(content), "utf-8")
    (desk / "cut.json").write_text(json.dumps(captions)[:100], "utf-8")
    shutil.copy(desk / "captions_val2017.json", desk / "refs.json")
    shutil.copy(desk / "instances_val2017.json", desk / "objects.json")


@pytest.mark.parametrize(("message", "command"), TROUBLE, ids=[message for message, _ in TROUBLE])
def test_what_goes_wrong_says_so(message, command, faults, run, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)  # no Java
    if "board.json" in command:
        run("score", "mine.json", "--objects", "objects.json", "--leaderboard", "board.json")
    result = run(*shlex.split(command))
    output = " ".join((result.stderr + result.stdout).split())
    assert re.search(re.escape(message).replace(re.escape("..."), ".*"), output), output


def test_every_message_is_tried():
    page = (ROOT / "docs/errors.md").read_text("utf-8").partition("\n## Questions")[0]
    assert len(TROUBLE) == page.count("\n### ")


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rows_of_a_table_have_as_many_cells_as_its_header(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        rows = re.sub(r"\\\||`[^`\n]*`", "", table).splitlines()
        assert [row for row in rows if row.count("|") != rows[0].count("|")] == []
