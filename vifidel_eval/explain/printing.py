"""Explanations as tables: the words first, the transport plan where it is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..text_tables import Cell, Table

if TYPE_CHECKING:
    from .explanation import CaptionWord, Explanation

#: What stands before a word in tables, by its verdict.
MARKS = {"not in the image": "!", "there": "+", "not judged": "?", "no claim": ""}

# Costs in printed tables; a distance is at most 4.
_DECIMALS = 6


def tables(explanation: Explanation, title: str | None = None, plan: bool = False) -> list[Table]:
    """Return the words of an explanation and, if asked for, its transport plan.

    The words of things that are not in the image come first, then the costliest. Costs are text
    with six decimals that add up to the total as shown: what rounding takes from one row it gives
    to the next.

    Parameters
    ----------
    explanation : Explanation
        What to show.
    title : str, optional
        What stands above the tables; by default image and caption.
    plan : bool
        Whether the transport plan follows.
    """
    words = sorted(explanation.words, key=lambda word: not word.hallucinated)
    total = explanation.distance
    shown = f"{total:.{_DECIMALS}f}"
    by_word: list[list[Cell]] = [
        [
            MARKS[word.verdict],
            word.word,
            _verdict(word),
            word.supported_by,
            _two_digits(word.support),
            cost,
            f"{word.cost / total:.1%}" if total > 0 else None,
        ]
        for word, cost in zip(words, _shown([word.cost for word in words]), strict=True)
    ]
    if explanation.matches:
        by_word.append(["", "total", "", "", "", shown, "100.0%" if total > 0 else None])
    first = Table(
        ["", "Word", "Verdict", "Nearest evidence", "Support", "Cost", "Share"],
        by_word,
        notes=_summary(explanation),
        texts=4,
        title=title or f"image {explanation.image_id}: {one_line(explanation.caption)}",
    )
    if not plan or not explanation.matches:
        return [first]
    matches = explanation.matches
    rows: list[list[Cell]] = [
        [m.label, m.word, m.label_penalty, m.word_penalty, m.mass, m.cost, amount]
        for m, amount in zip(matches, _shown([m.contribution for m in matches]), strict=True)
    ]
    rows.append(["total", "", "", "", "", "", shown])
    headers = ["Object", "Word", "Object rho", "Word rho", "Mass", "Cost", "Mass x cost"]
    return [first, Table(headers, rows, texts=2, title="Transport plan")]


def plan_table(of_systems: Mapping[str, Explanation]) -> Table:
    """Return the transport plans of several systems in full, a row a match, without totals."""
    headers = ["System", "Image", "Object", "Word", "Verdict", "Nearest evidence", "Support"]
    headers += ["Object rho", "Word rho", "Mass", "Cost", "Mass x cost"]
    rows: list[list[Cell]] = []
    for name, explanation in of_systems.items():
        words = {word.word: word for word in explanation.words}
        for m in explanation.matches:
            word = words[m.word]
            rows.append([name, str(explanation.image_id), m.label, m.word, word.verdict])
            rows[-1] += [word.supported_by, word.support, m.label_penalty, m.word_penalty]
            rows[-1] += [m.mass, m.cost, m.contribution]
    return Table(headers, rows, texts=6)


def _verdict(word: CaptionWord) -> str:
    apart = word.mention is not None and word.mention != word.word
    return f"{word.verdict}: {word.mention}" if apart else word.verdict


def _two_digits(support: float) -> str | None:
    return None if math.isnan(support) else f"{support:.2f}"


def _summary(explanation: Explanation) -> list[str]:
    """Return what matters most, a sentence or a list a line."""
    lines = []
    if not explanation.known:
        lines.append("Nothing is known about the image: no usable object label, no reference.")
    else:
        if not explanation.words:
            lines.append("The caption has no usable word.")
        else:
            absent = ", ".join(explanation.hallucinated) or "nothing found"
            lines.append(f"Probably not in the image: {absent}")
            not_judged = [m.words for m in explanation.mentions if str(m.verdict) == "not judged"]
            if not_judged:
                lines.append(f"Not judged: {', '.join(dict.fromkeys(not_judged))}")
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
