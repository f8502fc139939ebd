"""Names with more than one meaning, where they mean no thing: *is orange, the bowl* of a toilet.

That a name is an adjective too, such as *orange, remote* or *human*, is asked of Brill's lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .english import word_class

#: How many words before a name `means_no_thing` looks at, at most.
MOST_BEFORE = 60

# *Looks at the camera*: whoever takes the picture has one.
_TO_THE_CAMERA = frozenset("at for to toward towards into facing face faces".split())
# Parts that have the name of a thing, and what they are parts of.
_PARTS = {
    "bowl": ("toilet",),
    "bed": ("truck",),
    "fork": ("bicycle", "bike"),
    "horn": ("car", "truck"),
    "keyboard": ("laptop", "macbook"),
    "cab": ("truck", "train", "locomotive", "engine", "trailers"),
}
_OWNED = ("its", "'s")
_HAS = ("with", "has", "have", "having")
_IDIOMS = frozenset(("sign", "camera", "car", *_PARTS))
_JOINING = frozenset(("and", "or", ","))

_CAPITALS = re.compile(r"(?<![\w&'-])[A-Z][\w&'-]*(?: [A-Z][\w&'-]*)+")
_BEFORE_KINDS = frozenset("a an the this that one two his her their its my your some".split())
_LONGEST_BEFORE = 24  # characters


def may_mean_no_thing(word: str, name: str) -> bool:
    """Return whether a name of a thing may mean something else: `means_no_thing` tells where."""
    return name in _IDIOMS or word_class(word) in ("JJ", "MD")


def means_no_thing(before: Sequence[str], word: str, name: str, behind: Sequence[str]) -> bool:
    """Return whether a name means no thing behind some words and before the next one."""
    last = before[-1] if before else ""
    if name == "sign":
        return last == "no" and behind[:1] == ["of"]
    if name == "camera":
        return not _TO_THE_CAMERA.isdisjoint(before[-2:] if last == "the" else [last])
    if name == "car":  # a train car is parked; the car is red
        return last == "the" and ("train", "car") in pairwise(before)
    if name in _PARTS:
        return _is_part(before, _PARTS[name])
    if word_class(word) == "MD":
        return _is_modal(before, behind)
    return _is_quality(before)


def _is_part(before: Sequence[str], wholes: Sequence[str]) -> bool:
    """Return whether words before a name say that it is a part: *its bowl, a laptop with a ...*."""
    at = len(before)
    while at and word_class(before[at - 1]) == "JJ":
        at -= 1
    *earlier, last = [".", ".", *before[:at]]
    if last in ("a", "an") and earlier[-1] in _HAS:
        return earlier[-2] in wholes
    return last in ("the", *_OWNED, *wholes) and not set(wholes).isdisjoint([*earlier, last])


def _is_modal(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Return whether *can* is no thing: *a dog can jump*, and not *a soda can stands*."""
    last, following = [".", *before][-1], [*behind, "."][0]
    may_be_noun = word_class(last)[:2] in ("DT", "JJ", "NN", "CD", "PR", "VB")
    goes_on = following in ("be", "not", "n't", "have") or word_class(following)[:2] in ("VB", "RB")
    return not may_be_noun or (goes_on and word_class(following) not in ("VBZ", "VBN", "VBD"))


def _is_quality(before: Sequence[str]) -> bool:
    """Return whether a name behind some words says what something is like."""
    at = len(before)
    while at and before[at - 1] in _JOINING:
        at -= 1
    last = before[at - 1] if at else ""
    if at < len(before):  # black and orange
        return word_class(last) == "JJ"
    return word_class(last)[:2] in ("RB", "IN", "VB") and word_class(last) != "VBG"


def is_one_of_a_maker(before: Sequence[str]) -> bool:
    """Return whether the name of a maker means what it makes: *a red Toyota, two Harleys*."""
    at = len(before)
    while at and word_class(before[at - 1]) in ("JJ", "VBN"):
        at -= 1
    return at > 0 and (before[at - 1] in _BEFORE_KINDS or word_class(before[at - 1]) == "CD")


def proper_names(text: str) -> frozenset[tuple[str, str]]:
    """Return the words that follow each other in names of brands and places: *Toyota Trucks*."""
    if text[1:].islower():
        return frozenset()
    runs = list(_CAPITALS.finditer(text))
    words = [run[0].lower().split() for run in runs]
    if 2 * sum(map(len, words)) > text.count(" ") + 1:  # a title
        return frozenset()
    found: set[tuple[str, str]] = set()
    for run, named in zip(runs, words, strict=True):
        before = text[max(run.start() - _LONGEST_BEFORE, 0) : run.start()].rstrip(' "\u201c*_')
        if not before or before[-1] in ".!?:;\n":  # it begins a sentence
            named.pop(0)
        is_kind = before.lower().rpartition(" ")[2] in _BEFORE_KINDS  # a Golden Retriever
        found.update(pairwise(named[:-1] if is_kind else named))
    return frozenset(found)
