"""Each plug-in's folder can be deleted from an installed copy, and everything else works."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from package_copy import copy_package, run

import vifidel_eval

EXAMPLES = Path(__file__).parents[1] / "examples"
ROOM = Path(vifidel_eval.__file__).parent / "plugins"
PLUGINS = sorted(path.name for path in ROOM.iterdir() if (path / "__init__.py").exists())
CAPTIONS = str(EXAMPLES / "captions_example_careful_results.json")
OBJECTS = str(EXAMPLES / "instances_example.json")
COMMANDS = {
    "agreement": ["agreement", "flickr8k", "--help"],
    "detect": ["questions", "--help"],
    "leaderboard": ["leaderboard", "--help"],
    "networks": ["train-lm", "--help"],
    "submission": ["submission", "check", "--help"],
    "tables": ["score-table", "--help"],
    "training": ["preference-pairs", "--help"],
}


@pytest.fixture(params=PLUGINS)
def without(request, tmp_path):
    """Run commands, one process each, of a copy that lacks a plug-in."""
    shutil.rmtree(copy_package(tmp_path) / "plugins" / request.param)
    run_copy = partial(run, tmp_path)
    run_copy.plugin = request.param
    return run_copy


def test_help_and_the_commands_of_the_plug_in_say_that_it_is_not_installed(without):
    shown = without("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    gone = COMMANDS.get(without.plugin)
    assert (gone is None) == ("Not installed:" not in shown.stdout)
    if gone is not None:
        assert gone[0] in shown.stdout.partition("Not installed:")[2]
        refused = without(*gone)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == (
            f"Error: {gone[0]} is not installed: the folder plugins/{without.plugin} of "
            "vifidel_eval is missing; install vifidel-eval again.\n"
        )


@pytest.mark.slow
def test_everything_else_works(without):
    references = str(EXAMPLES / "captions_example.json")
    words = [CAPTIONS, "--references", references, "--objects", OBJECTS]
    for command in (
        ["score", *words, "--report", "r.html", "--compare", "--output", "s.json"],
        ["info"],
        ["explain", CAPTIONS, "--objects", OBJECTS],
        ["table", "s.json"],
        *(words for plugin, words in COMMANDS.items() if plugin != without.plugin),
    ):
        done = without(*command)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("without", ["detect"], indirect=True)
def test_what_a_run_asks_of_a_plug_in_is_one_sentence(without):
    refused = without("score", CAPTIONS, "--objects", str(EXAMPLES), "--detector", "a-model")
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == (
        "Error: detector is not installed: the folder plugins/detect of vifidel_eval is missing; "
        "install vifidel-eval again."
    )


@pytest.mark.slow
@pytest.mark.parametrize("without", ["java"], indirect=True)
def test_without_javas_plug_in_tokens_are_those_of_python(without):
    words = ["score", CAPTIONS, "--references", str(EXAMPLES / "captions_example.json")]
    done = without(*words, "--metrics", "BLEU", "--format", "json")
    assert json.loads(done.stdout)["signatures"]["Bleu_4"].startswith("BLEU|tok:python|")
    refused = without(*words, "--metrics", "METEOR")
    assert refused.stderr.splitlines()[-1].endswith(
        "METEOR is not installed: the folder plugins/java of vifidel_eval is missing; install "
        "vifidel-eval again."
    )
