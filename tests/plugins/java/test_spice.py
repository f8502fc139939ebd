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
    monkeypatch.setattr(spice, "_fetch_stanford_models", lambda: None)


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
    differing = [
        (a, b) for a, b in zip(evaluation.scores.tolist(), expected, strict=True) if a != b
    ]
    assert [found for found, _ in differing] == [0.25]  # the one row that the script changed
    assert evaluation.score == pytest.approx(np.mean(evaluation.scores))
    assert capfd.readouterr().out == ""


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
def spice_folder(tmp_path, monkeypatch):
    """A folder like pycocoevalcap's, without models."""
    folder = tmp_path / "spice"
    (folder / "lib").mkdir(parents=True)
    monkeypatch.setattr(spice, "_SPICE_FOLDER", folder)
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
    spice._fetch_stanford_models()
    assert sorted(p.name for p in (spice_folder / "lib").iterdir()) == sorted(JARS)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "SPICE downloads 385 MB of Stanford models, once.\n")
    serve(b"not asked again")
    spice._fetch_stanford_models()


@pytest.mark.parametrize(
    ("content", "promised", "why"),
    [
        (b"<html>moved</html>", None, "File is not a zip file"),
        (zipped(*JARS)[:-100], len(zipped(*JARS)), "File is not a zip file"),
        (zipped(JARS[0]), None, "no item named .*models.jar"),
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
        spice._fetch_stanford_models()
    assert sorted(spice_folder.rglob("*")) == before
    assert list(temporary.iterdir()) == []
    serve(zipped(*JARS))
    spice._fetch_stanford_models()
    assert (spice_folder / "lib" / JARS[1]).read_text() == JARS[1]


def test_a_stalled_download_fails(spice_folder, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setattr(spice, "_STALLED_SECONDS", 0.2)
        with pytest.raises(MetricUnavailable, match=r"that failed .*timed out"):
            spice._fetch_stanford_models()
