import contextlib
import http.server
import io
import json
import math
import os
import shutil
import signal
import sys
import threading
import zipfile

import numpy as np
import pytest
from conftest import SHARED_DATA
from fake_java import children, is_running, put_java
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO

from vifidel_eval import CaptionError, ImageIdError, MetricUnavailable
from vifidel_eval.scorers import coco
from vifidel_eval.scorers.coco import Bleu, Cider, Meteor, RougeL, Spice
from vifidel_eval.tokenization import PythonTokenizer, Tokenization

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="puts a script on the PATH")

# The ids are in no order, and some captions are odd, but none holds a line break.
GTS = {
    724: ["A stop sign at a street.", "Cars behind a red sign, it's raining"],
    139: ["a dog with a frisbee", "the dog plays", "A dog's frisbee (red)"],
    885: ["A tennis player hits the ball.", "..."],
    285: ["a big brown bear", "a bear in the caf\u00e9"],
    632: ["a bedroom with a bookcase", "a bed by a window"],
}
RES = {
    724: ["A red stop sign by the street"],
    139: ["A dog catches a frisbee."],
    885: [""],
    285: ["a bear in a Caf\u00e9"],
    632: ["a bedroom with a bookcase"],
}


class NoSpice:
    """Stands in for SPICE, whose constructor downloads its models."""

    def method(self):
        return "SPICE"

    def compute_score(self, gts, res):
        return 0.0, [0.0] * len(gts)


def stock(gts, res, monkeypatch):
    """Return corpus scores and scores of the images by a stock COCOEvalCap."""
    monkeypatch.setattr("pycocoevalcap.eval.Spice", NoSpice)
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": i} for i in gts],
            "annotations": [
                {"id": 100 * at + n, "image_id": i, "caption": caption}
                for at, (i, captions) in enumerate(gts.items())
                for n, caption in enumerate(captions)
            ],
        }
        truth.createIndex()
        results = truth.loadRes([{"image_id": i, "caption": c} for i, [c] in res.items()])
        coco_eval = COCOEvalCap(truth, results)
        coco_eval.params["image_id"] = list(gts)
        coco_eval.evaluate()
    return coco_eval.eval, coco_eval.imgToEval


def columns_of(gts, res, tokenization=None):
    tokenization = tokenization or Tokenization()
    found = {}
    for metric in (Bleu, Meteor, RougeL, Cider):
        found |= metric(tokenization).evaluate_columns(gts, res)
    return found


@needs_java
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # stock's pipes
def test_numbers_are_those_of_stock_coco_eval_cap(monkeypatch):
    gts, res = dict(GTS), dict(RES)
    if (SHARED_DATA / "coco").is_dir():
        add_val2017(gts, res)
    corpus, images = stock(gts, res, monkeypatch)
    # Where numbers are written 0,5: it must not change METEOR's.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    columns = columns_of(gts, res)
    assert list(columns) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr"]
    for name, evaluation in columns.items():
        assert evaluation.ids == list(gts)
        assert evaluation.score == corpus[name], name
        assert evaluation.scores.tolist() == [images[i][name] for i in gts], name


def add_val2017(gts, res):
    """Add some images of val2017, the last first."""
    files = SHARED_DATA / "coco"
    human = json.loads((files / "captions_val2017_human_results.json").read_text("utf-8"))
    references = json.loads((files / "captions_val2017_references.json").read_text("utf-8"))
    chosen = {entry["image_id"]: [entry["caption"]] for entry in human[400:200:-1]}
    for i in chosen.keys() - res.keys():
        res[i], gts[i] = chosen[i], []
    for annotation in references["annotations"]:
        if annotation["image_id"] in chosen.keys() - GTS.keys():
            gts[annotation["image_id"]].append(annotation["caption"])


