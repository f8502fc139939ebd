"""Hostile files, names and moments: what is read, written and printed, case by case."""

import csv
import io
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
from itertools import product

import pytest
from conftest import call, done
from conftest import refused as sentence
from hostile.command import OBJECTS, REFERENCES, RESULTS, ROOT, harmless, refused, run

from vifidel_eval.annotations import read_objects
from vifidel_eval.commands.printing import harmless as harmless_text
from vifidel_eval.commands.printing import show
from vifidel_eval.errors import CaptionError, VifidelError
from vifidel_eval.io import files
from vifidel_eval.io.files import beside, read_bytes, write_whole
from vifidel_eval.io.outputs import check_output
from vifidel_eval.io.text_tables import Table

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX files and signals")

SCORE = ("score", RESULTS, "--references", REFERENCES, "--metrics", "VIFIDEL", "--objects", OBJECTS)


# Terminals


@pytest.mark.parametrize("code", [0, 7, 8, 13, 27, 127, 0x80, 0x9B, 0x9D, 0x9F])
def test_every_control_character_becomes_an_escape(code):
    assert harmless_text(f"a{chr(code)}b\n\tc") == f"a\\u{code:04x}b\n\tc"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "gone\x1b[2J\x9b.json", "--no-references"),
        ("score", "a\x9b=gone\x1b[2J\x9b.json", "--no-references"),
        ("table", "gone\x1b[2J\x9b.json"),
        ("table", "gone.json", "--columns", "a,\x1b[2J,"),
        ("score", "gone\n\n\n\n.json", "--no-references"),
        ("score", "--no\x1b[2Jsuch"),
        ("no\x1b[2Jsuch",),
        ("--no\x9bsuch",),
        ("leaderboard", "gone\x9b"),
        ("submission", "check", "a\x1b.zip", "--images", "gone\x1b"),
    ],
)
def test_errors_name_hostile_names_harmlessly(arguments):
    result = call(*arguments)
    assert result.exit_code in (1, 2)
    assert not [c for c in result.stderr if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
    assert len([line for line in result.stderr.splitlines() if "Error" in line]) == 1


@posix
def test_a_file_name_that_is_no_text(tmp_path):
    name = os.fsdecode(b"r\xff\x9b\x1b[2J.json")
    path = tmp_path / name
    path.write_bytes(RESULTS.read_bytes())
    result = run("score", path, *SCORE[2:])
    assert result.status == 0, result.stderr
    harmless(result)
    refused(run("score", tmp_path / (name + "gone"), "--no-references"))


def test_an_output_of_another_encoding(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    show("caf\u00e9 \u72d7, p \u2264 .05 \u2193")  # signs of ours have a likeness in ASCII
    stream.flush()
    assert stream.buffer.getvalue() == b"caf\\xe9 \\u72d7, p <= .05 v\n"


# CSV that a spreadsheet opens


@pytest.mark.parametrize("text", ["=cmd|'/C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx"])
def test_formulas_are_defused_in_csv_only(text):
    table = Table([text, "score"], [[text, -0.5], ["a=b", 1]])
    rows = list(csv.reader(io.StringIO(table.render("csv"), newline="")))
    defused = "'" + text.replace("\r", "\\u000d")
    assert rows == [[defused, "score"], [defused, "-0.5"], ["a=b", "1"]]
    for style in ("table", "markdown", "latex"):
        assert f"'{text.strip()}" not in table.render(style)


# Outputs


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o755, 0o666])
def test_an_existing_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "scores.json"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


@posix
def test_the_umask_is_kept_and_never_touched(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", lambda _: pytest.fail("the umask belongs to the process"))
            write_whole(tmp_path / "new", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["a" * 250, "a" * 255, "\u00e9" * 127])
def test_names_as_long_as_they_may_be(tmp_path, name):
    write_whole(tmp_path / name, "1")
    write_whole(tmp_path / name, "2")
    check_output(tmp_path / name, [])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    for suffix in (".lock", ".unfinished"):
        beside(tmp_path / name, suffix).write_text("")  # no system refuses it
    other = beside(tmp_path / (name[:-1] + "b"), ".lock")
    assert beside(tmp_path / name, ".lock") != other


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * 256, "name too long"),
        ("gone/new.json", "there is no such folder"),
        ("loop", "symbolic link"),
        (".", "is a folder"),
        pytest.param("locked/new.json", "read-only", marks=pytest.mark.skipif(
            os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")),
    ],
)  # fmt: skip
def test_outputs_that_cannot_be_written_are_refused_before_the_work(tmp_path, name, said):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "locked").mkdir(mode=0o500)
    result = call("score", "gone.json", "--no-references", "--output", tmp_path / name)
    sentence(result, tmp_path, said)


@pytest.mark.parametrize(
    ("function", "after"),
    [("fdopen", False), *product(["open", "chmod", "replace"], [False, True])],
)
@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left")])
def test_an_interrupt_leaves_nothing_beside(tmp_path, monkeypatch, function, after, problem):
    path = tmp_path / "scores.json"
    path.write_text("old")
    original = getattr(os, function)

    def interrupted(*arguments, **named):
        if after:
            original(*arguments, **named)
        raise problem

    with monkeypatch.context() as patched:
        patched.setattr(os, function, interrupted)
        with pytest.raises((KeyboardInterrupt, VifidelError)):
            write_whole(path, "new")
    assert os.listdir(tmp_path) == ["scores.json"]
    assert path.read_text() == ("new" if function == "replace" and after else "old")


