"""Fixtures that the tests share, and what becomes of tests that lack something."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before NumPy is there

import hypothesis
import numpy as np
import pytest
from click.testing import CliRunner
from gensim.models import KeyedVectors

from vifidel_eval.commands.main import main
from vifidel_eval.doors import entry_points
from vifidel_eval.plugins import java
from vifidel_eval.scorers.registry import METRICS

pytest.register_assert_rewrite("host_metrics", "plan_checks")

# Tests are about results: how long an example takes depends on what else the machine does.
hypothesis.settings.register_profile("ours", deadline=None, max_examples=50)
hypothesis.settings.load_profile("ours")


@pytest.fixture(autouse=True, scope="session")
def metrics_of_plugins():
    """Import them once: a module that is imported does not register its metric again."""
    METRICS.load()


@pytest.fixture(autouse=True, scope="session")
def piped_output_has_one_width():
    """Whoever runs the tests may have COLUMNS set."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("COLUMNS", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def java_is_for_tests_of_it():
    """It takes long to start; where a test is not marked, this machine's is not found."""

    def which(name):
        result = shutil.which(name)
        return result if result != JAVA or result in _WITH_JAVA else None

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(java, "shutil", SimpleNamespace(which=which))
        yield


@pytest.fixture(autouse=True, scope="session")
def entry_points_looked_up_once():
    """What is installed changes with the import path, and every command line asks for it."""
    result = cache(lambda path, group: importlib.metadata.entry_points(group=group))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(entry_points, "entry_points", lambda group: result(tuple(sys.path), group))
        yield


def pytest_configure():
    """Say at once if the plug-ins of this checkout are not those that are installed."""
    setup = (Path(__file__).parents[1] / "setup.py").read_text("utf-8")
    declared = set(re.findall(r'"([\w-]+=vifidel_eval\.plugins[\w.:]+)"', setup))
    result = importlib.metadata.distribution("vifidel-eval").entry_points
    if missing := declared - {f"{entry.name}={entry.value}" for entry in result}:
        pytest.exit(f"not installed: {', '.join(missing)}; pip install --no-deps -e . again", 3)


def pytest_addoption(parser):
    parser.addoption(
        "--need",
        default="",
        metavar="WHAT,...",
        help="what this machine must have, such as Java, PyTorch, LaTeX, browser or pandas: tests "
        "that would skip for want of it fail",
    )


# A minute of tests, one file or two per room and plug-in, for distributions that are tried in a new
# environment: `pytest -m "smoke and not slow"`.
SMOKE = """
    annotations/test_coco.py annotations/test_voc.py captions/test_layouts.py
    captions/test_results_and_references.py commands/test_demo.py commands/test_formats.py
    explain/test_sentences.py io/test_image_ids.py kernels/test_penalties.py
    plugins/agreement/test_correlation.py plugins/detect/test_onnx_detectors.py
    plugins/java/test_spice.py
    plugins/networks/test_word_pieces.py plugins/submission/test_command.py
    plugins/tables/test_by_id.py plugins/training/test_rewards.py run/test_run.py
    scorers/test_vifidel.py scorers/test_wmd.py scores/test_harness.py scores/test_tool_scores.py
    show/test_score_tables.py words/test_content_words.py words/test_word_vectors.py
""".split()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    smoke = {Path(__file__).parent / name for name in SMOKE}
    for item in items:
        if item.path in smoke:
            item.add_marker("smoke")
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


JAVA = shutil.which("java")
_WITH_JAVA = set()


def pytest_runtest_setup(item):
    _WITH_JAVA.clear()
    if item.get_closest_marker("java"):
        if JAVA is None:
            pytest.skip("needs Java")
        _WITH_JAVA.add(JAVA)
    if item.get_closest_marker("latex") and shutil.which("pdflatex") is None:
        pytest.skip("needs LaTeX")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return _failed_if_needed((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _failed_if_needed((yield), collector.config)


def _failed_if_needed(report, config):
    """Make a failure of a skip for want of something that the machine must have."""
    if report.skipped and isinstance(report.longrepr, tuple):
        *_, reason = report.longrepr
        needed = [re.escape(what) for what in config.getoption("--need").split(",") if what]
        if needed and re.search(rf"(needs (a )?|could not import ')({'|'.join(needed)})\b", reason):
            report.outcome = "failed"
            report.longrepr = f"{reason.removeprefix('Skipped: ')}; --need says that it must run"
    return report


def keyed_vectors(words: dict[str, list[float]]) -> KeyedVectors:
    """Return gensim vectors of the given words."""
    vectors = KeyedVectors(vector_size=len(next(iter(words.values()))))
    vectors.add_vectors(list(words), np.array(list(words.values()), dtype=np.float32))
    return vectors


def content(folder: Path) -> dict[str, bytes]:
    """Return every file in a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(result, *said, status=1):
    """Check that a command that was run in this process ended in one sentence, with these words."""
    assert result.exit_code == status, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error")]
    assert len(errors) == 1, result.stderr
    for words in said:
        assert str(words) in errors[0], errors[0]


@pytest.fixture(scope="session")
def make_vectors():
    return keyed_vectors


def call(*arguments, **settings):
    """Run the command line in this process, with arguments of any type; return click's result."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **settings)


def done(*arguments, **settings):
    """Run a command line that must end well."""
    result = call(*arguments, **settings)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="session")
def run():
    return call


@pytest.fixture
def write(tmp_path):
    """Return what writes text, bytes, or anything else as JSON, to a file, and returns its path."""

    def write(content, name="file.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def write_lines(tmp_path):
    """Return what writes a JSON Lines file of the given entries, and returns its path."""

    def write_lines(*entries, name="samples.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")
        return path

    return write_lines


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch) -> Path:
    """Keep converted word vectors of the tests out of the user's cache."""
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(folder))
    return folder
