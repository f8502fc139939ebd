"""Scores of systems as tables and as the JSON document, all from the same `Scores`."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ..evaluation import COUNTS, Column
from ..io.image_ids import to_json_value
from ..io.text_tables import (
    Cell,
    Figures,
    Marked,
    Table,
    Value,
    best,
    direction_notes,
    escaped_for_latex,
    one_line,
    readable,
    with_half,
)
from ..scorers.registry import METRICS
from ..scores.comparison import Comparisons, Standing, against
from ..scores.scores import Scores, by_plain_name, chosen_columns, chosen_samples
from ..scores.scores_file import scores_text
from ..scores.verdict import chosen_column, ordered_columns, ordered_systems, shown_columns, verdict
from .comparison_tables import (
    against_baseline,
    compared,
    halves_explained,
    level_with_the_best,
    marks_explained,
    one_table,
    signature_of_differences,
)
from .first_screen import unavailable, without_java
from .layout import SIGNATURES, TableLayout, fitted, folded, in_brief, printed

_PLAIN = TableLayout()
_LETTERS = {
    "VIFIDEL-F": "fidelity and coverage in one number",
    "VIFIDEL-P": "fidelity, how true captions are to the image",
    "VIFIDEL-R": "coverage, how much of the image they mention",
    "VIFIDEL-Hs": "share of captions that make something up",
    "VIFIDEL-Hi": "share of mentions that are made up",
    "VIFIDEL-Hn": "things made up per caption",
    "VIFIDEL-T": "mean support of the things mentioned",
}


def render(
    scores: Scores,
    style: str,
    comparisons: Comparisons | None = None,
    layout: TableLayout = _PLAIN,
    intervals: Comparisons | None = None,
) -> str:
    """Return scores, and how systems compare, as text in one of the `FORMATS` of `text_tables`.

    `intervals` stand beside scores, in a terminal if there is room; by default the comparison's.
    """
    compared = comparisons or intervals
    scores, comparisons, layout = _chosen(scores, comparisons, layout, style, compared)
    if style == "json":
        return scores_text(scores, None if layout.scores_only else comparisons)
    if style == "table" and (comparisons is None or layout.baseline is None):
        tables = _in_terminal(scores, comparisons, layout, comparisons or intervals)
    else:
        tables = [
            part
            for whole, corner in _tables(scores, style, comparisons, layout, intervals)
            for part in fitted(whole, style, layout.width, corner)
        ]
    return printed([*_verdict(scores, style, compared, layout), *tables], style, layout.width)


def _verdict(
    scores: Scores, style: str, compared: Comparisons | None, layout: TableLayout
) -> Iterator[Table]:
    """Yield who is best, in a sentence, above tables that people read."""
    if style in _FOR_PEOPLE and not layout.scores_only and layout.baseline is None:
        decided = verdict(scores, compared, _deciding(scores, layout))
        if decided is not None:
            text = escaped_for_latex(decided.sentence) if style == "latex" else decided.sentence
            yield Table((), (), [text])


def _tables(
    scores: Scores,
    style: str,
    comparisons: Comparisons | None,
    layout: TableLayout,
    intervals: Comparisons | None = None,
) -> Iterator[tuple[Table, str]]:
    """Yield the tables, and what the first column of each is called where it is turned."""
    if comparisons is not None and layout.baseline is not None:
        yield _against(scores, style, comparisons, layout), ""
        if layout.counts and style != "csv":
            yield _counts(scores), "Count"
        return
    yield _table(scores, style, comparisons or intervals, layout), "Metric"
    with_pairs = layout.pairs or style == "table"
    if comparisons is not None and with_pairs and style != "csv" and not layout.scores_only:
        for table in compared(comparisons, style, layout):
            yield table, ""


def _in_terminal(
    scores: Scores,
    comparisons: Comparisons | None,
    layout: TableLayout,
    intervals: Comparisons | None,
) -> list[Table]:
    """Return who beats whom under the first metric, and the scores with ranks; or these alone."""
    tables: list[Table] = []
    headline = None
    if comparisons is not None and not layout.scores_only:
        headline = comparisons.headline(by_default=False)
    if headline is not None:
        matrix = headline.matrix(layout.shown, layout.decimals("table"))
        numbered = headline.matrix(layout.shown, layout.decimals("table"), numbered=True)
        tables += fitted(numbered, "table", layout.width, rather=[matrix])
        note = "All pairs, with intervals and p: --compare-output FILE; other metrics: --columns."
        tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, note])
    alone, beside_it = (
        _table(scores, "table", intervals, layout, headline is not None, halves)
        for halves in (False, True)
    )
    return [*tables, *fitted(alone, "table", layout.width, "Metric", [beside_it])]


def _table(
    scores: Scores,
    style: str,
    compared: Comparisons | None,
    layout: TableLayout = _PLAIN,
    with_ranks: bool = False,
    with_halves: bool = True,
) -> Table:
    """Return a row per system: its scores, of which the best are marked, and counts.

    In a terminal, scores have half of their intervals, and ranks or a star if they are the best.
    """
    in_terminal = style == "table"
    counts = _counts(scores, all_of_them=not in_terminal)
    if style == "latex" and not layout.counts:
        counts = counts.with_columns([0])
    columns = scores.columns()
    rows: list[list[Cell]] = [[name] for name in scores.evaluations]
    texts: list[str] = []
    for column in columns:
        comparison = None if compared is None else compared.metrics.get(column.name)
        level = _best(scores, column, compared, layout, style)
        for row, (system, evaluations) in zip(rows, scores.evaluations.items(), strict=True):
            number = layout.shown(evaluations[column.name].score, column.name)
            cell: Value = number
            standing = None if comparison is None else comparison.systems.get(system)
            if in_terminal:
                text = _in_figures(number, standing if with_halves else None, column, layout)
                if with_ranks and standing and standing.rank is not None:
                    text += f" #{standing.rank}"
                elif not with_ranks and system in level:
                    text = f"*{text}"
                texts.append(text)
                cell = Figures(text)
            elif style in _FOR_PEOPLE and standing is not None:
                texts.append(_in_figures(number, standing, column, layout))
                cell = Figures(texts[-1])
            row.append(Marked(cell, bold=system in level))
    below = halves_explained(compared, texts) if not in_terminal else []
    if compared is not None and len(rows) > 1 and style in ("markdown", "latex"):
        alpha = f"{compared.alpha:.2g}"
        below.append(f"Bold: not significantly worse than the best (randomisation, p > {alpha}).")
    names = [Marked(column.name, lower=column.lower_is_better) for column in columns]
    return Table(
        ["System", *names, *counts.headers[1:]],
        [[*row, *numbers] for row, (_, *numbers) in zip(rows, counts.rows, strict=True)],
        [
            *(marks_explained(compared, texts, with_ranks) if in_terminal else ()),
            *direction_notes(by_plain_name(columns)),
            *(_letters(scores) if in_terminal else ()),
            *_below(scores, style, layout, below),
        ],
        digits=layout.decimals(style),
        caption=_caption(scores, below) if style == "latex" else "",
    )


def _caption(scores: Scores, notes: Sequence[str]) -> str:
    """Return what a paper should say of the table: images, tests, settings."""
    images = {len(next(iter(e.values())).ids) for e in scores.evaluations.values()}
    number = f"{min(images)} to {max(images)}" if len(images) > 1 else f"{max(images)}"
    pinned = in_brief(scores.signatures.values(), "in the comments")
    return " ".join([f"Scores on {number} images.", *notes, pinned])


def _best(
    scores: Scores, column: Column, compared: Comparisons | None, layout: TableLayout, style: str
) -> list[str]:
    """Return the systems that are best under a column: by tests if there are any, else by score."""
    metrics = {} if compared is None else compared.metrics
    if any(comparison.pairs for comparison in metrics.values()):
        return level_with_the_best(metrics[column.name]) if column.name in metrics else []
    if not column.ranked:
        return []
    rows = [
        [name, layout.shown(evaluations[column.name].score, column.name)]
        for name, evaluations in scores.evaluations.items()
    ]
    places = best(rows, 1, column.lower_is_better, layout.decimals(style))
    return [str(rows[at][0]) for at in places]


def _in_figures(
    number: float | None, standing: Standing | None, column: Column, layout: TableLayout
) -> str:
    """Return a score as a terminal shows it, with half of its interval if that is known."""
    places = layout.decimals("table")
    if not column.ranked and places is None:  # lengths
        places = 1
    # The interval of a score of other images is not that of this one.
    is_other = standing is None or layout.shown(standing.score, column.name) != number
    if standing is None or is_other or math.isnan(standing.low):
        return readable(number, places)
    half = layout.shown((standing.high - standing.low) / 2, column.name)
    return with_half(number, half, places)


def _letters(scores: Scores) -> list[str]:
    """Return what the letters at the ends of the names of VIFIDEL's columns stand for."""
    names = [c.name for c in by_plain_name(scores.columns()) if c.name in _LETTERS]
    meanings = [f"{name.removeprefix('VIFIDEL-')}: {_LETTERS[name]}" for name in names]
    return [f"{'; '.join(meanings)}."] if meanings else []


