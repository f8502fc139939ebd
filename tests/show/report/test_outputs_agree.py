"""One run in every output: the same numbers, the same images and the same winners."""

import csv
import html
import itertools
import json
import re

import pytest
from show.pages import data_of

from vifidel_eval.scores.verdict import ordered_columns

COLUMNS = ["VIFIDEL-Hs", "CHAIRs"]
STYLES = ("table", "markdown", "csv", "latex", "json")

# References know images 1 to 40, of which 29 and 30 have only one; 3 to 40 are named, and the
# systems have captions of those up to 24 and up to 30. So the run is of images 3 to 28.
REFERENCES = {i: [f"a dog{' near a cat' * (i % 7 == 0)}"] * (1 if i in (29, 30) else 5)
              for i in range(1, 41)}  # fmt: skip
OBJECTS = {i: {"dog": 1, "cat": 0} for i in REFERENCES}
NAMED = list(range(3, 41))
SYSTEMS = {
    "inventive": {
        i: "a dog and a cat run over the grass" if i % 3 else "a dog runs" for i in range(1, 25)
    },
    "plain": {i: "a cat" if i % 5 == 0 else "a dog" for i in range(1, 31)},
}
# Captions with a cat, of those of each system's images, and of the 22 images that all have.
IMAGES = {"inventive": range(3, 25), "plain": range(3, 29), "people": range(3, 29)}
HAS_CAT = {
    "inventive": lambda i: i % 3 != 0,
    "plain": lambda i: i % 5 == 0,
    "people": lambda i: i % 7 == 0,
}
SHARED = range(3, 25)
RATES = {name: sum(map(HAS_CAT[name], ids)) / len(ids) for name, ids in IMAGES.items()}
COMPARED = {name: sum(map(HAS_CAT[name], SHARED)) / len(SHARED) for name in IMAGES}
WINNERS = {("inventive", "plain"): "plain", ("inventive", "people"): "people"}
LEFT_OUT = "Left out: 10 images for which no system has a caption (--allow-subset)."
TOO_FEW = "2 of 28 images have fewer than two references and are left out, as people need two."


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run):
    """Everything that the command writes and prints of one run, by the names of files."""
    folder = tmp_path_factory.mktemp("run")
    inputs = {"references": REFERENCES, "objects": OBJECTS, "ids": NAMED, **SYSTEMS}
    for name, content in inputs.items():
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    asked = ["score", folder / "inventive.json", folder / "plain.json", "--people"]
    asked += ["--references", folder / "references.json", "--objects", folder / "objects.json"]
    asked += ["--image-ids", folder / "ids.json", "--allow-subset", "--no-references", "--compare"]
    asked.append("--pairs")
    asked += ["--metrics", "VIFIDEL-H,CHAIR", "--output", folder / "saved.json"]
    asked += ["--compare-output", folder / "compared.csv"]
    asked += ["--per-image", folder / "images.csv", "--report", folder / "report.html"]
    for style in STYLES:
        done = run(*asked, "--columns", ",".join(COLUMNS), "--format", style)
        assert done.exit_code == 0, done.output
        (folder / f"printed.{style}").write_text(done.stdout, "utf-8")
        (folder / f"said.{style}").write_text(done.stderr, "utf-8")
        again = run("table", folder / "saved.json", "--columns", ",".join(COLUMNS), "--pairs",
                    "--format", style)  # fmt: skip
        (folder / f"again.{style}").write_text(again.stdout, "utf-8")
    return folder


def read(folder, name):
    return (folder / name).read_text("utf-8")


def cells_of(line, style):
    """Return the cells of a line of a table, without what marks them."""
    if style == "csv":
        return next(csv.reader([line]))
    if style == "table":
        return re.split(r"\s{2,}", line)
    between = "|" if style == "markdown" else "&"
    bare = re.sub(r"\*\*|\\textbf\{|\}|\\\\|\{\}|\$|\\downarrow", "", line)
    return [cell.strip() for cell in bare.strip(" |").split(between)]


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "latex"])
@pytest.mark.parametrize("printed", ["printed", "again"])
def test_tables(folder, style, printed):
    text = read(folder, f"{printed}.{style}")
    if style == "table":  # who beats whom comes first
        text = next(part for part in text.split("\n\n") if part.startswith("System"))
    rows = [cells_of(line, style) for line in text.splitlines()]
    headers = next(row for row in rows if row[0] == "System")
    for name, rate in RATES.items():
        row = dict(zip(headers, next(row for row in rows if row[0] == name), strict=True))
        shown = [float(row[column].split()[0]) for column in COLUMNS]
        exact = style == "csv"
        assert shown == pytest.approx([rate, rate], abs=1e-9 if exact else 5e-5)
        if style != "latex":
            missing = 4 if name == "inventive" else 0
            assert (int(row["Scored"]), int(row["Missing"])) == (len(IMAGES[name]), missing)


