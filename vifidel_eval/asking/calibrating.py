"""Runs with calibrated rates: what the answers to controls say of the errors of all answers."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..annotations import ObjectLabels, clean_label
from ..arguments import named_if_wrong
from ..entry.plan import PathLike
from ..entry.run import Run
from ..errors import VifidelError, VifidelWarning
from ..image_ids import ImageId, match, mismatch
from ..runs.harness import score_systems
from ..scorers.vifidel_h import ABSENT, JUDGED, VifidelH
from ..things.synonyms import ClassList, read_things
from .calibration import calibrate, count_answers
from .composing import named_by_several, read_controls

# So many references of an image that name a thing are hardly wrong together.
_SEVERAL = 3


@named_if_wrong
def calibrated(
    run: Run,
    controls: PathLike | Mapping[ImageId, Collection[str]],
    seed: int = 0,
    resamples: int = 1000,
) -> Run:
    """Return a run with each system's rate of inventions as estimated without wrong answers.

    VIFIDEL-Hi is judged by the answers alone, whatever evidence the run's own column has. How often
    *yes* is wrong comes from the controls that no reference names, how often *no* is wrong from the
    things that three or more references name. The notes of the run's tables, its file and its
    report have the estimates, and so has ``run.detail.calibrated``.

    Parameters
    ----------
    run : Run
        What `vifidel_eval.evaluate` returned for answers or detections, and references.
    controls : path or mapping
        The questions, or their answers, with ``"control": true`` in the lines of controls; or image
        id to things.
    seed, resamples
        As for `calibrate`.

    Raises
    ------
    VifidelError
        If the run has no objects or references or was loaded, a file cannot be read, or the
        controls are about other images.
    """
    plan = run.plan
    if plan is None or plan.settings.labels is None or not plan.references:
        raise VifidelError(
            "a rate is calibrated by answers, as objects, and by what references name; evaluate "
            "with both."
        )
    if not isinstance(controls, Mapping):
        controls = read_controls(controls)
    classes = read_things(plan.settings.options.get("things"))
    same = match(controls, plan.references)
    if not same:
        raise mismatch(controls, plan.references, "the controls", "the references")
    mentioned = named_by_several(plan.references, 1, classes)
    of_images = {
        mine: {_class_of(thing, classes) for thing in controls[theirs]} - mentioned[mine]
        for theirs, mine in same.items()
    }
    named = named_by_several(plan.references, _SEVERAL, classes)
    scorer = VifidelH(**{**plan.settings.evidence, "references": False})
    with warnings.catch_warnings():
        # What the objects are like was said when the run was scored.
        warnings.simplefilter("ignore", VifidelWarning)
        scores = score_systems(
            plan.systems, {scorer.method(): scorer}, plan.references, plan.allow_subset
        )
    rates = {}
    for system, of_column in scores.evaluations.items():
        rate = of_column["VIFIDEL-Hi"]
        assert rate.statistics is not None
        judged = np.nan_to_num(rate.statistics.of_rows).astype(np.int64)
        answers = _answers(plan.settings.labels, rate.ids, classes)
        counts = count_answers(answers, {}, of_images, named)
        counts = replace(counts, judged=judged[:, JUDGED], absent=judged[:, ABSENT])
        rates[system] = calibrate(counts, seed, resamples)
    return Run(replace(run.detail, calibrated=rates), plan)


def _answers(
    objects: ObjectLabels, ids: Sequence[ImageId], classes: ClassList
) -> dict[ImageId, dict[str, bool | None]]:
    """Return what was looked for in each image, by class, and whether it is there."""
    answers: dict[ImageId, dict[str, bool | None]] = {}
    found = objects.of_images(ids)
    for image_id, labels, asked in zip(ids, found, objects.asked_of(ids), strict=True):
        looked_for = objects.categories.union(asked or ())
        of_image: dict[str, bool | None] = {
            _class_of(label, classes): False for label in looked_for
        }
        answers[image_id] = of_image | {_class_of(label, classes): True for label in labels}
    return answers


def _class_of(name: str, classes: ClassList) -> str:
    cleaned = clean_label(name)
    return classes.class_of.get(cleaned, cleaned)
