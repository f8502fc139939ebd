"""People beside systems: what references get when they are scored as captions are.

It is a change of what goes into a run. Of each image, some references are left out and stand as the
caption of one further system, *people*; all systems are then scored against the references that
remain, so that people and systems have the same number of them.

Where systems write short captions, people have one reference; where they write long, as many joined
as come nearest to the systems' median length. Which ones is fixed by the references themselves:
they are taken in the order of the SHA-256 digests of their texts, not in that of the file, in which
the first may be the longest. So an image's choice depends on no other image.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from ..errors import CaptionError, VifidelError, VifidelWarning
from ..io.image_ids import ImageId, match
from ..scorers import Scorer
from .harness import score_systems
from .lengths import lengths
from .scores import PEOPLE, People, Scores
from .systems import System

_ENDS = (".", "!", "?")


def people_of(
    systems: Sequence[System], references: Mapping[ImageId, Sequence[str]]
) -> tuple[People, System, dict[ImageId, list[str]]]:
    """Return how people's captions are made, these captions, and the references that remain.

    The systems' median length says how many references are joined; one always remains.

    Raises a CaptionError if no image has two references with a word.
    """
    orders = {image_id: _in_order(of_image) for image_id, of_image in references.items()}
    orders = {image_id: order for image_id, order in orders.items() if len(order) > 1}
    if not orders:
        raise CaptionError(
            f"{PEOPLE} need two references of an image, one that stands as their caption and one "
            "to score it against, and no image has two: give more references."
        )
    wanted = median(lengths(c for system in systems for c in system.captions.values()) or [0])
    medians = {
        number: median(sum(lengths(order[:-1][:number])) for order in orders.values())
        for number in range(1, max(map(len, orders.values())))
    }
    joined = min(medians, key=lambda number: abs(medians[number] - wanted))
    captions, remaining = {}, {}
    for image_id, order in orders.items():
        left_out = order[:-1][:joined]
        captions[image_id] = _as_text(left_out)
        remaining[image_id] = list(references[image_id])
        for text in left_out:
            remaining[image_id].remove(text)
    words = lengths(captions.values())
    people = People(joined, sum(words) / len(words), len(words), len(references) - len(words))
    return people, System(PEOPLE, captions), remaining


def _in_order(references: Sequence[str]) -> list[str]:
    """Return the references that have a word, in the order in which they are left out."""
    return sorted(
        (text for text in references if text.split()),
        key=lambda text: (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), text),
    )


def _as_text(references: Sequence[str]) -> str:
    """Return references as one text, each a sentence; one alone stays as it is."""
    if len(references) == 1:
        return references[0]
    texts = (text.strip() for text in references)
    return " ".join(text if text.endswith(_ENDS) else f"{text}." for text in texts)


def with_people(
    systems: Sequence[System], references: Mapping[ImageId, Sequence[str]]
) -> tuple[People, list[System], dict[ImageId, list[str]]]:
    """Return how people's captions are made, the systems with people last, and the references.

    The references are those that remain, of the images that take part; what the systems say of
    images without two references is left out.

    Raises a CaptionError if a system is called as people are, or no image has two references with a
    word.
    """
    if any(system.name == PEOPLE for system in systems):
        raise CaptionError(
            f"a system is called {PEOPLE!r}, as the references are among the systems; give it "
            "another name."
        )
    people, row, remaining = people_of(systems, references)
    takes_part = []
    for system in systems:
        same = match(system.captions, references)
        # An id that no reference has stays, for the error that names it.
        kept = {i: c for i, c in system.captions.items() if i not in same or same[i] in remaining}
        takes_part.append(replace(system, captions=kept))
    return people, [*takes_part, row], remaining


def floor_of(
    systems: Sequence[System],
    references: Mapping[ImageId, Sequence[str]],
    scorers: Mapping[str, Scorer],
) -> People | None:
    """Return people's rates of inventions under metrics that have such rates.

    References of each image, as many as come nearest to the systems' length, are judged as a
    caption by its objects and its other references. None where no image has two references.
    """
    with warnings.catch_warnings():
        # What the references are like was said when the systems were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        try:
            people, row, remaining = people_of(systems, references)
            scores = score_systems([row], scorers, remaining)
        except VifidelError:  # references that cannot be judged have no rates
            return None
    rates = {
        name: float(evaluation.score)
        for name, evaluation in scores.evaluations[row.name].items()
        if evaluation.lower_is_better and not math.isnan(evaluation.score)
    }
    return replace(people, rates=rates) if rates else None


def signed(scores: Scores, people: People) -> Scores:
    """Return the scores of a run in which people are a system, with that in every signature."""
    # References were left out of those of the systems.
    pinned = f"{PEOPLE}:{people.joined}-left-out"
    signatures = {name: f"{text}|{pinned}" for name, text in scores.signatures.items()}
    evaluations = {
        system: {name: replace(e, signature=signatures[name]) for name, e in of_column.items()}
        for system, of_column in scores.evaluations.items()
    }
    return replace(scores, signatures=signatures, evaluations=evaluations, people=people)
