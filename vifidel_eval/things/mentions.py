"""Where a caption mentions a thing of a list of classes: CHAIR's rules for words.

1. The caption is split into lower-case tokens (`words.tokens`).
2. Terms of two words become one word (`_TERMS`); so do the list's own names of several words, of
   which the longest is taken.
3. Each word is looked up in the list: as it is, else in its singular form (and in the plural of
   names that the rules for singular forms do not lead back to: *ties*). Where the caption has
   a *toilet*, a *seat* is not looked up.
4. A word that describes the next one is no mention: *orange cat*, *passenger train*.

With the published list the rules are those of the published program to the letter: words are
looked up and joined in their singular form alone, only `_TERMS` are joined, and there is no rule 4.
So it does not find a *bus* (its singular form is *bu* there), *tennis racket* stays two words, and
a *dining table* is a *table*.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..text.words import piece_words
from .synonyms import ClassList
from .words import irregular_plural, singular, tokens

_YOUNG_OR_GROWN = ("baby", "adult")
_ANIMALS = "bird cat dog horse sheep cow elephant bear zebra giraffe animal cub".split()

# What two words become. Terms that are of no class keep their words from being looked up.
_TERMS = {
    **{
        term: term
        for term in (
            "motor bike", "motor cycle", "air plane", "traffic light", "street light",
            "traffic signal", "stop light", "fire hydrant", "stop sign", "parking meter",
            "suit case", "sports ball", "baseball bat", "baseball glove", "tennis racket",
            "wine glass", "hot dog", "cell phone", "mobile phone", "teddy bear", "hair drier",
            "potted plant", "laptop computer", "home plate", "train track",
        )
    },
    "wine glas": "wine glass",  # the singular form by the published rules
    "bow tie": "tie",
    "toilet seat": "toilet",
    "passenger jet": "jet",
    "passenger train": "train",
    **{f"{age} {animal}": animal for age in _YOUNG_OR_GROWN for animal in _ANIMALS},
}  # fmt: skip

# Names that describe the next word as often as they name a thing: "an orange cat", "a baby goat".
_DESCRIBING = frozenset(
    """
    adult baby chocolate double-decker driver female glass lemon lime male mother olive orange paper
    passenger peach pedestrian rose tourist toy
    """.split()
)
# What may follow a noun that does not describe another; so may forms in -ing.
_AFTER_A_NOUN = frozenset(
    """
    's about above across after against along among around as at before behind below beneath beside
    between but by down during for from has have having he her his if in inside into is are it its
    like near next of off on onto or out outside over past she than that the their there they this
    through to together towards under underneath until up upon was were when where which while who
    whose with within without looks sits stands can does
    """.split()
)
_AND = frozenset(("and", "or", ","))
_DETERMINERS = frozenset("a an another both one some the these this those three two".split())


class Mention(NamedTuple):
    """One mention of a thing.

    Attributes
    ----------
    name : str
        The list's name of it, in the singular: ``"wine glass"``.
    category : str
        The class.
    words : str
        The caption's own words, in lower case: ``"wine glasses"``.
    """

    name: str
    category: str
    words: str


class Mentions(NamedTuple):
    """The mentions of one caption, in order, and its length in tokens after joining terms."""

    found: tuple[Mention, ...]
    tokens: int


class Unit(NamedTuple):
    """Words of a caption that mean one thing: a mention, a term, or a single word.

    Attributes
    ----------
    text : str
        What has a word vector: the word as the caption has it, or the list's name of several.
    words : str
        The caption's own words, in lower case.
    category : str or None
        The class, if the unit is a mention.
    """

    text: str
    words: str
    category: str | None


class _Term(NamedTuple):
    words: tuple[str, ...]
    becomes: str
    as_written: bool  # whether a word may match as it is, not only in its singular form

    def begins(self, words: list[str], forms: list[str], at: int) -> bool:
        """Whether the tokens from `at` on are the term."""
        if at + len(self.words) > len(words):
            return False
        for place, expected in enumerate(self.words, at):
            written = self.as_written and words[place] == expected
            if forms[place] != expected and not written:
                return False
        return True


class MentionFinder:
    """Finds the mentions of a list's classes in captions.

    Parameters
    ----------
    classes : ClassList
        The list, with the object labels that it does not know added (`ClassList.with_names`).

    Examples
    --------
    >>> from vifidel_eval.things.synonyms import coco_synonyms
    >>> finder = MentionFinder(coco_synonyms())
    >>> [mention.category for mention in finder.find("Two hot dogs by a baby elephant").found]
    ['hot dog', 'elephant']
    """

    def __init__(self, classes: ClassList) -> None:
        self.classes = classes
        self._class_of = classes.class_of
        own = dict.fromkeys(classes.added)
        if not classes.published:
            own |= dict.fromkeys([*classes.class_of, *classes.no_class])
        self._describing = frozenset() if classes.published else _DESCRIBING
        terms = [
            _Term(tuple(term.split()), becomes, not classes.published)
            for term, becomes in _TERMS.items()
            if term not in own
        ]
        # Words that stand for a name as they are written.
        self._as_written: dict[str, str] = {}
        for written, name in {**_irregular_plurals(own), **{name: name for name in own}}.items():
            words = tuple(tokens(f"{written} .")[:-1])  # before other text "t.v." is one token
            if len(words) == 1:
                self._as_written[words[0]] = name
            else:
                terms.append(_Term(words, name, as_written=True))
        self._terms: dict[str, dict[str, list[_Term]]] = {}  # by the first word, by the second
        for term in terms:
            first, second = term.words[:2]
            self._terms.setdefault(first, {}).setdefault(second, []).append(term)
        self._known = frozenset(self._terms).union(self._as_written, classes.class_of)

    def __reduce__(self) -> tuple[type[MentionFinder], tuple[ClassList]]:
        return MentionFinder, (self.classes,)

    def find(self, caption: str) -> Mentions:
        """Return the mentions of a caption, in order, and its number of tokens."""
        words = tokens(caption)
        forms = list(map(singular, words))
        found: list[Mention] = []
        length = len(words)
        for at, end, name in self._named(words, forms):
            length -= end - at - 1
            category = self._class_of.get(name)
            if category is not None:
                found.append(Mention(name, category, " ".join(words[at:end])))
        return Mentions(tuple(found), length)

    def units(self, caption: str, stop_words: Collection[str]) -> list[Unit]:
        """Return the content words of a caption in order, terms of several words as one unit.

        Parameters
        ----------
        caption : str
            The caption.
        stop_words : collection of str
            Single words that are no units, whatever the list says of them: *can*.

        Examples
        --------
        >>> from vifidel_eval.things.synonyms import coco_synonyms
        >>> finder = MentionFinder(coco_synonyms())
        >>> found = finder.units("Two hot dogs by a big fence", {"two", "by"})
        >>> [(unit.text, unit.category) for unit in found]
        [('hot dog', 'hot dog'), ('big', None), ('fence', None)]
        """
        words = tokens(_plain(caption))
        forms = list(map(singular, words))
        stop_words = frozenset(stop_words)
        found: list[Unit] = []
        done = 0
        for at, end, name in (*self._named(words, forms), (len(words), len(words), "")):
            for word in words[done:at]:
                found += _open_units(word, stop_words)
            done = end
            if end - at > 1:
                found.append(Unit(name, " ".join(words[at:end]), self._class_of.get(name)))
            elif end > at and words[at] not in stop_words:
                category = self._class_of.get(name)
                if category is None:
                    found += _open_units(words[at], frozenset())
                else:
                    found.append(_mention_unit(words[at], category))
        return found

    def _named(self, words: list[str], forms: list[str]) -> Iterator[tuple[int, int, str]]:
        """Yield where terms and words that may be names begin and end, and what they are called.

        Words that describe the next one, and a seat beside a toilet, are none.
        """
        known, terms = self._known, self._terms
        end = 0
        for at, (word, form) in enumerate(zip(words, forms, strict=True)):
            if (form not in known and word not in known) or at < end:
                continue
            begins = form in terms or word in terms
            term = self._term(words, forms, at) if begins else None
            if term is not None:
                end, name = at + len(term.words), term.becomes
            elif word in self._describing and self._describes(words, forms, at):
                continue
            else:
                end, name = at + 1, self._as_written.get(word, form)
            if name != "seat" or "toilet" not in forms:
                yield at, end, name

    def _term(self, words: list[str], forms: list[str], at: int) -> _Term | None:
        """Return the longest term that begins at a token."""
        if at + 1 == len(words):
            return None
        best = None
        for first in {forms[at]: None, words[at]: None}:
            by_second = self._terms.get(first)
            if by_second is None:
                continue
            for second in {forms[at + 1]: None, words[at + 1]: None}:
                for term in by_second.get(second, ()):
                    longer = best is None or len(term.words) > len(best.words)
                    if longer and term.begins(words, forms, at):
                        best = term
        return best

    def _describes(self, words: list[str], forms: list[str], at: int) -> bool:
        """Whether a word describes the next one rather than naming a thing."""
        for _ in range(3):  # "an adult and baby goat"; bounded, for texts of any length
            if not (_AND.issuperset(words[at + 1 : at + 2]) and words[at + 2 : at + 3]):
                break
            if words[at + 2] in _DESCRIBING:
                at += 2
        follower, after = [*words[at + 1 : at + 3], ".", "."][:2]
        if follower in _AND:
            return (
                after[0].isalpha()
                and after not in _AFTER_A_NOUN | _DETERMINERS
                and forms[at + 2] not in self._class_of
            )
        return (
            follower[0].isalpha() and follower not in _AFTER_A_NOUN and not follower.endswith("ing")
        )


def _plain(caption: str) -> str:
    """Return a caption with blanks for control characters and symbols, which stick to words."""
    if caption.isascii() and caption.isprintable():
        return caption
    return "".join(
        " " if unicodedata.category(character)[0] in "CS" else character
        for character in unicodedata.normalize("NFC", caption)
    )


# The same words come again and again: each has one unit, which all captions share.


@lru_cache(maxsize=1 << 14)
def _open_units(token: str, stop_words: frozenset[str]) -> tuple[Unit, ...]:
    """Return the words in a token; none in what a contraction leaves behind (*'ll*, *n't*)."""
    if token.startswith("'") or token == "n't":
        return ()
    words = (word for word in piece_words(token) if word not in stop_words)
    return tuple(Unit(word, word, None) for word in words)


@lru_cache(maxsize=1 << 14)
def _mention_unit(word: str, category: str) -> Unit:
    return Unit(word, word, category)


def _irregular_plurals(names: Iterable[str]) -> dict[str, str]:
    """Return the names whose plural the rules for singular forms do not lead back, by plural."""
    plurals = {}
    for name in names:
        before, blank, last = name.rpartition(" ")
        plural = irregular_plural(last)
        if plural is not None:
            plurals[f"{before}{blank}{plural}"] = name
    return plurals
