"""Object labels as people, taggers and language models write them in a text.

``"dog | couch"`` (RAM), ``"a dog, two cats"``, a numbered list, ``"dog x2"``, ``"no cat"``:
docs/objects.md has a table of what each means. Names of classes that a format declares (COCO's
categories, Open Images' descriptions) are not read this way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from ..errors import AnnotationError
from ..io.caches import Remembered
from ..io.containers import parsed

MOST_WORDS = 12  #: a label of more words is a sentence
_MANY_WORDS, _FEW_WORDS = 6, 3  # names have no more; most of them
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_FILE = re.compile(r"\S*\.(?:json|jsonl|csv|tsv|txt|xml|parquet|jpe?g|png)", re.IGNORECASE)
_OF_SENTENCES = frozenset("i i'm is isn't are aren't was were there can can't cannot".split())
_SHORTEST_PIECE = 3  # a shorter piece of a word says nothing
_MOST_DIGITS = 16  # of a count
_FENCE = "```"
_BETWEEN = re.compile(r"[|;,\n\r\u3001\uff0c\uff1b]|(?<=\s)\.(?=\s)|\s(?=\d{1,3}[.)]\s)")
_BETWEEN_NAMES = re.compile("[;,|/]")
_BULLET = re.compile(r"(?:[-*\u2022\u00b7\u2013]|\(?\d{1,3}[.)])\s+")
_AROUND = " \t\n\r\"'`*."  # characters around a name that are no part of it
_NUMBERS = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
)
_ARTICLES = frozenset(("a", "an", "the"))
_TIMES = frozenset("xX*\u00d7")
# Irregular plurals: the singular is not the word without its s, es or ies (y).
_SINGULARS = {
    "men": "man", "women": "woman", "people": "person", "children": "child", "mice": "mouse",
    "feet": "foot", "teeth": "tooth", "geese": "goose", "sheep": "sheep", "fish": "fish",
    "deer": "deer", "oxen": "ox", "buses": "bus", "lenses": "lens", "knives": "knife",
    "wolves": "wolf", "shelves": "shelf", "leaves": "leaf", "loaves": "loaf", "calves": "calf",
    "scarves": "scarf", "halves": "half", "potatoes": "potato", "tomatoes": "tomato",
    "heroes": "hero", "mangoes": "mango", "ties": "tie", "pies": "pie", "cookies": "cookie",
    "hoodies": "hoodie", "brownies": "brownie", "smoothies": "smoothie", "movies": "movie",
    "zombies": "zombie", "selfies": "selfie", "quizzes": "quiz",
}  # fmt: skip
_PAIRS = frozenset(  # that have no singular
    "binoculars clothes glasses goggles headphones jeans pajamas pants pliers scissors shorts "
    "sunglasses tongs trousers tweezers".split()
)
_ES = re.compile("(?<=ss|sh|ch)es$|(?<=[xz])es$")
# *no objects*, *none*, *nothing was detected*
_NOTHING = frozenset(("", "none", "nothing", "n/a", "null", "empty", "no"))
_THINGS = frozenset(
    "object objects thing things item items label labels tag tags detection detections".split()
)
_OF_THINGS = frozenset(
    "other visible detected found present seen recognized recognised here were was are is in the "
    "image picture photo".split()
)
_LISTS = _THINGS | {"list", "answer"}  # words before the colon, as in *Objects: dog, cat*
# A text that matches is more than a name.
_MORE = re.compile(
    r"[|;,/:*<>\[\]{}()\"`\n\r\u00d7\u3001\uff0c\uff1b]|[\d.]\s*$|\s[.'x]|^\W|^\d|"
    r"^\s*(?:an?|the|no|none|nothing|null|empty|and|" + "|".join(_NUMBERS) + r")\b",
    re.IGNORECASE,
)


class Tag(NamedTuple):
    """What an entry of a list says of a category, spelt as there; a score too low needs no name."""

    name: str
    number: int = 1  # 0: it was looked for and is not there
    score: float | None = None
    box: Any = None  # left, top, right and bottom, as `from_corners` reads them


def is_name(text: str) -> bool:
    """Return whether a text is a name and nothing else: no list, count, denial or sentence."""
    return not _MORE.search(text) and text.count(" ") < MOST_WORDS


def read_answer(text: str) -> Any:
    """Return the list or mapping that a text spells in JSON or Python, else its tags, as a list.

    Raises
    ------
    AnnotationError
        If it seems to spell a list that cannot be read, or has what cannot be a name in it.
    """
    tags = _read(text)
    if isinstance(tags, list) and len(tags) == 1 and isinstance(tags[0], Tag):
        words = len(tags[0].name.split())
        if words > (_FEW_WORDS if text.rstrip().endswith(".") else _MANY_WORDS):
            raise AnnotationError(
                f"{text!r:.60} is one text of {words} words, not a list of names; write a name of "
                "so many words in a list."
            )
    return tags


def _read(text: str) -> Any:
    if _FENCE in text:
        text = text.split(_FENCE, 2)[1]
        first, line_break, rest = text.partition("\n")
        text = rest if line_break and first.strip().isalnum() else text
    text = text.strip()
    head, colon, rest = text.partition(":")
    if colon and len(head) <= 100 and not _LISTS.isdisjoint(re.findall(r"\w+", head.lower())):
        text = rest.strip()
    if text[:1] in ("[", "{") or (text[:1] == "(" and text[1:].lstrip()[:1] in ("'", '"')):
        try:
            content = parsed(text)
        except ValueError:
            content = None
        if not isinstance(content, list | dict):
            raise AnnotationError(
                f"{text!r:.60} looks like a list and cannot be read as one; write it as JSON, such "
                'as ["dog", "cat"].'
            )
        return content
    return list(_listed_in(text))


def are_answers(texts: Iterable[str]) -> bool:
    """Return whether texts look like lists of names, some of several, and not like captions."""
    texts = [text.strip() for text in texts]
    written = any(text[:1] in tuple("[{`") or _BETWEEN.search(text) for text in texts)
    return written and all(
        text[:1] in tuple("[{`")
        or "|" in text
        or (
            (any(map(str.isalpha, text)) or not text)
            and all(len(part.split()) <= _FEW_WORDS + 1 for part in _BETWEEN.split(text))
        )
        or _is_nothing(text.strip(_AROUND))
        for text in texts
    )


def tags_of(name: str) -> Any:
    """Return what an entry of a list means, as `read_answer`: a name, or an answer in its place."""
    if is_name(name):
        return [Tag(name)]
    return _read(name)


def _listed_in(text: str) -> Iterator[Tag]:
    text = _IN_PARENTHESES.sub(_without_list, text)
    parts = [part for part in map(_without_bullet, _BETWEEN.split(text)) if part]
    if parts:  # the last of several is often *and a lamp*
        before, conjunction, last = parts[-1].partition(" and ")
        joins = len(parts) > 1 or (_begins_with_number(before) and _begins_with_number(last))
        if conjunction and joins:
            parts[-1:] = [before, last]
    for part in parts:
        yield from _tags(part.strip(_AROUND))


def _without_list(sense: re.Match[str]) -> str:
    """Return parentheses, empty if they list senses: *bow (ribbon, knot)* is one name."""
    return "" if _BETWEEN.search(sense[0]) else sense[0]


def _without_bullet(part: str) -> str:
    part = part.strip()
    bullet = _BULLET.match(part)
    return (part[bullet.end() :] if bullet else part).strip(_AROUND).removeprefix("and ")


def _begins_with_number(text: str) -> bool:
    word = text.strip().partition(" ")[0].lower()
    return word in _ARTICLES or word in _NUMBERS or word.isdigit()


def _tags(part: str) -> list[Tag]:
    """Return the tags of a name with its count; those of its alternatives, as in *tv/monitor*."""
    if _is_nothing(part):
        return []
    name, number = _counted(part)
    if _FILE.fullmatch(name):
        raise AnnotationError(
            f"the label {part!r:.60} is the name of a file; list names of things."
        )
    if "<" in name or ">" in name:
        raise AnnotationError(f"the label {part!r:.60} has markup in it; write the name alone.")
    words = name.lower().split()
    if len(words) > MOST_WORDS or (len(words) > 2 and not _OF_SENTENCES.isdisjoint(words)):
        raise AnnotationError(
            f"the label {part!r:.60} is a sentence of {len(words)} words; list the names of things."
        )
    if not any(map(str.isalpha, name)):
        raise AnnotationError(
            f"the label is {part!r:.60}; write the name of the class, not a number."
        )
    return [Tag(alternative, number) for alternative in names_in(name)]


def _names_in(name: str) -> tuple[str, ...]:
    names = tuple(map(str.strip, _BETWEEN_NAMES.split(name)))
    apart = len(names) > 1 and "(" not in name
    return names if apart and all(len(x) > 1 and x[0].isalpha() for x in names) else (name,)


NAMES_IN = Remembered(_names_in)


def names_in(name: str) -> tuple[str, ...]:
    """Return the names of a class that has several, such as *tabby, tabby cat* or *TV/monitor*.

    >>> names_in("sofa;couch"), names_in("w/ dog")
    (('sofa', 'couch'), ('w/ dog',))
    """
    return NAMES_IN[name]


def _is_nothing(part: str) -> bool:
    words = part.lower().split()
    if not words or (len(words) == 1 and words[0] in _NOTHING):
        return True
    if words[0] not in _NOTHING or len(words) > MOST_WORDS:
        return False
    rest = words[1:]
    of_things = words[0] != "no" or not _THINGS.isdisjoint(rest)
    return of_things and all(word in _THINGS or word in _OF_THINGS for word in rest)


def _counted(part: str) -> tuple[str, int]:
    """Return a name without its count: *dog x2*, *dog (2)*, *dog: 2*, *2 dogs*, *no dog*."""
    words = part.split()
    first = words[0].lower()
    if first == "no" and len(words) > 1:
        return _bare(words[1:]), 0
    if len(words) > 1:
        if first in _NUMBERS or first.isdecimal():
            number = _NUMBERS.get(first) or _whole(first)
            rest = words[2:] if words[1] in _TIMES and len(words) > 2 else words[1:]
            singular = _in_singular(rest)
            if number is not None and (len(rest) < len(words) - 1 or number < 2 or singular):
                return _bare(singular or rest), number
        number = _whole(first[:-1]) if first[-1] in _TIMES else None
        if number is not None:
            return _bare(_in_singular(words[1:]) or words[1:]), number
    head, last = part, ""
    at = max(part.rfind(" "), part.rfind(":"), part.rfind("("), part.rfind("\u00d7"))
    if at > 0:
        head, last = part[:at], part[at:]
    stripped = last.strip(" :()")
    digits = stripped.lstrip("xX*\u00d7")
    marked = digits != stripped or last[0:1] in (":", "(", "\u00d7")
    bare = head.rstrip(" :(")
    if bare[-2:-1] == " " and bare[-1] in _TIMES:  # dog x 2
        bare, marked = bare[:-2].rstrip(), True
    number = _whole(digits) if marked or head.rstrip().endswith((":", "(")) else None
    if number is not None and bare:
        return _bare(bare.split()), number
    return _bare(words), 1


def _whole(digits: str) -> int | None:
    whole = digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if whole else None


def _in_singular(words: list[str]) -> list[str]:
    """Return words of which the last is a plural in the singular; nothing for others."""
    last = words[-1].lower()
    if last in _PAIRS:
        return words
    if last in _SINGULARS:
        return [*words[:-1], _SINGULARS[last]]
    if not last.endswith("s") or last.endswith(("ss", "us")):
        return []
    if last.endswith("ies"):
        return [*words[:-1], f"{last[:-3]}y"]
    without_es = _ES.sub("", last)
    return [*words[:-1], last[:-1] if without_es == last else without_es]


def _bare(words: list[str]) -> str:
    """Return a name without its article."""
    return " ".join(words[1:] if len(words) > 1 and words[0].lower() in _ARTICLES else words)


def among_asked(phrase: str, asked: Collection[str]) -> tuple[list[str], set[str]]:
    """Return which of the names looked for a detector's phrase means, and which it leaves open.

    Grounding DINO joins several of them in one phrase (*car taxi*), or writes a piece of one
    (*##van*, *motor* of *motorbike*); a piece of several names leaves these open. A phrase in which
    none of them is means itself.
    """
    words = phrase.split()
    longest = max((name.count(" ") + 1 for name in asked), default=0)
    meant: list[str] = []
    open_names: set[str] = set()
    at = 0
    while at < len(words):
        ends = range(min(at + longest, len(words)), at, -1)
        parts = ((" ".join(words[at:end]), end) for end in ends)
        name, end = next(((part, end) for part, end in parts if part in asked), ("", at + 1))
        piece = words[at].removeprefix("##")
        if name:
            meant.append(name)
        elif piece in asked:
            meant.append(piece)
        elif len(piece) >= _SHORTEST_PIECE:
            whole = [x for x in asked if x.startswith(piece) or x.endswith(piece)]
            open_names.update(whole) if len(whole) > 1 else meant.extend(whole)
        at = end
    return (meant or ([] if open_names else [phrase])), open_names