def beside(
    scores: Scores, style: str, comparisons: Comparisons | None = None, layout: TableLayout = _PLAIN
) -> list[str]:
    """Return what a person should read beside a style that has no notes: CSV and JSON."""
    if style == "csv":
        scores, comparisons, layout = _chosen(scores, comparisons, layout)
        whole, _ = next(_tables(scores, style, comparisons, layout))
        return list(whole.notes)
    if style != "json":
        return []
    return [*without_java(scores), *(f"Warning: {note}" for note in unavailable(scores))]


def per_image_csv(scores: Scores, layout: TableLayout = _PLAIN) -> str:
    """Return a table in CSV with a row for each system and image."""
    scores, _, layout = _chosen(scores, None, layout)
    columns = scores.columns()
    rows: list[list[Cell]] = []
    for name, of_column in scores.evaluations.items():
        ids = next(iter(of_column.values())).ids
        samples = chosen_samples(of_column)
        numbers = [of_column[column.name].scores.tolist() for column in columns]
        rows += [
            [name, to_json_value(image_id)]
            + [layout.shown(s, c.name) for s, c in zip(of_image, columns, strict=False)]
            + of_image[len(columns) :]
            for image_id, *of_image in zip(ids, *numbers, *samples.values(), strict=True)
        ]
    headers = ["System", "Image", *scores.signatures, *samples]
    return Table(headers, rows, digits=layout.decimals("csv")).render("csv")


