"""Runs with more than one caption per image: people beside systems, and samples.

*People* are references scored as captions are, against those that remain: as many joined as come
nearest to the systems' median length, in the order of the SHA-256 digests of their texts, so that
an image's choice depends on no other image, nor on the file. *Samples* are scored as a system for
the first captions of all images, one for the second ones and so on, and then gathered by image;
corpus scores that follow from counts follow from those of the chosen samples, or their mean.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ..captions.rows import Rows
from ..errors import CaptionError, MetricUnavailable, VifidelError, VifidelWarning
from ..evaluation import Column, Evaluation, Floats, Statistics
from ..io.image_ids import ImageId
from ..scorers import Scorer
from .alignment import Aligned, System, samples_of
from .run_warnings import warn_of_scores
from .scores import OF_SAMPLES, PEOPLE, People, Scores
from .systems import lengths, score_aligned, score_rows

_ENDS = (".", "!", "?")
_LAST = -np.finfo(np.float64).max  # below every score


def people_of(
    systems: Sequence[System], references: Mapping[ImageId, Sequence[str]]
) -> tuple[People, System, dict[ImageId, list[str]]]:
    """Return how people's captions are made, these captions, and the references that remain."""
    orders = {
        image_id: sorted((text for text in of_image if text.split()), key=_place)
        for image_id, of_image in references.items()
    }
    orders = {image_id: order for image_id, order in orders.items() if len(order) > 1}
    if not orders:
        raise CaptionError(
            f"{PEOPLE} need two references per image, one as their caption and one to score it "
            "against, and no image has two: give more references."
        )
    wanted = median(lengths(c for system in systems for c in system.captions.values()) or [0])
    words_of_first = [list(accumulate(lengths(order[:-1]))) for order in orders.values()]
    medians: dict[int, float] = {}
    for number in range(1, max(map(len, orders.values()))):
        medians[number] = median(words[min(number, len(words)) - 1] for words in words_of_first)
        if medians[number] >= wanted:
            break  # more references have more words
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


def _place(reference: str) -> tuple[bytes, str]:
    """Return the place of a reference among those that are left out."""
    return hashlib.sha256(reference.encode("utf-8", "surrogatepass")).digest(), reference


def _as_text(references: Sequence[str]) -> str:
    """Return references as one text, each a sentence; one alone stays as it is."""
    if len(references) == 1:
        return references[0]
    texts = (text.strip() for text in references)
    return " ".join(text if text.endswith(_ENDS) else f"{text}." for text in texts)


def with_people(aligned: Aligned) -> Aligned:
    """Return a run in which people are the last system; only images that take part are left."""
    if any(system.name == PEOPLE for system in aligned.systems):
        raise CaptionError(
            f"a system is called {PEOPLE!r}, the name of the references among the systems; give "
            "it another name."
        )
    people, their_captions, remaining = people_of(aligned.systems, aligned.images)
    systems = [
        replace(system, captions={i: c for i, c in system.captions.items() if i in remaining})
        for system in aligned.systems
    ]
    return replace(aligned, images=remaining, systems=[*systems, their_captions], people=people)


def floor_of(aligned: Aligned, scorers: Mapping[str, Scorer]) -> People | None:
    """Return people's rates of inventions, by the other references; None where no image has two."""
    with warnings.catch_warnings():
        # What the references are like was said when the systems were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        try:
            people, row, remaining = people_of(aligned.systems, aligned.images)
            scores = score_aligned(Aligned(remaining, [row]), scorers)
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
    return replace(scores, signatures=signatures, people=people).changed(
        lambda _, column, e: replace(e, signature=signatures[column])
    )


def spread(
    name: str, captions: Mapping[ImageId, Sequence[str]], as_written: bool = False
) -> list[System]:
    """Return a system for the first captions of all images, one for the second, and so on."""
    most = max(map(len, captions.values()), default=0)
    return [
        System.read(
            f"{name}, sample {number + 1}",
            {i: texts[number] for i, texts in captions.items() if number < len(texts)},
            as_written,
            name,
        )
        for number in range(most)
    ]


def gathered_columns(column: Column) -> list[str]:
    """Return what becomes of a column; of one without a direction, nothing is best or worst."""
    of_samples = OF_SAMPLES if column.ranked else OF_SAMPLES[:1]
    return [f"{column.name} {which}" for which in of_samples]


def _rows_of(
    samples: Mapping[str, Rows],
) -> tuple[dict[str, Rows], dict[str, Rows], NDArray[np.bool_]]:
    """Return a system's samples, the rows repeated in them, and what is not, (samples, rows)."""
    first = next(iter(samples.values()))
    systems: dict[str, Rows] = {}  # where an image has fewer samples, its first is repeated
    again: dict[str, Rows] = {}
    own = np.ones((len(samples), len(first)), dtype=bool)
    for is_own, (name, rows) in zip(own, samples.items(), strict=True):
        at = {image_id: row for row, image_id in enumerate(rows.ids)}
        is_own[:] = [image_id in at for image_id in first.ids]
        # The row of each image in those of both.
        both = [at.get(i, len(rows) + row) for row, i in enumerate(first.ids)]
        captions = [*rows.captions, *first.captions]
        answers = [*(rows.answers or [None] * len(rows)), *(first.answers or [None] * len(first))]
        answers = [answers[row] for row in both]
        systems[name] = replace(
            first,
            captions=[captions[row] for row in both],
            answers=answers if any(answers) else None,
        )
        if not is_own.all():
            again[f"{name}, again"] = first.take(np.flatnonzero(~is_own).tolist())
    return systems, again, own


