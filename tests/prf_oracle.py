"""Plain VIFIDEL-PRF for the tests, written from docs/metrics.md alone: one caption, in loops.

What a page leaves to VIFIDEL-H, which words are mentions and denials, comes with the texts: these
are sentences of `Piece`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple

import numpy as np


class Piece(NamedTuple):
    """Words of a text, such as *a dog*: what they are, and what of them are content words.

    Of a thing there are its class, and whether the text denies it.
    """

    text: str
    words: tuple[str, ...] = ()
    category: str | None = None
    denied: bool = False


Sentence = tuple[Piece, ...]
Text = list[Sentence]


@dataclass
class World:
    """Vectors, names of classes, and what these are kinds of, or may be."""

    vectors: dict[str, np.ndarray]
    class_of: dict[str, str]  # of single words, and of labels
    parents: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)  # sure ones, or not

    def kinds_of(self, category: str) -> set[str]:
        """A class, and the classes that are kinds of it."""
        below = {one for one, of in self.parents.items() if (category, True) in of}
        return {category}.union(*map(self.kinds_of, below))

    def vector(self, text: str) -> np.ndarray | None:
        """That of a word, or the mean of those of a phrase."""
        units = [
            self.vectors[w] / np.linalg.norm(self.vectors[w])
            for w in text.split()
            if w in self.vectors
        ]
        return None if not units else np.mean(units, axis=0)

    def c(self, x: str, y: str) -> float:
        one, other = self.vector(x), self.vector(y)
        if one is None or other is None:
            return float(x == y)
        return max(0.0, float(one @ other / math.sqrt((one @ one) * (other @ other))))

    def known(self, texts) -> list[str]:
        return sorted({text for text in texts if self.vector(text) is not None})


def counts_of_images() -> dict[str, int]:
    text = files("vifidel_eval.words").joinpath("caption_words.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {word: int(number) for word, number in lines}


IMAGES = counts_of_images()


def rarity(word: str) -> float:
    return min(6.0, math.log(IMAGES["*"] / IMAGES[word])) if word in IMAGES else 6.0


def content(text: Text) -> list[str]:
    return [word for sentence in text for piece in sentence for word in piece.words]


def things(text: Text) -> list[Piece]:
    return [piece for sentence in text for piece in sentence if piece.category is not None]


def prf(  # noqa: PLR0915 - as the page has it, from above to below
    world: World, text: Text, labels: list[str], looked_for: set[str] | None, references: list[Text]
) -> tuple[float, float, float]:
    """P, R and F. `looked_for` are classes, None if the labels do not say what was looked for."""
    message = [world.known(content(reference)) for reference in references]
    usable = [set(words) for words in message if words]
    of_references = world.known(word for words in usable for word in words)
    known_labels = sorted(set(labels))  # which names decide, also without a vector
    evidence = [*known_labels, *of_references]
    if not evidence:
        return math.nan, math.nan, math.nan
    of_labels = {world.class_of.get(label) for label in labels} - {None}
    by_name = {
        word
        for piece in things(text)
        if not piece.denied and not world.known(piece.words)
        if piece.category in of_labels | (looked_for or set())
        for word in piece.words
    }
    words = sorted({*world.known(content(text)), *by_name})
    if not words:
        return 0.0, 0.0, 0.0
    heard = {word for label in labels for word in label.split()}.union(of_references)
    scored = [
        kept
        for sentence in text
        for kept in [tuple(piece for piece in sentence if not piece.denied)]
        if any(piece.category for piece in kept) or heard & {*content([kept])}
    ]
    words = sorted({*world.known(content(scored)), *by_name}) or words
    mentions = [piece for piece in things(text) if not piece.denied]

    # There, denied, doubted.
    mentioned = [{p.category for p in things(r) if not p.denied} for r in references]
    pieces = [piece for reference in references for sentence in reference for piece in sentence]
    alone = {word for piece in pieces if len(piece.words) == 1 for word in piece.words}
    by_words = {world.class_of.get(word) for word in alone.intersection(of_references)} - {None}
    by_words |= {p.category for p in pieces if len(p.words) > 1 and not p.denied}

    def find(category):
        """The verdict, and the class that decides it."""
        named, asked = of_labels | by_words, looked_for or set()
        if named & world.kinds_of(category):
            return "there", category
        if category in asked:
            return "denied", category
        level = world.parents.get(category, [])
        while level:
            for parent, is_sure in level:
                if parent in named or (not is_sure and named & world.kinds_of(parent)):
                    return "there", parent
            for parent, is_sure in level:
                if is_sure and parent in asked:
                    return "denied", parent
            level = [one for p, is_sure in level if is_sure for one in world.parents.get(p, [])]
        return "doubted", category

    result = [(piece, *find(piece.category)) for piece in mentions]
    unnamed = [piece for piece, verdict, _ in result if verdict != "there"]
    denied = [piece for piece, verdict, _ in result if verdict == "denied"]

    def c_of(piece):
        return max(world.c(" ".join(piece.words), e) for e in evidence)

    witnesses = len(usable) + (bool(labels) and looked_for is None)
    delta = witnesses / (witnesses + 5)

    # K.
    def x_of(piece):
        return 1.0 if piece in denied else delta**3 * max(0.0, 1 - c_of(piece) / 0.4)

    sure: dict[str, float] = {}
    for piece, verdict, by in result:
        if verdict != "there":
            sure[by] = max(x_of(piece), sure.get(by, 0.0))
    for piece in things(text):
        if piece.denied:
            kinds = world.kinds_of(piece.category)
            half = sum(bool(kinds & classes) for classes in mentioned) * 2 >= len(references)
            x = delta**3 if references and half else 0.0
            x = 1.0 if of_labels & world.kinds_of(piece.category) else x
            sure[piece.category] = max(x, sure.get(piece.category, 0.0))
    kept = math.prod(1 - 0.4 * x for x in sure.values())

    # P.
    in_named = {word for piece in mentions if piece not in unnamed for word in piece.words}
    in_denied = {word for piece in denied for word in piece.words} - in_named
    by_label = {
        word
        for piece, verdict, by in result
        if verdict == "there"
        and of_labels & world.kinds_of(by)
        and not by_words & world.kinds_of(piece.category)
        for word in piece.words
    }
    in_mentions = {word for piece in mentions for word in piece.words}
    nobody = set() if delta else in_mentions - in_named
    supported = unsupported = 0.0
    for word in words:
        s = max(world.c(word, e) for e in evidence)
        s = 1.0 if word in by_label or (word in by_name and word in in_named) else s
        s = 0.0 if word in in_denied else s
        k = 1.0 if word in in_mentions else 0.4 if usable else 0.0
        k = 0.0 if word in nobody else k
        a = 1.0 if word in in_denied else k * (s + (1 - s) * delta)
        supported, unsupported = supported + a * s, unsupported + a * (1 - s)
    total = supported + math.log(1 + unsupported)
    nothing = 0.5 if mentions else 0.0  # where nothing has any weight
    p = max(0.01, supported / total) if total else nothing

    # R.
    in_sure = {word for piece in unnamed if x_of(piece) for word in piece.words} - in_named

    def reach(target):
        return max((world.c(target, word) for word in words if word not in in_sure), default=0.0)

    if usable:
        h = {u: sum(u in r for r in usable) / len(usable) for u in of_references}
        weight = {u: h[u] * rarity(u) for u in h}
        k = sum(weight[u] * reach(u) for u in h) / sum(weight.values())
        d = sum(weight[u] * h[u] for u in h) / sum(weight.values())
        r = k / (k + (1 - k) * math.sqrt(d)) if k else 0.0
    else:
        spoken = {by for _, verdict, by in result if verdict == "there"}
        classes = {one for one in of_labels for p in mentions if p.category in world.kinds_of(one)}
        classes |= spoken
        best: dict[str, float] = {}
        for label in known_labels:
            own = world.class_of.get(label)
            reached = 1.0 if own in classes else reach(label)
            best[own or label] = max(reached, best.get(own or label, 0.0))
        r = sum(best.values()) / len(best)

    # F.
    f = kept * math.sqrt(min(1.0, p / (1 - 0.5 * (1 - delta))) * max(0.01, r))
    if usable:
        f = (f * wording(text, references) ** 0.08) ** (1 / 1.08)
    return kept * p, r, f


Counts = dict[tuple[str, ...], float]
START = ""  # of a sentence, before its first word


def counted(sentences: list[list[str]], shared: set[str] | None = None) -> tuple[Counts, Counts]:
    """How much of each word, and of each pair of shared words or the start, sentences have."""
    singles: Counts = Counter((word,) for sentence in sentences for word in sentence)
    pairs: Counts = Counter()
    for sentence in sentences:
        before, word_before = 0, START
        for place, word in enumerate(sentence, 1):
            if shared is None or word in shared:
                pairs[word_before, word] += 1 / (place - before)
                before, word_before = place, word
    return singles, pairs


def weight(amounts: Counts) -> float:
    return sum(n * sum(rarity(w) for w in words if w) ** 2 for words, n in amounts.items())


def likeness(one: list[list[str]], other: list[list[str]]) -> float:
    shared = {w for s in one for w in s} & {w for s in other for w in s}
    result = 0.0
    of_shared, of_all = [
        list(zip(counted(one, words), counted(other, words), strict=True))
        for words in (shared, None)
    ]
    for (here, there), (all_here, all_there) in zip(of_shared, of_all, strict=True):
        both = {key: min(n, there[key]) for key, n in here.items() if key in there}
        scale = math.sqrt(weight(all_here) * weight(all_there))
        result += weight(both) / scale / 2 if scale else 0.0
    return result


def wording(text: Text, references: list[Text]) -> float:
    def read(some):
        spoken = (" ".join(piece.text for piece in sentence).lower().split() for sentence in some)
        return [sentence for sentence in spoken if sentence]

    given = [read(reference) for reference in references if read(reference)]
    alike = [sum(likeness([s], r) for r in given) / len(given) for s in read(text)]
    return 0.05 + 0.95 * max(alike, default=0.0)
