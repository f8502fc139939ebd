"""Tables of how systems compare: intervals and ranks, and pairs."""

from __future__ import annotations

import math

from ..evaluation import Column
from ..io.digits import rounded
from ..io.text_tables import (
    DIFFERENCE_DECIMALS,
    Cell,
    Figures,
    Marked,
    Table,
    direction_notes,
    interval,
    readable,
    with_difference,
    with_gain,
)
from ..scores.comparison import Comparison, Comparisons, Pair
from ..scores.lengths import EqualLength
from .fitting import TableLayout

_EQUAL_LENGTH = (
    "Equal length: what remains of the difference where both captions have as many words, with its "
    "bootstrap interval, by regression of the images' differences in score on those in words; "
    "where mean lengths differ by half."
)


# Columns of CSV, as `_randomness` returns them.
_RANDOMNESS = ("Seed", "Resamples", "Interval resamples")


def _randomness(comparisons: Comparisons) -> tuple[int, int, int]:
    return comparisons.seed, comparisons.resamples, comparisons.interval_resamples


def level_with_the_best(comparison: Comparison) -> list[str]:
    """Return the systems that are not significantly worse than the one with the best score.

    There is none where there is nothing to choose from: one system, or no ranks.
    """
    unranked = any(standing.rank is None for standing in comparison.systems.values())
    if unranked or len(comparison.systems) < 2:
        return []
    sign = -1 if comparison.lower_is_better else 1
    first = max(comparison.systems, key=lambda name: sign * comparison.systems[name].score)
    beaten = {pair.loser for pair in comparison.pairs if pair.winner == first}
    return [name for name in comparison.systems if name not in beaten]


def _difference(
    of: Pair | EqualLength | None, metric: str, layout: TableLayout
) -> tuple[float | None, float | None, float | None]:
    """Return a difference and the ends of its interval; nothing three times where there is none."""
    if of is None:
        return None, None, None
    difference, low, high = (layout.shown(n, metric) for n in (of.difference, of.low, of.high))
    return difference, low, high


def compared(comparisons: Comparisons, style: str, layout: TableLayout) -> list[Table]:
    """Return a table with a row per metric and system and, if there are pairs, one of those.

    In LaTeX the better system of a pair is in bold instead of a column of its own.
    """
    standings: list[list[Cell]] = []
    for metric, comparison in comparisons.metrics.items():
        level = level_with_the_best(comparison)
        for name, standing in comparison.systems.items():
            numbers = (standing.score, standing.low, standing.high)
            score, low, high = (layout.shown(number, metric) for number in numbers)
            marked = Marked(score, bold=name in level)
            used = [standing.rank, comparison.images]
            standings.append([metric, name, marked, low, high, *used])
    pairs = any(comparison.pairs for comparison in comparisons.metrics.values())
    notes = [
        f"Low to High: {_level(comparisons)} bootstrap interval, {comparisons.interval_resamples} "
        f"resamples of the images, seed {comparisons.seed}."
    ]
    if pairs:
        notes += [
            "Rank: 1 + number of systems that are significantly better; equal ranks are ties.",
            *(f"No ranks: {reason}" for reason in comparisons.too_few()),
            "Images: those that have a score from every system; only they are compared.",
        ]
    tables = [
        Table(
            ["Metric", "System", "Score", "Low", "High", "Rank", "Images"],
            standings,
            [*notes, *_remarks(comparisons)],
            texts=2,
            title="Intervals and ranks",
            digits=layout.decimals(style),
        )
    ]
    return [*tables, _pairs(comparisons, style, layout)] if pairs else tables


