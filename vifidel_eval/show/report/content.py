"""Content of a report, as the harness, the comparison and the grounding of captions deliver it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...annotations import ImageBoxes
from ...captions.rows import Rows
from ...errors import VifidelError, VifidelWarning
from ...explain.explanation import Explanation
from ...explain.inventions import Invention, inventions_in
from ...io.image_ids import ImageId
from ...scorers import Scorer
from ...scorers.explaining import ExplainingScorer, explainer_of, uncombined
from ...scorers.record import Settings
from ...scores.comparison import Comparisons
from ...scores.scores import Scores
from ...scores.systems import System, paired

_NO_EVIDENCE = (
    "no objects were given, and no metric was computed that takes references as evidence, such as "
    "VIFIDEL-H or VIFIDEL-PRF"
)
# Not the message itself: it may name folders, which are nobody's business who gets the page.
_FAILED = "explaining them failed, and a warning of the run said why"


@dataclass(frozen=True)
class Material:
    """What a report shows beside what was scored.

    ``inputs`` is what files are, with their names: ``{"references": ("captions.json",)}``;
    ``pictures`` and ``boxes`` are by image id, for the images that have some; ``title`` stands
    above the page; ``picture_bytes`` is how much all pictures may take in it, None for the default.
    """

    inputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pictures: Mapping[ImageId, Path] = field(default_factory=dict)
    boxes: Mapping[ImageId, ImageBoxes] = field(default_factory=dict)
    title: str = "Caption evaluation"
    picture_bytes: int | None = None


@dataclass(frozen=True)
class Content:
    """Everything a report shows; without evidence nothing is explained."""

    scores: Scores
    comparisons: Comparisons
    #: Image id to references, whose order the page keeps; the lists may be empty.
    references: Mapping[ImageId, Sequence[str]]
    #: System name to image id to candidate.
    captions: Mapping[str, Mapping[ImageId, str]]
    #: Image id to object label to count.
    objects: Mapping[ImageId, Mapping[str, int]] = field(default_factory=dict)
    #: System name to what is explained of its captions, in the order of `references`.
    explanations: Mapping[str, Sequence[Explanation]] = field(default_factory=dict)
    material: Material = field(default_factory=Material)
    #: System name to what its captions make up.
    inventions: Mapping[str, Sequence[Invention]] = field(default_factory=dict)
    #: Why nothing is explained.
    unexplained: str = _NO_EVIDENCE
    #: Image id to the labels that were looked for there and are not in it, where there are any.
    denied: Mapping[ImageId, Sequence[str]] = field(default_factory=dict)


def gather(
    scores: Scores,
    comparisons: Comparisons,
    systems: Iterable[System],
    references: Mapping[ImageId, Sequence[str]],
    scorers: Iterable[Scorer] = (),
    material: Material | None = None,
    explained: Callable[[int], object] | None = None,
    settings: Settings | None = None,
) -> Content:
    """Return the content of a report on systems that `scorers`, made from `settings`, scored.

    `references` has the images of the run; their lists may be empty. Captions are explained where
    the images' objects are known, or one of the scorers takes references as evidence; `explained`
    is called with how many were since its last call.

    Warns
    -----
    VifidelWarning
        If captions cannot be explained though there are objects, which no metric used.
    """
    scorers = list(scorers)
    of_systems = {system.name: paired(system, references, True) for system in systems}
    content = Content(
        scores,
        comparisons,
        references,
        captions={
            name: dict(zip(rows.ids, rows.captions, strict=True))
            for name, rows in of_systems.items()
        },
        material=material or Material(),
    )
    try:
        explainer = explainer_of(scorers, settings or Settings())
        if explainer is None:
            return content
        explanations = _explained(explainer, of_systems, explained)
        return replace(
            content,
            objects=explainer.objects_of(list(references)),
            denied=explainer.denied_in(list(references)),
            explanations=explanations,
            inventions={
                name: list(inventions_in(name, of_system, explainer.units))
                for name, of_system in explanations.items()
            },
        )
    except VifidelError as problem:
        if any(isinstance(part, ExplainingScorer) for part in uncombined(scorers)):
            raise
        warnings.warn(f"captions are not explained: {problem}", VifidelWarning, stacklevel=3)
        return replace(content, unexplained=_FAILED)


def _explained(
    explainer: ExplainingScorer[Any],
    of_systems: Mapping[str, Rows],
    explained: Callable[[int], object] | None,
) -> dict[str, list[Explanation]]:
    """Return the explanations of all systems, made side by side: references are read once."""
    explanations: dict[str, list[Explanation]] = {name: [] for name in of_systems}
    for parts in explainer.explained(list(of_systems.values())):
        if explained is not None:
            explained(sum(len(part) for part in parts if part is not None))
        for of_system, part in zip(explanations.values(), parts, strict=True):
            if part is not None:
                of_system.extend(part)
    return explanations