def score_samples(
    aligned: Aligned,
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score systems whose samples are as `spread` returns them."""
    of_systems = {}
    for name, (first, *others) in samples_of(aligned.systems).items():
        samples = [first, *(sample for sample in others if sample.captions)]
        of_systems[name] = _rows_of({sample.name: aligned.rows_of(sample) for sample in samples})
    rows: dict[str, Rows] = {}
    for name, (of_samples, again, _) in of_systems.items():
        if not rows.keys().isdisjoint(of_samples):
            raise CaptionError(
                f"the samples of {name!r:.60} have the names of other systems; rename it."
            )
        rows |= of_samples | again
    scores = score_rows(rows, scorers, on_progress, unavailable, on_metric)
    warn_of_scores(scores, aligned, scorers)
    numbers = np.concatenate([own.sum(axis=0) for _, _, own in of_systems.values()])
    fewest, most = int(numbers.min()), int(numbers.max())
    pinned = f"samples:{most}" if fewest == most else f"samples:{fewest}-{most}"
    signatures: dict[str, str] = {}
    evaluations: dict[str, dict[str, Evaluation]] = {}
    for name, (of_samples, again, own) in of_systems.items():
        evaluations[name] = {}
        for column in scores.columns():
            signature = f"{scores.signatures[column.name]}|{pinned}"
            gathered = _gathered(
                [scores.evaluations[sample][column.name] for sample in of_samples],
                [scores.evaluations[sample][column.name] for sample in again],
                own,
            )
            for shown, evaluation in zip(gathered_columns(column), gathered, strict=False):
                counts = {**evaluation.counts, "missing": len(aligned.images) - len(evaluation.ids)}
                signatures[shown] = signature
                evaluations[name][shown] = replace(
                    evaluation,
                    counts=counts,
                    signature=signature,
                    details={f"{shown} sample": places for places in evaluation.details.values()},
                )
    return Scores(signatures, evaluations, scores.unavailable)


def _gathered(
    samples: Sequence[Evaluation], again: Sequence[Evaluation], own: NDArray[np.bool_]
) -> list[Evaluation]:
    """Return the mean, the best and the worst of the samples of one column."""
    first = samples[0]
    scores = np.where(own, [sample.scores for sample in samples], np.nan)
    counted = own & ~np.array([sample.missing for sample in samples])
    of_rows = None
    if first.statistics is not None:
        rows = [sample.statistics.of_rows for sample in samples if sample.statistics is not None]
        of_rows = np.where(counted[:, :, np.newaxis], rows, np.nan)
    total: Counter[str] = Counter()
    for sample in samples:
        total.update(sample.counts)
    for sample in again:
        total.subtract(sample.counts)
    counts = dict(total)
    counts |= {"samples": int(own.sum()), "undefined_samples": int((own & ~counted).sum())}

    def evaluation_of(
        of_images: Floats, sums: Floats | None, places: Sequence[int | None] | None = None
    ) -> Evaluation:
        statistics = corpus_score = None
        missing: NDArray[np.bool_] = np.isnan(of_images)
        if first.statistics is not None and sums is not None:
            statistics = Statistics(sums, first.statistics.score)
            missing = np.asarray(np.isnan(sums).any(axis=1))
            corpus_score = math.nan if missing.all() else statistics.corpus_score
        return replace(
            first,
            scores=of_images,
            corpus_score=corpus_score,
            statistics=statistics,
            # What is undefined is counted by image, and who lacks captions later.
            counts=counts | {"undefined": int(missing.sum()), "missing": 0},
            tallies={},
            made_up=None,  # of one sample it is not that of all
            details={} if places is None else {"sample": places},
        )

    def evaluation_of_best(goodness: Floats) -> Evaluation:
        # Without a score, a caption that mentions nothing still counts in corpus scores.
        order = np.where(counted, np.nan_to_num(goodness, nan=_LAST), -np.inf)
        place, images = order.argmax(axis=0), np.arange(own.shape[1])
        of_images = scores[place, images]
        pairs = zip(place.tolist(), np.isnan(of_images).tolist(), strict=True)
        places = [None if is_undefined else sample for sample, is_undefined in pairs]
        return evaluation_of(of_images, None if of_rows is None else of_rows[place, images], places)

    sign = -1 if first.lower_is_better else 1
    return [
        evaluation_of(_mean(scores), None if of_rows is None else _mean(of_rows)),
        evaluation_of_best(sign * scores),
        evaluation_of_best(-sign * scores),
    ]


def _mean(values: Floats) -> Floats:
    """Return means over the first axis of what is defined; NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        mean: Floats = np.nansum(values, axis=0) / (~np.isnan(values)).sum(axis=0)
    return mean
