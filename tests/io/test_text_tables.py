import csv
import io
import re

import pytest
from tabulate import tabulate

from vifidel_eval.io.text_tables import (
    Marked,
    Table,
    aligned,
    beginning,
    best,
    columns_of,
    p_value,
)

TABLE = Table(
    ["System", "Kind", "VIFIDEL"],
    [["a_b", "HC", 0.5], ["b", "HI", -0.00002], ["c", "HI", None]],
    notes=["signature"],
    texts=2,
    title="Accuracy",
)


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (
            "table",
            "Accuracy\nSystem    Kind      VIFIDEL\n--------  ------  ---------\n"
            "a_b       HC         0.5000\nb         HI         0.0000\nc         HI"
            "              -\n\nsignature",
        ),
        (
            "markdown",
            "Accuracy\n\n| System   | Kind   |   VIFIDEL |\n|:---------|:-------|----------:|\n"
            "| a_b      | HC     |    0.5000 |\n| b        | HI     |    0.0000 |\n"
            "| c        | HI     |         - |\n\nsignature",
        ),
        ("csv", "System,Kind,VIFIDEL\na_b,HC,0.5\nb,HI,-2e-05\nc,HI,"),
        (
            "latex",
            "% Accuracy\n% In the preamble: \\usepackage{booktabs}\n"
            "\\begin{tabular}{llr}\n\\toprule\n System   & Kind   &   VIFIDEL \\\\\n"
            "\\midrule\n a\\_b     & HC     &    0.5000 \\\\\n"
            " b        & HI     &    0.0000 \\\\\n"
            " c        & HI     &         - \\\\\n\\bottomrule\n\\end{tabular}\n\n% signature",
        ),
    ],
)
def test_a_table_in_every_format(style, expected):
    assert TABLE.render(style) == expected


def test_bold_cells_keep_what_tabulate_escapes():
    rows = [["a_b & 50% #1|^", 0.5], ["{c}", 0.4]]
    bold = [[Marked(cell, bold=True) for cell in rows[0]], rows[1]]
    table = Table(["System|x", "M_1"], bold)
    latex = [" ".join(line.split()) for line in table.render("latex").splitlines()]
    assert latex[3:7] == [
        r"System\textbar{}x & M\_1 \\",
        r"\midrule",
        r"\textbf{a\_b \& 50\% \#1\textbar{}\^{}} & \textbf{0.5000} \\",
        r"\{c\} & 0.4000 \\",
    ]
    assert table.render("markdown").splitlines()[2:] == [
        r"| **a_b & 50% #1\|^** | **0.5000** |",
        r"| {c}                 |     0.4000 |",
    ]
    assert table.render("markdown").startswith(r"| System\|x")
    assert table.render("table") == Table(["System|x", "M_1"], rows).render("table")
    assert table.render("csv") == "System|x,M_1\na_b & 50% #1|^,0.5\n{c},0.4"


def test_a_row_of_latex_does_not_begin_with_what_ends_of_rows_take():
    rows = [["[1em] a", "[b"], [" *c", "*"], ["d [e]", 1]]
    rows.append([Marked("[f]", bold=True), 2])
    table = Table(["[System]", "n"], rows, texts=2).render("latex")
    assert [" ".join(line.split()) for line in table.splitlines()[3:9]] == [
        r"{}[System] & n \\",
        r"\midrule",
        r"{}[1em] a & [b \\",
        r"{} *c & * \\",
        r"d [e] & 1 \\",
        r"\textbf{{}[f]} & 2 \\",
    ]
    assert Table(["n"], [["[a"]]).render("markdown").splitlines()[-1] == "| [a  |"