@needs_java
def test_line_breaks_neither_shift_rows_nor_block_meteor(capfd):
    chars = " \r\n\u2028\f\x85"
    gts, res = {"empty": []}, {"empty": ["a dog"]}
    for char in chars:  # the same images again, each time with another character for one blank
        gts |= {(char, i): [t.replace(" ", char, 1) for t in texts] for i, texts in GTS.items()}
        res |= {(char, i): [t.replace(" ", char, 1) for t in texts] for i, texts in RES.items()}
    for name, evaluation in columns_of(gts, res).items():
        assert math.isnan(evaluation.scores[0])
        rows = evaluation.scores[1:].reshape(len(chars), len(GTS))
        assert len(set(rows[0].tolist())) >= 3, name  # exchanged rows would show
        assert (rows == rows[0]).all(), name
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
def test_images_without_references_have_no_score_and_change_no_other(metric):
    progress = []
    scorer = metric(python_tokens())
    with_them = scorer.evaluate({1: [], **GTS, 2: []}, {1: ["a"], **RES, 2: ["b"]}, progress.append)
    without = scorer.evaluate(GTS, RES)
    assert np.isnan(with_them.scores[[0, -1]]).all()
    assert with_them.scores[1:-1].tolist() == without.scores.tolist()
    assert (with_them.score, with_them.undefined) == (without.score, 2)
    assert sum(progress) == 7
    nothing = scorer.evaluate({1: []}, {1: ["a dog"]})
    assert math.isnan(nothing.score)
    assert nothing.undefined == 1
    assert scorer.evaluate({}, {}).ids == []


def python_tokens():
    return Tokenization(PythonTokenizer())


def test_bleu_gives_lists_of_four_as_pycocoevalcap_does():
    score, scores = Bleu(python_tokens()).compute_score(GTS, RES)
    assert type(score) is list
    assert type(scores) is list
    assert [len(row) for row in scores] == [5] * 4
    columns = Bleu(python_tokens()).evaluate_columns(GTS, RES)
    assert score == [columns[f"Bleu_{n}"].score for n in (1, 2, 3, 4)]
    assert Bleu(python_tokens()).evaluate(GTS, RES).score == score[3]
    assert score[0] > score[3] > 0


def test_single_metrics_give_a_float_and_scores():
    score, scores = Cider(python_tokens()).compute_score(GTS, RES)
    assert type(score) is float
    assert scores.shape == (5,)
    assert score > 0


@pytest.mark.parametrize("metric", [Bleu, RougeL, Cider])
def test_captions_without_tokens_and_single_images_are_scored(metric):
    for gts, res in [
        ({1: ["..."]}, {1: ["a dog"]}),
        ({1: ["a dog"]}, {1: [""]}),
        ({1: ["!", "."], 2: [""]}, {1: ["a"], 2: ["b"]}),
    ]:
        evaluation = metric(python_tokens()).evaluate(gts, res)
        assert evaluation.scores.tolist() == pytest.approx([0] * len(gts), abs=1e-6)
    alone = Cider(python_tokens()).evaluate({1: ["a dog"]}, {1: ["a dog"]})
    assert alone.scores.tolist() == [0.0]


def test_wrong_input_is_named():
    with pytest.raises(ImageIdError, match="1 are only in gts"):
        Cider(python_tokens()).evaluate({1: ["a"]}, {})
    with pytest.raises(CaptionError, match="image 1: expected a list of references"):
        Cider(python_tokens()).evaluate({1: "a dog"}, {1: ["a"]})


def test_without_java_the_tokens_are_pythons_and_the_signature_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for metric, name in [(Bleu, "Bleu"), (RougeL, "ROUGE_L"), (Cider, "CIDEr")]:
        signature = metric().signature()
        assert signature.startswith(f"{name}|tok:python|pycocoevalcap:1.2|version:")
    assert Cider().evaluate(GTS, RES).score > 0
    for metric, name in [(Meteor, "METEOR"), (Spice, "SPICE")]:
        with pytest.raises(MetricUnavailable, match=f"^{name} needs Java, and no 'java' is on"):
            metric()


@needs_java
def test_with_java_the_signature_says_so():
    assert Meteor().signature().startswith("METEOR|tok:ptb|pycocoevalcap:1.2|version:")


METEOR = """
for line in sys.stdin:
    if line.startswith("EVAL"):
        for part in line.split("|||"):
            print(0.5, flush=True)
    else:
        print("1.0 2.0", flush=True)
"""


@on_posix
def test_meteor_reports_each_image_and_its_process_ends(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)
    progress = []
    evaluation = Meteor(python_tokens()).evaluate(
        {**GTS, 1: []}, {**RES, 1: ["a"]}, progress.append
    )
    assert progress == [1] * len(RES) + [1]
    assert evaluation.scores.tolist() == pytest.approx([0.5] * 5 + [math.nan], nan_ok=True)
    assert not is_running(pid)


