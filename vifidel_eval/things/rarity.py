"""Rarity of words in captions, by counts that come with the package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

#: The largest rarity, which a word has that is in none of the counted captions too.
LARGEST_RARITY = 6.0


def rarity(word: str) -> float:
    """Return the logarithm of how many images there are for one whose captions have a word.

    It is at most 6. The images are those of COCO val2017; ``caption_words.txt`` has the counts.

    >>> rarity("man") < rarity("giraffe") < rarity("saxophone")
    True
    """
    return _rarities().get(word, LARGEST_RARITY)


@cache
def _rarities() -> Mapping[str, float]:
    text = files(__package__).joinpath("caption_words.txt").read_text(encoding="utf-8")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    counts = {word: int(count) for word, count in lines}
    images = counts.pop("*")
    return {word: min(LARGEST_RARITY, math.log(images / n)) for word, n in counts.items()}
