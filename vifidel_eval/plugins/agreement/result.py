"""The result of every experiment: tables for people, rows, JSON, and figures."""

from __future__ import annotations

import importlib.util
import io
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import VifidelError
from ...evaluation import Floats, Integers
from ...io.digits import for_json, rounded
from ...io.files import write_whole
from ...io.text_tables import Cell, Table, p_value
from ...project import pip_install
from ...scores.significance import Bootstrap
from . import trials as trials_of
from .judgements import AS_GIVEN, Judged
from .trials import Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The columns of the tidy table: a metric; what the number is, such as ``accuracy`` or ``tau-c``;
#: the number and its 95 % interval over images and draws; how many pairs, judgements or captions it
#: is about; how many references the metric had; what people were asked, and whose answers count,
#: where they rated captions; which pairs, captions or words; the other metric of a test of two.
COLUMNS = tuple("metric statistic value low high n references rating judges subset against".split())


@dataclass(frozen=True)
class Agreement:
    """How well metrics agree with people on a data set."""

    data: str  # the data set
    findings: Mapping[str, list[dict[str, Any]]]  # as JSON has them; NaN is undefined
    rows: list[dict[str, Any]]  # of the tidy table, each with those `COLUMNS` that apply
    shown: list[Table]  # the same for people, without notes
    conventions: list[str]  # notes on the numbers, beside those of the trials
    trials: Trials  # the scores
    settings: Mapping[str, Any] = field(default_factory=dict)  # more entries of the JSON

    def tables(self) -> list[Table]:
        """Return tables for people, with the notes below the last."""
        *others, last = self.shown
        return [*others, replace(last, notes=[*last.notes, *self.notes()])]

    def notes(self) -> list[str]:
        """Return what must be said of the numbers: conventions, what is left out, signatures."""
        return [*self.conventions, *self.trials.notes()]

    def tidy(self) -> Table:
        """Return a row for each number, for programs; columns that nothing fills are left out."""
        used = [name for name in COLUMNS if any(row.get(name) is not None for row in self.rows)]
        return Table(used, [for_json([row.get(name) for name in used]) for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; undefined numbers are None."""
        found = {name: for_json(of_kind) for name, of_kind in self.findings.items()}
        return {"data": self.data, **self.settings, **found} | self.trials.to_json()


class Resampled:
    """Judgements resampled by image, the same for every metric, with one of the draws each time."""

    def __init__(self, judged: Sequence[Judged], seed: int) -> None:
        self._images = [captions.image_id for captions in judged]
        self._bootstrap = Bootstrap(seed, trials_of.RESAMPLES, trials_of.LEVEL)
        #: From resampled values to their percentile interval; undefined ones are left out.
        self.interval = self._bootstrap.interval
        self._places: dict[int, list[tuple[Integers, int]]] = {}

    def values(self, draws: int, statistic: Callable[[Integers, int], Any]) -> list[Any]:
        """Return a statistic of each resample, from the places of judgements and a draw."""
        if draws not in self._places:
            self._places[draws] = list(self._bootstrap.places(self._images, draws))
        return [statistic(places, draw) for places, draw in self._places[draws]]

    def of_mean(self, values: Floats) -> tuple[float, float]:
        """Return the interval of the mean of values, (draws, judgements)."""
        return self.interval(self.values(len(values), lambda at, draw: mean(values[draw, at])))


def mean(values: Floats) -> float:
    """Return the mean without NaN; NaN where nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.sum()) / len(defined) if len(defined) else float("nan")


def row_of(
    finding: Mapping[str, Any], statistic: str, key: str, n: str, **more: Any
) -> dict[str, Any]:
    """Return the row of the tidy table for a number of a finding, and of how many it is."""
    own = {name: finding.get(name) for name in COLUMNS}
    return {**own, "statistic": statistic, "value": finding[key], "n": finding[n], **more}


def interval(low: float, high: float) -> str | None:
    """Return an interval as tables show it; None without one."""
    between = "-" if low >= 0 else " to "
    return None if math.isnan(low) else f"{low:.4f}{between}{high:.4f}"


def table_of(
    title: str, findings: Sequence[dict[str, Any]], columns: Sequence[str], texts: int = 1
) -> Table:
    """Return a row for each finding, of what it has under the columns' names."""

    def cell(finding: dict[str, Any], column: str) -> Cell:
        if column == "Interval":
            return interval(finding["low"], finding["high"])
        value: Cell = finding[column.lower().replace(" ", "_")]
        return rounded(value) if isinstance(value, float) else value

    rows = [[cell(finding, column) for column in columns] for finding in findings]
    return Table(columns, rows, texts=texts, title=title)


#: File formats, by suffix, with neither date nor version: the same numbers give the same bytes.
FIGURES: Any = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}

