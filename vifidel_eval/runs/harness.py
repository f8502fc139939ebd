"""Score many systems under many metrics: caption files and scorers in, one result object out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import CaptionError, ImageIdError, MetricUnavailable, VifidelError, VifidelWarning
from ..image_ids import ImageId, match, mismatch, samples, to_json_value

if TYPE_CHECKING:
    from ..scorers import Evaluation, Mean, Scorer

# Scores in files have this many digits: the last bits of exp differ by machine.
_DIGITS = 10


_Captions = dict[ImageId, list[str]]


@dataclass(frozen=True)
class System:
    """A captioning system: its name and its caption of each image."""

    name: str
    captions: Mapping[ImageId, str]


@dataclass(frozen=True)
class Scores:
    """Scores of systems under metrics.

    Attributes
    ----------
    signatures : dict
        Metric name to signature.
    evaluations : dict
        System name to metric name to `Evaluation`.
    unavailable : dict
        Metric name to the reason why it could not be computed here.
    """

    signatures: dict[str, str]
    evaluations: dict[str, dict[str, Evaluation]]
    unavailable: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what ``--output`` writes; undefined scores are None.

        ``{"signatures": {METRIC: signature}, "systems": {NAME: {"overall": {METRIC: score},
        "counts": {METRIC: {"scored": 5, "undefined": 1, ...}}, "imgToEval": {"ID": {"image_id":
        ID, METRIC: score}}}}}``; scores have ten significant digits. Metrics that could not be
        computed are under ``"unavailable"``, with the reason.
        """
        return {
            "signatures": self.signatures,
            "systems": {
                name: {
                    "overall": {metric: rounded(e.score) for metric, e in of_metric.items()},
                    "counts": {metric: _counts(e) for metric, e in of_metric.items()},
                    "imgToEval": _per_image(of_metric),
                }
                for name, of_metric in self.evaluations.items()
            },
        } | ({"unavailable": self.unavailable} if self.unavailable else {})


def score_systems(
    systems: Iterable[System],
    scorers: Mapping[str, Scorer],
    references: Mapping[ImageId, list[str]] | None = None,
    allow_subset: bool = False,
    on_progress: Callable[[int], object] | None = None,
    unavailable: Mapping[str, str] | None = None,
) -> Scores:
    """Score every system under every metric.

    Parameters
    ----------
    systems : iterable of System
        The candidates.
    scorers : mapping
        Metric name to scorer.
    references : mapping, optional
        Image id to references; without them the images are those of all systems together.
    allow_subset : bool
        Whether a system may caption only some of the images; it is then scored on those.
    on_progress : callable, optional
        Called with the number of captions just scored.
    unavailable : mapping, optional
        Metrics that are known not to be available, with the reason; they join those that turn
        out not to be.

    Raises
    ------
    MetricUnavailable
        If no metric can be computed here; as long as one can, the others are named in the result.
    VifidelError
        If ids do not match or the input is not as the scorers need it.
    """
    systems = list(systems)
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise CaptionError(f"two systems have the same name: {', '.join(sorted(names))}.")
    if references is None:
        references = {image_id: [] for system in systems for image_id in system.captions}
    # All ids are checked before the first system is scored: nothing computed gets lost.
    of_systems = {system.name: paired(system, references, allow_subset) for system in systems}
    run = _Run(of_systems, on_progress)
    signatures: dict[str, str] = {}
    evaluations: dict[str, dict[str, Evaluation]] = {name: {} for name in of_systems}
    unavailable = dict(unavailable or {})
    for metric, scorer in scorers.items():
        try:
            columns_of = run.columns(scorer)
        except MetricUnavailable as problem:
            unavailable[metric] = str(problem)
            continue
        signature = scorer.signature()  # reads all objects: once, not for every system
        for name, columns in columns_of.items():
            named = columns if len(columns) > 1 else {metric: next(iter(columns.values()))}
            for column, evaluation in named.items():
                _check_finite(column, name, evaluation)
            evaluations[name] |= named
            signatures |= dict.fromkeys(named, signature)
    if not signatures:
        raise MetricUnavailable(" ".join(unavailable.values()) or "no metric was asked for.")
    return Scores(signatures, evaluations, unavailable)


