"""Content of a report: what was scored, what captions are explained by, which the page lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ...annotations import ImageBoxes
from ...errors import VifidelError, warn
from ...explain.explanation import Explanation
from ...explain.sentences import Invention, inventions_in
from ...io.image_ids import ImageId
from ...scorers import Scorer
from ...scorers.explaining import ExplainingScorer, explainer_of, uncombined
from ...scores.alignment import Aligned
from ...scores.comparison import Comparisons
from ...scores.scores import Scores
from ...scores.verdict import chosen_column
from ...words.settings import Settings

_NO_EVIDENCE = (
    "no objects were given, and no metric was computed that takes references as evidence, such as "
    "VIFIDEL-H or VIFIDEL-PRF"
)
# Not the message itself: it may name folders, which are nobody's business who gets the page.
_FAILED = "explaining them failed, and a warning of the run said why"


_MOST_LISTED = 40_000  # captions in a page: more would make it too heavy for a browser

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Content:
    """Everything a report shows; without evidence nothing is explained."""

    scores: Scores
    comparisons: Comparisons
    #: Image id to references, whose order the page keeps; the lists may be empty.
    references: Mapping[ImageId, Sequence[str]]
    #: System name to image id to what is shown of its candidate.
    captions: Mapping[str, Mapping[ImageId, str]]
    #: Image id to object label to count.
    objects: Mapping[ImageId, Mapping[str, int]] = field(default_factory=dict)
    #: System name to what is explained of its captions, in the order of `references`.
    explanations: Mapping[str, Sequence[Explanation]] = field(default_factory=dict)
    #: System name to what its captions make up.
    inventions: Mapping[str, Sequence[Invention]] = field(default_factory=dict)
    #: Why nothing is explained.
    unexplained: str = _NO_EVIDENCE
    #: Image id to the labels that were looked for there and are not in it, where there are any.
    denied: Mapping[ImageId, Sequence[str]] = field(default_factory=dict)
    #: Of samples, whose captions and explanations are by their own names: the system of each.
    sample_of: Mapping[str, str] = field(default_factory=dict)
    #: System name to its captions that claim something, whose words are counted.
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    title: str = "Caption evaluation"
    #: ``captions``, ``references`` and ``objects`` to the names of their files.
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pictures: Mapping[ImageId, Path] = field(default_factory=dict)
    boxes: Mapping[ImageId, ImageBoxes] = field(default_factory=dict)
    picture_bytes: int = 32_000_000  #: that all pictures may take: base64 in the page

    def by_system(self, of_rows: Mapping[str, Sequence[_Value]]) -> dict[str, list[_Value]]:
        """Return what there is of captions by the names of systems, of all samples together."""
        of_systems: dict[str, list[_Value]] = {}
        for name, values in of_rows.items():
            of_systems.setdefault(self.sample_of.get(name, name), []).extend(values)
        return of_systems


def gather(
    scores: Scores,
    comparisons: Comparisons,
    aligned: Aligned,
    scorers: Iterable[Scorer] = (),
    settings: Settings | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Content:
    """Return the content of a report, without files; it warns if captions cannot be explained."""
    scorers, systems, references = list(scorers), aligned.systems, aligned.images
    rows = aligned.rows()
    content = Content(
        scores,
        comparisons,
        references,
        captions={
            name: dict(zip(captioned.ids, captioned.shown, strict=True))
            for name, captioned in rows.items()
        },
        claims={system.name: system.claims for system in systems},
        sample_of={s.name: s.sample_of for s in systems if s.sample_of is not None},
    )
    try:
        explainer = explainer_of(scorers, settings or Settings())
        if explainer is None:
            return content
        explanations: dict[str, list[Explanation]] = {name: [] for name in rows}
        listed = listed_images(content)
        for parts in explainer.explained(list(rows.values()), with_plans=listed):
            on_progress(sum(len(part) for part in parts if part is not None))
            for of_system, part in zip(explanations.values(), parts, strict=True):
                of_system.extend(part or ())
        return replace(
            content,
            objects=explainer.objects_of(list(references)),
            denied=explainer.denied_in(list(references)),
            explanations=explanations,
            inventions={
                name: list(inventions_in(name, of_system))
                for name, of_system in explanations.items()
            },
        )
    except VifidelError as problem:
        if any(isinstance(part, ExplainingScorer) for part in uncombined(scorers)):
            raise
        warn(f"captions are not explained: {problem}")
        return replace(content, unexplained=_FAILED)


def listed_images(content: Content) -> set[ImageId] | None:
    """Return the images whose captions the page has, by the gap between systems; None for all."""
    limit = _MOST_LISTED // max(len(content.captions), 1)
    column = chosen_column(content.scores)
    if len(content.references) <= limit or column is None:
        return None
    worst: dict[ImageId, float] = {}
    best: dict[ImageId, float] = {}
    for of_column in content.scores.evaluations.values():
        evaluation = of_column[column]
        for image_id, score in zip(evaluation.ids, evaluation.scores.tolist(), strict=True):
            if not math.isnan(score):
                worst[image_id] = min(score, worst.get(image_id, score))
                best[image_id] = max(score, best.get(image_id, score))
    several = len(content.scores.evaluations) > 1
    gaps = {image_id: worst[image_id] - (best[image_id] if several else 0) for image_id in worst}
    return set(sorted(gaps, key=gaps.__getitem__)[:limit])
