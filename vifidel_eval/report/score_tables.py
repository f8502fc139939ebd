"""Scores of systems as tables and as the JSON document, all from the same `Scores`."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ..digits import rounded
from ..evaluation import COUNTS, Column
from ..image_ids import to_json_value
from ..runs.baseline import against
from ..runs.comparison import Comparisons
from ..runs.harness import Scores
from ..runs.names import chosen_columns, metric_of_columns
from ..runs.scores_file import scores_text
from ..scorers.registry import METRICS
from ..text_tables import Cell, Table, best, direction_notes, one_line
from .comparison_tables import (
    against_baseline,
    compared,
    level_with_the_best,
    one_table,
    signature_of_differences,
)
from .fitting import PIPED_WIDTH, fitted, line_width
from .signatures import folded


@dataclass(frozen=True)
class Layout:
    """How scores are shown.

    Attributes
    ----------
    columns : tuple of str, optional
        The columns to show, in this order; by default all.
    percent : bool
        Whether scores are multiplied by 100.
    digits : int, optional
        Decimals; by default four, or two in percent, and in CSV all that files hold.
    width : int
        Characters in a line of the style ``table``.
    counts : bool
        Whether what was counted is shown in LaTeX, and beside a baseline, too.
    baseline : str, optional
        The system that the others are compared with, in one table instead of those of scores,
        intervals and pairs.
    """

    columns: tuple[str, ...] | None = None
    percent: bool = False
    digits: int | None = None
    width: int = PIPED_WIDTH
    counts: bool = False
    baseline: str | None = None

    def decimals(self, style: str) -> int | None:
        """Return the decimals of a style; None for those of `Table`."""
        if self.digits is not None or style == "csv":
            return self.digits
        return 2 if self.percent else None

    def shown(self, score: float, ranked: bool = True) -> float | None:
        """Return a score as it is shown.

        Parameters
        ----------
        score : float
            As computed.
        ranked : bool
            Whether its column has a direction; what has none, such as a length, is no share of
            anything, and stays as it is.
        """
        number = rounded(score)
        return number if number is None or not (self.percent and ranked) else rounded(100 * number)


_PLAIN = Layout()


def render(
    scores: Scores,
    style: str,
    comparisons: Comparisons | None = None,
    layout: Layout = _PLAIN,
) -> str:
    """Return scores, and how systems compare, as text.

    Parameters
    ----------
    scores : Scores
        What the tables show.
    style : str
        One of `vifidel_eval.text_tables.FORMATS`: ``json`` is the text of `scores_text`,
        ``csv`` the table of scores alone, and the others are tables with an empty line between
        them.
    comparisons : Comparisons, optional
        Adds a table of intervals and ranks and, of two systems or more, one of pairs. In bold are
        then all systems that are not significantly worse than the best. With the layout's baseline
        one table says instead how the systems differ from it.
    layout : Layout
        Which columns are shown, and how.

    Raises
    ------
    VifidelError
        If a column of the layout is not among the scores, or the baseline not among the systems.
    """
    scores, comparisons = _chosen(scores, comparisons, layout)
    if style == "json":
        return to_json(scores, comparisons)
    if comparisons is not None and layout.baseline is not None:
        tables = fitted(_against(scores, style, comparisons, layout), style, layout.width)
        if layout.counts and style != "csv":
            tables += fitted(_counts(scores), style, layout.width, "Count")
    else:
        tables = fitted(table(scores, style, comparisons, layout), style, layout.width, "Metric")
        if comparisons is not None and style != "csv":
            for each in compared(comparisons, style, layout.decimals(style), layout.shown):
                tables += fitted(each, style, layout.width)
    if style == "table":
        tables = [replace(each, notes=_wrapped(each.notes, layout.width)) for each in tables]
    return "\n\n".join(each.render(style) for each in tables)


def _wrapped(notes: Iterable[str], width: int) -> list[str]:
    wrap = partial(
        textwrap.wrap,
        width=max(width, 20),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    # What fits stays as it is, and so does the indented part of a signature, which has no blanks.
    return [
        line
        for note in notes
        for line in ([note] if len(note) <= width or " " not in note.strip() else wrap(note))
    ]


def beside(
    scores: Scores,
    style: str,
    comparisons: Comparisons | None = None,
    layout: Layout = _PLAIN,
) -> list[str]:
    """Return what a person should read beside a style that has no notes: CSV and JSON."""
    if style == "csv":
        scores, comparisons = _chosen(scores, comparisons, layout)
        if comparisons is not None and layout.baseline is not None:
            return list(_against(scores, style, comparisons, layout).notes)
        return list(table(scores, style, comparisons, layout).notes)
    if style != "json":
        return []
    unavailable = scores.unavailable.items()
    return [
        *_without_java(scores),
        *(f"Warning: {name} not available: {why}" for name, why in unavailable),
    ]


def to_json(scores: Scores, comparisons: Comparisons | None = None) -> str:
    """Return the document that ``--output`` writes, as text."""
    return scores_text(scores, comparisons)


def per_image_csv(scores: Scores, layout: Layout = _PLAIN) -> str:
    """Return a table in CSV with a row for each system and image."""
    scores, _ = _chosen(scores, None, layout)
    columns = scores.columns()
    rows: list[list[Cell]] = []
    for name, of_column in scores.evaluations.items():
        ids = next(iter(of_column.values())).ids
        numbers = [of_column[column.name].scores.tolist() for column in columns]
        rows += [
            [name, to_json_value(image_id)]
            + [layout.shown(s, c.ranked) for s, c in zip(of_image, columns, strict=True)]
            for image_id, *of_image in zip(ids, *numbers, strict=True)
        ]
    headers = ["System", "Image", *scores.signatures]
    return Table(headers, rows, digits=layout.decimals("csv")).render("csv")


def comparison_csv(scores: Scores, comparisons: Comparisons, layout: Layout = _PLAIN) -> str:
    """Return how systems compare as one table in CSV: intervals, ranks, and pairs."""
    _, comparisons = _chosen(scores, comparisons, layout)
    whole = one_table(comparisons, layout.shown)
    return replace(whole, digits=layout.decimals("csv")).render("csv")


def table(
    scores: Scores,
    style: str = "table",
    comparisons: Comparisons | None = None,
    layout: Layout = _PLAIN,
) -> Table:
    """Return a row per system: its scores, then what was counted over all metrics.

    An image counts as scored if every metric has a score for it. LaTeX has the counts only where
    the layout asks for them.
    """
    counted = _counts(scores)
    if style == "latex" and not layout.counts:
        counted = counted.with_columns([0])
    columns = scores.columns()
    rows: list[list[Cell]] = [
        [
            name,
            *(layout.shown(of_column[c.name].score, c.ranked) for c in columns),
            *of_counts,
        ]
        for (name, of_column), (_, *of_counts) in zip(
            scores.evaluations.items(), counted.rows, strict=True
        )
    ]
    notes = _directions(columns) + _in_percent(columns, layout)
    bold = _bold(rows, columns, layout.decimals(style))
    if comparisons is not None and len(rows) > 1:
        names = list(scores.evaluations)
        for at, column in enumerate(columns, 1):
            if column.ranked and column.name in comparisons.metrics:
                level = level_with_the_best(comparisons.metrics[column.name])
                bold = {place for place in bold if place[1] != at}
                bold |= {(names.index(name), at) for name in level}
        if style in ("markdown", "latex"):
            alpha = f"{1 - comparisons.level:.2g}"
            notes.append(
                f"Bold: not significantly worse than the best (randomisation, p > {alpha})."
            )
    return Table(
        ["System", *scores.signatures, *counted.headers[1:]],
        rows,
        notes + _below(scores, style, layout),
        bold=bold,
        digits=layout.decimals(style),
        lower={(-1, at) for at, column in enumerate(columns, 1) if column.lower_is_better},
    )


def _counts(scores: Scores) -> Table:
    """Return a row per system: what was counted over all metrics."""
    counted = {name: scores.counts(name) for name in scores.evaluations}
    shown = [
        count
        for count in COUNTS
        if any(count.key in of and (count.always or of[count.key]) for of in counted.values())
    ]
    return Table(
        ["System", "Scored", *(count.header for count in shown)],
        [
            [name, of["scored"], *(of.get(count.key, 0) for count in shown)]
            for name, of in counted.items()
        ],
        title="Counts",
    )


def _against(scores: Scores, style: str, comparisons: Comparisons, layout: Layout) -> Table:
    """Return the table of the layout's baseline, with what has to be said of all scores."""
    differences = against(comparisons, layout.baseline or "")
    found = against_baseline(differences, style, layout.decimals(style), layout.shown)
    if layout.counts and style == "csv":  # where there is one table
        counted = _counts(scores)
        of_systems = {name: numbers for name, *numbers in counted.rows}
        found = replace(
            found,
            headers=[*found.headers, *counted.headers[1:]],
            rows=[[*row, *of_systems[row[1]]] for row in found.rows],
        )
    pinned = signature_of_differences(differences)
    return replace(
        found,
        notes=[
            *found.notes,
            *_in_percent(scores.columns(), layout),
            *(folded([pinned], layout.width) if style == "table" else [pinned]),
            *_below(scores, style, layout),
        ],
    )