@on_posix
def test_meteor_killed_in_the_middle_is_named_and_leaves_no_process(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)

    def kill(images):
        os.kill(int(pid.read_text()), signal.SIGKILL)

    with pytest.raises(MetricUnavailable, match=r"process ended in the middle \(exit status -9\)"):
        Meteor(python_tokens()).evaluate(GTS, RES, kill)
    assert not is_running(pid)


@needs_java
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_real_meteor_killed_leaves_no_process():
    before, threads, killed = children(), threading.active_count(), []

    def kill(images):
        for pid in children() - before:
            killed.append(pid)
            os.kill(int(pid), signal.SIGKILL)

    with pytest.raises(MetricUnavailable, match=r"process ended in the middle \(exit status -9\)"):
        Meteor(python_tokens()).evaluate(GTS, RES, kill)
    assert len(killed) == 1
    assert (children(), threading.active_count()) == (before, threads)


@on_posix
def test_interrupted_meteor_leaves_no_process(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, METEOR)
    threads = threading.active_count()

    def interrupt(images):
        assert is_running(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Meteor(python_tokens()).evaluate(GTS, RES, interrupt)
    assert not is_running(pid)
    assert threading.active_count() == threads


@on_posix
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("sys.stdin.readline()\ntime.sleep(600)", "gave no answer for 0.5 seconds and was killed"),
        ("time.sleep(600)", "gave no answer for 0.5 seconds and was killed"),
        (
            "sys.stderr.write('Error: no space for heap\\n\\tat x')\nsys.exit(1)",
            r"ended in the middle \(exit status 1: Error: no space for heap\)",
        ),
        ("for _ in sys.stdin: print('what?', flush=True)", "answered 'what\\?', not a number"),
    ],
)
def test_meteor_that_hangs_dies_or_babbles_is_named(script, sentence, tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, script)
    monkeypatch.setattr(coco, "METEOR_PATIENCE", 0.5)
    many = {i: ["a dog " * 50] for i in range(500)}  # more than a pipe holds
    with pytest.raises(MetricUnavailable, match=f"^METEOR: its Java process {sentence}"):
        Meteor(python_tokens()).evaluate(many, many)
    assert not pid.exists() or not is_running(pid)


SPICE = """
captions = json.load(open(next(a for a in sys.argv if a.endswith("captions.json"))))
rows = [
    {"image_id": c["image_id"], "scores": {"All": {"f": len(c["test"]) / 100}}}
    for c in sorted(captions, key=lambda c: str(c["image_id"]), reverse=True)
]
rows[0]["scores"]["All"]["f"] = None if captions[-1]["test"] == "nan" else 0.5
print("SPICE evaluation took: 1 s")
json.dump(rows, open(sys.argv[sys.argv.index("-out") + 1], "w"))
"""


@pytest.fixture
def with_models(monkeypatch):
    monkeypatch.setattr(coco, "_fetch_stanford_models", lambda: None)


@on_posix
@pytest.mark.parametrize(
    "kind", [int, str, lambda i: (i, str(i)), lambda i: i if i % 2 else str(i)]
)
def test_rows_of_spice_come_back_in_our_order(kind, with_models, tmp_path, monkeypatch, capfd):
    put_java(tmp_path, monkeypatch, SPICE.replace("0.5", "0.25"))
    ids = [9, 100, 2, 30, *range(1000, 1011)]
    res = {kind(i): ["a" * (at + 1)] for at, i in enumerate(ids)}
    gts = {i: ["a"] for i in reversed(res)}
    evaluation = Spice(python_tokens()).evaluate(gts, res)
    assert evaluation.ids == list(gts)
    expected = [len(res[i][0]) / 100 for i in gts]
    differing = [
        (a, b) for a, b in zip(evaluation.scores.tolist(), expected, strict=True) if a != b
    ]
    assert [found for found, _ in differing] == [0.25]  # the one row that the script changed
    assert evaluation.score == pytest.approx(np.mean(evaluation.scores))
    assert capfd.readouterr().out == ""


