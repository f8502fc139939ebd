"""Names, labels, captions and words with markup and escapes, through everything that is printed."""

import json
import re

import pytest
from conftest import call, done

from vifidel_eval.io.text_tables import FORMATS

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

BAD = (
    "<script>alert(1)</script><img src onerror>[a](javascript:x)![i](http://x)|`c`"
    "\\input{x}$x$_%&#~^{}\x1b[31m\x9b2J\x7f\r\x07\u2028\u202e\u2066\u061c\u200f\udcff\ufdd0\"' "
    "-->]]></textarea>"
)
# Of each, what a format must not have: it would be more than text.
RAW = {
    "markdown": r"(?<!\\)<|(?<!\\)`|[^\\]\]\(",
    "latex": r"\\input|[^\\]\$x|\^\^|(?<!\\)%&",
    "csv": r"(^|,)\"?[=+@\uff1d-](?!\d)",
}


def run(*arguments):
    result = call(*arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), arguments
    return result


def controls(text):
    return re.findall("[^\n\t\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\U0010ffff]", text)


@pytest.fixture
def files(tmp_path):
    captions = [f"a pigeon and a {BAD} cat", "=1+1 teddy bear \x1b]0;x\x07"]
    contents = {
        "a": [{"image_id": n, "caption": text} for n, text in enumerate(captions, 1)],
        "b": [{"image_id": n, "caption": "\uff1da tree"} for n in (1, 2)],
        "objects": {
            "1": {"dog": 1, f"-{BAD}": 1, "+bus": 1},
            "2": {"=bus": 1, "@x": 1, "\uff0b1": 1, "\ud800": 1},
        },
        "references": {"1": ["a dog", BAD], "2": ["a bus", "x"]},
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def systems(files):
    return [f"x{BAD}={files / 'a.json'}", f"@b={files / 'b.json'}"]


def given(files):
    return ["--objects", files / "objects.json", "--references", files / "references.json"]


@pytest.mark.parametrize("more", [[], ["--baseline", "@b"], ["--compare"]], ids=str)
@pytest.mark.parametrize("style", FORMATS)
def test_tables_of_scores(files, style, more):
    table, images = files / "c.csv", files / "images.csv"
    if style == "csv" and more == ["--compare"]:  # a file of its own
        more = [*more, "--compare-output", table]
    result = run(
        "score", *systems(files), *given(files), "--metrics", "VIFIDEL,VIFIDEL-PRF,CHAIR",
        "--format", style, "--resamples", "20", "--per-image", images, *more,
    )  # fmt: skip
    printed = result.stdout + (table.read_text() if table.exists() else "")
    assert result.exit_code == 0, result.stderr
    assert controls(printed + result.stderr + images.read_text()) == []
    assert re.findall(RAW["csv"], images.read_text(), re.MULTILINE) == []
    if style in RAW:
        assert re.findall(RAW[style], printed, re.MULTILINE) == []
    if style == "json":
        assert list(json.loads(printed)["systems"]) == [f"x{BAD}", "@b"]


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "json"])
def test_tables_of_findings(files, style):
    tables = [option for name in ("i.csv", "i.jsonl") for option in ("--inventions", files / name)]
    result = done(
        "explain", *systems(files)[:1], "--objects", files / "objects.json", "--format", style,
        "--output", files / "e.json", *tables[:2],
    )  # fmt: skip
    message = result.stdout + result.stderr + (files / "e.json").read_text()
    assert controls(message + (files / "i.csv").read_text()) == []
    if style in RAW:
        assert re.findall(RAW[style], result.stdout, re.MULTILINE) == []
    assert re.findall(RAW["csv"], (files / "i.csv").read_text(), re.MULTILINE) == []


def test_a_report(files):
    page = files / "r.html"
    result = done(
        "score", *systems(files), *given(files), "--metrics", "VIFIDEL-H,VIFIDEL", "--report", page
    )
    text = page.read_text()
    assert controls(text + result.stderr) == []
    for raw in ("<script>alert", "<img src onerror", "</textarea>", 'href="javascript'):
        assert raw not in text


@pytest.mark.parametrize("style", ["text", "latex"])
def test_a_paragraph_to_cite(files, style):
    saved = files / "s.json"
    assert run("score", *systems(files), *given(files), "--output", saved).exit_code == 0
    result = done("info", "--cite", saved, "--format", style)
    assert controls(result.output) == []
    assert "\\input" not in result.output
    if style == "latex":
        assert "$x$" not in result.output