def _pairs(comparisons: Comparisons, style: str, layout: TableLayout) -> Table:
    digits = layout.decimals(style)

    def with_interval(of: Pair | EqualLength | None, metric: str) -> list[Cell]:
        difference, low, high = _difference(of, metric, layout)
        return [difference, None if of is None else interval(low, high, digits)]

    rows: list[list[Cell]] = []
    at_equal_length = comparisons.has_equal_length
    for metric, comparison in comparisons.metrics.items():
        for pair in comparison.pairs:
            names = [
                Marked(name, bold=style == "latex" and name == pair.winner)
                for name in (pair.first, pair.second)
            ]
            better = [] if style == "latex" else [pair.winner]
            difference = with_interval(pair, metric)
            # As text: they keep their digits whatever the scores have.
            p_values = [readable(p) for p in (pair.bootstrap_holm, pair.randomisation_holm)]
            row: list[Cell] = [metric, *names, *better, *difference, *p_values]
            if at_equal_length:
                row += with_interval(pair.equal_length, metric)
            rows.append(row)
    level, alpha = _level(comparisons), f"{1 - comparisons.level:.2g}"
    return Table(
        [
            *("Metric", "First", "Second", *(() if style == "latex" else ("Better",))),
            *("Difference", f"{level} interval", "p boot.", "p rand."),
            *(("Equal length", "Its interval") if at_equal_length else ()),
        ],
        rows,
        [
            "Difference: the first score minus the second, with its bootstrap interval.",
            "p: paired bootstrap (boot.) and approximate randomisation (rand.), two-sided, after "
            f"Holm's correction over the pairs of a metric; {comparisons.resamples} resamples of "
            f"the images, seed {comparisons.seed}.",
            f"{'Bold' if style == 'latex' else 'Better'}: where the randomisation p is at most "
            f"{alpha}.",
            *([_EQUAL_LENGTH] if at_equal_length else ()),
        ],
        texts=3 if style == "latex" else 4,
        title="Pairs",
        digits=digits,
    )


def against_baseline(comparisons: Comparisons, style: str, layout: TableLayout) -> Table:
    """Return a row per metric and system: its score, and in the same cell what it gains and p.

    The comparisons have a baseline, as `vifidel_eval.scores.comparison.against` returns them. All
    else is as for `compared`, with three decimals by default; in CSV, everything in the cell is a
    column too, with all digits. LaTeX has a row per system and a column per metric, with a star
    instead of interval and p. In bold are systems that are significantly better than the baseline.
    """
    digits = layout.decimals(style)
    decimals = DIFFERENCE_DECIMALS if digits is None else digits
    if style == "latex":
        return _systems_by_metrics(comparisons, layout, decimals)
    rows: list[list[Cell]] = []
    for metric, comparison in comparisons.metrics.items():
        pairs = {pair.first: pair for pair in comparison.pairs}
        used = [comparison.images, *_randomness(comparisons)]
        for name in sorted(comparison.systems, key=pairs.__contains__):
            pair = pairs.get(name)
            score = layout.shown(comparison.systems[name].score, metric)
            numbers = _difference(pair, metric, layout)
            cell, p = Figures(readable(score, decimals)), math.nan  # of the baseline itself
            if pair is not None:
                p = pair.randomisation_holm
                cell = with_difference(score, *numbers, p, decimals)
            better = None if pair is None else pair.winner
            row: list[Cell] = [Marked(metric, lower=comparison.lower_is_better), name]
            row.append(Marked(cell, bold=better == name))
            if style == "csv":
                row += [score, *numbers, rounded(p), better, *used]
            rows.append(row)
    in_csv = ["Score", "Difference", "Low", "High", "p", "Better", "Images", *_RANDOMNESS]
    return Table(
        [
            *("Metric", "System", f"Score (difference [{_level(comparisons)}], p)"),
            *(in_csv if style == "csv" else ()),
        ],
        rows,
        _notes_on_baseline(comparisons, style),
        texts=3,
        title=f"Against {comparisons.baseline}",
        digits=digits,
    )


def _systems_by_metrics(comparisons: Comparisons, layout: TableLayout, decimals: int) -> Table:
    """Return a row per system, the baseline first, and a column per metric."""
    rows: dict[str, list[Cell]] = {}
    for metric, comparison in comparisons.metrics.items():
        pairs = {pair.first: pair for pair in comparison.pairs}
        for name in sorted(comparison.systems, key=pairs.__contains__):
            score = layout.shown(comparison.systems[name].score, metric)
            cell, better = Figures(readable(score, decimals)), None
            if name in pairs:
                better = pairs[name].winner
                difference, _, _ = _difference(pairs[name], metric, layout)
                cell = with_gain(score, difference, better is not None, decimals)
            rows.setdefault(name, [name]).append(Marked(cell, bold=better == name))
    metrics = comparisons.metrics.items()
    return Table(
        ["System", *(Marked(name, lower=of.lower_is_better) for name, of in metrics)],
        list(rows.values()),
        _notes_on_baseline(comparisons, "latex"),
        title=f"Against {comparisons.baseline}",
    )


