import shlex

import click
import pytest
from click.testing import CliRunner
from hostile.test_guard import commands

from vifidel_eval.commands.main import main
from vifidel_eval.scorers.registry import METRICS

EIGHTY = {"COLUMNS": "80"}


@pytest.fixture(autouse=True)
def our_metrics(monkeypatch):
    """Have this package's metrics alone, all imported, whatever other tests have registered."""
    METRICS.load()
    ours = {name: one for name, one in METRICS.items() if one.module.startswith("vifidel_eval.")}
    monkeypatch.setattr(METRICS, "data", ours)


def shown(*words):
    result = CliRunner().invoke(main, list(words), env=EIGHTY)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_mistyped_option_command_and_metric_are_usage_errors():
    for arguments, message in (
        (["score", "--metric", "x"], "--metrics"),
        (["scor"], "No such command 'scor'. Did you mean 'score'?"),
        (["agreement", "thum"], "No such command 'thum'. Did you mean 'thumb'?"),
        (["qqq"], "No such command 'qqq'.\n"),
        (["score", "x.json", "--no-references", "--metrics", "VIFDEL"], "Did you mean VIFIDEL?"),
        (["score"], "Missing argument"),
        (["table"], "Missing argument"),
    ):
        result = CliRunner().invoke(main, arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


@pytest.mark.parametrize("words", [[], ["agreement"], ["submission"]])
def test_a_group_alone_shows_its_help_line_by_line(words):
    bare = CliRunner().invoke(main, words, env=EIGHTY)
    assert (bare.exit_code, bare.stdout) == (2, "")
    assert bare.stderr == shown(*words, "--help")
    assert "\\n" not in bare.stderr


def examples():
    """Return the examples of all commands and groups."""
    of_groups = [main, *(main.get_command(click.Context(main), name) for name in GROUPS)]
    of_all = [*of_groups, *(command for _, command in commands())]
    return [line for command in of_all for line in getattr(command, "examples", ())]


GROUPS = ("agreement", "submission")


@pytest.mark.parametrize("line", examples())
def test_an_example_can_be_given(line):
    context, arguments = click.Context(main), shlex.split(line)
    command = main
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.get_command(context, name)
    command.make_context(name, arguments)  # a usage error where an option is none


def test_every_command_ends_with_examples():
    for words, _ in commands():
        if words != ("clear-cache",):  # which takes nothing
            assert shown(*words, "--help").partition("\nExamples:\n")[2].count("vifidel-eval") == 3
