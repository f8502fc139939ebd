import http.server
import io
import socket
import threading
import zipfile

import numpy as np
import pytest
from fake_java import is_running, put_java
from host_metrics import evaluate, on_posix, python_tokens

from vifidel_eval import MetricUnavailable
from vifidel_eval.plugins.java import spice
from vifidel_eval.scorers import Spice
from vifidel_eval.scorers.registry import METRICS
from vifidel_eval.words.settings import Settings

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
def with_models(monkeypatch, tmp_path):
    monkeypatch.setattr(spice, "_folder_of_jars", lambda: tmp_path)


@on_posix
@pytest.mark.parametrize(
    "kind", [int, str, lambda i: (i, str(i)), lambda i: i if i % 2 else str(i)]
)
def test_rows_of_spice_come_back_in_our_order(kind, with_models, tmp_path, monkeypatch, capfd):
    put_java(tmp_path, monkeypatch, SPICE.replace("0.5", "0.25"))
    ids = [9, 100, 2, 30, *range(1000, 1011)]
    res = {kind(i): ["a" * (at + 1)] for at, i in enumerate(ids)}
    gts = {i: ["a"] for i in reversed(res)}
    evaluation = evaluate(Spice(python_tokens()), gts, res)
    assert evaluation.ids == list(gts)
    expected = [len(res[i][0]) / 100 for i in gts]
    differing = evaluation.scores != expected
    assert evaluation.scores[differing].tolist() == [0.25]  # the one row that the script changed
    assert evaluation.score == pytest.approx(np.mean(evaluation.scores))
    assert capfd.readouterr().out == ""


@on_posix
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("sys.stderr.write('java.lang.Error: lmdb\\n\\tat x\\n'); sys.exit(1)",
         r"failed \(exit status 1: java.lang.Error: lmdb\)"),
        ("", "did not write a score for each image"),
        ("open(sys.argv[sys.argv.index('-out') + 1], 'w').write('[]')", "did not write a score"),
    ],
)  # fmt: skip
def test_spice_that_fails_is_named(script, sentence, with_models, tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, script)
    with pytest.raises(MetricUnavailable, match=f"^SPICE: its Java process {sentence}"):
        evaluate(Spice(python_tokens()), {1: ["a"]}, {1: ["a"]})
    assert not is_running(pid)


@on_posix
def test_spice_says_which_java_it_needs(tmp_path, monkeypatch):
    put_java(tmp_path, monkeypatch, "")
    program = tmp_path / "java"
    program.write_text(program.read_text("utf-8").replace("11.0.2", "17.0.15"), "utf-8")
    with pytest.raises(MetricUnavailable, match=r"SPICE needs Java 8 to 14, .* is Java 17\."):
        Spice()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the jars in an empty cache, beside an installation that cannot be written."""
    monkeypatch.setattr(spice, "_SPICE_FOLDER", tmp_path / "read-only")
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spice"


@pytest.fixture
def serve(monkeypatch):
    """Let a proxy on this machine answer the download with the given bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
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
            Handler.content, Handler.promised = content, promised or len(content)
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


@on_posix
def test_jars_of_spice_are_downloaded_once(cache, serve, tmp_path, monkeypatch, capfd):
    put_java(tmp_path, monkeypatch, SPICE)
    spice._SPICE_FOLDER.mkdir()
    with pytest.raises(MetricUnavailable, match=r"^needs 385 MB of jars, .* downloads to .*spice"):
        METRICS["SPICE"].check()
    serve(zipped(*JARS))
    evaluate(Spice(python_tokens()), {1: ["a"]}, {1: ["a"]})
    assert sorted(path.name for path in cache.iterdir()) == sorted(JARS)
    assert list(spice._SPICE_FOLDER.iterdir()) == []
    assert capfd.readouterr() == ("", f"SPICE downloads 385 MB of jars to {cache}, once.\n")
    METRICS["SPICE"].check()
    serve(b"not asked again")
    evaluate(Spice(python_tokens()), {1: ["a"]}, {1: ["a"]})


@on_posix
def test_jars_of_the_users_folder_are_those_that_java_gets(tmp_path, monkeypatch):
    there = "[a for a in sys.argv if 'stanford' in a and 'mine' in a][0]"
    put_java(tmp_path, monkeypatch, there + SPICE)
    (folder := tmp_path / "mine").mkdir()
    (folder / JARS[0]).touch()
    with pytest.raises(MetricUnavailable, match=rf"mine: SPICE needs {JARS[1]} there; both are in"):
        METRICS["SPICE"].make(Settings(options={"spice_jars": folder}))
    (folder / JARS[1]).touch()
    assert evaluate(Spice(python_tokens(), jars=folder), {1: ["a"]}, {1: ["a"]}).score == 0.5


@pytest.mark.parametrize(
    ("content", "promised", "why"),
    [
        (b"<html>moved</html>", None, "File is not a zip file"),
        (zipped(*JARS)[:-100], len(zipped(*JARS)), "File is not a zip file"),
        (zipped(JARS[0]), None, "no item named .*models.jar"),
    ],
)
def test_failed_download_leaves_nothing_and_can_be_repeated(
    content, promised, why, cache, serve, tmp_path, monkeypatch
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    serve(content, promised)
    needed = " and ".join(JARS)
    sentence = f"^SPICE needs {needed}, and their download failed .*{why}.*; both are in "
    with pytest.raises(MetricUnavailable, match=sentence):
        spice._download()
    assert list(cache.iterdir()) == []
    assert list(temporary.iterdir()) == []
    serve(zipped(*JARS))
    spice._download()
    assert (cache / JARS[1]).read_text() == JARS[1]


def test_a_stalled_download_fails(cache, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setattr(spice, "_STALLED_SECONDS", 0.2)
        with pytest.raises(MetricUnavailable, match=r"failed .*timed out.*--spice-jars"):
            spice._download()
