"""Captions of a run from within: their sentences, words and inventions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..errors import VifidelError
from ..explain.inventions import Invention, inventions_in
from ..explain.sentences import JudgedSentence
from ..image_ids import ImageId, to_json_value
from ..rows import Rows
from ..runs.pairing import all_images, paired
from ..scorers import VifidelPRF
from ..scorers.explaining import explainer_of, uncombined
from .plan import Plan

_PIECE = re.compile(r"\S+")


def prf_of(plan: Plan) -> VifidelPRF:
    """Return the VIFIDEL-PRF of a run, or one that is made from its settings.

    Raises
    ------
    VifidelError
        If there is no evidence to hold captions against.
    """
    scorers = plan.scorers.values()
    for part in uncombined(scorers):
        if isinstance(part, VifidelPRF):
            return part
    settings = plan.settings
    explainer = explainer_of(scorers, settings)
    if explainer is not None:
        return VifidelPRF(**explainer.evidence)
    if not (settings.weighted and plan.references):
        raise VifidelError(
            "nothing is known of the images to judge sentences and words by; give objects or "
            "references."
        )
    return VifidelPRF(**settings.evidence)


def inventions_of(plan: Plan) -> Iterator[Invention]:
    """Yield the inventions of all systems, each in the order of the images."""
    explainer = explainer_of(plan.scorers.values(), plan.settings) or prf_of(plan)
    for system in plan.systems:
        for (part,) in explainer.explained([_rows(plan, system.name)]):
            if part is not None:
                yield from inventions_in(system.name, part, explainer.units)


def sentences_of(plan: Plan, system: str) -> dict[ImageId, list[JudgedSentence]]:
    """Return the judged sentences of each image's caption by a system."""
    rows = _rows(plan, system)
    judged = prf_of(plan).judge_sentences(rows)
    return dict(zip(rows.ids, judged, strict=True))


def words_of(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the content words of all captions, each with its place and what is said of it."""
    scorer = prf_of(plan)
    for system in plan.systems:
        rows = _rows(plan, system.name)
        of_rows = zip(
            rows.ids,
            rows.captions,
            scorer.judge_sentences(rows),
            scorer.word_supports(rows),
            strict=True,
        )
        for image_id, caption, sentences, words in of_rows:
            pieces = [piece.span() for piece in _PIECE.finditer(caption)]
            for word in words:
                start, end = pieces[word.place[0]][0], pieces[word.place[-1]][1]
                number = _sentence_at(sentences, start)
                sentence = sentences[number]
                yield {
                    "system": system.name,
                    "image_id": to_json_value(image_id),
                    "sentence": number,
                    "start": start,
                    "end": end,
                    "word": word.word,
                    "thing": word.is_thing,
                    "support": word.support,
                    "weight": word.weight,
                    "by": word.by,
                    "hedged": any(a <= start < b for a, b in sentence.hedged),
                    "invented": any(m.start < end and start < m.end for m in sentence.inventions),
                }


def _sentence_at(sentences: list[JudgedSentence], start: int) -> int:
    """Return the number of the sentence that a place is in."""
    behind = (number for number, sentence in enumerate(sentences) if start < sentence.end)
    return next(behind, len(sentences) - 1)


def _rows(plan: Plan, system: str) -> Rows:
    chosen = next(one for one in plan.systems if one.name == system)
    return paired(chosen, all_images(plan.systems, plan.references), allow_subset=True)