def _in_percent(columns: Sequence[Column], layout: Layout) -> list[str]:
    if not layout.percent:
        return []
    kept = ", ".join(column.name for column in columns if not column.ranked)
    return [f"Scores times 100{f', but not {kept}' if kept else ''}."]


def _below(scores: Scores, style: str, layout: Layout) -> list[str]:
    """Return the notes of any table of scores: people, signatures, Java, what is lacking."""
    signatures = list(dict.fromkeys(scores.signatures.values()))
    return [
        *scores.notes(),
        *(folded(signatures, layout.width) if style == "table" else signatures),
        *_without_java(scores),
        *(f"{name} not available: {why}" for name, why in scores.unavailable.items()),
    ]


def in_short(scores: Scores, most: int = 12) -> str:
    """Return a table for a prompt: the first systems, and no signatures."""
    whole = table(scores)
    more = len(whole.rows) - most
    notes = [*_directions(scores.columns()), *scores.notes(), *_without_java(scores)]
    if more > 0:
        notes.insert(0, f"... and {more} more system{'s' * (more > 1)}.")
    short = replace(whole, rows=whole.rows[:most], notes=notes)
    return "\n\n".join(e.render("table") for e in fitted(short, "table", line_width(), "Metric"))


def in_html(scores: Scores) -> str:
    """Return a table for a notebook; the signatures unfold below it."""
    whole = table(scores)
    signatures = dict.fromkeys(scores.signatures.values())
    listed = "".join(
        f"<div><code>{html.escape(one_line(line))}</code></div>" for line in signatures
    )
    shown = [note for note in whole.notes if note in _directions(scores.columns())]
    shown += [*scores.notes(), *_without_java(scores)]
    shown += [f"{name} not available: {why}" for name, why in scores.unavailable.items()]
    return (
        f"{replace(whole, notes=shown).html()}\n"
        f"<details><summary>Signatures</summary>{listed}</details>"
    )


