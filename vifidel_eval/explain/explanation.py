"""What of a caption is in the image, and who was matched with what: results a person can read.

The transport plan alone cannot say that a word is not in the image: it must move all mass
somewhere. So that judgement rests on unweighted cosines, as CHAIR's (Rohrbach et al., EMNLP 2018)
rests on a list of synonyms: a word is likely hallucinated if it names one of the labels that the
source of objects knows while no object of the image is near it and no reference mentions it. Of
all other words, such as *standing* or *large*, word vectors cannot tell, and nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..digits import rounded
from ..image_ids import ImageId, to_json_value

if TYPE_CHECKING:
    from ..text_tables import Cell, Table

#: Words and labels that speak of people, whom the vectors keep far apart: *children* and *person*
#: have a cosine of -.02. A label among them goes unmentioned only if the caption has no such word.
PEOPLE = frozenset(
    "person persons people man men woman women boy boys girl girls child children kid kids baby "
    "babies toddler toddlers guy guys lady ladies gentleman gentlemen male female adult adults "
    "teenager teenagers".split()
)

# Costs in printed tables; a distance is at most 4.
_DECIMALS = 6


@dataclass(frozen=True)
class Thresholds:
    """The cosines that decide; between `far` and `near`, and below `names`, nothing is claimed.

    The defaults fit the embedded vectors. They were chosen with ``benchmarks/grounding.py``,
    which any other vectors can be tried with, on COCO val2017 and its gold objects: in captions
    that people wrote for the images, and in the same captions dealt to other images. Of the words
    then called not in the image, CHAIR's rules call 97 % and 97 % so too; they find 41 % and 64 %
    of what CHAIR finds (CHAIR's list knows that *man* is a person, the vectors do not). 4.4 % and
    64 % of the captions hold such a word.

    Attributes
    ----------
    names : float
        From here on a word names a label: *dogs*, *television* (tv), *bat* (baseball bat). At .75
        CHAIR would confirm only 79 % in the captions that belong to their images. A word that
        only begins like the label, as *caring* (car), never names it: vectors made of pieces of
        words cannot tell them apart.
    near : float
        From here on a word is near an object, which it may speak of: *puppy* (dog). Anything
        from .3 to .5 gives the same within 1 %. A word that names a label, as *dog*, is not near
        a longer one that only contains it, as hot dog, unless the caption holds all of that.
    far : float
        An object is unmentioned if all words stay below this (and none is of `PEOPLE` where it
        is). Of the objects then called unmentioned in captions of their images, CHAIR's rules
        confirm 99 %, and 92 % of the persons.
    """

    names: float = 0.8
    near: float = 0.4
    far: float = 0.2


@dataclass(frozen=True)
class Match:
    """Mass that moves from an object label to a caption word.

    Attributes
    ----------
    label, word : str
        The two ends.
    mass : float
        Share of the whole mass that moves between them, in (0, 1].
    cost : float
        Travel cost of a unit of mass (Eq. 1 or 5), not negative.
    label_penalty, word_penalty : float
        Reference penalties (Eq. 4) in [0, 1], small for what the references mention; 1 without
        references.
    """

    label: str
    word: str
    mass: float
    cost: float
    label_penalty: float
    word_penalty: float

    @property
    def contribution(self) -> float:
        """What the match adds to the distance: mass times cost."""
        return self.mass * self.cost


@dataclass(frozen=True)
class CaptionWord:
    """How a content word of a caption stands to the image.

    Attributes
    ----------
    word : str
        The word.
    cost : float
        What its matches add to the distance; NaN for an image without objects.
    nearest : str or None
        The object of the image with the largest cosine; None for an image without objects.
    similarity : float
        That cosine, unweighted, in [-1, 1]; NaN for an image without objects.
    near : bool
        Whether that makes it near, as `Thresholds.near` says.
    names : str or None
        The label that the word names, among all labels that the source of objects knows.
    hallucinated : bool
        Whether the word names a label while no object of the image is near it and no reference
        mentions it. Never for an image without objects, whose score is undefined.
    """

    word: str
    cost: float
    nearest: str | None
    similarity: float
    near: bool
    names: str | None
    hallucinated: bool

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        if self.hallucinated:
            return f"not in the image: names {self.names}"
        return f"near {self.nearest}" if self.near else "no claim"


@dataclass(frozen=True)
class Explanation:
    """Why a caption got its score; ``print(explanation)`` shows it as tables.

    Attributes
    ----------
    image_id : hashable
        The image.
    caption : str
        The caption as given.
    score : float
        exp(-distance); 0 for a caption without a usable word, NaN for an image without objects.
    distance : float
        The sum of the contributions of `matches`, exactly (``math.fsum``); NaN if either bag is
        empty.
    matches : tuple of Match
        The transport plan, the largest contribution first.
    words : tuple of CaptionWord
        Each usable word of the caption once, the costliest first.
    unmentioned : tuple of str
        Objects of the image that all words of the caption are far from, in alphabetical order.
    unknown_words : tuple of str
        Words and labels left out because they have no vector.
    """

    image_id: ImageId
    caption: str
    score: float
    distance: float
    matches: tuple[Match, ...]
    words: tuple[CaptionWord, ...]
    unmentioned: tuple[str, ...]
    unknown_words: tuple[str, ...]

    @property
    def hallucinated(self) -> tuple[str, ...]:
        """The words that are probably not in the image."""
        return tuple(word.word for word in self.words if word.hallucinated)

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON can hold it; what is undefined is None.

        Numbers are in full, so that the contributions add up; but the score has ten significant
        digits, as in all files: the last bits of exp differ by machine.
        """
        return {
            "image_id": to_json_value(self.image_id),
            "caption": self.caption,
            "score": rounded(self.score),
            "distance": _defined(self.distance),
            "hallucinated": list(self.hallucinated),
            "unmentioned": list(self.unmentioned),
            "unknown_words": list(self.unknown_words),
            "words": [
                asdict(word)
                | {"cost": _defined(word.cost), "similarity": _defined(word.similarity)}
                for word in self.words
            ],
            "matches": [
                asdict(match) | {"contribution": match.contribution} for match in self.matches
            ],
        }

    def __str__(self) -> str:
        return "\n\n".join(table.render("table") for table in tables(self))


def tables(explanation: Explanation, title: str | None = None) -> list[Table]:
    """Return the words of an explanation and its transport plan, each with a total.

    Costs are text with six decimals that add up to the total as shown: what rounding takes from
    one row it gives to the next.

    Parameters
    ----------
    explanation : Explanation
        What to show.
    title : str, optional
        What stands above the tables; by default image and caption.
    """
    from ..text_tables import Table

    words, matches, total = explanation.words, explanation.matches, explanation.distance
    by_word: list[list[Cell]] = [
        [
            "!" if word.hallucinated else "+" if word.near else "",
            word.word,
            word.verdict,
            word.nearest,
            _defined(word.similarity),
            cost,
            f"{word.cost / total:.1%}" if total > 0 else None,
        ]
        for word, cost in zip(words, _shown([word.cost for word in words]), strict=True)
    ]
    plan: list[list[Cell]] = [
        [m.label, m.word, m.label_penalty, m.word_penalty, m.mass, m.cost, amount]
        for m, amount in zip(matches, _shown([m.contribution for m in matches]), strict=True)
    ]
    if matches:
        shown = f"{total:.{_DECIMALS}f}"
        by_word.append(["", "total", "", "", "", shown, "100.0%" if total > 0 else None])
        plan.append(["total", "", "", "", "", "", shown])
    return [
        Table(
            ["", "Word", "Verdict", "Nearest object", "Cosine", "Cost", "Share"],
            by_word,
            texts=4,
            title=title or f"image {explanation.image_id}: {one_line(explanation.caption)}",
        ),
        Table(
            ["Object", "Word", "Object rho", "Word rho", "Mass", "Cost", "Mass x cost"],
            plan,
            notes=_summary(explanation),
            texts=2,
            title="Transport plan" if plan else "",
        ),
    ]


def plan_table(of_systems: Mapping[str, Explanation]) -> Table:
    """Return the transport plans of several systems in full, a row a match, without totals."""
    from ..text_tables import Table

    headers = ["System", "Image", "Object", "Word", "Verdict", "Nearest object", "Cosine"]
    headers += ["Object rho", "Word rho", "Mass", "Cost", "Mass x cost"]
    rows: list[list[Cell]] = []
    for name, explanation in of_systems.items():
        words = {word.word: word for word in explanation.words}
        for m in explanation.matches:
            word = words[m.word]
            rows.append([name, str(explanation.image_id), m.label, m.word, word.verdict])
            rows[-1] += [word.nearest, word.similarity, m.label_penalty, m.word_penalty]
            rows[-1] += [m.mass, m.cost, m.contribution]
    return Table(headers, rows, texts=6)


def _summary(explanation: Explanation) -> list[str]:
    """Return what matters most, a sentence or a list a line."""
    lines = []
    if math.isnan(explanation.score):
        lines.append("The image has no usable object label: nothing can be said of the caption.")
    else:
        if explanation.words:
            found = [f"{w.word} (names {w.names})" for w in explanation.words if w.hallucinated]
            lines.append(f"Probably not in the image: {', '.join(found) or 'nothing found'}")
        else:
            lines.append("The caption has no usable word.")
        lines.append(f"Unmentioned objects: {', '.join(explanation.unmentioned) or 'none'}")
    if explanation.unknown_words:
        lines.append(f"Without a vector: {', '.join(explanation.unknown_words)}")
    score = "undefined" if math.isnan(explanation.score) else f"{explanation.score:.4f}"
    if math.isnan(explanation.distance):
        return [*lines, f"Score {score}"]
    return [*lines, f"Distance {explanation.distance:.{_DECIMALS}f}, score {score}"]


def one_line(caption: str, width: int | None = None) -> str:
    """Return a caption as one line of printable characters, at most `width` of them."""
    text = " ".join("".join(c if c.isprintable() else " " for c in caption).split())
    return text if width is None or len(text) <= width else f"{text[: width - 3]}..."


def _shown(amounts: Sequence[float]) -> list[str]:
    """Return amounts as text, rounded so that they add up to their rounded sum."""
    if any(math.isnan(amount) for amount in amounts):
        return ["-"] * len(amounts)
    sums = [round(math.fsum(amounts[:end]) * 10**_DECIMALS) for end in range(len(amounts) + 1)]
    return [f"{(after - before) / 10**_DECIMALS:.{_DECIMALS}f}" for before, after in pairwise(sums)]


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else number
