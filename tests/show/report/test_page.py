import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from vifidel_eval.show.report import render_page

ROOT = Path(__file__).parents[3]
VOID = {"meta", "link", "img", "input", "br"}


class Document(HTMLParser):
    """Every element with its attributes, its text and the elements around it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", "inside": [e["tag"] for e in self.open]}
        element |= {"attributes": dict(attributes)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag  # well nested

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **attributes):
        return [
            e
            for e in self.elements
            if e["tag"] == tag and attributes.items() <= e["attributes"].items()
        ]


@pytest.fixture(scope="module")
def document(page):
    return Document(page)


def data_of(document, name):
    (script,) = document.all("script", id=name)
    return json.loads(script["text"])


def test_captions_are_text(document, content):
    outside = "".join(e["text"] for e in document.elements if e["tag"] in ("main", "header"))
    captions = {c for of_system in content.captions.values() for c in of_system.values()}
    assert not any(caption in outside for caption in captions)  # the script makes texts of them
    assert not any("onerror" in e["attributes"] for e in document.elements)
    assert [e["attributes"] for e in document.all("script")] == [
        {"type": "application/json", "id": "data"},
        {"type": "application/json", "id": "plans"},
        {"type": "application/json", "id": "boxes"},
        {"type": "application/json", "id": "pictures"},
        {"type": "application/json", "id": "settings"},
        {},
    ]


def test_nothing_is_loaded_from_anywhere(document, page):
    for element in document.elements:
        for name in ("src", "href", "action", "srcset", "poster"):
            value = element["attributes"].get(name)
            assert value is None or value.startswith(("#", "data:")), element
    (style,) = document.all("style")
    assert "url(" not in style["text"]
    assert "@import" not in style["text"]
    assert "light-dark(" not in style["text"]  # browsers before 2024 would show no colour at all
    assert document.all("meta", **{"http-equiv": "Content-Security-Policy"})


def test_tables_pictures_and_fields_have_names(document):
    assert document.all("html")[0]["attributes"]["lang"] == "en"
    for header in document.all("th"):
        assert header["attributes"]["scope"] in ("col", "row", "rowgroup")
    for svg in (*document.all("svg"), *document.all("canvas")):
        attributes = svg["attributes"]
        assert attributes.get("aria-hidden") == "true" or (
            attributes["role"] == "img" and attributes["aria-label"]
        )
    for field in (*document.all("input"), *document.all("select")):
        assert "label" in field["inside"]
    ids = [e["attributes"]["id"] for e in document.elements if "id" in e["attributes"]]
    assert len(set(ids)) == len(ids)
    for element in document.elements:
        named_by = element["attributes"].get("aria-labelledby")
        assert named_by is None or named_by in ids


def test_a_report_without_objects_references_or_rivals(make_content):
    whole = make_content(images=5, systems=1)
    bare = type(whole)(
        whole.scores,
        whole.comparisons,
        {image_id: [] for image_id in whole.references},
        whole.captions,
        claims=whole.claims,
    )
    text = render_page(bare)
    document = Document(text)
    assert not document.all("section", id="duels")
    assert not document.all("section", id="things")
    assert not document.all("details", **{"class": "plan"})
    assert "of captions are not marked" in text


@pytest.mark.slow
def test_5000_images_of_4_systems_stay_below_12_mb(make_content):
    small, large = (len(render_page(make_content(n, systems=4)).encode()) for n in (100, 400))
    assert small + (5000 - 100) / 300 * (large - small) < 12e6


RESULTS = [f"examples/captions_example_{name}_results.json" for name in ("careful", "dreaming")]
COMMAND = [
    "score", *RESULTS, "--references", "examples/captions_example.json",
    "--objects", "examples/instances_example.json", "--metrics", "VIFIDEL",
]  # fmt: skip


def test_the_command_writes_the_same_bytes_whatever_the_hash_seed(tmp_path, monkeypatch, run):
    monkeypatch.chdir(ROOT)
    here, elsewhere = tmp_path / "here.html", tmp_path / "elsewhere.html"
    assert run(*COMMAND, "--report", here).exit_code == 0
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    subprocess.run(
        [sys.executable, "-m", "vifidel_eval", *COMMAND, "--report", str(elsewhere)],
        env=environment,
        check=True,
        capture_output=True,
    )
    assert here.read_bytes() == elsewhere.read_bytes()
    assert b"A kitten naps on the sofa by a television." in here.read_bytes()


def test_title_and_inputs_are_named_without_their_folders(tmp_path, monkeypatch, run):
    monkeypatch.chdir(ROOT)
    page = tmp_path / "report.html"
    absolute = [str(ROOT / a) if a.startswith("examples/") else a for a in COMMAND]
    arguments = [*absolute, "--report", str(page), "--title", "Spring <run>"]
    assert run(*arguments).exit_code == 0
    text = page.read_text("utf-8")
    document = Document(text)
    assert document.all("h1")[0]["text"] == "Spring <run>"
    assert document.all("title")[0]["text"] == "Spring <run>: careful, dreaming"
    (inputs,) = document.all("dl", **{"class": "inputs"})
    for name in (*RESULTS, "captions_example.json", "instances_example.json"):
        assert Path(name).name in inputs["text"]
    assert str(ROOT) not in text
    result = run(*COMMAND, "--title", "Spring")
    assert (result.exit_code, "--title needs --report" in result.stderr) == (2, True)
    result = run(*COMMAND, "--report", page, "--images-mb", "3")
    assert (result.exit_code, "--images-mb needs --images" in result.stderr) == (2, True)


def test_the_command_takes_a_folder_of_images(tmp_path, monkeypatch, run):
    monkeypatch.chdir(ROOT)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    Image.new("RGB", (64, 48), "teal").save(pictures / "beach_walk.jpg")
    page = tmp_path / "report.html"
    arguments = [*COMMAND, "--images", str(pictures), "--report"]
    result = run(*arguments, page)
    assert (result.exit_code, result.stderr.partition(": ")[0]) == (0, str(page))
    document = Document(page.read_text("utf-8"))
    assert list(data_of(document, "pictures")) == ["0"]
    # The boxes of image 101 in thousandths of its 640 x 480 pixels.
    instances = json.loads((ROOT / "examples" / "instances_example.json").read_text("utf-8"))
    boxes = [a["bbox"] for a in instances["annotations"] if a["image_id"] == 101]
    numbers = data_of(document, "boxes")["0"]
    for drawn, (x, y, w, h) in zip(zip(*[iter(numbers)] * 6, strict=True), boxes, strict=True):
        expected = [1000 * x / 640, 1000 * y / 480, 1000 * w / 640, 1000 * h / 480]
        assert drawn[1:5] == pytest.approx(expected, abs=1.01)
        assert drawn[5] == -1
    result = run(*arguments, "examples/captions_example.json")
    assert result.exit_code == 1
    assert "would replace an input" in result.stderr
    result = run(*arguments[:-1])
    assert result.exit_code == 2
    assert "--images needs --report" in result.stderr
