"""The package of docs/python.md with a command of its own, and packages that are broken."""

import json
import sys

import pytest
from conftest import call
from own_metric import example, install

PROJECT = """\
[project]
name = "broken"
version = "1.0"

[project.entry-points."vifidel_eval.commands"]
{name} = "broken:{attribute}"

[tool.setuptools]
py-modules = ["broken"]
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command line beside the packages that are installed in a folder of the test's own."""
    monkeypatch.syspath_prepend(tmp_path)
    yield call
    for module in ("broken", "longest_caption"):
        sys.modules.pop(module, None)


def test_the_command_of_the_page_is_one_like_any_other(tmp_path, run):
    module, project = example("A command of your own")
    install(tmp_path, {"longest_caption": module}, project)
    assert "longest" in run("--help").stdout
    assert "Print the longest caption" in run("longest", "--help").stdout
    captions = tmp_path / "mine.json"
    captions.write_text(json.dumps({"7": "a dog", "9": "a dog and a cat"}))
    done = run("longest", captions)
    assert (done.exit_code, done.stdout) == (0, "9: a dog and a cat\n")
    captions.write_text("[1, 2]")
    refused = run("longest", captions)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: ")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "attribute", "why"),
    [
        ("raise SystemExit(0)", "longest", "importing broken:longest fails (SystemExit: 0)"),
        ("1 / 0", "longest",
         "importing broken:longest fails (ZeroDivisionError: division by zero)"),
        ("longest = print", "longest", "it is not a click.Command: <built-in function print>"),
    ],
)  # fmt: skip
def test_a_package_that_is_broken_is_one_sentence_and_stops_no_other_command(
    tmp_path, run, module, attribute, why
):
    install(tmp_path, {"broken": module}, PROJECT.format(name="longest", attribute=attribute))
    refused = run("longest", "--any", "thing")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"Error: the command longest of the package broken cannot be used: {why}; update or "
        "uninstall that package.\n"
    )
    assert run("info", "--help").exit_code == 0
    assert "longest" in run("--help").stdout


def test_a_command_that_two_packages_claim_is_refused(tmp_path, run):
    install(tmp_path, {"broken": ""}, PROJECT.format(name="detect", attribute="longest"))
    refused = run("detect")
    assert refused.stderr == (
        "Error: the packages broken and vifidel-eval each have a command detect; uninstall all but "
        "one of them to use it.\n"
    )
    assert run("questions", "--help").exit_code == 0
