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
    middle = median(lengths(c for system in systems for c in system.captions.values()) or [0])
    words_of_first = [list(accumulate(lengths(order[:-1]))) for order in orders.values()]
    medians: dict[int, float] = {}
    for number in range(1, max(map(len, orders.values()))):
        medians[number] = median(words[min(number, len(words)) - 1] for words in words_of_first)
        if medians[number] >= middle:
            break  # more references have more words
    joined = min(medians, key=lambda number: abs(medians[number] - middle))
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
        # Warnings of the references were given when the systems were scored.
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
    largest = max(map(len, captions.values()), default=0)
    return [
        System.read(
            f"{name}, sample {number + 1}",
            {i: texts[number] for i, texts in captions.items() if number < len(texts)},
            as_written,
            name,
        )
        for number in range(largest)
    ]


def gathered_columns(column: Column) -> list[str]:
    """Return what becomes of a column; of one without a direction, nothing is best or worst."""
    of_samples = OF_SAMPLES if column.ranked else OF_SAMPLES[:1]
    return [f"{column.name} {ending}" for ending in of_samples]


class _Samples:
    """The samples of a system, each with a row for every image: its first where it has fewer."""

    def __init__(self, samples: Mapping[str, Rows]) -> None:
        first = next(iter(samples.values()))  # which has all images
        self.rows: dict[str, Rows] = {}  # by sample
        self.repeated: dict[str, Rows] = {}  # those for missing samples, which are not counted
        self.own = np.ones((len(samples), len(first)), dtype=bool)  # which rows are no repetitions
        for is_own, (name, rows) in zip(self.own, samples.items(), strict=True):
            row_of = {image_id: row for row, image_id in enumerate(rows.ids)}
            is_own[:] = [image_id in row_of for image_id in first.ids]
            # Of each image, the row among those of the sample and, behind them, of the first.
            places = [row_of.get(i, len(rows) + row) for row, i in enumerate(first.ids)]
            captions = [*rows.captions, *first.captions]
            answers = [
                *(rows.answers or [None] * len(rows)),
                *(first.answers or [None] * len(first)),
            ]
            answers = [answers[place] for place in places]
            self.rows[name] = replace(
                first,
                captions=[captions[place] for place in places],
                answers=answers if any(answers) else None,
            )
            if not is_own.all():
                self.repeated[f"{name}, again"] = first.take(np.flatnonzero(~is_own).tolist())

    def gathered(
        self, evaluations: Mapping[str, Mapping[str, Evaluation]], column: str
    ) -> list[Evaluation]:
        """Return the mean, the best and the worst of the samples in one column, image by image."""
        samples = [evaluations[name][column] for name in self.rows]
        first, own = samples[0], self.own
        scores = np.where(own, [sample.scores for sample in samples], np.nan)
        counted = own & ~np.array([sample.missing for sample in samples])
        of_rows = None
        if first.statistics is not None:
            rows = [sample.statistics.of_rows for sample in samples if sample.statistics]
            of_rows = np.where(counted[:, :, np.newaxis], rows, np.nan)
        counts: Counter[str] = Counter()
        for sample in samples:
            counts.update(sample.counts)
        for name in self.repeated:
            counts.subtract(evaluations[name][column].counts)
        counts["samples"] = int(own.sum())
        counts["undefined_samples"] = int((own & ~counted).sum())
        mean = None if of_rows is None else _mean(of_rows)
        gathered = [_of_images(first, counts, _mean(scores), mean)]
        sign = -1 if first.lower_is_better else 1
        images = np.arange(own.shape[1])
        for goodness in (sign * scores, -sign * scores):
            # Without a score, a caption that mentions nothing still counts in corpus scores.
            order = np.where(counted, np.nan_to_num(goodness, nan=_LAST), -np.inf)
            chosen = order.argmax(axis=0)
            of_chosen = None if of_rows is None else of_rows[chosen, images]
            best = _of_images(first, counts, scores[chosen, images], of_chosen)
            pairs = zip(chosen.tolist(), np.isnan(best.scores).tolist(), strict=True)
            places = [None if is_undefined else sample for sample, is_undefined in pairs]
            gathered.append(replace(best, details={"sample": places}))
        return gathered


def _of_images(
    sample: Evaluation, counts: Mapping[str, int], scores: Floats, of_rows: Floats | None
) -> Evaluation:
    """Return the evaluation of images by what was gathered of their samples, such as this one."""
    statistics = corpus_score = None
    missing: NDArray[np.bool_] = np.isnan(scores)
    if sample.statistics is not None and of_rows is not None:
        statistics = Statistics(of_rows, sample.statistics.score)
        missing = np.asarray(np.isnan(of_rows).any(axis=1))
        corpus_score = math.nan if missing.all() else statistics.corpus_score
    return replace(
        sample,
        scores=scores,
        corpus_score=corpus_score,
        statistics=statistics,
        # What is undefined is counted by image, and who lacks captions later.
        counts={**counts, "undefined": int(missing.sum()), "missing": 0},
        tallies={},
        made_up=None,  # of one sample it is not that of all
        details={},
    )


def score_samples(
    aligned: Aligned,
    scorers: Mapping[str, Scorer],
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
    on_metric: Callable[[str], object] | None = None,
) -> Scores:
    """Score systems whose samples are as `spread` returns them."""
    samples_by_system: dict[str, _Samples] = {}
    rows: dict[str, Rows] = {}
    for name, (first, *others) in samples_of(aligned.systems).items():
        systems = [first, *(sample for sample in others if sample.captions)]
        samples = _Samples({system.name: aligned.rows_of(system) for system in systems})
        if not rows.keys().isdisjoint(samples.rows):
            raise CaptionError(
                f"the samples of {name!r:.60} have the names of other systems; rename it."
            )
        samples_by_system[name] = samples
        rows |= samples.rows | samples.repeated
    scores = score_rows(rows, scorers, on_progress, unavailable, on_metric)
    warn_of_scores(scores, aligned, scorers)
    numbers = np.concatenate([samples.own.sum(axis=0) for samples in samples_by_system.values()])
    fewest, most = int(numbers.min()), int(numbers.max())
    pinned = f"samples:{most}" if fewest == most else f"samples:{fewest}-{most}"
    signatures: dict[str, str] = {}
    evaluations: dict[str, dict[str, Evaluation]] = {name: {} for name in samples_by_system}
    for name, samples in samples_by_system.items():
        for column in scores.columns():
            signature = f"{scores.signatures[column.name]}|{pinned}"
            gathered = samples.gathered(scores.evaluations, column.name)
            for shown, evaluation in zip(gathered_columns(column), gathered, strict=False):
                signatures[shown] = signature
                missing = len(aligned.images) - len(evaluation.ids)
                evaluations[name][shown] = replace(
                    evaluation,
                    counts={**evaluation.counts, "missing": missing},
                    signature=signature,
                    details={f"{shown} sample": places for places in evaluation.details.values()},
                )
    return Scores(signatures, evaluations, scores.unavailable)


def _mean(values: Floats) -> Floats:
    """Return means over the first axis of what is defined; NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        mean: Floats = np.nansum(values, axis=0) / (~np.isnan(values)).sum(axis=0)
    return mean
