"""Figures for papers: agreement with people, scores by rating, and metrics against metrics."""

from __future__ import annotations

import importlib.util
import io
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import VifidelError
from ...evaluation import Floats
from ...io.files import write_whole
from ...io.text_tables import gain, p_value
from ...project import pip_install
from ...scores.verdict import figure as shown
from ...scores.verdict import shown_columns
from .correlation import mean_views
from .judgements import ALL, AS_GIVEN, Choices, Hallucinations, Ratings, References
from .result import Agreement
from .trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: File formats, by suffix, with neither date nor version: the same numbers give the same bytes.
FIGURES: Any = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_SETTINGS: Any = {
    "svg.hashsalt": "vifidel_eval",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # fonts are embedded as TrueType, which publishers ask for
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_WIDTH = 5.2  # inches of all panels beside each other: two columns of a page, or a phone
_AROUND = 0.5  # inches of a panel's title and ticks
_LABEL = 0.11  # inches between the middles of two labels
_DASHES = ("-", "--", "-.", ":")
# Blue and vermilion, which the colour-blind can tell: https://jfly.uni-koeln.de/color/
_OURS, _THEIRS, _OTHERS = "#0072B2", "#D55E00", "0.45"
_MOST_LEVELS = 12  # boxes beside each other; more ratings are put into bins
_BINS = 5


def check_figure(path: Path) -> None:
    """Raise VifidelError if a figure's suffix is none of `FIGURES`, or none can be drawn here."""
    if path.suffix.lower() not in FIGURES:
        raise VifidelError(f"{path}: a figure is a {', '.join(FIGURES)} file.")
    if importlib.util.find_spec("matplotlib") is None:
        raise VifidelError(
            f"{path}: a figure needs matplotlib, which is not installed: "
            f"{pip_install('matplotlib')}."
        )


def write_figure(path: Path, result: Agreement) -> None:
    """Draw a result; a `VifidelError` says that there is nothing to draw, or nowhere to write."""
    findings = result.findings
    if "accuracies" in findings:
        write_accuracies(path, result)
    elif "detection" in findings:
        write_detection(path, result)
    elif "effects" in findings:
        by_judge = _grouped(findings["effects"], "metric")
        panels = [(f"change of {name}", "change", rows, 0.0) for name, rows in by_judge.items()]
        write_intervals(path, f"{result.data} (each panel has its own range)", panels, False)
    elif "spans" in findings:
        by_level = _grouped(findings["spans"], "level")
        of_levels = [(f"F1 of {name}", "f1", rows, None) for name, rows in by_level.items()]
        write_intervals(path, result.data, of_levels)
    else:
        write_matrices(path, findings["williams"])


def _grouped(findings: Sequence[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for finding in findings:
        groups.setdefault(finding[key], []).append(finding)
    return groups


def write_accuracies(path: Path, result: Agreement) -> None:
    """Write the accuracy in each kind of pairs, over the number of references if there are some."""
    columns = shown_columns(result.trials.scores)
    accuracies = [row for row in result.findings["accuracies"] if row["metric"] in columns]
    by_kind = _grouped(accuracies, "kind")
    names = {ALL: "All pairs", **result.kinds}
    title = f"{result.data}: how often a metric prefers the caption that people prefer"
    numbers = [number for number in result.trials.references if number != AS_GIVEN]
    if len(numbers) > 1:
        curves = {names.get(kind, kind): row for kind, row in by_kind.items()}
        write_curves(path, f"{title} (ties count {result.settings['ties']})", curves, numbers)
        return
    panels = [(names.get(kind, kind), "accuracy", row, 0.5) for kind, row in by_kind.items()]
    write_intervals(path, f"{title} (dotted: chance)", panels)


def write_curves(
    path: Path,
    title: str,
    panels: Mapping[str, Sequence[Mapping[str, Any]]],
    numbers: Sequence[References],
) -> None:
    """Write accuracy over the number of references, as in VIFIDEL's Fig. 4, a panel for each title.

    The references are on a logarithmic axis, all panels have one range, and each line has its label
    at its end.
    """
    places_on_axis = [math.log1p(number) for number in numbers if isinstance(number, int)]
    beyond = max(places_on_axis, default=0) + 1  # where "all" is
    places = {n: math.log1p(n) if isinstance(n, int) else beyond for n in numbers}
    accuracies = [accuracy for of_panel in panels.values() for accuracy in of_panel]
    lowest = min(0.5, *(a["accuracy"] for a in accuracies if not math.isnan(a["accuracy"]))) - 0.02
    height = 1.9
    with _drawing(path, title, len(panels), height, sharex=True, sharey=True) as (figure, axes):
        for axis, (heading, of_panel) in zip(axes, panels.items(), strict=True):
            axis.set_title(textwrap.fill(heading, 38), parse_math=False)
            axis.set_ylim(lowest, 1.005)
            axis.axhline(0.5, color="0.8", linestyle=":", linewidth=1)
            axis.set_xticks([*places.values()], [str(number) for number in places])
            ends = _draw_lines(axis, of_panel, places)
            axis.tick_params(labelbottom=True)
            _label_ends(axis, ends, _LABEL / (height - _AROUND) * (1.005 - lowest))
        figure.supxlabel("number of references (bands: 95 % intervals; dotted: chance)", fontsize=8)
        figure.supylabel("accuracy (one range in all panels)", fontsize=8)


def _draw_lines(
    axis: Axes, accuracies: Sequence[Mapping[str, Any]], places: Mapping[References, float]
) -> dict[str, tuple[float, float, str]]:
    """Draw a line for each metric; return where it ends, and its colour."""
    ends = {}
    metrics = list(dict.fromkeys(accuracy["metric"] for accuracy in accuracies))
    for at, metric in enumerate(metrics):
        of_metric = {a["references"]: a for a in accuracies if a["metric"] == metric}
        is_given = AS_GIVEN in of_metric  # another tool's scores: whatever references it had
        drawn = [AS_GIVEN, AS_GIVEN] if is_given else [n for n in places if n in of_metric]
        x = [min(places.values()), max(places.values())]
        x = x if is_given else [places[number] for number in drawn]
        y, lows, highs = ([of_metric[n][key] for n in drawn] for key in ("accuracy", "low", "high"))
        colour = _colour(metric, is_given)
        stands_out = colour != _OTHERS
        axis.plot(
            x,
            y,
            label=metric,
            color=colour,
            linestyle="-" if stands_out else _DASHES[at % len(_DASHES)],
            linewidth=2.4 if stands_out else 1,
            marker="o",
            markersize=4 if stands_out else 2,
            zorder=3 if stands_out else 2,
        )
        if stands_out:
            axis.fill_between(x, lows, highs, color=colour, alpha=0.18, linewidth=0)
        ends[metric] = (x[-1], y[-1], colour)
    return ends


def _label_ends(axis: Axes, ends: Mapping[str, tuple[float, float, str]], apart: float) -> None:
    """Name each line at its end, right of the panel; labels are so far apart that none overlap."""
    defined = {name: end for name, end in ends.items() if not math.isnan(end[1])}
    order = sorted(defined, key=lambda name: defined[name][1])
    low, high = axis.get_ylim()
    heights = spread([defined[name][1] for name in order], apart, low, high - apart / 4)
    for name, height in zip(order, heights, strict=True):
        x, y, colour = defined[name]
        axis.annotate(
            name,
            (x, y),
            (1.06, height),
            textcoords=axis.get_yaxis_transform(),
            color=colour if colour != _OTHERS else "0.25",
            fontsize=7,
            weight="bold" if colour != _OTHERS else "normal",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "0.7", "linewidth": 0.5, "relpos": (0, 0.5)},
            parse_math=False,
        )


def spread(heights: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return ascending heights moved to be `apart`, and from `low` to `high` if they fit.

    >>> spread([0.5, 0.5, 1.0], 0.25, 0.0, 1.0)
    [0.375, 0.625, 1.0]
    """
    steps = apart * np.arange(len(heights))
    level = np.array(heights) - steps
    # Labels pushed up, and pushed down: both are far enough apart, and so are their means.
    up, down = np.maximum.accumulate(level), np.minimum.accumulate(level[::-1])[::-1]
    ceiling = max(high - apart * (len(heights) - 1), low)
    places: list[float] = (np.clip((up + down) / 2, low, ceiling) + steps).tolist()
    return places


def _colour(metric: str, is_of_tool: bool) -> str:
    """Return a metric's colour: VIFIDEL-F stands out, and so do other tools' scores."""
    if is_of_tool:
        return _THEIRS
    return _OURS if metric == "VIFIDEL-F" else _OTHERS


def write_detection(path: Path, result: Agreement) -> None:
    """Write how well metrics find what captions make up; dotted lines are what chance reaches."""
    detection, localization, pairwise = result.findings.values()
    first = detection[0]
    share = first["positives"] / first["captions"] if first["captions"] else None
    panels = [
        ("Captions with made-up things: average precision", "average_precision", detection, share),
        ("The least supported word is made up: share", "accuracy", localization, None),
        ("The correct caption scores higher: share of pairs", "accuracy", pairwise, 0.5),
    ]
    write_intervals(path, f"{result.data} (dotted: chance)", panels)


def write_intervals(
    path: Path,
    title: str,
    panels: Sequence[tuple[str, str, Sequence[Mapping[str, Any]], float | None]],
    one_range: bool = True,
) -> None:
    """Write a panel for each title, key of values, findings with intervals, and dotted line."""
    defined = (
        (heading, key, [row for row in rows if not math.isnan(row[key])], line)
        for heading, key, rows, line in panels
    )
    panels = [panel for panel in defined if panel[2]]
    if not panels:
        raise VifidelError(f"{path}: there is no score to draw.")
    height = 0.6 + 0.17 * max(len(rows) for _, _, rows, _ in panels)
    with _drawing(path, title, len(panels), height, sharex=one_range) as (_, axes):
        for axis, (heading, key, rows, line) in zip(axes, panels, strict=True):
            axis.set_title(textwrap.fill(heading, 27), parse_math=False)
            several = [key for key in ("words", "kind") if len({row.get(key) for row in rows}) > 1]
            names = [", ".join(row[key] for key in ("metric", *several)) for row in rows]
            for at, row in enumerate(rows):
                colour = _colour(row["metric"], row.get("references") == AS_GIVEN)
                width = 1 if colour == _OTHERS else 2
                axis.hlines(at, row["low"], row["high"], color=colour, linewidth=width)
                axis.plot(row[key], at, "o", color=colour, markersize=2 + width)
            axis.set_yticks(range(len(rows)), names, parse_math=False)
            axis.tick_params(labelbottom=True)
            axis.set_ylim(len(rows) - 0.5, -0.5)
            axis.grid(axis="x", color="0.9")
            if line is not None:
                axis.axvline(line, color="0.5", linestyle=":")


def write_matrices(path: Path, matrices: Sequence[dict[str, Any]]) -> None:
    """Write a panel for each `williams_matrix`: by how much metrics differ, and how surely.

    It is the comparison of Kilickaya et al., Fig. 1.
    """
    if not matrices:
        raise VifidelError(f"{path}: a matrix needs two metrics; name more --metrics.")
    panels = []
    for matrix in matrices:
        correlations, p_values = matrix["correlations"], matrix["p_values"]
        names = [name for name in correlations if name in shown_columns(correlations)]
        r = [correlations[name] for name in names]
        texts: dict[Any, str] = {}
        values = np.full((len(r), len(r)), np.nan)
        for y, x in zip(*np.tril_indices(len(r), -1), strict=True):
            p = p_values[names[x]][names[y]]
            if not math.isnan(p):
                values[y, x] = r[x] - r[y]
                sign = "" if p < 0.001 else "="
                texts[y, x] = f"{gain(values[y, x], 3).replace('0.', '.')}\np{sign}{p_value(p)}"
        labels = [f"{name} ({shown(of_name)})" for name, of_name in zip(names, r, strict=True)]
        panels.append((matrix["title"], labels, values, texts))
    title = "Pearson's correlations in parentheses, and the column's minus the row's"
    _write_cells(path, title, panels)


def write_metric_correlations(
    path: Path, trials: Trials, data: Ratings | Choices | Hallucinations
) -> None:
    """Write how metrics correlate with each other, and with people's ratings if there are some.

    It is Spearman's correlation over the captions that both score, as in TIGEr's comparison.
    """
    from scipy.stats import spearmanr

    columns = {name: of_metric.ravel() for name, of_metric in _scores(trials).items()}
    rated = _mean_ratings(data) if isinstance(data, Ratings) else {}
    people = {f"people, {name}" if len(rated) > 1 else "people": r for name, r in rated.items()}
    scores = people | {name: columns[name] for name in shown_columns(columns)}
    if len(scores) < 2:
        raise VifidelError(f"{path}: a figure of metrics needs two; name more --metrics.")
    names = [*scores]
    texts: dict[Any, str] = {}
    values = np.full((len(names), len(names)), np.nan)
    for y, x in zip(*np.tril_indices(len(names), -1), strict=True):
        defined = ~np.isnan(scores[names[y]]) & ~np.isnan(scores[names[x]])
        pair = scores[names[y]][defined], scores[names[x]][defined]
        if all(len(np.unique(side)) > 1 for side in pair):
            values[y, x] = spearmanr(*pair).statistic
            texts[y, x] = shown(values[y, x])
    title = f"{data.name}: Spearman's correlation of metrics"
    _write_cells(path, title, [("", names, values, texts)])


def _write_cells(
    path: Path,
    title: str,
    panels: Sequence[tuple[str, list[str], Floats, Mapping[Any, str]]],
) -> None:
    """Write a panel for each heading, names, values below the diagonal, and what cells say."""
    height = 0.9 + 0.36 * max(len(names) for _, names, _, _ in panels)
    with _drawing(path, title, len(panels), height, columns=1) as (_, axes):
        for axis, (heading, names, values, texts) in zip(axes, panels, strict=True):
            axis.set_title(textwrap.fill(heading, 62), parse_math=False)
            rows, columns, strength = names[1:], names[:-1], np.abs(values[1:, :-1])
            axis.imshow(strength, cmap="Blues", vmin=0, vmax=1.2, aspect="auto")
            for (y, x), text in texts.items():
                colour = "white" if strength[y - 1, x] > 0.85 else "black"
                axis.text(x, y - 1, text, ha="center", va="center", fontsize=6, color=colour)
            axis.set_xticks(range(len(columns)), columns, rotation=45, ha="right", parse_math=False)
            axis.set_yticks(range(len(rows)), rows, parse_math=False)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)


def write_scores_by_rating(path: Path, trials: Trials, ratings: Ratings) -> None:
    """Write boxes of each metric's scores at each rating, as in the re-evaluations of metrics.

    A box holds the middle half of the scores, and its line is the median. Whiskers reach from the
    5th to the 95th percentile. Boxes are wider with the number of captions.
    """
    scores = _scores(trials)
    names = shown_columns(scores)
    of_ratings = _mean_ratings(ratings)
    panels = list(product(of_ratings, names))
    title = f"{ratings.name}: scores by human rating (each panel has its own range)"
    with _drawing(path, title, len(panels), 1.7) as (figure, axes):
        figure.supxlabel("mean rating (box: half of the scores; line: 90 %)", fontsize=8)
        for axis, (rating, name) in zip(axes, panels, strict=True):
            judgements, of_metric = of_ratings[rating], scores[name][0]
            defined = ~np.isnan(judgements) & ~np.isnan(of_metric)
            levels, at = _levels(judgements[defined])
            groups = [of_metric[defined][at == level] for level in range(len(levels))]
            largest = max(map(len, groups), default=1)
            room = min(np.diff(levels), default=1.0)
            colour = _colour(name, AS_GIVEN in trials.scores[name])
            axis.boxplot(
                groups,
                positions=levels,
                widths=[0.8 * room * math.sqrt(len(group) / largest) for group in groups],
                whis=(5, 95),
                showfliers=False,
                manage_ticks=False,
                patch_artist=True,
                boxprops={"facecolor": colour, "alpha": 0.35, "linewidth": 0},
                whiskerprops={"color": colour},
                showcaps=False,
                medianprops={"color": "0.1", "linewidth": 1.5},
            )
            rated = f", rated: {rating}" if len(of_ratings) > 1 else ""
            axis.set_title(f"{name}{rated}", parse_math=False)


def _levels(judgements: Floats) -> tuple[Floats, Any]:
    """Return ratings, or the middles of bins of them, and the number of each judgement's."""
    levels, at = np.unique(judgements, return_inverse=True)
    if len(levels) <= _MOST_LEVELS:
        return levels, at
    edges = np.linspace(levels[0], levels[-1], _BINS + 1)
    return (edges[1:] + edges[:-1]) / 2, np.digitize(judgements, edges[1:-1])


def _scores(trials: Trials) -> dict[str, Floats]:
    """Return each metric's scores with the most references, (captions judged together, many)."""
    return {name: [*by_number.values()][-1][0] for name, by_number in trials.scores.items()}


def _mean_ratings(ratings: Ratings) -> dict[str, Floats]:
    """Return the mean rating of each caption of the first subset, by what people were asked."""
    means: dict[str, Floats] = {}
    for rating, _, judgements in mean_views(ratings):
        means.setdefault(rating, judgements)
    return means


@contextmanager
def _drawing(
    path: Path, title: str, panels: int, height: float, columns: int = 2, **shared: Any
) -> Iterator[tuple[Figure, Sequence[Any]]]:
    """Yield a figure and the axes of its panels, so many inches high; write it when drawn."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = math.ceil(panels / (columns := min(columns, panels)))
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, height * rows + 0.7), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **shared).flat
        for axis in axes[panels:]:
            axis.set_axis_off()
        figure.suptitle(textwrap.fill(title, 66), fontsize=9, parse_math=False)
        yield figure, list(axes[:panels])
        content, suffix = io.BytesIO(), path.suffix.lower()
        figure.savefig(content, format=suffix[1:], dpi=200, metadata=FIGURES[suffix])
    write_whole(path, content.getvalue())
