import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from show.score_examples import scores

from vifidel_eval.io.text_tables import Marked, Table
from vifidel_eval.scores.comparison import compare
from vifidel_eval.show.layout import PIPED_WIDTH, fitted, folded, line_width
from vifidel_eval.show.score_tables import TableLayout, render

COLUMNS = ["VIFIDEL", "VIFIDEL-P", "VIFIDEL-R", "VIFIDEL-F", "CHAIRs", "CHAIRi", "WMD", "Bleu_1"]
COLUMNS += ["Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "METEOR", "CIDEr", "SPICE"]


def random_scores(systems, columns=COLUMNS):
    random = np.random.default_rng(0)
    return scores({name: {s: random.random(12) for s in systems} for name in columns},
                  lower=["CHAIRs", "CHAIRi"])  # fmt: skip


def tables(text):
    """Return the lines of each table in printed text."""
    result = re.findall(r"(?:^|\n)([^\n]+\n-[- ]+(?:\n\S[^\n]*)+)", text)
    return [block.splitlines() for block in result]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("systems", [["a", "b"], [f"system {n}" for n in range(12)]])
def test_every_line_fits_and_every_number_is_shown_once(width, systems):
    result = random_scores(systems)
    text = render(result, "table", layout=TableLayout(width=width, full=True))
    assert max(map(len, text.splitlines())) <= width
    whole = "\n".join(line for table in tables(text) for line in table)
    for of_column in result.evaluations.values():
        for evaluation in of_column.values():
            number = f"{evaluation.score:.4f}"
            same = [f"{e.score:.4f}" for c in result.evaluations.values() for e in c.values()]
            assert whole.count(number) == same.count(number)


def test_few_systems_of_many_columns_are_turned_and_many_systems_are_cut():
    assert tables(render(random_scores(["a", "b"]), "table"))[0][0].split() == ["Metric", "b", "a"]
    wide = render(random_scores(["a", "b"]), "table", layout=TableLayout(width=300))
    assert wide.split("\n\n")[1].split()[:3] == ["System", "VIFIDEL-F", "VIFIDEL-P"]
    cut = tables(render(random_scores([f"system {n}" for n in range(12)]), "table"))
    assert len(cut) > 1
    assert {table[0].split()[0] for table in cut} == {"System"}
    narrow = random_scores(["a", "b"], COLUMNS[:2])
    assert render(narrow, "table").split("\n\n")[1].split()[:2] == ["System", "VIFIDEL-P"]


def test_long_tables_in_latex_are_cut_where_the_metric_changes():
    rows = [[f"metric {n // 6}", Marked(n, bold=n % 7 == 0)] for n in range(100)]
    rows[50][0] = Marked("metric 8", lower=True)
    headers = [Marked("Metric", lower=True), "n"]
    table = Table(headers, rows, ["note"], title="T")
    parts = fitted(table, "latex", 0)
    assert [len(part.rows) for part in parts] == [36, 36, 28]
    assert [row for part in parts for row in part.rows] == rows
    assert all(part.headers == headers for part in parts)
    assert [(part.title, part.notes) for part in parts] == [("T", ()), ("", ()), ("", ["note"])]
    one = Table(["Metric", "n"], [["same", n] for n in range(50)])
    assert [len(part.rows) for part in fitted(one, "latex", 0)] == [40, 10]


def test_the_width_is_that_of_the_terminal_or_columns_or_the_same_everywhere(monkeypatch):
    for columns, width in {
        "53": 53,
        "": PIPED_WIDTH,
        "0": PIPED_WIDTH,
        "wide": PIPED_WIDTH,
    }.items():
        monkeypatch.setenv("COLUMNS", columns)
        assert line_width() == width
    monkeypatch.setenv("COLUMNS", "53")
    monkeypatch.setattr(sys, "stdout", type("Terminal", (), {"isatty": lambda _: True})())
    assert line_width() == 53


NAMES = [
    ["careful", "dreaming"],
    ["50% & #1_b", "{c}^~\\", "[x] *", "a|b < c > \"d\" 'e' $"],
    [f"system_{n}" for n in range(9)],
    ["one"],
    ["a model of fourteen words", "Wide-MMMM"],
]


@pytest.mark.latex
@pytest.mark.parametrize("names", NAMES)
def test_tables_compile_and_fit_a_column_of_article(tmp_path, names):
    result = random_scores(names)
    comparisons = compare(result)
    shown = [
        render(result, "latex", layout=TableLayout(COLUMNS[:5], percent=True)),
        render(result, "latex", layout=TableLayout(full=True)),
        render(result, "latex", comparisons),
        render(result, "latex", layout=TableLayout(counts=True)),
    ]
    if len(names) > 1:
        layout = TableLayout(baseline=names[0], counts=True)
        shown.append(render(result, "latex", comparisons, layout))
    assert all("% In the preamble: \\usepackage{booktabs}" in text for text in shown)
    assert all(f"% {name}|version:1" in shown[1] for name in COLUMNS)
    body = "\n".join(f"\\begin{{center}}\n{text}\n\\end{{center}}" for text in shown)
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        f"{body}\n\\end{{document}}\n",
        "utf-8",
    )
    done = subprocess.run(
        [shutil.which("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "t.log").read_text("utf-8", "replace")
    assert "Overfull" not in log  # neither too wide nor too high for a page
    assert "Missing character" not in log
    assert (tmp_path / "t.pdf").stat().st_size > 1000


VIFIDEL = "VIFIDEL|refs:yes|objects:coco#1|pot:0.9|version:1"
PRF = "VIFIDEL-PRF|refs:yes|objects:coco#1|numpy:2|version:1"
BLEU = "BLEU|tok:ptb|version:1"
WMD = "WMD|pot:0.9|version:1"


def test_every_part_is_said_once_with_the_metrics_that_have_it():
    lines = folded([VIFIDEL, PRF, WMD, BLEU, BLEU], 100)
    assert lines == [
        "VIFIDEL-PRF|numpy:2",
        "BLEU|tok:ptb",
        "VIFIDEL, VIFIDEL-PRF: refs:yes|objects:coco#1",
        "VIFIDEL, WMD: pot:0.9",
        "All: version:1",
    ]


def test_one_signature_and_those_of_combinations_stay_whole():
    assert folded([VIFIDEL], 100) == [VIFIDEL]
    mean = f"VIFIDEL+BLEU|scaled:no|({VIFIDEL}) + ({BLEU})"
    assert folded([VIFIDEL, BLEU, mean], 1000)[-1] == mean
    assert "All:" not in "".join(folded([VIFIDEL, BLEU, mean], 1000))


def test_long_lines_are_broken_between_parts():
    lines = folded([VIFIDEL], 30)
    assert lines == ["VIFIDEL|refs:yes", "  |objects:coco#1|pot:0.9", "  |version:1"]
    assert "".join(line.strip() for line in lines) == VIFIDEL