@pytest.mark.parametrize("style", STYLES)
def test_what_is_printed_of_a_run_is_printed_of_its_file(folder, style):
    assert read(folder, f"again.{style}") == read(folder, f"printed.{style}")


def test_pairs_have_the_same_winners(folder):
    lines = read(folder, "printed.markdown").splitlines()
    for (first, second), winner in WINNERS.items():
        rows = [cells_of(line, "markdown") for line in lines]
        rows = [row for row in rows if row[1:3] == [first, second] and row[0] in COLUMNS]
        assert [row[0] for row in rows] == COLUMNS
        assert {row[3] for row in rows} == {winner}
        for row in rows:
            assert float(row[4]) == pytest.approx(COMPARED[first] - COMPARED[second], abs=5e-5)
    matrix = [cells_of(line, "table") for line in read(folder, "printed.table").splitlines()[:10]]
    (row,) = (row for row in matrix if row[0] == "inventive")
    # It loses to both others, which alone are marked.
    assert [row[2 + at][0] for at in range(2)] == ["+", "+"]
    assert [line[-1][0] for line in matrix if line[0] in ("people", "plain")] == ["*", "*"]


def text_of(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def rows_of(page, table):
    """Return the cells of each row of the body of a table, as HTML."""
    body = page.partition(f'<table class="{table}">')[2].partition("</table>")[0]
    body = body.partition("<tbody")[2]
    return [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]


def test_the_report(folder):
    page = read(folder, "report.html")
    assert re.search(r">3 systems, \d+ metrics, 26 images\.</p>", page)
    assert "Compared on the 22 of 26 images" in text_of(page)
    assert LEFT_OUT in html.unescape(page)
    assert TOO_FEW in page
    data = data_of(page)
    assert data["ids"] == [str(image) for image in range(3, 29)]
    for name, captions in zip(data["systems"], data["captions"], strict=True):
        assert sum(caption is not None for caption in captions) == len(IMAGES[name])
    rows = {text_of(row[0]): row[1:] for row in rows_of(page, "standings")}
    for name, rate in RATES.items():
        for column in COLUMNS:
            cell = rows[name][ordered_columns(data["metrics"]).index(column)]
            assert re.search('class="score">([^<]*)<', cell)[1] == f"{rate:.4f}"
            there = f"of {COMPARED[name]:.4f} there"
            assert (there in cell) == (f"{rate:.4f}" != f"{COMPARED[name]:.4f}")
    made_up = {text_of(row[0]): text_of(row[1]) for row in rows_of(page, "made-up")}
    assert made_up == {name: f"{100 * rate:.1f} %" for name, rate in RATES.items()}
    things = rows_of(page, "things matrix few")
    [cats] = [row for row in things if text_of(row[0]) == "cat"][:1]
    order = re.findall(r'<span title="([^"]+)"', page.partition('id="things"')[2])
    assert dict(zip(order, map(int, map(text_of, cats[2:])), strict=True)) == {
        name: sum(map(HAS_CAT[name], ids)) for name, ids in IMAGES.items()
    }


def test_who_beats_whom_in_the_report(folder):
    page = read(folder, "report.html")
    compared = json.loads(read(folder, "saved.json"))["comparison"]["metrics"]
    data, settings = data_of(page), data_of(page, "settings")
    for column in COLUMNS:
        of_metric = page.partition(f'<table class="duels matrix" data-metric="{column}">')[2]
        rows = rows_of(f'<table class="matrix">{of_metric}', "matrix")
        cells = {text_of(row[0]): row[1:] for row in rows}
        for (first, second), winner in WINNERS.items():
            cell = cells[first][list(cells).index(second)]
            apart = COMPARED[first] - COMPARED[second]
            shown = text_of(cell).rstrip("*†")
            assert shown == f"{apart:+.3f}".replace("0.", ".")
            assert f'class="{"better" if winner == first else "worse"}"' in cell
            (pair,) = (
                p for p in compared[column]["pairs"] if [p["first"], p["second"]] == [first, second]
            )
            remains = [f"{pair['equal_length'][of]:.4f}" for of in ("difference", "low", "high")]
            metric = data["metrics"].index(column)
            pairs = list(itertools.combinations(data["systems"], 2))
            assert settings["tests"][metric][pairs.index((first, second))][1:] == remains
