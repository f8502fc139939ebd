"""Figures: the same bytes every time, every line named at its end, every p with its effect."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.agreement import figures
from vifidel_eval.plugins.agreement.forced_choice import forced_choice
from vifidel_eval.plugins.agreement.judgements import Choices, Judged, Ratings
from vifidel_eval.plugins.agreement.trials import Trials

Figure = pytest.importorskip("matplotlib.figure").Figure
Text = pytest.importorskip("matplotlib.text").Text
colors = pytest.importorskip("matplotlib.colors")
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
        kinds_in_words={"HC": "Both right"},
    )

    def scores():
        return random.integers(3, size=(1, 2, 8)).astype(float)

    content = {"VIFIDEL-F": {0: scores(), 1: scores(), "all": scores()}}
    content["CIDEr"] = {1: scores(), "all": scores()}
    trials = Trials(0, 1, [0, 1, "all"], content, dict.fromkeys(content, "signature"), {}, {})
    return forced_choice(choices, trials.with_tool_scores([({"theirs": scores()[0]}, "digest")]))


@pytest.fixture
def matrix():
    correlations = {"VIFIDEL": 0.5, "CIDEr": 0.4, "flat": NAN}
    rows = {metric: dict.fromkeys(correlations, NAN) for metric in correlations}
    rows["VIFIDEL"]["CIDEr"], rows["CIDEr"]["VIFIDEL"] = 0.0312, 0.9688
    return {"title": "Made up: ratings", "correlations": correlations, "p_values": rows}


def texts(path):
    """Return the texts of an SVG file."""
    results = ElementTree.fromstring(path.read_bytes()).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in results]


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_same_numbers_give_the_same_bytes(tmp_path, result, matrix, suffix):
    writers = [(figures.write_figure, result)] + [(figures.write_matrices, [matrix])] * (
        suffix == ".svg"
    )
    for write, content in writers:
        first, second = (tmp_path / f"{n}{suffix.upper()}" for n in range(2))
        write(first, content)
        write(second, content)
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes().startswith(MAGIC[suffix])
        assert suffix != ".pdf" or b"/FontFile2" in first.read_bytes()  # embedded, as TrueType
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


def test_curves_go_through_the_accuracies_on_a_logarithmic_axis(monkeypatch, tmp_path, result):
    saved = drawn_figures(monkeypatch)
    figures.write_figure(tmp_path / "any.png", result)
    panels = {axis.get_title("left"): axis for axis in saved[0].axes if axis.get_title("left")}
    assert list(panels) == ["Both right", "MM", "All pairs"]  # in words where there are some
    assert len({axis.get_ylim() for axis in panels.values()}) == 1
    for kind, axis in zip(("HC", "MM", "all"), panels.values(), strict=True):
        accuracy = {
            (a["metric"], a["references"]): a["accuracy"]
            for a in result.findings["accuracies"]
            if a["kind"] == kind
        }
        _, *lines = axis.get_lines()  # the first is chance
        drawn = {line.get_label(): line for line in lines}
        for name, numbers in {"VIFIDEL-F": (0, 1, "all"), "CIDEr": (1, "all")}.items():
            places = [{0: 0, 1: math.log(2), "all": math.log(2) + 1}[n] for n in numbers]
            assert drawn[name].get_xdata() == pytest.approx(places)
            assert drawn[name].get_ydata().tolist() == [accuracy[name, n] for n in numbers]
        assert set(drawn["theirs"].get_ydata()) == {accuracy["theirs", "as given"]}  # level
        grey = colors.to_rgb(drawn["CIDEr"].get_color())
        assert len(set(grey)) == 1  # without hue
        assert drawn["VIFIDEL-F"].get_linewidth() > 2 * drawn["CIDEr"].get_linewidth()
        labels = [text for text in axis.texts if text.get_text() in drawn]
        heights = sorted(Text.get_window_extent(label).bounds[1] for label in labels)
        assert len(labels) == 3
        assert np.diff(heights).min() > labels[0].get_fontsize() / 72 * saved[0].dpi


def test_one_number_of_references_gives_dots_with_intervals(monkeypatch, tmp_path, result):
    saved = drawn_figures(monkeypatch)
    trials = replace(result.trials, references=["all"])
    undefined = result.findings["accuracies"][-1] | {"metric": "none", "accuracy": NAN}
    findings = {"accuracies": [*result.findings["accuracies"], undefined]}
    figures.write_figure(tmp_path / "any.png", replace(result, trials=trials, findings=findings))
    axes = [axis for axis in saved[0].axes if axis.get_title("left")]
    assert len(axes) == 3
    assert len({axis.get_xlim() for axis in axes}) == 1
    labels = {label.get_text() for label in axes[-1].get_yticklabels()}
    assert labels == {"VIFIDEL-F", "CIDEr", "theirs"}  # neither kinds nor what is undefined
    with pytest.raises(VifidelError, match=r"any\.png: there is no score to draw\.$"):
        figures.write_figure(tmp_path / "any.png", replace(result, findings={"spans": []}))


def test_the_matrix_shows_differences_with_p_values(tmp_path, matrix):
    figures.write_matrices(tmp_path / "matrix.svg", [matrix])
    results = texts(tmp_path / "matrix.svg")
    assert {"+.100", "p=.031", "VIFIDEL (.500)", "CIDEr (.400)", "flat (nan)"} <= set(results)
    assert "Made up: ratings" in " ".join(results)


@pytest.fixture
def ratings():
    """Ratings of two judges whose means are 1, 2, 2 and 3, and the scores of two metrics."""
    answers = np.array([[1, 1], [1, 3], [2, 2], [3, 3]], float)
    judged = [Judged(n, ("b",), ("a",)) for n in range(4)]
    data = Ratings("Made up", judged, {"fit": answers}, {"all": np.ones(4, bool)})
    scores = {"VIFIDEL-F": [0.1, 0.2, 0.4, 0.9], "CIDEr": [4.0, 3.0, 2.0, 1.0]}
    of_trials = {name: {"all": np.array([[row]])} for name, row in scores.items()}
    return Trials(0, 0, ["all"], of_trials, dict.fromkeys(scores, ""), {}, {}), data


def test_boxes_are_of_the_captions_with_a_mean_rating(monkeypatch, tmp_path, ratings):
    saved = drawn_figures(monkeypatch)
    figures.write_scores_by_rating(tmp_path / "boxes.png", *ratings)
    axis = saved[0].axes[0]
    assert axis.get_title("left") == "VIFIDEL-F"
    medians = [line for line in axis.get_lines() if line.get_color() == "0.1"]
    assert [line.get_ydata()[0] for line in medians] == pytest.approx([0.1, 0.3, 0.9])
    assert [np.mean(line.get_xdata()) for line in medians] == pytest.approx([1, 2, 3])


def test_metrics_are_correlated_by_rank(tmp_path, ratings):
    figures.write_metric_correlations(tmp_path / "metrics.svg", *ratings)
    results = texts(tmp_path / "metrics.svg")
    assert results.count("-1.000") == 1  # the two metrics
    # Ranks 1, 2, 3, 4 against 1, 2.5, 2.5, 4: 4.5 / sqrt(5 * 4.5).
    assert results.count(".949") == results.count("-.949") == 1


def test_without_matplotlib_nothing_is_computed_first(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(VifidelError, match=r"pip install matplotlib\.$"):
        figures.check_figure(tmp_path / "curves.png")
