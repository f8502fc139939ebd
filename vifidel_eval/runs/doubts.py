"""Warnings for scores that most likely mean nothing, though they are correct by definition."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from ..errors import VifidelWarning
from ..evaluation import Column, Evaluation
from ..image_ids import ImageId
from ..scorers import Mean, Scorer
from ..scorers.word_vectors import WordVectorScorer
from ..text.words import STOP_WORDS, Language, foreign
from ..vectors import load_vectors
from .harness import Scores, column_names
from .pairing import System

# From this share on, almost all scores are the lowest possible.
_ALMOST_ALL = 0.95
# Fewer images say nothing.
_FEWEST = 10
# BLEU without a common n-gram is not quite 0.
_AS_GOOD_AS_ZERO = 1e-6


def warn_of_language(
    systems: Sequence[System],
    references: Mapping[ImageId, Sequence[str]] | None,
    scorers: Mapping[str, Scorer],
) -> None:
    """Warn if captions are not English and metrics read them as if they were.

    Parameters
    ----------
    systems : sequence of System
        What is scored.
    references : mapping, optional
        Image id to references.
    scorers : mapping
        Metric name to scorer.

    Warns
    -----
    VifidelWarning
        Once, if metrics on word vectors have the embedded vectors or the English stop words.
    """
    vectors: list[str] = []
    stop_words: list[str] = []
    for name, scorer in scorers.items():
        for part in scorer.parts if isinstance(scorer, Mean) else (scorer,):
            if isinstance(part, WordVectorScorer):
                if part.space.vectors is load_vectors(None) and name not in vectors:
                    vectors.append(name)
                if part.space.stop_words == STOP_WORDS and name not in stop_words:
                    stop_words.append(name)
    if not vectors and not stop_words:
        return
    found: dict[str, list[str]] = {}
    example: dict[str, Language] = {}
    sides = [(f"system {s.name!r}", list(s.captions.values())) for s in systems]
    if references is not None:
        sides.append(("the references", list(chain.from_iterable(references.values()))))
    for side, texts in sides:
        language = foreign(texts)
        if language is not None:
            found.setdefault(language.name, []).append(side)
            example.setdefault(language.name, language)
    if not found:
        return
    seems = "; ".join(
        f"captions of {_listed(sides)} seem to be {name} "
        f"({', '.join(map(repr, example[name].examples))})"
        for name, sides in found.items()
    )
    what = " and ".join(
        said for said, used in (("vectors", vectors), ("stop words", stop_words)) if used
    )
    metrics = list(dict.fromkeys([*vectors, *stop_words]))
    todo = " and ".join(
        said
        for said, used in (
            ("--vectors FILE (vectors=)", vectors),
            ("--stop-words FILE (stop_words=)", stop_words),
        )
        if used
    )
    warnings.warn(
        f"{seems}, but the {what} of {_listed(metrics)} are English: the scores say little. Give "
        f"those of the language: {todo}.",
        VifidelWarning,
        stacklevel=3,
    )


def warn_of_floor(
    scores: Scores, scorers: Mapping[str, Scorer], known: Collection[str] = ()
) -> None:
    """Warn if almost all scores of a metric are the lowest that it has.

    Parameters
    ----------
    scores : Scores
        Of these scorers.
    scorers : mapping
        Metric name to scorer.
    known : collection of str
        Columns whose low scores have been explained.

    Warns
    -----
    VifidelWarning
        Once, if in all columns of a metric in which higher is better, 95 % of a system's images
        have the score 0, of at least ten that have a score.
    """
    metric_of = column_names(scorers)
    at_floor: dict[str, list[str]] = {}
    mute = []
    for system, of_column in scores.evaluations.items():
        for metric in scorers:
            names = [c.name for c in _higher(scores) if metric_of.get(c.name) == metric]
            columns = [of_column[name] for name in names if name not in known]
            shares = list(map(_share_at_zero, columns))
            if shares and min(shares) >= _ALMOST_ALL:
                at_floor.setdefault(metric, []).append(system)
                mute += [e for e in columns if 2 * e.counts.get("no_words", 0) > len(e.ids)]
    if not at_floor:
        return
    said = "; ".join(
        f"{metric} of {_listed([repr(name) for name in names])}"
        for metric, names in at_floor.items()
    )
    cause = (
        "most captions have no word that counts: are they in the script and language of the stop "
        "words and vectors?"
        if mute
        else "captions that are of other images than their ids say, or in another language than "
        "the references or labels: look at some with `vifidel-eval explain --image ID`."
    )
    warnings.warn(
        f"almost all images have the lowest score, 0, under {said}; the likely cause: {cause}",
        VifidelWarning,
        stacklevel=3,
    )


def _higher(scores: Scores) -> Iterator[Column]:
    return (c for c in scores.columns() if c.ranked and not c.lower_is_better)


def _share_at_zero(evaluation: Evaluation) -> float:
    """Return the share of the images with a score that have the lowest; 0 of few."""
    defined = evaluation.scores[~np.isnan(evaluation.scores)]
    return float((defined <= _AS_GOOD_AS_ZERO).mean()) if len(defined) >= _FEWEST else 0.0


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
