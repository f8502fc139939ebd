import math
import os
import signal
import threading

import pytest
from fake_java import METEOR, is_running, put_java
from host_metrics import GTS, RES, evaluate, on_posix, python_tokens

from vifidel_eval import MetricUnavailable
from vifidel_eval.plugins.java import meteor
from vifidel_eval.scorers import Meteor


@on_posix
def test_meteor_reports_each_image_and_its_process_ends(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)
    progress = []
    evaluation = evaluate(
        Meteor(python_tokens()), {**GTS, 1: []}, {**RES, 1: ["a"]}, progress.append
    )
    assert progress == [1] * len(RES) + [1]
    assert evaluation.scores.tolist() == pytest.approx([0.5] * 5 + [math.nan], nan_ok=True)
    assert not is_running(pid)


@on_posix
def test_meteor_killed_in_the_middle_is_named_and_leaves_no_process(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)

    def kill(images):
        os.kill(int(pid.read_text()), signal.SIGKILL)

    with pytest.raises(MetricUnavailable, match=r"process ended early \(exit status -9\)"):
        evaluate(Meteor(python_tokens()), GTS, RES, kill)
    assert not is_running(pid)


@on_posix
def test_interrupted_meteor_leaves_no_process(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)
    threads = threading.active_count()

    def interrupt(images):
        assert is_running(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(Meteor(python_tokens()), GTS, RES, interrupt)
    assert not is_running(pid)
    assert threading.active_count() == threads


@on_posix
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("sys.stdin.readline()\ntime.sleep(600)", "gave no answer for 0.5 seconds and was killed"),
        ("time.sleep(600)", "gave no answer for 0.5 seconds and was killed"),
        ("sys.stderr.write('Error: no space for heap\\n\\tat x')\nsys.exit(1)",
         r"ended early \(exit status 1: Error: no space for heap\)"),
        ("for _ in sys.stdin: print('what?', flush=True)", "answered 'what\\?', not a number"),
    ],
)  # fmt: skip
def test_meteor_that_hangs_dies_or_babbles_is_named(script, sentence, tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, script)
    monkeypatch.setattr(meteor, "METEOR_PATIENCE", 0.5 if "sleep" in script else 600)
    many = {i: ["a dog " * 50] for i in range(500)}  # more than a pipe holds
    with pytest.raises(MetricUnavailable, match=f"^METEOR: its Java process {sentence}"):
        evaluate(Meteor(python_tokens()), many, many)
    assert not pid.exists() or not is_running(pid)