def comparison_csv(scores: Scores, comparisons: Comparisons, layout: TableLayout = _PLAIN) -> str:
    """Return how systems compare as one table in CSV: intervals, ranks, and pairs."""
    _, comparisons, layout = _chosen(scores, comparisons, layout)
    return one_table(comparisons, layout).render("csv")


def _counts(scores: Scores, all_of_them: bool = True) -> Table:
    """Return a row per system: what was counted over all metrics, or what is not 0 everywhere."""
    counted = {name: scores.counts(name) for name in scores.evaluations}
    shown = [
        count
        for count in COUNTS
        if any(
            count.key in numbers and ((count.always and all_of_them) or numbers[count.key])
            for numbers in counted.values()
        )
    ]
    return Table(
        ["System", "Scored", *(count.header for count in shown)],
        [
            [name, numbers["scored"], *(numbers.get(count.key, 0) for count in shown)]
            for name, numbers in counted.items()
        ],
        title="Counts",
    )


def _against(scores: Scores, style: str, comparisons: Comparisons, layout: TableLayout) -> Table:
    """Return the table of the layout's baseline, with what has to be said of all scores."""
    differences = against(comparisons, layout.baseline or "")
    gains = against_baseline(differences, style, layout)
    if layout.counts and style == "csv":  # where there is one table
        counts = _counts(scores)
        of_systems = {name: numbers for name, *numbers in counts.rows}
        gains = replace(
            gains,
            headers=[*gains.headers, *counts.headers[1:]],
            rows=[[*row, *of_systems[row[1]]] for row in gains.rows],
        )
    pinned = signature_of_differences(differences)
    return replace(gains, notes=[*gains.notes, *_below(scores, style, layout, [], [pinned])])


