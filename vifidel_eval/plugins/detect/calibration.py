"""Calibration of a rate of inventions: what wrong answers do to it, and the rate without them.

What is truly invented in a share h of all mentions is called absent in a share

    p = h (1 - a) + (1 - h) b,

where a is how often something that is not there is answered with *yes*, and b how often something
that is there is answered with *no*. Solved for h, this is the estimate of Rogan and Gladen
(American Journal of Epidemiology, 1978).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...annotations import ObjectLabels
from ...doors.arguments import name_wrong_argument
from ...errors import VifidelError, VifidelWarning
from ...evaluation import Evaluation, Floats, Integers
from ...io.image_ids import ImageId, match, mismatch
from ...run.reading import PathLike
from ...run.run import Run
from ...scorers.vifidel_h import ABSENT, JUDGED, VifidelH
from ...scores.scores import Calibrated
from ...scores.significance import Bootstrap
from ...scores.systems import score_aligned
from ...words.synonyms import ClassList
from .questions import class_of, named_by_several, read_controls

# So many references of an image that name a thing are hardly wrong together.
_SEVERAL = 3


@name_wrong_argument
def calibrated(
    run: Run,
    controls: PathLike | Mapping[ImageId, Collection[str]],
    seed: int = 0,
    resamples: int = 1000,
) -> Run:
    """Return a run with an estimate of each system's rate of inventions without wrong answers.

    VIFIDEL-Hi is judged by the answers alone, whatever evidence the run's own column uses. How
    often *yes* is wrong comes from the controls that no reference names, how often *no* is wrong
    from the things that three or more references name. ``run.detail.calibrated`` has the estimates.
    The `controls` are the questions, or their answers, with ``"control": true`` in the lines of
    controls; or image id to things. A run without objects or references, or controls about other
    images, are a `VifidelError`.
    """
    Bootstrap(seed, resamples)  # checks them
    plan = run.plan
    if plan is None or plan.settings.labels is None or not any(plan.images.values()):
        raise VifidelError(
            "calibration needs answers as objects, and references; evaluate with both."
        )
    if not isinstance(controls, Mapping):
        controls = read_controls(controls)
    classes = plan.settings.vocabulary
    image_of_control = match(controls, plan.images)
    if not image_of_control:
        raise mismatch(controls, plan.images, "the controls", "the references")
    mentioned = named_by_several(plan.images, 1, only_things=classes)
    of_images = {
        mine: {class_of(thing, classes) for thing in controls[theirs]} - mentioned[mine]
        for theirs, mine in image_of_control.items()
    }
    mentioned_by_several = named_by_several(plan.images, _SEVERAL, only_things=classes)
    scorer = VifidelH(**{**plan.settings.evidence, "references": False})
    with warnings.catch_warnings():
        # The run was scored before, and warned of its objects then.
        warnings.simplefilter("ignore", VifidelWarning)
        scores = score_aligned(plan.aligned, {scorer.method(): scorer})
    rates = {}
    for system, of_column in scores.evaluations.items():
        rate = of_column["VIFIDEL-Hi"]
        counts = _count(rate, plan.settings.labels, classes, of_images, mentioned_by_several)
        rates[system] = calibrate(counts, seed, resamples)
    return Run(replace(run.detail, calibrated=rates), plan)


def _count(
    rate: Evaluation,
    objects: ObjectLabels,
    classes: ClassList,
    controls: Mapping[ImageId, Collection[str]],
    mentioned: Mapping[ImageId, Collection[str]],
) -> AnswerCounts:
    """Return the counts behind a rate of inventions, and those of what was looked for."""
    assert rate.statistics is not None
    mentions = np.nan_to_num(rate.statistics.of_rows).astype(np.int64)
    counts = AnswerCounts(
        mentions[:, JUDGED], mentions[:, ABSENT], *np.zeros((4, len(rate.ids)), dtype=np.int64)
    )
    of_images, asked_of = objects.of_images(rate.ids), objects.asked_of(rate.ids)
    images = zip(rate.ids, of_images, asked_of, strict=True)
    for at, (image_id, labels, asked) in enumerate(images):
        present = {class_of(label, classes) for label in labels}
        answered = present | {
            class_of(label, classes) for label in objects.categories | (asked or set())
        }
        of_controls = answered.intersection(controls.get(image_id, ()))
        of_named = answered.intersection(mentioned.get(image_id, ()))
        counts.controls[at], counts.said_yes[at] = len(of_controls), len(of_controls & present)
        counts.named[at], counts.said_no[at] = len(of_named), len(of_named - present)
    return counts


@dataclass(frozen=True)
class AnswerCounts:
    """Counts of the answers about the images of one system: (images,) int64 arrays."""

    #: The caption's mentions that an answer is about, and how many of them it denies.
    judged: Integers
    absent: Integers
    #: Controls that were answered, and how many of them the answers call there.
    controls: Integers
    said_yes: Integers
    #: Things named by several references that were answered, and how many the answers deny.
    named: Integers
    said_no: Integers


@name_wrong_argument
def calibrate(counts: AnswerCounts, seed: int = 0, resamples: int = 1000) -> Calibrated:
    """Estimate a rate of inventions without the errors of the answers.

    The interval is by bootstrap over the images, with `seed` and `resamples` as `Bootstrap` has
    them; if they are out of range, or the counts are impossible, that is a `VifidelError`.

    >>> found = calibrate(AnswerCounts(*map(np.array, ([100], [26], [50], [5], [50], [10]))))
    >>> round(found.measured, 2), round(found.corrected, 3)
    (0.26, 0.086)
    """
    bootstrap = Bootstrap(seed, resamples)
    columns = counts.absent, counts.judged, counts.said_yes, counts.controls
    # Parts and wholes in turn, (6, images).
    try:
        table = np.array([*columns, counts.said_no, counts.named])
        if table.ndim != 2 or (table.size and table.dtype.kind not in "iu"):
            raise ValueError
    except ValueError:  # NumPy's, of arrays of different lengths
        raise VifidelError(
            "counts of answers: six arrays of whole numbers are needed, with a number per image in "
            "each."
        ) from None
    table = table.astype(np.int64)
    parts, wholes = table[0::2], table[1::2]
    if (parts < 0).any() or (parts > wholes).any():
        raise VifidelError(
            "counts of answers: absent, said_yes and said_no must be from 0 to judged, controls "
            "and named."
        )
    sums = table.sum(axis=1, keepdims=True)
    (corrected,), shares = _corrected(sums)
    interval = (math.nan, math.nan)
    if math.isfinite(corrected):
        # Drawing images with the same counts together changes no distribution.
        rows, images = np.unique(table, axis=1, return_counts=True)
        source, number = np.random.Generator(np.random.Philox(seed)), images.sum()
        drawn = source.multinomial(number, images / number, resamples)  # (resamples, kinds)
        estimates, _ = _corrected((drawn @ rows.T).T)
        # Where too many draws have no estimate, those that have one say too little.
        if np.isfinite(estimates).sum() >= bootstrap.level * len(estimates):
            interval = bootstrap.interval(estimates)
    measured, false_yes, false_no = shares[:, 0].tolist()
    return Calibrated(
        measured=measured,
        corrected=float(corrected),
        interval=interval,
        false_yes=false_yes,
        false_no=false_no,
        controls=int(sums[3, 0]),
        named=int(sums[5, 0]),
    )


def _corrected(sums: Integers) -> tuple[Floats, Floats]:
    """Return estimates, (draws,), and the shares that they are made of, from (6, draws)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[0::2] / sums[1::2]
        measured, false_yes, false_no = shares
        span = 1 - false_yes - false_no
        estimate = np.clip((measured - false_no) / span, 0, 1)
    return np.where(span > 0, estimate, np.nan), shares