def _without_java(scores: Scores) -> list[str]:
    """Return which metrics have other tokens than pycocoevalcap's, and how much that changes."""
    found = _PYTHON_TOKENS.findall("\n".join(scores.signatures.values()))
    differ = {name: METRICS[name].without_java for name in METRICS if name in found}
    amounts = ", ".join(f"{name} by {by:.2g}" for name, by in differ.items() if by is not None)
    if not amounts:
        return []
    return [
        "Tokens made without Java (tok:python): on COCO val2017 corpus scores differ from "
        f"pycocoevalcap's by at most this: {amounts}."
    ]


def _directions(columns: Sequence[Column]) -> list[str]:
    lower = [column.name for column in columns if column.lower_is_better]
    return direction_notes(lower, [column.name for column in columns if not column.ranked])


def _bold(
    rows: Sequence[Sequence[Cell]], columns: Sequence[Column], digits: int | None
) -> set[tuple[int, int]]:
    places = [at for at, column in enumerate(columns, 1) if column.ranked]
    lower = [at for at in places if columns[at - 1].lower_is_better]
    return best(rows, places, lower, digits)


# The name of a metric, alone or in a combination.
_PYTHON_TOKENS = re.compile(r"([^|(\n]+)\|tok:python\b")

_Some = TypeVar("_Some", Comparisons, Comparisons | None)


def _chosen(scores: Scores, comparisons: _Some, layout: Layout) -> tuple[Scores, _Some]:
    """Return scores and comparisons of the layout's columns."""
    if layout.columns is None:
        return scores, comparisons
    names = chosen_columns(layout.columns, metric_of_columns(scores))
    if comparisons is not None:
        comparisons = replace(
            comparisons,
            metrics={n: comparisons.metrics[n] for n in names if n in comparisons.metrics},
            left_out=tuple(name for name in comparisons.left_out if name in names),
        )
    return scores.only(names), comparisons
