"""Scores of systems as tables and as the JSON document, all from the same `Scores`."""

from __future__ import annotations

from dataclasses import replace

from ..digits import rounded
from ..evaluation import COUNTS
from ..files import json_text
from ..runs.comparison import Comparisons
from ..runs.harness import Scores
from ..text_tables import Cell, Table, best, direction_notes


def render(scores: Scores, style: str, comparisons: Comparisons | None = None) -> str:
    """Return scores, and how systems compare, as text.

    Parameters
    ----------
    scores : Scores
        What the tables show.
    style : str
        One of `vifidel_eval.text_tables.FORMATS`: ``json`` is the document of `to_json`, the
        others are tables with an empty line between them.
    comparisons : Comparisons, optional
        Adds a table of intervals and ranks and, of two systems or more, one of pairs.
    """
    if style == "json":
        return to_json(scores, comparisons)
    others = [] if comparisons is None else compared(comparisons)
    if style == "csv" and comparisons is not None:  # the other styles say it in notes
        used = [comparisons.seed, comparisons.resamples]
        others = [
            replace(
                each,
                headers=[*each.headers, "Seed", "Resamples"],
                rows=[[*row, *used] for row in each.rows],
            )
            for each in others
        ]
    return "\n\n".join(each.render(style) for each in (table(scores), *others))


def beside(scores: Scores, style: str, comparisons: Comparisons | None = None) -> list[str]:
    """Return what a person should read beside a style that has no notes: CSV and JSON."""
    if style == "csv":
        tables = [table(scores), *([] if comparisons is None else compared(comparisons))]
        return [note for each in tables for note in each.notes]
    unavailable = scores.unavailable if style == "json" else {}
    return [f"Warning: {name} not available: {why}" for name, why in unavailable.items()]


def to_json(scores: Scores, comparisons: Comparisons | None = None) -> str:
    """Return the document that ``--output`` writes.

    It is that of `Scores.to_json`, with that of `Comparisons.to_json` as ``"comparison"``.
    """
    document = scores.to_json()
    if comparisons is not None:
        document["comparison"] = comparisons.to_json()
    return json_text(document)


def table(scores: Scores) -> Table:
    """Return a row per system: its scores, then what was counted over all metrics.

    An image counts as scored if every metric has a score for it.
    """
    counted = {name: scores.counts(name) for name in scores.evaluations}
    shown = [c for c in COUNTS if c.always or any(of[c.key] for of in counted.values())]
    columns = scores.columns()
    rows: list[list[Cell]] = [
        [
            name,
            *(rounded(of_column[column.name].score) for column in columns),
            counted[name]["scored"],
            *(counted[name][count.key] for count in shown),
        ]
        for name, of_column in scores.evaluations.items()
    ]
    lower = [column.name for column in columns if column.lower_is_better]
    unranked = [column.name for column in columns if not column.ranked]
    notes = [*direction_notes(lower, unranked), *dict.fromkeys(scores.signatures.values())]
    notes += [f"{name} not available: {why}" for name, why in scores.unavailable.items()]
    places = [at for at, column in enumerate(columns, 1) if column.ranked]
    return Table(
        ["System", *scores.signatures, "Scored", *(count.header for count in shown)],
        rows,
        notes,
        bold=best(rows, places, [at for at in places if columns[at - 1].lower_is_better]),
    )


def compared(comparisons: Comparisons) -> list[Table]:
    """Return a table with a row per metric and system and, if there are pairs, one of those."""
    standings: list[list[Cell]] = []
    bold: set[tuple[int, int]] = set()
    pairs: list[list[Cell]] = []
    for metric, comparison in comparisons.metrics.items():
        rows: list[list[Cell]] = [
            [metric, name, *map(rounded, (s.score, s.low, s.high)), s.rank, comparison.images]
            for name, s in comparison.systems.items()
        ]
        places = [2] if comparison.ranked else []
        lower = [2] if comparison.lower_is_better else []
        bold |= {(len(standings) + at, column) for at, column in best(rows, places, lower)}
        standings += rows
        pairs += [
            [metric, p.first, p.second, p.winner]
            + [rounded(number) for number in (p.difference, p.low, p.high)]
            + [rounded(p.bootstrap_holm), rounded(p.randomisation_holm)]
            for p in comparison.pairs
        ]
    level, alpha = f"{100 * comparisons.level:g} %", f"{1 - comparisons.level:.2g}"
    settings = f"{comparisons.resamples} resamples of the images, seed {comparisons.seed}"
    notes = [f"Low to High: {level} bootstrap interval, {settings}."]
    if pairs:
        notes += [
            "Rank: 1 + number of systems that are significantly better; equal ranks are ties.",
            "Images: those that have a score from every system; only they are compared.",
        ]
    tables = [
        Table(
            ["Metric", "System", "Score", "Low", "High", "Rank", "Images"],
            standings,
            [*notes, *_remarks(comparisons)],
            texts=2,
            title="Intervals and ranks",
            bold=bold,
        )
    ]
    if pairs:
        tables.append(
            Table(
                [
                    *("Metric", "First", "Second", "Better"),
                    *("Difference", "Low", "High", "Bootstrap p", "Randomisation p"),
                ],
                pairs,
                [
                    f"Difference: of the scores, first less second, with its {level} interval.",
                    "p: paired bootstrap and approximate randomisation, two-sided, after Holm's "
                    f"correction over the pairs of a metric; {settings}.",
                    f"Better: where the randomisation p is at most {alpha}.",
                ],
                texts=4,
                title="Pairs",
            )
        )
    return tables


def _remarks(comparisons: Comparisons) -> list[str]:
    """Return what has to be said of some metrics."""
    lower = [name for name, comparison in comparisons.metrics.items() if comparison.lower_is_better]
    unranked = [name for name, comparison in comparisons.metrics.items() if not comparison.ranked]
    means = [name for name, comparison in comparisons.metrics.items() if not comparison.own_score]
    remarks = [
        f"{name}: the mean of the images' scores is compared; its corpus score, which is another, "
        "cannot be computed for some of the images."
        for name in means
    ]
    return [*direction_notes(lower, unranked), *remarks] + [
        f"{name}: no image has a score from every system, so nothing is compared."
        for name in comparisons.left_out
    ]
