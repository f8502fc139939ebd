"""Tables of how systems compare: intervals and ranks, and pairs."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

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
from ..scores.comparison import Comparison, Comparisons, Pair, Standing
from ..scores.scores import by_plain_name, plain_name, plain_names
from ..scores.significance import EqualLength
from .layout import TableLayout

_EQUAL_LENGTH = (
    "Equal length: what remains of the difference between captions with the same number of "
    "words, with its bootstrap interval, by regression of the images' differences in score on "
    "those in words; shown if mean lengths differ by 50 % or more."
)
_NEEDS = (
    "Needs: about how many images would settle the difference, if it and its spread stay as they "
    "are (power 80 %)."
)
# Columns of CSV, as `_used` returns them.
_USED = ("Images", "Seed", "Resamples", "Interval resamples")


def level_with_the_best(comparison: Comparison) -> list[str]:
    """Return the systems that are not significantly worse than the best; none without ranks."""
    unranked = any(standing.rank is None for standing in comparison.systems.values())
    if unranked or len(comparison.systems) < 2:
        return []
    sign = -1 if comparison.lower_is_better else 1
    first = max(comparison.systems, key=lambda name: sign * comparison.systems[name].score)
    beaten = {pair.loser for pair in comparison.pairs if pair.winner == first}
    return [name for name in comparison.systems if name not in beaten]


def halves_explained(comparisons: Comparisons | None, cells: Collection[str]) -> list[str]:
    """Return the note on ± behind the scores in cells, and on the scores without it, if any."""
    with_half = sum("±" in cell for cell in cells)
    if comparisons is None or not with_half:
        return []
    others = "; scores without it are of more images than are compared" * (with_half < len(cells))
    return [f"±: half of the {_level(comparisons)} interval, by bootstrap over images{others}."]


def marks_explained(
    comparisons: Comparisons | None, cells: Collection[str], with_ranks: bool
) -> list[str]:
    """Return the notes on ±, * and # in the cells of a table of scores."""
    marks = "".join(cells)
    if comparisons is None:
        return ["*: the best score."] if "*" in marks else []
    pairs = _most_pairs(comparisons)
    test = f"randomisation, p {{}} {comparisons.alpha:.2g}"
    test += f", Holm's correction over {pairs} pairs of systems" * (pairs > 1)
    meanings = {
        "#": f"the place, one plus the number of significantly better systems ({test.format('≤')})",
        "*": f"best, or not significantly worse than the best ({test.format('>')})"
        if pairs
        else "the best score; --compare tests the difference",
    }
    notes = halves_explained(comparisons, cells)
    notes += [f"{mark}: {meaning}." for mark, meaning in meanings.items() if mark in marks]
    if notes:
        number, interval_resamples = comparisons.resamples, comparisons.interval_resamples
        tests = f" ({number} for tests)" * (bool(pairs) and number != interval_resamples)
        drawn = f"{interval_resamples} resamples of the images{tests}, seed {comparisons.seed}."
        notes = [" ".join([*notes, drawn])]
    if with_ranks:
        notes += [f"No places: {reason}" for reason in comparisons.too_few()]
        notes += _notes_on_columns(comparisons)
    return notes


def _used(comparison: Comparison, comparisons: Comparisons) -> list[Cell]:
    randomness = (comparisons.seed, comparisons.resamples, comparisons.interval_resamples)
    return [comparison.images, *randomness]


def _numbers(
    result: Standing | Pair | EqualLength | None, metric: str, layout: TableLayout
) -> list[float | None]:
    """Return a score or difference and the ends of its interval; three None for None."""
    if result is None:
        return [None, None, None]
    number = result.score if isinstance(result, Standing) else result.difference
    return [layout.shown(score, metric) for score in (number, result.low, result.high)]


def compared(comparisons: Comparisons, style: str, layout: TableLayout) -> list[Table]:
    """Return a row per metric and system and, if there are pairs, a table of these."""
    rows: list[list[Cell]] = []
    for metric, comparison in comparisons.metrics.items():
        best = level_with_the_best(comparison)
        for name, standing in comparison.systems.items():
            score, low, high = _numbers(standing, metric, layout)
            marked = Marked(score, bold=name in best)
            rows.append([metric, name, marked, low, high, standing.rank, comparison.images])
    has_pairs = any(comparison.pairs for comparison in comparisons.metrics.values())
    notes = [
        f"Low to High: {_level(comparisons)} bootstrap interval, {comparisons.interval_resamples} "
        f"resamples of the images, seed {comparisons.seed}."
    ]
    if has_pairs:
        notes += [
            "Place: one plus the number of significantly better systems; equal places are ties.",
            *(f"No places: {reason}" for reason in comparisons.too_few()),
            "Images: only those with a score from every system are compared.",
        ]
    standings = Table(
        ["Metric", "System", "Score", "Low", "High", "Place", "Images"],
        rows,
        notes + _metric_notes(comparisons),
        texts=2,
        title="Intervals and places",
        digits=layout.decimals(style),
    )
    return [standings, _pairs(comparisons, style, layout)] if has_pairs else [standings]


