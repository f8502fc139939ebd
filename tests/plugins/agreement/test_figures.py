"""Figures: the same bytes every time, every metric named and told apart without colour."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.agreement.detection import forced_choice
from vifidel_eval.plugins.agreement.judgements import Choices, Judged
from vifidel_eval.plugins.agreement.result import check_figure, write_curves, write_matrices
from vifidel_eval.plugins.agreement.trials import Trials

Figure = pytest.importorskip("matplotlib.figure").Figure
NAN = math.nan
MAGIC = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def result():
    """Accuracies of two kinds at three numbers of references, one metric only without any."""
    random = np.random.default_rng(4)
    choices = Choices(
        "Made up",
        [Judged(n, ("b", "c"), ("a",)) for n in range(8)],
        np.ones(8),
        ["HC", "MM"] * 4,
    )

    def scores():
        return random.integers(3, size=(1, 2, 8)).astype(float)

    made = {"VIFIDEL": {0: scores(), 1: scores(), "all": scores()}}
    made["CIDEr"] = {1: scores(), "all": scores()}
    trials = Trials(0, 1, [0, 1, "all"], made, dict.fromkeys(made, "signature"), {}, {})
    return forced_choice(choices, trials.with_tool_scores([({"theirs": scores()[0]}, "digest")]))


@pytest.fixture
def matrix():
    rows = {
        "VIFIDEL": {"VIFIDEL": NAN, "CIDEr": 0.0312, "flat": NAN},
        "CIDEr": {"VIFIDEL": 0.9688, "CIDEr": NAN, "flat": NAN},
        "flat": {"VIFIDEL": NAN, "CIDEr": NAN, "flat": NAN},
    }
    return {
        "title": "Made up: ratings",
        "correlations": {"VIFIDEL": 0.5, "CIDEr": 0.4, "flat": NAN},
        "p_values": rows,
    }


def texts(path):
    """Return the texts of an SVG file."""
    root = ElementTree.fromstring(path.read_bytes())
    return [
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_same_numbers_give_the_same_bytes(tmp_path, result, matrix, suffix):
    writers = [(write_curves, result)] + [(write_matrices, [matrix])] * (suffix == ".svg")
    for write, content in writers:
        first, second = (tmp_path / f"{n}{suffix.upper()}" for n in range(2))
        write(first, content)
        write(second, content)
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes().startswith(MAGIC[suffix])
        assert b"2026" not in first.read_bytes()[:2000]


def drawn_figures(monkeypatch):
    """Return a list that the figures to come are in, as they are saved."""
    drawn = []
    save = Figure.savefig

    def keep(figure, *arguments, **options):
        drawn.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return drawn


def drawn_lines(monkeypatch, tmp_path, result):
    """Return label, places, accuracies, marker and dash of the lines of each panel."""
    figure = drawn_figures(monkeypatch)
    write_curves(tmp_path / "any.png", result)
    return {
        axis.get_title(): [
            (
                line.get_label(),
                line.get_xdata().tolist(),
                line.get_ydata().tolist(),
                (line.get_marker(), line.get_linestyle()),
            )
            for line in axis.get_lines()
        ]
        for axis in figure[0].axes
        if axis.get_title()
    }


def test_curves_go_through_the_accuracies(monkeypatch, tmp_path, result):
    panels = drawn_lines(monkeypatch, tmp_path, result)
    assert list(panels) == ["HC", "MM", "all"]
    for kind, lines in panels.items():
        accuracy = {
            (a["metric"], a["references"]): a["accuracy"]
            for a in result.findings["accuracies"]
            if a["kind"] == kind
        }
        (vifidel, cider, theirs) = lines
        assert vifidel[:2] == ("VIFIDEL", [0, 1, 2])
        assert vifidel[2] == [accuracy["VIFIDEL", number] for number in (0, 1, "all")]
        assert cider[:2] == ("CIDEr", [1, 2])
        assert cider[2] == [accuracy["CIDEr", number] for number in (1, "all")]
        assert theirs[:2] == ("theirs", [0, 2])  # a level line
        assert theirs[2] == [accuracy["theirs", "as given"]] * 2


def test_the_matrix_shows_p_values(tmp_path, matrix):
    write_matrices(tmp_path / "matrix.svg", [matrix])
    found = texts(tmp_path / "matrix.svg")
    assert found.count(".031") == found.count(".969") == 1
    for text in ("VIFIDEL", "CIDEr", "flat", "VIFIDEL (0.500)", "CIDEr (0.400)"):
        assert text in found
    assert "Made up: ratings: p, row better than column" in " ".join(found)


@pytest.mark.parametrize("name", ["figure.jpg", "png"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(VifidelError, match=r"a figure is a \.png, \.svg, \.pdf file"):
        check_figure(tmp_path / name)


def test_without_matplotlib_nothing_is_computed_first(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(VifidelError, match=r"pip install matplotlib\.$"):
        check_figure(tmp_path / "curves.png")
