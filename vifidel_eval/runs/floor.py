"""People's part in the scores of a run: in signatures, and as the floor of invention rates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import VifidelError, VifidelWarning
from ..image_ids import ImageId
from ..scorers import Scorer
from .harness import Scores, score_systems
from .pairing import System
from .people import People, people_of


def floor(
    systems: Sequence[System],
    references: Mapping[ImageId, list[str]] | None,
    scorers: Mapping[str, Scorer],
) -> People | None:
    """Return people's rates of inventions, for those metrics of a run that have such rates.

    References of each image are judged as a caption by its objects and its other references.

    Parameters
    ----------
    systems : sequence of System
        The systems of the run, whose lengths say how many references are joined.
    references : mapping, optional
        Image id to references.
    scorers : mapping
        Metric name to scorer.

    Returns
    -------
    People or None
        None where no metric has such rates, or no image two references.
    """
    rating = {name: scorer for name, scorer in scorers.items() if scorer.rates_inventions}
    if not rating or not references:
        return None
    with warnings.catch_warnings():
        # What the references are like was said when the systems were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        try:
            people, row, remaining = people_of(systems, references)
            scores = score_systems([row], rating, remaining)
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

    def sign(signature: str) -> str:
        return f"{signature}|{people.signature}"

    return replace(
        scores,
        signatures={name: sign(text) for name, text in scores.signatures.items()},
        evaluations={
            system: {
                name: replace(evaluation, signature=sign(evaluation.signature))
                for name, evaluation in of_column.items()
            }
            for system, of_column in scores.evaluations.items()
        },
        people=people,
    )