def _pairs(comparisons: Comparisons, style: str, layout: TableLayout) -> Table:
    digits, in_latex = layout.decimals(style), style == "latex"

    def with_interval(result: Pair | EqualLength | None, metric: str) -> list[Cell]:
        difference, low, high = _numbers(result, metric, layout)
        return [difference, None if result is None else interval(low, high, digits)]

    rows: list[list[Cell]] = []
    at_equal_length = comparisons.has_equal_length
    needed = {
        (metric, pair.first, pair.second): number
        for metric, comparison in comparisons.metrics.items()
        for pair in comparison.pairs
        if (number := comparisons.images_needed(metric, pair)) is not None
    }
    for metric, comparison in comparisons.metrics.items():
        for pair in comparison.pairs:
            row: list[Cell] = [metric]
            row += [
                Marked(name, bold=in_latex and name == pair.winner)
                for name in (pair.first, pair.second)
            ]
            row += [] if in_latex else [pair.winner]
            row += with_interval(pair, metric)
            # As text: they keep their digits whatever the scores have.
            row += [readable(p) for p in (pair.bootstrap_holm, pair.randomisation_holm)]
            row += with_interval(pair.equal_length, metric) if at_equal_length else []
            row += [needed.get((metric, pair.first, pair.second))] if needed else []
            rows.append(row)
    return Table(
        [
            *("Metric", "First", "Second", *(() if in_latex else ("Better",))),
            *("Difference", f"{_level(comparisons)} interval", "p boot.", "p rand."),
            *(("Equal length", "Its interval") if at_equal_length else ()),
            *(("Needs",) if needed else ()),
        ],
        rows,
        [
            "Difference: the first score minus the second, with its bootstrap interval.",
            "p: paired bootstrap (boot.) and approximate randomisation (rand.), two-sided, after "
            f"Holm's correction over the pairs of a metric; {comparisons.resamples} resamples of "
            f"the images, seed {comparisons.seed}.",
            f"{'Bold' if in_latex else 'Better'}: where the randomisation p is at most "
            f"{comparisons.alpha:.2g}.",
            *([_EQUAL_LENGTH] if at_equal_length else ()),
            *([_NEEDS] if needed else ()),
        ],
        texts=3 if in_latex else 4,
        title="Pairs",
        digits=digits,
    )


def against_baseline(comparisons: Comparisons, style: str, layout: TableLayout) -> Table:
    """Return what systems gain: a row per system, in CSV per metric and system."""
    digits = layout.decimals(style)
    of_samples = all(plain_name(metric)[1] for metric in comparisons.metrics)
    in_csv = style == "csv"
    in_rows = style == "latex" or not (in_csv or of_samples)
    rows: list[list[Cell]] = []
    cells_of: dict[str, list[Cell]] = {}
    for metric, comparison in comparisons.metrics.items():
        decimals = DIFFERENCE_DECIMALS if digits is None else digits
        if in_rows and digits is None and not comparison.ranked:  # lengths
            decimals = 1
        pairs = {pair.first: pair for pair in comparison.pairs}
        for name in sorted(comparison.systems, key=pairs.__contains__):  # the baseline first
            score = layout.shown(comparison.systems[name].score, metric)
            cell, p, winner = Figures(readable(score, decimals)), math.nan, None
            room = with_gain(score, 0.1, True, decimals).removeprefix(cell) if in_rows else ""
            difference, low, high = _numbers(pairs.get(name), metric, layout)
            if name in pairs:
                p, winner = pairs[name].randomisation_holm, pairs[name].winner
                shown = comparisons.p_of(pairs[name])
                cell = with_difference(score, difference, low, high, shown, decimals)
                if in_rows:
                    cell = with_gain(score, difference, winner == name, decimals)
                    room = "" if winner == name else "*"
            marked = Marked(cell, bold=winner == name, room=room)
            cells_of.setdefault(name, [name]).append(marked)
            row: list[Cell] = [Marked(metric, lower=comparison.lower_is_better), name, marked]
            if in_csv:
                row += [score, difference, low, high, rounded(p), winner]
                row += _used(comparison, comparisons)
            rows.append(row)
    headers: list[str | Marked] = ["Metric", "System"]
    headers += [f"Score (difference [{_level(comparisons)}], p)"]
    headers += ["Score", "Difference", "Low", "High", "p", "Better", *_USED] if in_csv else []
    if in_rows:
        headers = ["System"]
        for name, comparison in comparisons.metrics.items():
            headers.append(Marked(name, lower=comparison.lower_is_better))
    gains = Table(
        headers,
        list(cells_of.values()) if in_rows else rows,
        _notes_on_baseline(comparisons, style, of_samples),
        texts=1 if in_rows else 3,
        title=f"Against {comparisons.baseline}",
        digits=None if in_rows else digits,
    )
    return _by_metric(gains) if of_samples and style in ("table", "markdown") else gains