@pytest.mark.parametrize("option", ["--output", "--report", "--per-image"])
def test_a_file_that_another_program_holds(tmp_path, monkeypatch, option):
    """As on Windows: the result is beside it, under the name that the sentence gives."""
    path, replace = tmp_path / "scores.json", os.replace
    path.write_text("old")

    def held(source, target):
        if os.fspath(target) == os.fspath(path):
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", held)
    result = call(*SCORE, option, path)
    (kept,) = set(tmp_path.iterdir()) - {path}
    sentence(result, f"Error: {path}: cannot be replaced", f"the result is in {kept}.")
    assert path.read_text() == "old"
    assert kept.read_bytes()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing_leaves_nothing(tmp_path, number):
    code = (
        "import os, signal, sys\n"
        # As at a terminal, wherever these tests run: a job in the background ignores both.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from vifidel_eval.commands import main as commands\n"
        "from vifidel_eval.commands.tables import table\n"
        "from vifidel_eval.io.files import write_whole\n"
        "def waiting(*_):\n"
        "    print('writing', flush=True)\n"
        "    import time\n"
        "    time.sleep(60)\n"
        "os.replace = waiting\n"
        "table.callback = lambda **_: write_whole(sys.argv[2], 'new')\n"
        "commands.main()\n"
    )
    path = tmp_path / "new.json"
    arguments = [sys.executable, "-c", code, "table", path]
    pipe = subprocess.PIPE
    process = subprocess.Popen(arguments, stdout=pipe, stderr=pipe, cwd=ROOT)
    assert process.stdout.readline() == b"writing\n"
    assert [name.endswith(".part") for name in os.listdir(tmp_path)] == [True]
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"Traceback" not in message
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("module", ["click", "vifidel_eval.commands.score"])
def test_an_interrupt_during_an_import_ends_with_130(module):
    code = (
        "import runpy, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == sys.argv[-1]:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "runpy.run_module('vifidel_eval', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", module], capture_output=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


# What is read


@posix
def test_objects_come_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    voc = b"<annotation><filename>7.jpg</filename><object><name>cat</name></object></annotation>"
    for content, expected in ((b'{"1": ["dog"]}', {1: {"dog": 1}}), (voc, {7: {"cat": 1}})):
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        assert read_objects(pipe) == expected
        writer.join(timeout=60)
        assert not writer.is_alive()


def test_no_more_is_read_than_fits(tmp_path, monkeypatch):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 101)
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    with pytest.raises(CaptionError, match="large: has more than 0 MiB"):
        read_bytes(path, CaptionError)
    path.write_bytes(b"x" * 100)
    assert len(read_bytes(path, CaptionError)) == 100


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (PermissionError(13, "Permission denied", "x.json"), "x.json: permission denied"),
        (PermissionError(13, "Permission denied", b"x.json"), "x.json: permission denied"),
        (OSError(5, "Input/output error"), "a file cannot be read or written: input/output error"),
        (MemoryError(), "not enough memory"),
        (RecursionError(), "nested too deeply"),
    ],
)
def test_stray_errors_are_no_problem_of_the_output(monkeypatch, problem, said):
    def failing(*_):
        raise problem

    monkeypatch.setattr("vifidel_eval.run.reading.captions_from", failing)
    result = call(*SCORE)
    sentence(result, said)
    assert "output" not in result.stderr.replace("input/output", "")


# Pickles run nothing


class Ran:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["v.kv", "v.txt", "v.bin", "v.vec", "v", "v.npy", "v.model"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_no_vectors_are_unpickled_unasked(tmp_path, name, protocol):
    from vifidel_eval.words.word_vectors import load_vectors

    path, ran = tmp_path / name, tmp_path / "ran"
    path.write_bytes(pickle.dumps(Ran(ran), protocol=protocol))
    with pytest.raises(VifidelError) as caught:
        load_vectors(path)
    assert not ran.exists()
    assert str(path) in str(caught.value)
    if protocol >= 2:
        for named in ("--trust-pickles", "trust_pickles=True", "save_word2vec_format"):
            assert named in str(caught.value)
    if name == "v.kv":
        sentence(call(*SCORE, "--vectors", path), path)
        assert not ran.exists()


def test_trusted_vectors_are_read(tmp_path, make_vectors):
    path = tmp_path / "v.kv"
    content = json.loads(OBJECTS.read_text("utf-8"))
    labels = [category["name"] for category in content["categories"]]
    captions = " ".join(entry["caption"] for entry in json.loads(RESULTS.read_text("utf-8")))
    words = " ".join([captions, *labels]).lower().replace(".", "").split()
    make_vectors({word: [at, 1.0] for at, word in enumerate(dict.fromkeys(words))}).save(str(path))
    sentence(call(*SCORE, "--vectors", path), path, "--trust-pickles")
    done(*SCORE, "--vectors", path, "--trust-pickles")
