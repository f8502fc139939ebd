"""Content of a report, as the harness, the comparison and the grounding of captions deliver it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...annotations import ImageBoxes
from ...errors import VifidelError, VifidelWarning
from ...explain.explained import Explained
from ...explain.inventions import Invention, inventions_in
from ...image_ids import ImageId
from ...rows import Rows
from ...runs.comparison import Comparisons
from ...runs.harness import Scores
from ...runs.pairing import System, all_images, paired
from ...scorers import Scorer
from ...scorers.explainers import explainer_of, parts_of
from ...scorers.explaining import ExplainingScorer
from ...scorers.record import Settings

_NO_EVIDENCE = (
    "no objects were given, and no metric was computed that takes references as evidence, such as "
    "VIFIDEL-H or VIFIDEL-PRF"
)
# Not the message itself: it may name folders, which are nobody's business who gets the page.
_FAILED = "explaining them failed, and a warning of the run said why"


@dataclass(frozen=True)
class Material:
    """What a report shows beside what was scored.

    Attributes
    ----------
    inputs : mapping
        What a file is to what its name is: ``{"references": ("captions.json",)}``.
    pictures : mapping
        Image id to the file of its picture, for the images that have one.
    boxes : mapping
        Image id to the boxes of its objects, likewise.
    title : str
        What stands above the page.
    picture_bytes : int, optional
        How much all pictures may take in the page; None for the default.
    """

    inputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pictures: Mapping[ImageId, Path] = field(default_factory=dict)
    boxes: Mapping[ImageId, ImageBoxes] = field(default_factory=dict)
    title: str = "Caption evaluation"
    picture_bytes: int | None = None


@dataclass(frozen=True)
class Content:
    """Everything a report shows.

    Attributes
    ----------
    scores : Scores
        Systems under metrics.
    comparisons : Comparisons
        Intervals, tests and ranks of the same systems and metrics.
    references : mapping
        Image id to references, whose order the page keeps; the lists may be empty.
    captions : mapping
        System name to image id to candidate.
    objects : mapping
        Image id to object label to count; empty where nothing is explained.
    explanations : mapping
        System name to what is explained of its captions, in the order of `references`; empty
        where there is no evidence.
    material : Material
        Pictures, boxes and names.
    inventions : mapping
        System name to what its captions make up.
    unexplained : str
        Why nothing is explained.
    denied : mapping
        Image id to the labels that were looked for there and are not in it, where there are any.
    """

    scores: Scores
    comparisons: Comparisons
    references: Mapping[ImageId, Sequence[str]]
    captions: Mapping[str, Mapping[ImageId, str]]
    objects: Mapping[ImageId, Mapping[str, int]] = field(default_factory=dict)
    explanations: Mapping[str, Sequence[Explained]] = field(default_factory=dict)
    material: Material = field(default_factory=Material)
    inventions: Mapping[str, Sequence[Invention]] = field(default_factory=dict)
    unexplained: str = _NO_EVIDENCE
    denied: Mapping[ImageId, Sequence[str]] = field(default_factory=dict)


def gather(
    scores: Scores,
    comparisons: Comparisons,
    systems: Iterable[System],
    references: Mapping[ImageId, Sequence[str]] | None = None,
    scorers: Iterable[Scorer] = (),
    material: Material | None = None,
    explained: Callable[[int], object] | None = None,
    settings: Settings | None = None,
) -> Content:
    """Return the content of a report on systems that were scored.

    Parameters
    ----------
    scores : Scores
        As `vifidel_eval.runs.harness.score_systems` returns them.
    comparisons : Comparisons
        Of these scores.
    systems, references
        What was scored.
    scorers : iterable of Scorer
        What scored them.
    material : Material, optional
        Pictures, boxes and names.
    explained : callable, optional
        Called with how many captions were explained since the last call.
    settings : Settings, optional
        What the scorers were made from. Every caption is explained where the images' objects are
        known, or one of the scorers takes references as evidence.

    Warns
    -----
    VifidelWarning
        If captions cannot be explained though there are objects, which no metric used.
    """
    scorers = list(scorers)
    systems = list(systems)
    material = material or Material()
    references = all_images(systems, references)
    of_systems = {system.name: paired(system, references, True) for system in systems}
    content = Content(
        scores,
        comparisons,
        references,
        captions={
            name: dict(zip(rows.ids, rows.captions, strict=True))
            for name, rows in of_systems.items()
        },
        material=material,
    )
    try:
        explainer = explainer_of(scorers, settings or Settings())
        if explainer is None:
            return replace(content, material=replace(material, boxes={}))
        explanations = _explained(explainer, of_systems, explained)
        return replace(
            content,
            objects=explainer.objects_of(list(references)),
            denied=explainer.denied_in(list(references)),
            explanations=explanations,
            inventions={
                name: [row for part in parts for row in inventions_in(name, part, explainer.units)]
                for name, parts in explanations.items()
            },
        )
    except VifidelError as problem:
        if any(isinstance(part, ExplainingScorer) for part in parts_of(scorers)):
            raise
        warnings.warn(f"captions are not explained: {problem}", VifidelWarning, stacklevel=3)
        return replace(content, material=replace(material, boxes={}), unexplained=_FAILED)


def _explained(
    explainer: ExplainingScorer[Any],
    of_systems: Mapping[str, Rows],
    explained: Callable[[int], object] | None,
) -> dict[str, list[Explained]]:
    """Return the explanations of all systems, made side by side: references are read once."""
    explanations: dict[str, list[Explained]] = {name: [] for name in of_systems}
    for parts in explainer.explained(list(of_systems.values())):
        if explained is not None:
            explained(sum(len(part) for part in parts if part is not None))
        for of_system, part in zip(explanations.values(), parts, strict=True):
            if part is not None:
                of_system.append(part)
    return explanations
