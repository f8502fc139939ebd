"""Transport plans as pictures: objects and words joined by lines.

`drawPlan` in page.js draws the same; a browser test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ...explain.explanation import Verdict
from .formats import NONE, fixed, grouped, short
from .images import UNIT

#: How many colours and dash patterns lines have, from cost 0 to the end of the scale.
SHADES = 5

#: What the page calls the verdicts in its data.
VERDICTS = ["no claim", *map(str, Verdict)]
#: That of mentions that are not in the image.
ABSENT = Verdict.ABSENT + 1

_ROW, _MARGIN = 26, 6  # height of a word, and the space above and below, in the picture's units
_LEFT, _MIDDLE, _RIGHT = 120, 170, 220  # where lines start, turn and end; the picture is 340 wide
_WIDEST = 16  # of a line that carries all mass
_SHOWN = round(1e-4 / UNIT**2)  # a contribution is shown in steps of so many squares of UNIT
_LONGEST = 16  # characters of a label or word that fit


@dataclass(frozen=True)
class Line:
    """Mass that moves from an object to a word.

    Attributes
    ----------
    label, word : str
        Its ends.
    mass, cost : float
        As in `vifidel_eval.explain.explanation.Match`, rounded.
    label_penalty, word_penalty : float
        Likewise.
    shade : int
        Colour and dash pattern, from 0 for no cost to `SHADES` - 1.
    contribution : str
        What it adds to the distance; `Plan.distance` is the sum of what is shown.
    width, path : str
        Its stroke and its course in SVG.
    """

    label: str
    word: str
    mass: float
    cost: float
    label_penalty: float
    word_penalty: float
    shade: int
    contribution: str
    width: str
    path: str


@dataclass(frozen=True)
class End:
    """A text where lines start or end; `loose` if it has no counterpart on the other side."""

    text: str
    y: str
    loose: bool


class Spoken(NamedTuple):
    """A mention or a word, the judgement, its support and what supports it, as text."""

    words: str
    verdict: str
    support: str
    by: str


@dataclass(frozen=True)
class Plan:
    """A picture of a transport plan, and what is said of the caption's words.

    Attributes
    ----------
    height : int
        Of the picture.
    objects, words : list of End
        On the left and on the right, from the top.
    lines : list of Line
        Between them.
    distance : str
        What the lines add up to.
    hallucinated, unmentioned : list of str
        Mentions that are not in the image, each once, and objects that are not mentioned.
    spoken : list of Spoken
        Mentions, then the other words.
    caption : list of (str, bool)
        The caption in parts, and whether each is a mention that is not in the image.
    """

    height: int
    objects: list[End]
    words: list[End]
    lines: list[Line]
    distance: str
    hallucinated: list[str]
    unmentioned: list[str]
    spoken: list[Spoken]
    caption: list[tuple[str, bool]]


def draw(data: dict[str, Any], plans: dict[str, Any], system: int, image: int) -> Plan | None:
    """Return the picture of the plan of a caption, None where there is none.

    Parameters
    ----------
    data, plans : dict
        As `Images` has them.
    system, image : int
        Places of the two.
    """
    if not plans["plans"] or plans["plans"][system][image] is None:
        return None
    numbers, matches, mentions, unmentioned, marks = plans["plans"][system][image]
    of_words = list(grouped(numbers, 5))
    objects = list(grouped(data["objects"][image], 3))
    labels = [data["labels"][label] for label, _, _ in objects]
    words = [plans["words"][word] for word, *_ in of_words]
    absent = [verdict == ABSENT for *_, verdict in of_words]
    drawn = list(dict.fromkeys(matches[::4]))
    height = max(len(drawn), len(words)) * _ROW + 2 * _MARGIN
    left = {place: height * (at + 0.5) / len(drawn) for at, place in enumerate(drawn)}
    right = [height * (at + 0.5) / len(words) for at in range(len(words))]
    *contributions, distance = _shown(mass * cost for _, _, mass, cost in grouped(matches, 4))
    lines = [
        Line(
            label=labels[place],
            word=words[word],
            mass=mass * UNIT,
            cost=cost * UNIT,
            label_penalty=objects[place][2] * UNIT,
            word_penalty=of_words[word][1] * UNIT,
            shade=min(cost * SHADES // plans["scale"], SHADES - 1),
            contribution=contribution,
            width=short(max(mass * UNIT * _WIDEST, 1)),
            path=f"M{_LEFT} {short(left[place])}C{_MIDDLE} {short(left[place])} "
            f"{_MIDDLE} {short(right[word])} {_RIGHT} {short(right[word])}",
        )
        for (place, word, mass, cost), contribution in zip(
            grouped(matches, 4), contributions, strict=True
        )
    ]
    return Plan(
        height=height,
        objects=[
            End(
                _cut(labels[place]) + times(objects[place][1]),
                short(left[place] + 4),
                place in unmentioned,
            )
            for place in drawn
        ],
        words=[End(_cut(word), short(right[at] + 4), absent[at]) for at, word in enumerate(words)],
        lines=lines,
        distance=distance,
        hallucinated=list(
            dict.fromkeys(
                plans["words"][text]
                for text, _, _, verdict in grouped(mentions, 4)
                if verdict == ABSENT
            )
        ),
        unmentioned=[labels[place] for place in unmentioned],
        spoken=[_spoken(plans["words"], *mention) for mention in grouped(mentions, 4)]
        + [
            _spoken(plans["words"], word, support, by, verdict)
            for word, _, support, by, verdict in of_words
            if not verdict
        ],
        caption=_marked(data["captions"][system][image], marks),
    )


def _spoken(texts: Sequence[str], words: int, support: int, by: int, verdict: int) -> Spoken:
    return Spoken(
        texts[words],
        VERDICTS[verdict],
        NONE if support < 0 else fixed(support / 100, 2),
        NONE if by < 0 else texts[by],
    )


def _marked(caption: str, marks: Sequence[int]) -> list[tuple[str, bool]]:
    """Return the parts of a caption, and whether each is marked."""
    ends = pairwise([0, *marks, len(caption)])
    parts = [(caption[start:end], at % 2 == 1) for at, (start, end) in enumerate(ends)]
    return [(text, is_marked) for text, is_marked in parts if text]


def _shown(contributions: Iterable[int]) -> list[str]:
    """Return contributions, in squares of `UNIT`, and their sum, with four decimals.

    What rounding takes from one it gives to the next: as shown they add up to the sum as shown.
    """
    sums = [math.floor(total / _SHOWN + 0.5) for total in accumulate(contributions, initial=0)]
    steps = [*(after - before for before, after in pairwise(sums)), sums[-1]]
    return [fixed(step / 1e4, 4) for step in steps]


def times(count: int) -> str:
    """Return how many times an object is there, if more than once."""
    return f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
