"""Who describes the images best: the order of columns and systems, and the sentence that says it.

Terminal, Markdown, LaTeX, report, notebook and prompt take all three from here.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..evaluation import Column
from ..io.digits import deciding
from ..io.text_tables import beginning, columns_of, counted, in_a_row
from ..scorers.registry import METRICS
from .comparison import Comparisons
from .scores import PEOPLE, Scores, plain_name
from .standings import Comparison, Pair
from .systems import WORDS

# Fidelity first, because it agrees best with people; then what is made up, n-grams, other tools'
# scores in their own order, and words.
_ORDER = (
    *("VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-R", "VIFIDEL", "VIFIDEL-D"),
    *("VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn", "CHAIRs", "CHAIRi", "VIFIDEL-T"),
    *("CIDEr", "SPICE", "METEOR", "ROUGE_L", "Bleu_4", "Bleu_3", "Bleu_2", "Bleu_1", "WMD"),
)
_PLACES = {name: place for place, name in enumerate(_ORDER)} | {WORDS: math.inf}
#: Columns that tables leave out until they are asked for by name: the shorter n-grams of BLEU, and
#: VIFIDEL-T, which is better for captions that are cut.
BY_NAME_ONLY = frozenset({"Bleu_1", "Bleu_2", "Bleu_3", "VIFIDEL-T"})
_MOST_TIMES = 20  # so many times the images would settle a difference; more is no advice
_MOST_LISTED = 3  # names of systems in a sentence
_LONGEST_NAME = 40  # characters of a name there


def ordered_columns(columns: Iterable[str]) -> list[str]:
    """Return the names of columns in the order in which tables show them."""
    return sorted(columns, key=lambda name: _PLACES.get(plain_name(name)[0], len(_ORDER)))


def shown_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that tables show by default, in order; all if there are no others."""
    ordered = ordered_columns(columns)
    return [name for name in ordered if plain_name(name)[0] not in BY_NAME_ONLY] or ordered


def is_of_others(scores: Scores, column: str) -> bool:
    """Return whether a column is another tool's, or a metric of the user's own."""
    plain = plain_name(column)[0]
    return plain != WORDS and METRICS.column(plain, scores.signatures[column]) is None


@dataclass(frozen=True)
class Verdict:
    """Who describes the images best, as far as that can be told.

    Attributes
    ----------
    column : str
        The column that decides.
    systems : tuple of str
        The systems, best first. People are not among them: they are the baseline.
    places : dict
        System to place, such as ``"1"`` or ``"2-4"`` where no difference is significant; empty if
        the systems were not tested.
    sentence : str
        What a person should read first.
    """

    column: str
    systems: tuple[str, ...]
    places: dict[str, str]
    sentence: str


def chosen_column(scores: Scores) -> str | None:
    """Return the column that decides: the first one by which a system can be better."""
    ranked = {column.name for column in scores.columns() if column.ranked}
    return next((name for name in ordered_columns(scores.signatures) if name in ranked), None)


def ordered_systems(scores: Scores, column: str | None, compared: Comparisons | None) -> list[str]:
    """Return systems by their places under a column, undefined scores and then people last."""
    comparison = None if compared is None or column is None else compared.metrics.get(column)

    def key(system: str) -> tuple[bool, float, float]:
        is_people = system == PEOPLE and scores.with_people
        if column is None:
            return is_people, 0.0, 0.0
        evaluation = scores.evaluations[system][column]
        score, rank = evaluation.score, 0
        if comparison is not None:
            score, rank = comparison.systems[system].score, comparison.systems[system].rank or 0
        signed = deciding(score if evaluation.lower_is_better else -score)
        return is_people, rank, math.inf if math.isnan(signed) else signed

    return sorted(scores.evaluations, key=key)


