"""Draws of the references that judged captions are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .judgements import Judged

#: A number of references, or one of the two words below.
References = int | str
#: All references of an image.
ALL_REFERENCES = "all"
#: Whatever references another tool's scores were computed with.
AS_GIVEN = "as given"


def plan(
    judged: Sequence[Judged], numbers: Sequence[References], draws: int
) -> list[tuple[References, int]]:
    """Return number and draw of each trial; where nothing is left to chance there is one draw.

    Parameters
    ----------
    judged : sequence of Judged
        What people judged.
    numbers : sequence of int or str
        Numbers of references, or `ALL_REFERENCES`.
    draws : int
        How often references are drawn, where there are more than the number.
    """
    return [
        (number, draw)
        for number in numbers
        for draw in range(draws if is_drawn(judged, number) else 1)
    ]


def is_drawn(judged: Sequence[Judged], number: References) -> bool:
    """Return whether some image has more references than the number."""
    return isinstance(number, int) and 0 < number < max(len(one.references) for one in judged)


def drawn(
    judged: Sequence[Judged], number: References, seed: int, draw: int
) -> dict[int, list[str]]:
    """Return the references of each judgement, by its place; its own captions are not in them.

    The references of an image are put into a random order for each draw; the first ones are
    taken, so that the references of a smaller number are among those of a larger one.
    """
    if not isinstance(number, int):
        return {at: one.others(one.references) for at, one in enumerate(judged)}
    random = np.random.default_rng([seed, draw])
    shuffled: dict[tuple[str, ...], list[str]] = {}
    gts: dict[int, list[str]] = {}
    for at, one in enumerate(judged):
        if one.references not in shuffled:
            order = random.permutation(len(one.references))
            shuffled[one.references] = [one.references[place] for place in order]
        gts[at] = one.others(shuffled[one.references])[:number]
    return gts