def _below(
    scores: Scores,
    style: str,
    layout: TableLayout,
    of_table: Sequence[str],
    pinned: Sequence[str] = (),
) -> list[str]:
    """Return the notes of any table of scores, among them those of one table."""
    signatures = list(dict.fromkeys(scores.signatures.values()))
    if style != "table":
        of_table = [*of_table, *pinned]
    elif layout.signatures:
        signatures = [*folded(pinned, layout.width), *folded(signatures, layout.width)]
    else:
        signatures = [in_brief([*pinned, *signatures])]
    raw = ", ".join(name for name in scores.signatures if name in layout.kept)
    return [
        *([f"Scores times 100{f', but not {raw}' if raw else ''}."] if layout.percent else ()),
        *of_table,
        *scores.notes(layout.text),
        *signatures,
        *without_java(scores),
        *unavailable(scores),
    ]


def in_html(scores: Scores, compared: Comparisons | None = None) -> str:
    """Return a table for a notebook; the signatures unfold below it."""
    scores, compared, _ = _chosen(scores, compared, _PLAIN, "table", compared)
    whole = _table(scores, "table", compared)
    notes = [note for note in whole.notes if not note.startswith(SIGNATURES)]
    signatures = "".join(
        f"<div><code>{html.escape(one_line(line))}</code></div>"
        for line in dict.fromkeys(scores.signatures.values())
    )
    decided = verdict(scores, compared)
    sentence = "" if decided is None else f"<p>{html.escape(one_line(decided.sentence))}</p>\n"
    return (
        f"{sentence}{replace(whole, notes=notes).html()}\n"
        f"<details><summary>Signatures</summary>{signatures}</details>"
    )


def _deciding(scores: Scores, layout: TableLayout) -> str | None:
    """Return the column that decides: the first of those chosen that can, else of all."""
    chosen = chosen_columns(layout.columns or (), scores.metric_of_columns())
    ranked = {column.name for column in scores.columns() if column.ranked}
    return next((name for name in chosen if name in ranked), chosen_column(scores))


# Styles that people read: their rows and columns are in order of place.
_FOR_PEOPLE = ("table", "markdown", "latex")

_Some = TypeVar("_Some", Comparisons, Comparisons | None)


def _chosen(
    scores: Scores,
    comparisons: _Some,
    layout: TableLayout,
    style: str = "",
    compared: Comparisons | None = None,
) -> tuple[Scores, _Some, TableLayout]:
    """Return scores and comparisons of the layout's columns, and a layout with those `kept`.

    For people, columns and systems are in order, by default without those of `BY_NAME_ONLY`.
    """
    if layout.percent:
        unscaled = set()
        for column in scores.columns():
            definition = METRICS.column(column.name, scores.signatures[column.name])
            if not column.ranked or (definition is not None and definition.is_count):
                unscaled.add(column.name)
        layout = replace(layout, kept=frozenset(unscaled))
    if style in _FOR_PEOPLE:
        scores = scores.ordered(ordered_systems(scores, _deciding(scores, layout), compared))
    if layout.columns is not None:
        names = chosen_columns(layout.columns, scores.metric_of_columns())
    elif style in _FOR_PEOPLE:
        names = (ordered_columns if layout.full else shown_columns)(scores.signatures)
    else:
        return scores, comparisons, layout
    if comparisons is not None:
        comparisons = replace(
            comparisons,
            metrics={n: comparisons.metrics[n] for n in names if n in comparisons.metrics},
            left_out=tuple(name for name in comparisons.left_out if name in names),
        )
    return scores.only(names), comparisons, layout
