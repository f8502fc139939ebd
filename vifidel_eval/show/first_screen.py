"""The first screen of a run: the verdict, systems in order of place, and what can be done next."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..captions.generated import AROUND, NO_CLAIM, REASONING
from ..evaluation import COUNTS, Evaluation
from ..io.text_tables import aligned, columns_of, counted, one_line
from ..scorers.registry import METRICS
from ..scores.comparison import Comparisons, Standing
from ..scores.scores import OF_SAMPLES, PEOPLE, Scores, means_by_plain_name, plain_name, plain_names
from ..scores.verdict import (
    cut,
    figure,
    is_of_others,
    ordered_systems,
    short_names,
    shown_columns,
    verdict,
)
from .comparison_tables import halves_explained
from .layout import wrapped

#: What the column of things made up says per 100 captions.
PER_CAPTION = "VIFIDEL-Hn"
# What is counted but not listed here: notes below have most of it in sentences.
_NOT_LISTED = ("samples", "unknown_words", NO_CLAIM, REASONING, AROUND)

_HEADLINE = ("VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-R", "CIDEr")
_MOST_NAME, _FEWEST_OF_NAME = 40, 12  # characters of a name, as far as the line allows
_DRAWN = 17  # characters of an interval
_MOST_THINGS, _MOST_OF_THINGS = 2, 24  # that a system makes up most often; their characters
_MOSTLY, _FEWEST_OF_THINGS = "mostly", 8
_NEEDED = 6  # columns with a higher `need` are named where there is no room
_FEW = 5  # systems whose counts are listed one by one


@dataclass(frozen=True)
class _Column:
    """A column of the screen, with the cell of each system; the lowest `need` finds room first."""

    header: str
    cells: Sequence[str]
    need: float
    side: str = "right"


def first_screen(
    scores: Scores,
    compared: Comparisons | None,
    width: int,
    further: Sequence[str] = (),
    limit: int | None = None,
) -> str:
    """Return what `score` prints by default, in lines of at most `width` characters.

    Parameters
    ----------
    scores : Scores
        The scores of the run.
    compared : Comparisons, optional
        Intervals, and tests under the column that decides.
    width : int
        Characters in a line; names are shortened and columns left out so that all fit.
    further : sequence of str
        Lines that stand below: what can be done next.
    limit : int, optional
        How many systems the table has, by default all.
    """
    decided = verdict(scores, compared)
    column = None if decided is None else decided.column
    systems = ordered_systems(scores, column, compared)
    places = {} if decided is None else decided.places
    columns = list(_columns(scores, compared, systems, column, places, width))
    shown = _fitting(columns, width)
    hidden = [c for c in columns if c.need > _NEEDED and c not in shown]
    left_out = plain_names(c.header.removesuffix(" ↓") for c in hidden)
    notes = [*_legend(scores, compared, shown, places), *_counts(scores)]
    if left_out:
        notes.append(f"No room for {', '.join(left_out)}: --full shows them.")
    lines = [] if decided is None else [*wrapped([one_line(decided.sentence)], width), ""]
    table = _table(shown, systems, places)
    if limit is not None and len(systems) > limit:
        remaining = counted(len(systems) - limit, "more system")
        table = [*table[: limit + 2], f"... and {remaining}."]
    notes += notes_of(scores, lambda score, _: figure(score))
    lines += [*table, "", *wrapped([*notes, *further], width)]
    return "\n".join(lines)


def next_steps(systems: int) -> str:
    """Return what shows more of a run."""
    compare = "--compare (every two systems); " if systems > 1 else ""
    return (
        "Next: --report report.html (images, captions, what is made up); "
        f"{compare}--full (all columns and signatures)."
    )


def _columns(
    scores: Scores,
    compared: Comparisons | None,
    systems: Sequence[str],
    column: str | None,
    places: Mapping[str, str],
    width: int,
) -> Iterator[_Column]:
    """Yield all that might be shown, in the order in which it is."""
    if places and len(systems) > 1:
        yield _Column("Place", [places.get(system, "") for system in systems], 1)
    names = short_names(systems, max(_FEWEST_OF_NAME, min(_MOST_NAME, width // 4)))
    yield _Column("System", [one_line(names[system]) for system in systems], 0, "left")
    made_up = _made_up(scores, systems)
    ordered = [
        name
        for name in shown_columns(scores.signatures)
        if not (made_up and plain_name(name)[0] == PER_CAPTION)
    ]
    behind = [name for name in ordered if plain_name(name)[0] in _HEADLINE[:3]][-1:]
    for at, name in enumerate(ordered):
        plain, of_samples = plain_name(name)
        aside = of_samples in OF_SAMPLES[1:] and plain != plain_name(column or "")[0]
        need = 0 if name == column else (3 if _is_headline(scores, name) else 7) + 3 * aside
        standings = None if name != column or compared is None else compared.metrics.get(name)
        known = {} if standings is None else standings.systems
        lower = next(iter(scores.evaluations.values()))[name].lower_is_better
        cells = [_score(scores.evaluations[system][name], known.get(system)) for system in systems]
        yield _Column(name + " ↓" * lower, cells, need + (at / 100 if need else 0))
        if name == column and len(known) > 1:
            header, drawn = _drawn([known[system] for system in systems])
            yield _Column(header, drawn, 6, "left")
        if name in behind or (not behind and at == len(ordered) - 1):
            yield from made_up


def _is_headline(scores: Scores, name: str) -> bool:
    """Whether a column is looked at first, as the scores of other tools are."""
    return plain_name(name)[0] in _HEADLINE or is_of_others(scores, name)


def _score(evaluation: Evaluation, standing: Standing | None) -> str:
    score = evaluation.score
    if math.isnan(score):
        return "-"
    if not evaluation.ranked:  # lengths
        return f"{score:.1f}"
    if standing is None or math.isnan(standing.low) or figure(standing.score) != figure(score):
        return figure(score)
    return f"{figure(score)} ±{figure((standing.high - standing.low) / 2)}"


def _drawn(standings: Sequence[Standing]) -> tuple[str, list[str]]:
    """Return the ends of an axis, and intervals on it, a dot at each score; none if one lacks."""
    if any(math.isnan(standing.low) for standing in standings):
        return "", []
    start = min(standing.low for standing in standings)
    end = max(standing.high for standing in standings)
    span = end - start or 1.0
    lines = []
    for standing in standings:
        low, dot, high = (
            round((place - start) / span * (_DRAWN - 1))
            for place in (standing.low, standing.score, standing.high)
        )
        bar = ["─" if low <= at <= high else " " for at in range(_DRAWN)]
        bar[dot] = "●"
        lines.append("".join(bar))
    room = _DRAWN - 1 - len(figure(start))
    return f"{figure(start)} {figure(end):>{max(room, 0)}}", lines


def made_up_per_caption(
    columns: Mapping[str, Evaluation],
) -> tuple[str, float, Mapping[str, int]] | None:
    """Return who counts what a system makes up, how much a caption has, and how often each thing.

    That is VIFIDEL-Hn, of samples its mean, and else what VIFIDEL-F counts; None if neither does.
    """
    judging = [name for name, evaluation in columns.items() if evaluation.made_up is not None]
    names = (columns[judging[-1]].made_up if judging else None) or {}
    counting = means_by_plain_name(columns).get(PER_CAPTION, PER_CAPTION)
    if counting in columns:  # which knows what captions claim nothing
        return counting, columns[counting].score, names
    if not judging:
        return None
    evaluation = columns[judging[-1]]
    captions = len(evaluation.ids) - int(evaluation.missing.sum())
    return judging[-1], sum(names.values()) / max(captions, 1), names


def _made_up(scores: Scores, systems: Sequence[str]) -> list[_Column]:
    """Return how many things systems make up per 100 captions, and which most often."""
    numbers, things = [], []
    for system in systems:
        made_up = made_up_per_caption(scores.evaluations[system])
        if made_up is None:
            return []
        _, rate, names = made_up
        numbers.append("-" if math.isnan(rate) else f"{100 * rate:.0f}")
        commonest = sorted(names, key=lambda name: (-names[name], name))[:_MOST_THINGS]
        things.append(_as_many(", ".join(commonest), _MOST_OF_THINGS))
    return [
        _Column("Made up ↓", numbers, 2),
        _Column(_MOSTLY, things if any(things) else [], 5, "left"),
    ]


def _as_many(listed: str, columns: int) -> str:
    """Return as many of the names in a list as fit, or the beginning and end of the first."""
    while columns_of(listed) > columns and ", " in listed:
        listed = listed.rpartition(", ")[0]
    return cut(listed, columns)


def _fitting(columns: Sequence[_Column], width: int) -> list[_Column]:
    """Return the columns that fit in a line, in their order."""
    shown: dict[int, _Column] = {}  # by place
    for at, column in sorted(enumerate(columns), key=lambda item: item[1].need):
        room = width - _width(shown.values()) - 2
        if column.header == _MOSTLY and room >= _FEWEST_OF_THINGS:
            column = replace(column, cells=[_as_many(cell, room) for cell in column.cells])  # noqa: PLW2901
        if column.cells and (column.need == 0 or _width([*shown.values(), column]) <= width):
            shown[at] = column
    return [column for _, column in sorted(shown.items())]


def _width(columns: Iterable[_Column]) -> int:
    return sum(max(map(columns_of, [c.header, *c.cells])) + 2 for c in columns) - 2


def _table(
    columns: Sequence[_Column], systems: Sequence[str], places: Mapping[str, str]
) -> list[str]:
    """Return the table, with a rule between places that several systems share."""
    cells = zip(*(column.cells for column in columns), strict=True)
    headers = [column.header for column in columns]
    header, rule, *body = aligned([headers, *cells], [column.side for column in columns])
    bands = [places.get(system, system) for system in systems]
    shared = len(set(bands)) <= len(bands) / 2
    ruled = [header, rule]
    for at, row in enumerate(body):
        if shared and at and bands[at] != bands[at - 1]:
            ruled.append(rule)
        ruled.append(row)
    return ruled


def _legend(
    scores: Scores,
    compared: Comparisons | None,
    shown: Sequence[_Column],
    places: Mapping[str, str],
) -> Iterator[str]:
    headers = {column.header for column in shown}
    for column in shown:
        yield from halves_explained(compared, column.cells)
    if compared is not None and len(places) > 1:
        yield (
            "Places count the systems that are significantly better (randomisation, "
            f"p ≤ {compared.alpha:.2g} after Holm's correction)."
        )
    if "Made up ↓" in headers:
        counting = made_up_per_caption(next(iter(scores.evaluations.values())))
        yield f"Made up: things per 100 captions, as {counting and counting[0]} counts them."
    if any(header.endswith("↓") for header in headers):
        yield "↓: lower is better."
    if scores.with_people and len(scores.evaluations) > 1:
        yield f"{PEOPLE}: the baseline, without a place."


def _counts(scores: Scores) -> Iterator[str]:
    """Yield what was counted beside the scores, where it is not 0."""
    counted = {name: scores.counts(name) for name in scores.evaluations}
    for count in COUNTS:
        numbers = {name: c[count.key] for name, c in counted.items() if c.get(count.key)}
        if numbers and count.key not in _NOT_LISTED:
            listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
            if len(numbers) > _FEW:
                low, high = min(numbers.values()), max(numbers.values())
                listed = f"{low}{f' to {high}' if low < high else ''} in {len(numbers)} systems"
            yield f"{count.phrase.capitalize()}: {listed}."


# The name of a metric, alone or in a combination.
_PYTHON_TOKENS = re.compile(r"([^|(\n]+)\|tok:python\b")


def notes_of(scores: Scores, shown: Callable[[float, str], str]) -> list[str]:
    """Return what has to be said of scores wherever they are shown; `shown` writes a score."""
    return [*scores.notes(shown), *without_java(scores), *unavailable(scores)]


def unavailable(scores: Scores) -> list[str]:
    """Return why metrics have no scores."""
    return [f"{name} not available: {why}" for name, why in scores.unavailable.items()]


def without_java(scores: Scores) -> list[str]:
    """Return which metrics have other tokens than pycocoevalcap's, and how much that changes."""
    names = _PYTHON_TOKENS.findall("\n".join(scores.signatures.values()))
    metrics = set(filter(METRICS.knows, names))
    differ = {name: METRICS[name].without_java for name in METRICS if name in metrics}
    amounts = ", ".join(f"{name} by {by:.2g}" for name, by in differ.items() if by is not None)
    if not amounts:
        return []
    return [
        "Tokenised without Java (tok:python): on COCO val2017, corpus scores differ from "
        f"pycocoevalcap's by at most this: {amounts}."
    ]
