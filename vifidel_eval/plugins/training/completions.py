"""Completions of a policy: read and scored, whatever is in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ...captions.rows import MOST_CHARACTERS, Rows
from ...errors import CaptionError
from ...evaluation import Column
from ...scorers import Scorer
from ...scorers.word_vectors import MOST_DIFFERENT

#: A generated text: a string, or messages whose content is text or a list of blocks.
Completion: TypeAlias = str | Sequence[Mapping[str, Any]]


def score_completions(
    scorer: Scorer,
    column: Column,
    completions: Sequence[Any],
    evidence: Mapping[str, list[Any]],
    strict: bool,
) -> tuple[list[float], list[bool], list[CaptionError]]:
    """Return the scores of completions in a column; `evidence` is about their images, by row.

    They are NaN of those that claim nothing or cannot be read, too. The second are whether another
    caption of the same image would have a score, the third why completions cannot be read.
    """
    unreadable: dict[int, CaptionError] = {}
    captions: list[str] = []
    for at, completion in enumerate(completions):
        try:
            captions.append(_text(completion, at))
        except CaptionError as problem:
            unreadable[at] = problem
            captions.append("")
    try:
        scores = _scores_of(scorer, column, scorer.rows(captions, **evidence))
    except CaptionError:
        scores = []
        for at, caption in enumerate(captions):
            row = {name: [values[at]] for name, values in evidence.items()}
            try:
                scores += _scores_of(scorer, column, scorer.rows([caption], **row))
            except CaptionError as problem:
                # What is wrong with the row itself is an error.
                scores += _scores_of(scorer, column, scorer.rows([""], **row))
                unreadable[at] = CaptionError(
                    f"completion {at}: {str(problem).removeprefix('row 0: ')}"
                )
    if strict and unreadable:
        raise unreadable[min(unreadable)]
    for at in unreadable:
        scores[at] = math.nan
    known = [True] * len(scores)
    undefined = [at for at, score in enumerate(scores) if math.isnan(score)]
    if undefined:
        rows = scorer.rows([""] * len(scores), **evidence).take(undefined)
        # Captions that say all that is known of their images.
        nothing: list[Any] = [()] * len(rows)
        sides = rows.objects or nothing, rows.asked or nothing, rows.references
        told = replace(rows, captions=list(map(_known_names, *sides)), answers=None)
        for at, score in zip(undefined, _scores_of(scorer, column, told), strict=True):
            known[at] = not math.isnan(score)
    return scores, known, [unreadable[at] for at in sorted(unreadable)]


def _scores_of(scorer: Scorer, column: Column, rows: Rows) -> list[float]:
    """Return the score of each row, NaN if its caption claims nothing."""
    scores = scorer.evaluate(rows, signed=False)[column.name].scores.tolist()
    pairs = zip(scores, rows.claims_nothing, strict=True)
    return [math.nan if claims_nothing else score for score, claims_nothing in pairs]


def _known_names(labels: Iterable[str], asked: Iterable[str] | None, denied: Iterable[str]) -> str:
    """Return a text of no more words than can be read that names what is known of an image."""
    names = dict.fromkeys((*labels, *sorted(asked or ()), *denied))
    texts, left = [], MOST_DIFFERENT
    for text in names:
        left -= len(text.split()) + 1
        if left < 0:
            break
        texts.append(f"A {text}.")
    return " ".join(texts)[:MOST_CHARACTERS]


def _text(completion: Completion, at: int) -> str:
    """Return the text of a completion: of messages, that of all which the policy wrote."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]

    def written(content: Any) -> str:
        if content is None or isinstance(content, str):  # None: it only calls a tool
            return content or ""
        return "".join(block["text"] for block in content if block.get("type", "text") == "text")

    try:
        return "".join(
            written(message.get("content"))
            for message in completion
            if message.get("role", "assistant") == "assistant"  # not a tool's answer
        )
    except (AttributeError, KeyError, TypeError) as problem:
        raise CaptionError(
            f"completion {at}: {completion!r:.60} is neither a text nor a list of messages."
        ) from problem