class _Run:
    """Evaluates each scorer once for every system, however many combinations it is part of."""

    def __init__(
        self,
        systems: Mapping[str, tuple[_Captions, _Captions]],
        on_progress: Callable[[int], object] | None,
    ) -> None:
        self._systems = systems
        self._on_progress = on_progress
        self._done: dict[int, dict[str, dict[str, Evaluation]]] = {}
        self._failed: dict[int, MetricUnavailable] = {}

    def columns(self, scorer: Scorer) -> dict[str, dict[str, Evaluation]]:
        """Return, for each system, the columns of a scorer; what failed once is not tried again."""
        if id(scorer) in self._failed:
            raise self._failed[id(scorer)]
        try:
            return self._columns(scorer)
        except MetricUnavailable as problem:
            self._failed[id(scorer)] = problem
            raise

    def _columns(self, scorer: Scorer) -> dict[str, dict[str, Evaluation]]:
        from ..scorers import Mean

        if id(scorer) not in self._done:
            if isinstance(scorer, Mean):
                self._done[id(scorer)] = self._combined(scorer)
            else:
                self._done[id(scorer)] = self._evaluated(scorer)
        return self._done[id(scorer)]

    def _evaluated(self, scorer: Scorer) -> dict[str, dict[str, Evaluation]]:
        evaluated = {}
        warned: dict[str, list[str]] = {}
        images = list(dict.fromkeys(i for gts, _ in self._systems.values() for i in gts))
        scorer.prepare(images)
        for name, (gts, res) in self._systems.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", VifidelWarning)
                evaluated[name] = scorer.evaluate_columns(gts, res, self._on_progress)
            for warning in caught:
                if issubclass(warning.category, VifidelWarning):
                    warned.setdefault(str(warning.message), []).append(name)
                else:
                    warnings.warn_explicit(
                        warning.message, warning.category, warning.filename, warning.lineno
                    )
        scorer.prepare(images)  # the signature is of all systems' images, not of the last one's
        for message, names in warned.items():
            # What all systems have in common, such as the references, is no system's own.
            whose = f"system{'s' * (len(names) > 1)} {', '.join(map(repr, names))}: "
            whose = "" if len(names) == len(evaluated) else whose
            warnings.warn(f"{whose}{message}", VifidelWarning, stacklevel=5)
        return evaluated

    def _combined(self, mean: Mean) -> dict[str, dict[str, Evaluation]]:
        of_parts = [self.columns(part) for part in mean.parts]
        evaluations = mean.combine(
            [[list(part[name].values())[-1] for part in of_parts] for name in self._systems]
        )
        return {
            name: {mean.method(): evaluation}
            for name, evaluation in zip(self._systems, evaluations, strict=True)
        }


def paired(
    system: System, references: Mapping[ImageId, list[str]], allow_subset: bool
) -> tuple[dict[ImageId, list[str]], dict[ImageId, list[str]]]:
    """Return references and candidates of the images of a system, in the references' order.

    Raises
    ------
    ImageIdError
        If the ids of both sides do not match.
    """
    reference_id = match(system.captions, references)
    unknown = [image_id for image_id in system.captions if image_id not in reference_id]
    if unknown:
        raise mismatch(unknown, references, f"system {system.name!r}", "the reference side")
    res = {reference_id[image_id]: [caption] for image_id, caption in system.captions.items()}
    if len(res) < len(system.captions):
        raise ImageIdError(
            f"system {system.name!r}: two of its image ids mean the same image; keep one."
        )
    missing = [image_id for image_id in references if image_id not in res]
    if missing and not allow_subset:
        raise ImageIdError(
            f"system {system.name!r} has no caption for {len(missing)} of {len(references)} "
            f"images, such as {samples(missing)}; complete the file, or give --allow-subset "
            "(allow_subset=True) to score only the images it has."
        )
    gts = {image_id: refs for image_id, refs in references.items() if image_id in res}
    return gts, {image_id: res[image_id] for image_id in gts}


def rounded(score: float) -> float | None:
    """Return a score as files hold it: ten significant digits, None if it is undefined."""
    return None if math.isnan(score) else float(f"{score:.{_DIGITS}g}")


def for_json(value: Any) -> Any:
    """Return nested dicts and lists as files hold them: floats as `rounded` returns them."""
    if isinstance(value, dict):
        return {key: for_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [for_json(member) for member in value]
    return rounded(value) if isinstance(value, float) else value


def _check_finite(metric: str, system: str, evaluation: Evaluation) -> None:
    scores = dict(zip(evaluation.ids, evaluation.scores.tolist(), strict=True))
    infinite = [f"of image {image_id!r}" for image_id, score in scores.items() if math.isinf(score)]
    if infinite or math.isinf(evaluation.score):
        raise VifidelError(
            f"{metric}: the score {(infinite or ['of the corpus'])[0]} of system {system!r} is "
            "infinite; a scorer returns finite numbers, and NaN where a score is undefined."
        )


def _counts(evaluation: Evaluation) -> dict[str, int]:
    return {
        "scored": len(evaluation.ids) - evaluation.undefined,
        "undefined": evaluation.undefined,
        "no_words": evaluation.wordless,
        "unknown_words": evaluation.tally.unknown.total(),
        "unweighted": evaluation.unweighted,
    }


def _per_image(of_metric: Mapping[str, Evaluation]) -> dict[str, dict[str, Any]]:
    images: dict[str, dict[str, Any]] = {}
    for metric, evaluation in of_metric.items():
        for image_id, score in zip(evaluation.ids, evaluation.scores.tolist(), strict=True):
            row = {"image_id": to_json_value(image_id)}
            images.setdefault(str(image_id), row)[metric] = rounded(score)
    return images