_MARKERS = "osD^vPX<>*hpd"
_DASHES = ("-", "--", "-.", ":")
_SETTINGS: Any = {"svg.hashsalt": "vifidel_eval", "svg.fonttype": "none", "font.size": 9}


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
    if "accuracies" in result.findings:
        write_curves(path, result)
    elif "detection" in result.findings:
        write_intervals(path, result)
    elif "effects" in result.findings:
        by_judge: dict[str, list[dict[str, Any]]] = {}
        for found in result.findings["effects"]:
            by_judge.setdefault(f"change of {found['metric']}", []).append(found)
        judges = [(name, "change", effects, 0.0) for name, effects in by_judge.items()]
        write_panels(path, result.data, judges)
    elif "spans" in result.findings:
        levels: dict[str, list[dict[str, Any]]] = {}
        for found in result.findings["spans"]:
            levels.setdefault(f"F1 of {found['level']}", []).append(found)
        write_panels(path, result.data, [(name, "f1", of, None) for name, of in levels.items()])
    else:
        write_matrices(path, result.findings["williams"])


def write_curves(path: Path, result: Agreement) -> None:
    """Write accuracy over the number of references, as in VIFIDEL's Fig. 4, kind by kind."""
    accuracies = result.findings["accuracies"]
    kinds = list(dict.fromkeys(accuracy["kind"] for accuracy in accuracies))
    metrics = list(dict.fromkeys(accuracy["metric"] for accuracy in accuracies))
    numbers = [number for number in result.trials.references if number != AS_GIVEN] or [AS_GIVEN]
    columns = min(len(kinds), 3)
    size = 3.2 * columns, 2.9 * math.ceil(len(kinds) / columns) + 0.5
    with _drawing(path, size, columns, kinds) as (figure, axes):
        for axis, kind in zip(axes, kinds, strict=True):
            axis.set_title(kind, parse_math=False)
            axis.set_xticks(range(len(numbers)), [str(number) for number in numbers])
            axis.set_xlabel("references")
            axis.set_ylabel("accuracy")
            axis.grid(axis="y", color="0.9")
        panels = zip(axes, kinds, strict=True)
        for (axis, kind), (at, metric) in product(panels, enumerate(metrics)):
            of_metric = {
                accuracy["references"]: accuracy
                for accuracy in accuracies
                if (accuracy["metric"], accuracy["kind"]) == (metric, kind)
            }
            drawn = [number for number in numbers if number in of_metric]
            places: list[float] = [numbers.index(number) for number in drawn]
            if not drawn:  # another tool's scores: whatever references it had
                places, drawn = [0, len(numbers) - 1], [AS_GIVEN, AS_GIVEN]
            values, lows, highs = (
                [of_metric[number][key] for number in drawn] for key in ("accuracy", "low", "high")
            )
            if len(drawn) == 1:  # a band has no width there
                places = [places[0] + 0.03 * (at - len(metrics) / 2)]
                axis.vlines(places, lows, highs, color="0.6", linewidth=1)
            axis.plot(
                places,
                values,
                label=metric,
                color=f"C{at % 10}",
                marker=_MARKERS[at % len(_MARKERS)],
                linestyle=_DASHES[at % len(_DASHES)],
                markersize=4,
                linewidth=1.2,
            )
            axis.fill_between(places, lows, highs, color="0.5", alpha=0.12, linewidth=0)
        # Named here: matplotlib leaves labels out that begin with an underscore.
        legend = figure.legend(
            axes[0].lines, metrics, loc="outside lower center", ncols=min(len(metrics), 5)
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        title = f"{result.data}: agreement with people (ties {result.settings['ties']})"
        figure.suptitle(title, parse_math=False)


def write_intervals(path: Path, result: Agreement) -> None:
    """Write how well metrics find what captions make up; dotted lines are what chance reaches."""
    detection, localization, pairwise = result.findings.values()
    first = detection[0]
    share = first["positives"] / first["captions"] if first["captions"] else None
    panels = [
        ("detection: average precision", "average_precision", detection, share),
        ("localisation: accuracy", "accuracy", localization, None),
        ("pairs: accuracy", "accuracy", pairwise, 0.5),
    ]
    write_panels(path, result.data, panels)


def write_panels(
    path: Path,
    title: str,
    panels: Sequence[tuple[str, str, Sequence[Mapping[str, Any]], float | None]],
) -> None:
    """Write a panel for each title, key of values, findings with intervals, and dotted line."""
    panels = [panel for panel in panels if panel[2]]
    longest = max(len(rows) for _, _, rows, _ in panels)
    size = 3.6 * len(panels), 1.2 + 0.25 * longest
    with _drawing(path, size, len(panels), panels) as (figure, axes):
        for axis, (heading, key, rows, line) in zip(axes, panels, strict=True):
            axis.set_title(heading, parse_math=False)
            places = range(len(rows))
            lows, highs, values = ([row[end] for row in rows] for end in ("low", "high", key))
            axis.hlines(places, lows, highs, color="0.5")
            axis.plot(values, places, "o", color="0.1", markersize=4)
            names = [
                ", ".join(row[key] for key in ("metric", "words", "kind") if key in row)
                for row in rows
            ]
            axis.set_yticks(places, names, parse_math=False)
            axis.invert_yaxis()
            axis.grid(axis="x", color="0.9")
            if line is not None:
                axis.axvline(line, color="0.5", linestyle=":")
        figure.suptitle(title, parse_math=False)


def write_matrices(path: Path, matrices: Sequence[dict[str, Any]]) -> None:
    """Write a panel for each `williams_matrix`, darker where surer, as in Kilickaya et al."""
    if not matrices:
        raise VifidelError(f"{path}: a matrix needs two metrics; name more --metrics.")
    size = 2.5 + 0.5 * max(len(matrix["correlations"]) for matrix in matrices)
    columns = min(len(matrices), 2)
    inches = (size + 0.6) * columns, size * math.ceil(len(matrices) / columns)
    with _drawing(path, inches, columns, matrices) as (_, axes):
        for axis, matrix in zip(axes, matrices, strict=True):
            correlations, p_values = matrix["correlations"], matrix["p_values"]
            names = list(correlations)
            sure = [[1 - p for p in of_row.values()] for of_row in p_values.values()]
            axis.imshow(sure, cmap="Greys", vmin=0, vmax=1.6)  # black on the darkest stays readable
            for y, row in enumerate(names):
                for x, p in enumerate(p_values[row].values()):
                    text = "" if math.isnan(p) else ">.999" if p > 0.999 else p_value(p)
                    axis.text(x, y, text, ha="center", va="center", fontsize=7)
            axis.set_xticks(range(len(names)), names, rotation=90, parse_math=False)
            labels = [f"{name} ({r:.3f})" for name, r in correlations.items()]
            axis.set_yticks(range(len(names)), labels, parse_math=False)
            title = textwrap.fill(
                f"{matrix['title']}: p, row better than column", width=int(9 * size)
            )
            axis.set_title(title, fontsize=8, parse_math=False)


@contextmanager
def _drawing(
    path: Path, size: tuple[float, float], columns: int, panels: Sequence[Any]
) -> Iterator[tuple[Figure, Sequence[Any]]]:
    """Yield a figure of so many inches and the axes of its panels; write it when they are drawn."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    suffix = path.suffix.lower()
    with rc_context(_SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(math.ceil(len(panels) / columns), columns, squeeze=False).flat
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        yield figure, list(axes[: len(panels)])
        content = io.BytesIO()
        figure.savefig(content, format=suffix[1:], dpi=200, metadata=FIGURES[suffix])
    write_whole(path, content.getvalue())
