"""Classes of words (noun, verb, adjective), in Brill's lexicon (ANLP 1992)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Nouns that the lexicon has as adjectives.
_NOUNS = frozenset(
    "bible bulldog cherry crepe husky iguana mammoth mum ostrich platter raspberry".split()
)


def word_class(word: str) -> str:
    """Return the class of a lower-case word in the tags of the Penn Treebank, or nothing."""
    return "NN" if word in _NOUNS else _lexicon().get(word, "")


def is_listed(word: str) -> bool:
    """Return whether the lexicon has a word; names of people and places begin with a capital."""
    return word in _lexicon()


@cache
def _lexicon() -> Mapping[str, str]:
    package = importlib.util.find_spec("textblob")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("textblob is missing: pip install textblob")
    path = Path(package.origin).with_name("en") / "en-lexicon.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ") for line in lines if line[:1].isalpha())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