@on_posix
def test_spice_without_a_number_is_nan(with_models, tmp_path, monkeypatch):
    put_java(tmp_path, monkeypatch, SPICE)
    evaluation = Spice(python_tokens()).evaluate({1: ["a"], 2: ["b"]}, {1: ["dog"], 2: ["nan"]})
    assert evaluation.scores.tolist() == pytest.approx([0.03, math.nan], nan_ok=True)


@on_posix
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            "sys.stderr.write('java.lang.Error: lmdb\\n\\tat x\\n'); sys.exit(1)",
            r"failed \(exit status 1: java.lang.Error: lmdb\)",
        ),
        ("", "did not write a score for each image"),
        ("open(sys.argv[sys.argv.index('-out') + 1], 'w').write('[]')", "did not write a score"),
    ],
)
def test_spice_that_fails_is_named(script, sentence, with_models, tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, script)
    with pytest.raises(MetricUnavailable, match=f"^SPICE: its Java process {sentence}"):
        Spice(python_tokens()).evaluate({1: ["a"]}, {1: ["a"]})
    assert not is_running(pid)


@on_posix
def test_spice_says_which_java_it_needs(tmp_path, monkeypatch):
    put_java(tmp_path, monkeypatch, "")
    program = tmp_path / "java"
    program.write_text(program.read_text("utf-8").replace("11.0.2", "17.0.15"), "utf-8")
    with pytest.raises(MetricUnavailable, match=r"SPICE needs Java 8 to 14, .* is Java 17\."):
        Spice()


@pytest.fixture
def spice_folder(tmp_path, monkeypatch):
    """A folder like pycocoevalcap's, with its script for the download and no models."""
    folder = tmp_path / "spice"
    (folder / "lib").mkdir(parents=True)
    shutil.copy(coco._SPICE_FOLDER / "get_stanford_models.py", folder)
    monkeypatch.setattr(coco, "_SPICE_FOLDER", folder)
    return folder


@pytest.fixture
def serve(monkeypatch):
    """Let a proxy on this machine answer the download with the given bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
        content: bytes
        promised: int

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(self.promised))
            self.end_headers()
            self.wfile.write(self.content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def answer(content, promised=None):
            Handler.content = content
            Handler.promised = len(content) if promised is None else promised
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
            monkeypatch.setenv("no_proxy", "")

        yield answer
        server.shutdown()
        thread.join()


def zipped(*names):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name in names:
            file.writestr(f"stanford-corenlp-full-2015-12-09/{name}", name)
    return content.getvalue()


JARS = ["stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"]


def test_models_of_spice_are_downloaded_once(spice_folder, serve, capfd):
    serve(zipped(*JARS))
    coco._fetch_stanford_models()
    assert sorted(p.name for p in (spice_folder / "lib").iterdir()) == sorted(JARS)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "SPICE downloads 385 MB of Stanford models, once.\n")
    serve(b"not asked again")
    coco._fetch_stanford_models()


@pytest.mark.parametrize(
    ("content", "promised", "why"),
    [
        (b"<html>moved</html>", None, "BadZipFile"),
        (b"half", 1000, "ContentTooShortError"),
        (zipped(JARS[0]), None, "KeyError"),
    ],
)
def test_failed_download_leaves_nothing_and_can_be_repeated(
    content, promised, why, spice_folder, serve, tmp_path, monkeypatch
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = sorted(spice_folder.rglob("*"))
    serve(content, promised)
    sentence = f"SPICE downloads 385 MB of Stanford models on first use, and that failed .*{why}"
    with pytest.raises(MetricUnavailable, match=sentence):
        coco._fetch_stanford_models()
    assert sorted(spice_folder.rglob("*")) == before
    assert list(temporary.iterdir()) == []
    serve(zipped(*JARS))
    coco._fetch_stanford_models()
    assert (spice_folder / "lib" / JARS[1]).read_text() == JARS[1]


def test_half_of_the_models_is_not_taken_for_the_whole(spice_folder, serve):
    (spice_folder / "lib" / JARS[0]).write_text("from an interrupted download")
    serve(zipped(*JARS))
    coco._fetch_stanford_models()
    assert [(spice_folder / "lib" / name).read_text() for name in JARS] == JARS