def verdict(
    scores: Scores, compared: Comparisons | None = None, column: str | None = None
) -> Verdict | None:
    """Return who is best under a column, by default the first that decides; None without one."""
    column = column or chosen_column(scores)
    if column is None or column not in scores.signatures:
        return None
    systems = ordered_systems(scores, column, compared)
    if scores.with_people:
        systems.remove(PEOPLE)
    names = short_names(list(scores.evaluations), _LONGEST_NAME)
    comparison = None if compared is None else compared.metrics.get(column)
    direction = next(c for c in scores.columns() if c.name == column)
    if compared is None or comparison is None:
        sentence = _untested(scores, direction, systems, names, was_compared=compared is not None)
        return Verdict(column, tuple(systems), {}, sentence)
    same = same_systems(scores)
    places = _places(comparison, systems)
    sentences = [_leader(direction, systems, comparison, compared, same, places, names)]
    sentences += [f"{_listed(some, names)} have the same score on every image." for some in same]
    sentences += [*_against_people(scores, comparison, systems, names)]
    return Verdict(column, tuple(systems), places, " ".join(filter(None, sentences)))


def same_systems(scores: Scores) -> list[list[str]]:
    """Return the systems that have the same score on every image in every column."""
    groups: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    for system, of_column in scores.evaluations.items():
        if not (system == PEOPLE and scores.with_people):
            key = tuple((tuple(e.ids), (e.scores + 0.0).tobytes()) for e in of_column.values())
            groups[key].append(system)
    return [names for names in groups.values() if len(names) > 1]


def _places(comparison: Comparison, systems: Sequence[str]) -> dict[str, str]:
    """Return the place of each system, a range where no difference is significant."""
    if any(comparison.systems[system].rank is None for system in systems):
        return {}
    places: dict[str, str] = {}
    done = 0
    for _, group in groupby(systems, key=lambda system: comparison.systems[system].rank):
        names = list(group)
        first, done = done + 1, done + len(names)
        places |= dict.fromkeys(names, str(first) if first == done else f"{first}-{done}")
    return places


def _untested(
    scores: Scores,
    column: Column,
    systems: Sequence[str],
    names: Mapping[str, str],
    *,
    was_compared: bool,
) -> str:
    """Return the sentence without a test: none was asked for, or no image could be compared."""
    best = systems[0]
    score = scores.evaluations[best][column.name].score
    if math.isnan(score):
        return f"{column.name} is undefined for all systems."
    if len(systems) == 1:
        return f"{names[best]} has {column.name} {figure(score)}."
    why = "; no image has a score from every system, so no difference is tested"
    sentence = f"{names[best]} has the {_best(column)} {column.name}, {figure(score)}"
    return f"{sentence}{why if was_compared else ' (differences are not tested)'}."


def _leader(
    column: Column,
    systems: Sequence[str],
    comparison: Comparison,
    compared: Comparisons,
    same: Sequence[Sequence[str]],
    places: dict[str, str],
    names: Mapping[str, str],
) -> str:
    """Return who leads, by how much, whether that is sure, and who cannot be told apart."""
    best, *others = systems
    alike = next((some for some in same if best in some), [best])
    others = [system for system in others if system not in alike]
    images = counted(comparison.images, "image")
    standing = comparison.systems[best]
    score = figure(standing.score)
    if not others:
        interval = ""
        if not math.isnan(standing.low):
            interval = f" ({figure(standing.low)} to {figure(standing.high)})"
        return (
            f"{_listed(alike, names)} {_have(alike)} {column.name} {score}{interval} on {images}."
        )
    pair = comparison.both_ways.get((best, others[0]))
    difference = abs(standing.score - comparison.systems[others[0]].score)
    side = "below" if column.lower_is_better else "above"
    gap = f"{figure(difference)} {side} {names[others[0]]}"
    if pair is None or not places:
        too_few = compared.too_few(column.name)
        why = "too few to be sure" if too_few else "not tested"
        best_of = (
            f"{_listed(alike, names)} {_have(alike)} the {_best(column)} {column.name}, {score}"
        )
        return f"{best_of}, {gap}, on {images}: {why}."
    margin = f"({_interval(pair, column)}, p {compared.p_of(pair)})"
    if pair.winner == best:
        wins = "describe" if len(alike) > 1 else "describes"
        claim = f"{_have(alike)} the {_best(column)} {column.name}"
        if plain_name(column.name)[0] == _ORDER[0]:
            claim, score = f"{wins} the images best", f"{column.name} {score}"
        length = ""
        if pair.depends_on_length:
            length = " (at equal length no difference can be shown)"
        sentence = f"{_listed(alike, names)} {claim}: {score}, {gap} {margin}, on {images}{length}."
        band = _band(others, places, others[0])
        return f"{sentence} {_not_apart(band, names)}".rstrip()
    band = _band(systems, places, best)
    needed = compared.images_needed(column.name, pair)
    enough = ""
    if needed is not None and needed <= _MOST_TIMES * comparison.images:
        enough = f" About {needed} images would settle it."
    leader = f"{names[best]} has {column.name} {score}, {gap} {margin}, on {images}."
    return f"{_not_apart(band, names)} {leader}{enough}"