def test_line_breaks_and_control_characters_become_blanks_but_in_csv():
    name = "a\nb\x1b[31m\u2028c\x02"
    bold = Marked(name, bold=True)
    table = Table([name, "n"], [[bold, 1]], [f"note {name}"], title=f"title {name}")
    for style in ("table", "markdown", "latex"):
        text = table.render(style)
        assert text.count("a b [31m c") == 4
        assert not re.search("[^\n -~]", text)
    latex = table.render("latex").splitlines()
    assert (latex[0], latex[-1]) == ("% title a b [31m c ", "% note a b [31m c ")
    assert Table([], [], [name], title=name).render("latex") == "% a b [31m c \n% a b [31m c "
    escaped = "a\nb\\u001b[31m\u2028c\\u0002"
    assert next(csv.reader(io.StringIO(table.render("csv"), newline=""))) == [escaped, "n"]


def test_best_are_the_highest_numbers_as_they_read():
    rows = [["a", 0.51234, None, -2], ["b", 0.51229, None, -3], ["c", 0.2, None, -2]]
    result = [best(rows, column, lower=False) for column in (1, 2, 3)]
    assert result == [[0, 1], [], [0, 2]]
    assert best(rows[:1], 1, lower=False) == []
    tiny = [["a", 4.9e-45], ["b", 1e-90], ["c", -1e-60]]
    assert best(tiny, 1, lower=False, digits=60) == [0, 1, 2]
    assert best([["a", 0.1], ["b", 0.1 + 2e-9]], 1, lower=False, digits=9) == [1]


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("<script>alert(1)</script>", r"\<script>alert(1)\</script>"),
        ("<img src=x onerror=y>", r"\<img src=x onerror=y>"),
        ("\\<b>", r"\\\<b>"),  # a backslash of the name's own does not undo it
        ("[a](javascript:b)", r"[a\](javascript:b)"),
        ("![a](b.png) [c][d]", r"![a\](b.png) [c\][d]"),
        ("[a]: b", r"[a\]: b"),
        ("<https://a.b>", r"\<https\://a.b>"),
        ("http://a.b www.a.b WWW.a s3://a", r"http\://a.b www\.a.b WWW\.a s3\://a"),
        ("`a` **b** _c_ ~~d~~", r"\`a\` \*\*b\*\* \_c\_ \~~d\~~"),
        ("&lt;b> &#60;b> R&D", r"\&lt;b> \&#60;b> R&D"),
        ("a_b [0.1, 0.2] ~c", "a_b [0.1, 0.2] ~c"),
    ],
)
def test_markdown_shows_what_a_name_says_and_runs_nothing(name, escaped):
    table = Table([name], [[Marked(name, bold=True)]], [name], title=name)
    title, _, header, _, row, _, note = table.render("markdown").splitlines()
    assert title == note == escaped
    assert header.strip("| ") == escaped
    assert row == f"| **{escaped}** |"
    for style in ("table", "csv"):
        assert table.render(style).count(name) == (4 if style == "table" else 2)


def test_digits_and_signs_of_numbers():
    table = Table(["n", Marked("m", lower=True)], [["a", -0.126], ["b", -1e-102]], digits=2)
    assert [row.split()[1] for row in table.render("table").splitlines()[2:]] == ["-0.13", "0.00"]
    assert table.render("csv") == "n,m\na,-0.13\nb,0.00"
    latex = [" ".join(line.split()) for line in table.render("latex").splitlines()]
    assert latex[3] == r"n & m $\downarrow$ \\"
    assert latex[5:7] == [r"a & $-$0.13 \\", r"b & 0.00 \\"]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0002, "<.001"), (0.0312, ".031"), (0.9999, "1"), (1.0, "1")]
)
def test_p_values(value, shown):
    assert p_value(value) == shown


def test_a_table_in_a_terminal_is_tabulates_and_wide_characters_take_two_columns():
    rows = [["System", "x"], ["ab", "0.25"], ["a long name", "-1"]]
    sides = ["left", "right"]
    oracle = tabulate(rows[1:], rows[0], "simple", disable_numparse=True, colalign=sides)
    assert aligned(rows, sides, 2) == [line.rstrip() for line in oracle.splitlines()]
    assert aligned([["a", "b"], ["日本", "1"]], sides) == ["a     b", "----  -", "日本  1"]
    assert (columns_of("日本"), beginning("日本", 3), columns_of("e\u0301")) == (4, "日", 1)