def _by_metric(gains: Table) -> Table:
    """Return a table of metrics, systems and cells with a column per system.

    Samples have three columns of scores per metric; its name is on the first line of them.
    """
    lines: dict[str, list[Cell]] = {}
    systems: dict[str, None] = {}
    for metric, system, cell in gains.rows:
        assert isinstance(metric, Marked)
        lines.setdefault(str(metric.value), []).append(cell)
        systems[str(system)] = None
    rows: list[list[Cell]] = []
    before = ""
    for name, cells in lines.items():
        plain, ending = plain_name(name)
        rows.append(["" if plain == before else plain, ending, *cells])
        before = plain
    headers = ["Metric", "Samples", *systems]
    notes = [
        "Samples: the mean, the best and the worst score of an image's captions.",
        *gains.notes,
    ]
    return replace(gains, headers=headers, rows=rows, notes=notes, texts=2)


def _notes_on_baseline(comparisons: Comparisons, style: str, of_samples: bool) -> list[str]:
    baseline, others = comparisons.baseline, _most_pairs(comparisons)
    metrics_of: dict[int, list[str]] = {}
    for name, comparison in comparisons.metrics.items():
        metrics_of.setdefault(comparison.images, []).append(name)
    images = [
        f"{number} ({', '.join(plain_names(names))})" if len(metrics_of) > 1 else str(number)
        for number, names in metrics_of.items()
    ]
    holm = f", after Holm's correction over {others} systems" if others > 1 else ""
    tested = f"by approximate randomisation, two-sided{holm}"
    alpha = f"p ≤ {comparisons.alpha:.2g}"
    notes = [f"In parentheses: the difference from {baseline}"]
    if style == "latex" or not (style == "csv" or of_samples):
        notes[0] += f"; starred where it is significantly better ({alpha} {tested})."
    else:
        notes[0] += f", its {_level(comparisons)} bootstrap interval, and p {tested}."
    if style in ("markdown", "latex"):
        notes.append(f"Bold: significantly better than {baseline} ({alpha}).")
    notes += [f"No significance: {reason}" for reason in comparisons.too_few()]
    if images:
        notes.append(f"Images compared (with a score from every system): {', '.join(images)}.")
    notes += _metric_notes(comparisons)
    if comparisons.has_equal_length:
        notes.append(
            "The mean lengths of some systems differ by 50 % or more: --compare shows what "
            "remains of the differences at equal length."
        )
    return notes


def _most_pairs(comparisons: Comparisons) -> int:
    """Return how many pairs of systems were tested; none where no score is defined."""
    return max((len(comparison.pairs) for comparison in comparisons.metrics.values()), default=0)


def signature_of_differences(comparisons: Comparisons) -> str:
    """Return one line that pins how systems were compared with a baseline."""
    number, interval_resamples = comparisons.resamples, comparisons.interval_resamples
    others = "" if interval_resamples == number else f"interval-resamples:{interval_resamples}|"
    return (
        f"Differences|baseline:{comparisons.baseline}|test:randomisation|"
        f"holm:{_most_pairs(comparisons)}|interval:bootstrap|level:{comparisons.level:g}|"
        f"resamples:{number}|{others}seed:{comparisons.seed}"
    )


def one_table(comparisons: Comparisons, layout: TableLayout) -> Table:
    """Return everything as one table, for CSV; `Against` tells pairs from single systems."""
    rows: list[list[Cell]] = []
    equal = ("Equal length", "Equal low", "Equal high") if comparisons.has_equal_length else ()
    for metric, comparison in comparisons.metrics.items():
        used = _used(comparison, comparisons)
        for name, standing in comparison.systems.items():
            numbers, nothing = _numbers(standing, metric, layout), [None] * (3 + len(equal))
            rows.append([metric, name, None, *numbers, standing.rank, *nothing, *used])
        for pair in comparison.pairs:
            row: list[Cell] = [metric, pair.first, pair.second, *_numbers(pair, metric, layout)]
            row += [None, pair.winner]
            row += [rounded(p) for p in (pair.bootstrap_holm, pair.randomisation_holm)]
            row += _numbers(pair.equal_length, metric, layout) if equal else []
            rows.append(row + used)
    return Table(
        [
            *("Metric", "System", "Against", "Value", "Low", "High", "Rank", "Better"),
            *("Bootstrap p", "Randomisation p", *equal, *_USED),
        ],
        rows,
        digits=layout.decimals("csv"),
    )


def _level(comparisons: Comparisons) -> str:
    return f"{100 * comparisons.level:g} %"


def _metric_notes(comparisons: Comparisons) -> list[str]:
    """Return what has to be said of some metrics."""
    directions = [
        Column(name, comparison.lower_is_better, comparison.ranked)
        for name, comparison in comparisons.metrics.items()
    ]
    return [*direction_notes(by_plain_name(directions)), *_notes_on_columns(comparisons)]


def _notes_on_columns(comparisons: Comparisons) -> list[str]:
    return [
        *(
            f"{name}: the mean of the images' scores is compared; its corpus score, a different "
            "number, cannot be computed for some of the images."
            for name, comparison in comparisons.metrics.items()
            if not comparison.own_score
        ),
        *(
            f"{name}: no image has a score from every system, so nothing is compared."
            for name in comparisons.left_out
        ),
    ]