def _band(systems: Sequence[str], places: dict[str, str], system: str) -> list[str]:
    return [name for name in systems if places[name] == places[system]]


def _not_apart(systems: Sequence[str], names: Mapping[str, str]) -> str:
    return f"{_listed(systems, names)} cannot be told apart." if len(systems) > 1 else ""


def _against_people(
    scores: Scores, comparison: Comparison, systems: Sequence[str], names: Mapping[str, str]
) -> Iterable[str]:
    """Yield how far the best system is from people, if these are scored."""
    if scores.with_people and PEOPLE in comparison.systems:
        best, people = comparison.systems[systems[0]].score, comparison.systems[PEOPLE].score
        side = "below" if best < people else "above"
        apart = figure(abs(best - people))
        yield f"People have {figure(people)}; {names[systems[0]]} is {apart} {side}."


def _interval(pair: Pair, column: Column) -> str:
    """Return the interval of a difference, which counts for the better system."""
    low, high = (-pair.high, -pair.low) if column.lower_is_better else (pair.low, pair.high)
    return f"{figure(low)} to {figure(high)}"


def _best(column: Column) -> str:
    return "lowest" if column.lower_is_better else "highest"


def _have(systems: Sequence[str]) -> str:
    return "have" if len(systems) > 1 else "has"


def _listed(systems: Sequence[str], names: Mapping[str, str]) -> str:
    """Return systems as a sentence has them; of very many, the first, and how many there are."""
    first = [names[system] for system in systems[:_MOST_LISTED]]
    if len(systems) > _MOST_LISTED + 1:
        return f"{', '.join(first)} and {len(systems) - _MOST_LISTED} more"
    return in_a_row(names[system] for system in systems)


def figure(number: float) -> str:
    """Return a number as sentences have it: ``.682``, ``1.021``, ``-.012``.

    >>> figure(-0.0119)
    '-.012'
    """
    text = f"{round(deciding(number), 3) + 0.0:.3f}"  # no -.000
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def short_names(names: Sequence[str], width: int) -> dict[str, str]:
    """Return names of at most so many characters, without what all begin with; all differ.

    >>> short_names(["captions_val2017_llava", "captions_val2017_blip"], 12)
    {'captions_val2017_llava': 'llava', 'captions_val2017_blip': 'blip'}
    """
    if all(columns_of(name) <= width for name in names):
        return {name: name for name in names}
    start = _shared(names)
    end = _shared([name[start:][::-1] for name in names])
    short = {name: cut(name[start : len(name) - end], width) for name in names}
    if len(set(short.values())) < len(names):
        numbered = enumerate(short.items(), 1)
        short = {name: f"{cut(text, width - 4)} #{at}" for at, (name, text) in numbered}
    return short


def _shared(names: Sequence[str]) -> int:
    """Return with how many characters all of several names begin, up to a sign between words."""
    ends = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    common = "".join(letters[0] for letters in ends) if len(names) > 1 else ""
    return max(common.rfind(sign) for sign in "_-/. ") + 1


def cut(text: str, width: int) -> str:
    """Return a text of at most so many columns of a terminal, shortened in the middle."""
    if columns_of(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{beginning(text, width - 1 - end)}…{beginning(text[::-1], end)[::-1]}"
