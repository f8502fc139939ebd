"""Explanations of captions, and the tables that show them: results a person can read.

The transport plan must move all mass somewhere, so it cannot say that a word is not in the image.
That rests on the support of the things that a caption mentions (`vifidel_eval.kernels.grounding`).
Of all other words, such as *standing* or *large*, nothing is claimed.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from ..captions.generated import Answer
from ..io.digits import rounded
from ..io.image_ids import ImageId, to_json_value
from ..io.text_tables import Cell, Table, beginning, columns_of
from ..kernels.claim_evidence import JudgedAttribute
from ..kernels.known import REFERENCES, Mention, Verdict

#: The mark before a word in tables, by its verdict.
MARKS = {"made up": "!", "wrong denial": "!", "there": "+", "unconfirmed": "?", "not checked": ""}

# The backgrounds of words in HTML, by their marks.
_COLOURS = {"!": "#fbb4ae", "+": "#ccebc5", "?": "#ffeda0"}

_DECIMALS = 6  # costs in printed tables; a distance is at most 4

# What every caption has many of are tuples: cheap to make, and no work for the garbage collector.


class Match(NamedTuple):
    """Mass that moves from an object label to a caption word."""

    label: str
    word: str
    mass: float  # share of the whole mass that moves between them, in (0, 1]
    cost: float  # travel cost of a unit of mass (Eq. 1 or 5), not negative
    # Reference penalties (Eq. 4) in [0, 1], small for what the references mention; 1 without any.
    label_penalty: float
    word_penalty: float

    @property
    def contribution(self) -> float:
        """What the match adds to the distance: mass times cost."""
        return self.mass * self.cost


class CaptionWord(NamedTuple):
    """A content word of a caption, and how the image supports it."""

    word: str
    penalty: float  # as `Match.word_penalty`
    cost: float  # what its matches add to the distance; NaN for an image without objects
    # Of the mention that the word belongs to, else the word's own: its largest cosine to the labels
    # and to what the references say, in [0, 1]. NaN if nothing is known of the image.
    support: float
    supported_by: str | None  # what has that cosine, or, for a mention, is of the same class
    part_of: Mention | None = (
        None  # what the word belongs to; if several, one that is not in the image
    )
    attribute: JudgedAttribute | None = None  # what the attributes of the image say of it, if any

    def judged_by(self, attribute: JudgedAttribute | None) -> CaptionWord:
        """Return the word as an attribute of the image supports or contradicts it."""
        if attribute is None:
            return self
        support, by = (1.0, attribute.by) if attribute.is_so else (0.0, None)
        return self._replace(support=support, supported_by=by, attribute=attribute)

    @property
    def mention(self) -> str | None:
        """The words of that mention."""
        return None if self.part_of is None else self.part_of.words

    @property
    def category(self) -> str | None:
        """The class of the mentioned thing."""
        return None if self.part_of is None else self.part_of.category

    @property
    def judged(self) -> Verdict | None:
        """What is said of the mention; None for other words."""
        return None if self.part_of is None else self.part_of.verdict

    @property
    def hallucinated(self) -> bool:
        """Whether the word mentions what is probably not in the image, or denies what is."""
        return self.part_of is not None and self.part_of.verdict.is_wrong

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        if self.attribute is not None:
            return self.attribute.shown
        return "not checked" if self.part_of is None else self.part_of.shown

    @property
    def mark(self) -> str:
        """The mark of the judgement, of `MARKS`."""
        if self.attribute is not None:
            return MARKS["there" if self.attribute.is_so else "made up"]
        return MARKS["not checked" if self.part_of is None else str(self.part_of.verdict)]

    def to_json(self) -> dict[str, Any]:
        """Return the word as JSON can hold it."""
        return {
            "word": self.word,
            "cost": _defined(self.cost),
            "support": _defined(self.support),
            "supported_by": self.supported_by,
            "mention": self.mention,
            "category": self.category,
            "verdict": self.verdict,
        }


class ImageObject(NamedTuple):
    """An object label that has a vector."""

    label: str
    penalty: float  # as `Match.label_penalty`
    is_mentioned: bool  # whether the caption speaks of it


@dataclass(frozen=True)
class Explanation:
    """Why a caption got its score, which its `repr` shows as tables."""

    image_id: ImageId
    caption: str  # as given
    # exp(-distance); 0 for a caption without a usable word, NaN for an image without objects. Of
    # CHAIR it is the caption's CHAIRi.
    score: float
    distance: float  # the exact sum of the contributions of `matches`; NaN if either bag is empty
    known: bool  # whether anything is known of the image, an object or a reference
    rated: bool  # whether rates count the caption, as something can be absent
    matches: tuple[Match, ...]  # the transport plan, the largest contribution first
    words: tuple[CaptionWord, ...]  # each usable word of the caption once, the costliest first
    mentions: tuple[Mention, ...]  # every mention of a thing, in the order of the caption
    objects: tuple[ImageObject, ...]  # in alphabetical order
    unknown_words: tuple[str, ...]  # words and labels left out because they have no vector
    denied: tuple[str, ...] = ()  # what was looked for and is not there, in alphabetical order
    answer: Answer | None = None  # what the caption was read from, if it is not as written
    attributes: tuple[str, ...] = ()  # listed for the image: "red car", "sunny"
    described: tuple[ImageObject, ...] = ()  # attributes and scenes among the labels of `matches`

    @property
    def shown(self) -> str:
        """The caption; of a text that claims nothing, that text and a note."""
        return self.caption if self.answer is None else self.answer.shown

    @property
    def unmentioned(self) -> tuple[str, ...]:
        """The objects that the caption does not speak of, in alphabetical order."""
        return tuple(item.label for item in self.objects if not item.is_mentioned)

    @property
    def hallucinated(self) -> tuple[str, ...]:
        """The mentions that are probably not in the image, each once, in the caption's order."""
        return self._mentioned(Verdict.ABSENT)

    @property
    def wrongly_denied(self) -> tuple[str, ...]:
        """What the caption denies although it is there."""
        return self._mentioned(Verdict.WRONG_DENIAL)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """The mentions of what nobody looked for in the image, and no reference has."""
        return self._mentioned(Verdict.UNCONFIRMED)

    @property
    def contradicted(self) -> tuple[str, ...]:
        """The words that the attributes of the image contradict."""
        return tuple(w.word for w in self.words if w.attribute and not w.attribute.is_so)

    def _mentioned(self, verdict: Verdict) -> tuple[str, ...]:
        return tuple(dict.fromkeys(m.words for m in self.mentions if m.verdict is verdict))

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON can hold it; what is undefined is None."""
        # Numbers are in full, so that contributions add up; but the last bits of exp, and so those
        # of the score, differ by machine.
        return {
            "image_id": to_json_value(self.image_id),
            "caption": self.caption,
            **({} if self.answer is None else self.answer.to_json()),
            "score": rounded(self.score),
            "distance": _defined(self.distance),
            "hallucinated": list(self.hallucinated),
            "wrongly_denied": list(self.wrongly_denied),
            "unconfirmed": list(self.unconfirmed),
            "unmentioned": list(self.unmentioned),
            "unknown_words": list(self.unknown_words),
            **({"denied": list(self.denied)} if self.denied else {}),
            **(
                {"attributes": list(self.attributes), "contradicted": list(self.contradicted)}
                if self.attributes
                else {}
            ),
            "mentions": [mention.to_json() for mention in self.mentions],
            "words": [word.to_json() for word in self.words],
            "matches": [
                match._asdict() | {"contribution": match.contribution} for match in self.matches
            ],
        }

    def _repr_html_(self) -> str:
        """Return the caption, in which what it mentions is marked, and its words."""
        parts, end = [], 0
        for mention in self.mentions:
            start, behind = mention.start, mention.end
            if start >= end:
                mark, verdict = MARKS[str(mention.verdict)], html.escape(mention.shown)
                parts += [
                    html.escape(self.caption[end:start]),
                    f'<mark style="background: {_COLOURS[mark]}; color: black" title="{verdict}">'
                    f"{html.escape(self.caption[start:behind])}<sup>{mark}</sup></mark>",
                ]
                end = behind
        ending = self.caption[end:] or ("" if parts else self.shown)
        caption = "".join([*parts, html.escape(ending)])
        return "\n".join([f"<p>{caption}</p>", *(table.html() for table in tables(self))])

    def __repr__(self) -> str:
        return "\n\n".join(table.render("table") for table in tables(self))


def tables(explanation: Explanation, system: str | None = None, plan: bool = False) -> list[Table]:
    """Return the words of an explanation, and its transport plan if `plan` asks for it."""
    words = sorted(explanation.words, key=lambda word: word.mark != MARKS["made up"])
    whose = "" if system is None else f"{system}, "
    total, matches = explanation.distance, explanation.matches
    shown = f"{total:.{_DECIMALS}f}"
    by_word: list[list[Cell]] = [
        [
            word.mark,
            word.word,
            f"{word.verdict}: {word.mention}"
            if word.mention not in (None, word.word)
            else word.verdict,
            word.supported_by,
            None if math.isnan(word.support) else f"{word.support:.2f}",
            cost,
            f"{word.cost / total:.1%}" if total > 0 else None,
        ]
        for word, cost in zip(words, _shown([word.cost for word in words]), strict=True)
    ]
    if matches:
        by_word.append(["", "total", "", "", "", shown, "100.0%" if total > 0 else None])
    first = Table(
        ["", "Word", "Verdict", "Nearest evidence", "Support", "Cost", "Share"],
        by_word,
        notes=_summary(explanation),
        texts=4,
        title=f"{whose}image {explanation.image_id}: {shortened(explanation.shown)}",
    )
    if not plan or not matches:
        return [first]
    rows: list[list[Cell]] = [
        [m.label, m.word, m.label_penalty, m.word_penalty, m.mass, m.cost, amount]
        for m, amount in zip(matches, _shown([m.contribution for m in matches]), strict=True)
    ]
    rows.append(["total", "", "", "", "", "", shown])
    headers = ["Object", "Word", "Object rho", "Word rho", "Mass", "Cost", "Mass x cost"]
    return [first, Table(headers, rows, texts=2, title="Transport plan")]


def _summary(explanation: Explanation) -> list[str]:
    """Return what matters most, one sentence or list per line."""
    listed: dict[str, Sequence[str]] = {}
    first = []
    if not explanation.known:
        first = [
            "Nothing is known about the image: it has no usable object label and no reference."
        ]
    elif explanation.answer is not None and explanation.answer.why_nothing:
        first = [f"The text claims nothing: it is {explanation.answer.why_nothing}."]
    elif not explanation.words:
        first = ["The caption has no usable word."]
    else:
        listed["Made up"] = explanation.hallucinated or ["nothing found"]
        listed["Wrong denials"] = explanation.wrongly_denied
        listed["Unconfirmed"] = explanation.unconfirmed
        listed["Contradicted"] = explanation.contradicted
        alone = any(mention.judged_by == REFERENCES for mention in explanation.mentions)
        listed["Judged by"] = [REFERENCES] if alone else []
    if explanation.known:
        listed["Missed"] = explanation.unmentioned or ["none"]
    listed["Looked for and not there"] = explanation.denied
    listed["Attributes"] = explanation.attributes
    listed["Without a vector"] = explanation.unknown_words
    score = "undefined" if math.isnan(explanation.score) else f"{explanation.score:.4f}"
    if math.isnan(explanation.distance):
        last = f"Score {score}"
    else:
        last = f"Distance {explanation.distance:.{_DECIMALS}f}, VIFIDEL {score}"
    return [*first, *(f"{title}: {', '.join(w)}" for title, w in listed.items() if w), last]


def shortened(caption: str, width: int | None = None) -> str:
    """Return a caption as one line of printable characters, at most `width` columns of them."""
    text = " ".join("".join(c if c.isprintable() else " " for c in caption).split())
    fits = width is None or columns_of(text) <= width
    return text if fits else f"{beginning(text, (width or 0) - 3)}..."


def around(caption: str, words: str, width: int) -> str:
    """Return the part of a caption where words are, as one line of at most `width` columns."""
    text = shortened(caption)
    if columns_of(text) <= width:
        return text
    width = width * len(text) // columns_of(text)  # characters
    place = spoken(words).search(text)
    first, last = (0, 0) if place is None else place.span()
    start = 0
    if last > width - 3:
        start = min(max((first + last - width) // 2, 0), len(text) - width)
    before, after = "..." if start else "", "..." if start + width < len(text) else ""
    return before + text[start + len(before) : start + width - len(after)] + after


def spoken(words: str) -> re.Pattern[str]:
    """Return the pattern of words in a caption, whatever their case and what is between them."""
    pattern = r"\W+".join(map(re.escape, re.findall(r"\w+", words)))
    return re.compile(rf"(?<!\w){pattern}(?!\w)" if pattern else "(?!)", re.IGNORECASE)


def _shown(amounts: Sequence[float]) -> list[str]:
    """Return amounts as text, rounded so that they add up to their rounded sum."""
    if any(math.isnan(amount) for amount in amounts):
        return ["-"] * len(amounts)
    sums = [round(math.fsum(amounts[:end]) * 10**_DECIMALS) for end in range(len(amounts) + 1)]
    return [f"{(after - before) / 10**_DECIMALS:.{_DECIMALS}f}" for before, after in pairwise(sums)]


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else number
