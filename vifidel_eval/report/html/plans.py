"""Explanations of captions in the numbers that the page draws its words and plans from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats, Integers
from ...explain.explained import Explained
from ...image_ids import ImageId
from ...kernels.support import NOTHING, rows_of
from ...things.grounded import Verdict

#: Masses, costs and penalties are whole numbers of this unit in the data of the page.
UNIT = 1e-5

# Of all costs of a run, so many per cent lie on the colour scale; the others are at its end.
_COSTS_ON_SCALE = 95
#: What the page says of an absent mention that only a hedged clause makes.
SUPPOSED = len(Verdict)

#: What the page has of a caption: objects, words, mentions and matches.
Plan = tuple[tuple[int, ...], ...]

_Column = NDArray[Any]


def plans_of(
    parts: Iterable[Explained], places: Mapping[ImageId, int], numbers: Mapping[str, int]
) -> list[Plan | None]:
    """Return the plan of each image in the order of the page; None where there is none.

    `places` has the place of each image in the page, `numbers` the number of each text, -1 standing
    for none. Everything is numbers:

    - objects: (text, penalty, whether the caption does not mention it), ..., those with a vector
    - words: (text, penalty, support, evidence, mention), ..., the different content words;
      evidence is a text, and the mention that a word stands for a place among the mentions
    - mentions: (text, class, support, evidence, verdict), ..., in the order of the caption
    - matches: (object, word, mass, cost), ..., the places of both above

    Objects and words are in alphabetical order, matches in theirs. Supports are hundredths, -1
    where nothing is known; verdicts are those of `Verdict`, and `SUPPOSED`.
    """
    found: list[Plan | None] = [None] * len(places)
    for part in parts:
        for image_id, plan in zip(part.ids, _plans(part, numbers), strict=True):
            found[places[image_id]] = plan
    return found


def _plans(part: Explained, numbers: Mapping[str, int]) -> Iterator[Plan]:
    number_of = np.array([*map(numbers.__getitem__, part.texts), NOTHING])
    objects, words, mentions, matches = part.objects, part.words, part.mentions, part.matches
    order = np.lexsort((matches.words, matches.objects))
    return zip(
        _cut(
            objects.starts,
            number_of[objects.labels],
            _units(objects.penalties),
            objects.unmentioned.astype(np.int64),
        ),
        _cut(
            words.starts,
            number_of[words.words],
            _units(words.penalties),
            _hundredths(words.support),
            number_of[words.by],
            _places(words.mentions, words.starts, mentions.starts),
        ),
        _cut(
            mentions.starts,
            number_of[mentions.words],
            number_of[mentions.categories],
            _hundredths(mentions.support),
            number_of[mentions.by],
            np.where(mentions.hedged, SUPPOSED, mentions.verdicts),
        ),
        _cut(
            matches.starts,
            _places(matches.objects, matches.starts, objects.starts)[order],
            _places(matches.words, matches.starts, words.starts)[order],
            _units(matches.masses)[order],
            _units(matches.costs)[order],
        ),
        strict=True,
    )


def scale(of_systems: Iterable[Sequence[Explained]]) -> int:
    """Return the cost at the end of the colour scale, with two digits, in units."""
    costs = [part.matches.costs for parts in of_systems for part in parts]
    if not sum(map(len, costs)):
        return _unit(1)
    return max(_unit(float(f"{np.percentile(np.concatenate(costs), _COSTS_ON_SCALE):.2g}")), 1)


def _cut(starts: Integers, *columns: _Column) -> list[tuple[int, ...]]:
    """Return the rows of columns, one after the other, as a tuple for each caption.

    The garbage collector leaves tuples of numbers alone.
    """
    numbers = np.column_stack(columns).ravel().tolist()
    return [tuple(numbers[start:end]) for start, end in pairwise((starts * len(columns)).tolist())]


def _places(entries: Integers, starts: Integers, of_entries: Integers) -> Integers:
    """Return entries of other columns as places among those of the same caption; `NOTHING` stays.

    Both `starts` and `of_entries` are (captions + 1,): where each caption's are in `entries`, and
    in the other columns.
    """
    return np.where(entries == NOTHING, NOTHING, entries - of_entries[rows_of(starts)])


def _hundredths(support: Floats) -> Integers:
    return np.rint(np.where(np.isnan(support), NOTHING, 100 * support)).astype(np.int64)


def _unit(value: float) -> int:
    return round(value / UNIT)


def _units(values: Floats) -> _Column:
    return np.array(list(map(_unit, values.tolist())), dtype=object)  # may exceed 64 bits
