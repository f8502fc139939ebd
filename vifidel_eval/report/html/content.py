"""What a report is made of, as the harness, the comparison and VIFIDEL deliver it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...annotations.boxes import ImageBoxes
from ...explain.explained import Explained
from ...image_ids import ImageId
from ...rows import Rows
from ...runs.comparison import Comparisons
from ...runs.harness import Scores
from ...runs.pairing import System, all_images, paired
from ...scorers import Scorer, Vifidel


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
        Image id to object label to count; empty where VIFIDEL was not computed.
    explanations : mapping
        System name to what is explained of its captions, in the order of `references`; empty
        likewise.
    material : Material
        Pictures, boxes and names.
    """

    scores: Scores
    comparisons: Comparisons
    references: Mapping[ImageId, Sequence[str]]
    captions: Mapping[str, Mapping[ImageId, str]]
    objects: Mapping[ImageId, Mapping[str, int]] = field(default_factory=dict)
    explanations: Mapping[str, Sequence[Explained]] = field(default_factory=dict)
    material: Material = field(default_factory=Material)


def gather(
    scores: Scores,
    comparisons: Comparisons,
    systems: Iterable[System],
    references: Mapping[ImageId, Sequence[str]] | None = None,
    scorers: Iterable[Scorer] = (),
    material: Material | None = None,
    explained: Callable[[int], object] | None = None,
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
        What scored them; if VIFIDEL is among them, or part of one, it explains every caption.
    material : Material, optional
        Pictures, boxes and names.
    explained : callable, optional
        Called with how many captions were explained since the last call.
    """
    parts = (part for scorer in scorers for part in getattr(scorer, "parts", (scorer,)))
    vifidel = next((part for part in parts if isinstance(part, Vifidel)), None)
    systems = list(systems)
    references = all_images(systems, references)
    of_systems = {system.name: paired(system, references, True) for system in systems}
    explanations = {} if vifidel is None else _explained(vifidel, of_systems, explained)
    return Content(
        scores,
        comparisons,
        references,
        captions={
            name: dict(zip(rows.ids, rows.captions, strict=True))
            for name, rows in of_systems.items()
        },
        objects={} if vifidel is None else vifidel.objects_of(list(references)),
        explanations=explanations,
        material=material or Material(),
    )


def _explained(
    vifidel: Vifidel, of_systems: Mapping[str, Rows], explained: Callable[[int], object] | None
) -> dict[str, list[Explained]]:
    """Return the explanations of all systems, made side by side: references are read once."""
    explanations: dict[str, list[Explained]] = {name: [] for name in of_systems}
    for parts in vifidel.explained(list(of_systems.values())):
        if explained is not None:
            explained(sum(len(part) for part in parts if part is not None))
        for of_system, part in zip(explanations.values(), parts, strict=True):
            if part is not None:
                of_system.append(part)
    return explanations