def _notes_on_baseline(comparisons: Comparisons, style: str) -> list[str]:
    baseline, others = comparisons.baseline, _others(comparisons)
    metrics_of: dict[int, list[str]] = {}
    for name, comparison in comparisons.metrics.items():
        metrics_of.setdefault(comparison.images, []).append(name)
    images = [
        f"{number} ({', '.join(names)})" if len(metrics_of) > 1 else str(number)
        for number, names in metrics_of.items()
    ]
    holm = f", after Holm's correction over {others} systems" if others > 1 else ""
    tested = f"by approximate randomisation, two-sided{holm}"
    alpha = f"p <= {1 - comparisons.level:.2g}"
    notes = [f"In parentheses: the difference from {baseline}"]
    if style == "latex":
        notes[0] += f"; starred where it is significant ({alpha} {tested})."
    else:
        notes[0] += f", its {_level(comparisons)} bootstrap interval, and p {tested}."
    if style in ("markdown", "latex"):
        notes.append(f"Bold: significantly better than {baseline} ({alpha}).")
    notes += [f"No significance: {reason}" for reason in comparisons.too_few()]
    if images:
        notes.append(
            f"Images that have a score from every system, and are compared: {', '.join(images)}."
        )
    notes += _remarks(comparisons)
    if comparisons.has_equal_length:
        notes.append(
            "The lengths of some systems differ by half: --compare says what remains of the "
            "differences at equal length."
        )
    return notes


def _others(comparisons: Comparisons) -> int:
    """Return how many systems are compared with the baseline."""
    return max((len(comparison.pairs) for comparison in comparisons.metrics.values()), default=0)


def signature_of_differences(comparisons: Comparisons) -> str:
    """Return one line that pins how systems were compared with a baseline."""
    number, of_intervals = comparisons.resamples, comparisons.interval_resamples
    others = "" if of_intervals == number else f"interval-resamples:{of_intervals}|"
    return (
        f"Differences|baseline:{comparisons.baseline}|test:randomisation|"
        f"holm:{_others(comparisons)}|interval:bootstrap|level:{comparisons.level:g}|"
        f"resamples:{number}|{others}seed:{comparisons.seed}"
    )


def one_table(comparisons: Comparisons, layout: TableLayout) -> Table:
    """Return everything as one table, for CSV.

    A row says how a system does under a metric or, where ``Against`` names another system, by how
    much its score differs from that one's.
    """
    rows: list[list[Cell]] = []
    at_equal_length = comparisons.has_equal_length
    for metric, comparison in comparisons.metrics.items():
        used = [comparison.images, *_randomness(comparisons)]
        for name, of in comparison.systems.items():
            numbers = [layout.shown(number, metric) for number in (of.score, of.low, of.high)]
            nothing = [None] * (6 if at_equal_length else 3)
            rows.append([metric, name, None, *numbers, of.rank, *nothing, *used])
        for pair in comparison.pairs:
            values = _difference(pair, metric, layout)
            p_values = [rounded(p) for p in (pair.bootstrap_holm, pair.randomisation_holm)]
            remains = _difference(pair.equal_length, metric, layout) if at_equal_length else ()
            names = [metric, pair.first, pair.second]
            rows.append([*names, *values, None, pair.winner, *p_values, *remains, *used])
    return Table(
        [
            *("Metric", "System", "Against", "Value", "Low", "High", "Rank", "Better"),
            *("Bootstrap p", "Randomisation p"),
            *(("Equal length", "Equal low", "Equal high") if at_equal_length else ()),
            *("Images", *_RANDOMNESS),
        ],
        rows,
        digits=layout.decimals("csv"),
    )


def _level(comparisons: Comparisons) -> str:
    return f"{100 * comparisons.level:g} %"


def _remarks(comparisons: Comparisons) -> list[str]:
    """Return what has to be said of some metrics."""
    metrics = comparisons.metrics.items()
    columns = [Column(name, of.lower_is_better, of.ranked) for name, of in metrics]
    means = [name for name, of in metrics if not of.own_score]
    remarks = [
        f"{name}: the mean of the images' scores is compared; its corpus score, a different "
        "number, cannot be computed for some of the images."
        for name in means
    ]
    return [*direction_notes(columns), *remarks] + [
        f"{name}: no image has a score from every system, so nothing is compared."
        for name in comparisons.left_out
    ]
