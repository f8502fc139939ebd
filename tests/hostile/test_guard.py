"""No output replaces what a run reads: every command is asked for its paths, and each is tried."""

from functools import cache
from itertools import combinations, product

import click
import pytest
from conftest import call as run_command

from vifidel_eval.commands.main import main
from vifidel_eval.commands.options import Command, Record
from vifidel_eval.commands.paths import Paths, Read, ReadByName, Stated, Written, WrittenFolder
from vifidel_eval.scorers.registry import METRICS

# Options that take text which names no file, beside those of records that say so.
NO_PATHS = {
    *("metrics", "caption", "labels", "id_column", "label_scores", "references", "device"),
    *("lower_is_better", "sort", "judges", "kinds", "made_up", "table", "column", "prompt"),
}
# Arguments that may be left out, and stand before a path.
BEFORE_PATHS = {"table": "chair"}


@cache
def commands(group=main, names=()):
    """Return every command with the words that call it."""
    result = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command, words = group.get_command(context, name), (*names, name)
        result += (
            commands(command, words) if isinstance(command, click.Group) else [(words, command)]
        )
    return result


@cache
def params(words):
    command = dict(commands())[words]
    return command.get_params(click.Context(command))


def reads(kind):
    return isinstance(kind, Read | ReadByName)


def pairs(words):
    """Return each input of a command with its first output, and its first input with each one."""
    sources = [param for param in params(words) if reads(param.type)]
    targets = [param for param in params(words) if isinstance(param.type, Written)]
    both = product(sources, targets)
    return [pair for pair in both if pair[0] is sources[0] or pair[1] is targets[0]]


def of_commands(some):
    """Return a mark for a test of every command of which something is to be tried."""
    return pytest.mark.parametrize(
        "words", [words for words, _ in commands() if some(words)], ids="-".join
    )


def option(param, value):
    """Return the arguments that give a parameter a value."""
    if isinstance(param, click.Argument):
        return [str(value)]
    named = (param.metavar or "").startswith(("NAME=", "SYSTEM="))
    return [param.opts[0], f"name={value}" if named else str(value)]


def call(words, given):
    """Call a command with values of some parameters, and something of all that it requires."""
    arguments = list(words)
    of_given = {param.name: (param, value) for param, value in given}
    for param in params(words):
        if param.name in of_given:
            arguments += option(*of_given[param.name])
        elif param.required:
            arguments += option(param, "absent")
        elif param.name in BEFORE_PATHS and isinstance(param, click.Argument):
            arguments.append(BEFORE_PATHS[param.name])
    return run_command(*arguments)


def test_every_option_with_a_path_says_whether_it_is_read_or_written():
    seen = 0
    for words, command in commands():
        records = [param for param in command.params if isinstance(param, Record)]
        declared = [one for record in records for one in record.options.values()]
        texts = {one.name for one in (*declared, *METRICS.options()) if one.kind is str}
        for param in params(words):
            assert not isinstance(param.type, click.Path) or isinstance(param.type, Paths), param
            if isinstance(param.type, Paths):
                assert isinstance(param.type, Read | Written | WrittenFolder), (words, param)
                assert isinstance(command, Command), words
                seen += 1
            elif isinstance(param.type, click.types.StringParamType):
                says = isinstance(param.type, ReadByName | Stated)
                assert says or param.name in NO_PATHS | texts, (words, param)
    assert seen > 50


@of_commands(pairs)
def test_no_output_replaces_an_input_or_lies_in_a_folder_that_is_read(tmp_path, words):
    path = tmp_path / "precious.csv"  # rows are written to names that end so
    path.write_text("precious")
    (other := tmp_path / "other").mkdir()
    (link := other / "link.csv").symlink_to(path)
    inside = other / "inside.csv"
    linked, entered = set(), set()
    for source, target in pairs(words):
        tried = [(path, path, "precious.csv: the output would replace an input")]
        if target.name not in linked:
            tried.append((path, link, "the output would replace an input"))
        if source.name not in entered:
            tried.append((other, inside, "the output would be in a folder that is read"))
        for read, written, message in tried:
            result = call(words, [(source, read), (target, written)])
            assert result.exit_code == 1, (source, target, result.output)
            assert message in result.stderr, (source, target)
        linked.add(target.name)
        entered.add(source.name)
    assert path.read_text() == "precious"


def outputs(words):
    written = [param for param in params(words) if isinstance(param.type, Written)]
    return combinations(written, 2)


@of_commands(lambda words: list(outputs(words)))
def test_no_output_replaces_another(tmp_path, words):
    path = tmp_path / ("new.csv" if words[0] == "explain" else "new.png")
    for one, other in outputs(words):
        result = call(words, [(one, path), (other, path)])
        assert result.exit_code == 1, (one, other)
        assert "the output would replace an input" in result.stderr


def of_paths(words):
    return [
        param
        for param in params(words)
        if isinstance(param.type, Paths | ReadByName)
        if not (param.metavar or "").startswith(("NAME=", "SYSTEM="))
    ]


@of_commands(of_paths)
def test_an_empty_path_and_one_that_cannot_be(words):
    for at, param in enumerate(of_paths(words)):
        value, message = [("", "the path is empty"), ("a\0b", "null character")][at % 2]
        result = call(words, [(param, value)])
        assert result.exit_code == 2, (param, result.output)
        assert message in result.stderr
        assert "\0" not in result.stderr


@pytest.mark.parametrize(
    ("suffix", "words", "name"),
    [(".unfinished", ("agreement", "flickr8k"), "output"), (".lock", ("score",), "leaderboard"),
     (".unfinished", ("train-lm",), "output")],
)  # fmt: skip
def test_what_is_written_beside_an_output_replaces_no_input_either(tmp_path, suffix, words, name):
    source = tmp_path / f"new.json{suffix}"
    source.write_text("precious")
    target = next(param for param in params(words) if param.name == name)
    read = next(param for param in params(words) if reads(param.type))
    result = call(words, [(read, source), (target, tmp_path / "new.json")])
    assert f"{source}: the output would replace an input" in result.stderr


@pytest.mark.parametrize("name", ["", "mine="])
def test_a_named_result_file_is_an_input_too(tmp_path, name, run):
    path = tmp_path / "a=b.json"
    path.write_text("precious")
    result = run("score", f"{name}{path}", "--output", path)
    assert "the output would replace an input" in result.stderr
    folder = run("explain", f"{name}{tmp_path}", "--output", tmp_path / "o.json")
    assert "the output would be in a folder that is read" in folder.stderr
