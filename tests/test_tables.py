import pytest

from vifidel_eval.tables import Table

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
            "a_b       HC         0.5000\nb         HI       -2.0e-05\nc         HI"
            "              -\n\nsignature",
        ),
        (
            "markdown",
            "Accuracy\n\n| System   | Kind   |   VIFIDEL |\n|----------|--------|-----------|\n"
            "| a_b      | HC     |    0.5000 |\n| b        | HI     |  -2.0e-05 |\n"
            "| c        | HI     |         - |\n\nsignature",
        ),
        ("csv", "System,Kind,VIFIDEL\na_b,HC,0.5\nb,HI,-2e-05\nc,HI,"),
        (
            "latex",
            "% Accuracy\n\\begin{tabular}{llr}\n\\toprule\n System   & Kind   &   VIFIDEL \\\\\n"
            "\\midrule\n a\\_b      & HC     &    0.5000 \\\\\n"
            " b        & HI     &  -2.0e-05 \\\\\n"
            " c        & HI     &         - \\\\\n\\bottomrule\n\\end{tabular}\n\n% signature",
        ),
    ],
)
def test_a_table_in_every_format(style, expected):
    assert TABLE.render(style) == expected


def test_a_table_without_notes_ends_with_its_rows():
    assert Table(["n"], [[1]], texts=0).render("table") == "  n\n---\n  1"


def test_a_bar_does_not_end_a_markdown_cell():
    assert Table(["key"], [["p|q"]]).render("markdown").splitlines()[-1] == "| p\\|q  |"
