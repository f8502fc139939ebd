"""A run before it runs: everything is read and checked, and nothing is scored yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..image_ids import ImageId
from ..metrics import build
from ..runs.harness import Scores, column_names, score_systems
from ..runs.pairing import System, all_images, check_releases, warn_of_lengths, warn_of_tags
from ..scorers import Scorer
from ..scorers.record import Settings
from .inputs import Captions, Fields, PathLike, References, paths_in, read_captions

if TYPE_CHECKING:
    from ..annotations.boxes import ImageBoxes

_NO_FIELDS = Fields()


@dataclass(frozen=True, eq=False)
class Plan:
    """Systems and scorers of a run.

    Attributes
    ----------
    systems : list of System
        What is scored.
    references : dict, optional
        Image id to references.
    scorers : dict
        Metric name to scorer.
    unavailable : dict
        Metric name to the reason why it cannot be computed here.
    allow_subset : bool
        Whether a system may lack some of the images.
    settings : Settings
        What registered metrics were made from.
    files : dict
        What was read: ``captions``, ``references`` and ``objects`` to their files.
    """

    systems: list[System]
    references: dict[ImageId, list[str]] | None
    scorers: dict[str, Scorer]
    unavailable: dict[str, str]
    allow_subset: bool
    settings: Settings
    files: dict[str, list[Path]]

    @property
    def columns(self) -> dict[str, str]:
        """Every column that the scores will have, with its metric."""
        return column_names(self.scorers)

    @property
    def work(self) -> int:
        """How many captions are scored, each counted once per metric."""
        return sum(len(system.captions) for system in self.systems) * len(self.scorers)

    def pictures(self, folder: PathLike) -> dict[ImageId, Path]:
        """Return the picture of each image that has one in a folder.

        COCO files among the inputs say what the pictures' files are called.

        Raises
        ------
        VifidelError
            As `vifidel_eval.report.html.find_pictures` raises it.
        """
        from ..report.html import file_names, find_pictures

        files = [path for paths in self.files.values() for path in paths]
        images = all_images(self.systems, self.references)
        return find_pictures(Path(folder), images, file_names(files))

    def boxes(self) -> dict[ImageId, ImageBoxes]:
        """Return where the objects are in the images, for those files of objects that say so.

        Raises
        ------
        AnnotationError
            As `vifidel_eval.annotations.read_boxes` raises it.
        """
        from ..annotations import read_boxes

        return read_boxes(self.files["objects"], self.settings.threshold, self.settings.categories)

    def score(
        self,
        on_progress: Callable[[int], object] | None = None,
        on_metric: Callable[[str], object] | None = None,
    ) -> Scores:
        """Score every system under every metric.

        Parameters
        ----------
        on_progress, on_metric : callable, optional
            Called with the number of captions just scored; with the name of the next metric.

        Raises
        ------
        MetricUnavailable
            If no metric can be computed here.
        VifidelError
            If ids do not match or the input is not as the scorers need it.
        """
        return score_systems(
            self.systems,
            self.scorers,
            self.references,
            self.allow_subset,
            on_progress,
            self.unavailable,
            on_metric,
        )


def plan(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    scorers: Mapping[str, Scorer] | None = None,
    fields: Fields = _NO_FIELDS,
    image_ids: PathLike | Collection[ImageId] | None = None,
    allow_subset: bool = False,
) -> Plan:
    """Read and check what a run needs.

    Parameters
    ----------
    systems : mapping
        Name to captions, as `vifidel_eval.entry.inputs.named` returns them.
    references : optional
        References, in any of the same shapes.
    settings : Settings
        What registered metrics are made from.
    metrics : sequence of str
        Their names, as `vifidel_eval.metrics.parse` returns them.
    scorers : mapping, optional
        Further scorers by name.
    fields, image_ids
        As `vifidel_eval.entry.inputs.read_captions` takes them.
    allow_subset : bool
        Whether a system may lack some of the images.

    Raises
    ------
    VifidelError
        If something cannot be read, or does not go together.

    Warns
    -----
    VifidelWarning
        If objects and references are of different releases of COCO, captions differ much in length,
        or images have more labels than a caption can speak of.
    """
    read, by_image = read_captions(systems, references, fields, image_ids)
    of_objects = paths_in(settings.objects)
    if by_image is not None and of_objects and isinstance(references, str | os.PathLike):
        labels = settings.labels
        if labels is not None:
            check_releases(of_objects, labels, references, by_image)
    warn_of_lengths(read)
    made, unavailable = build(metrics, settings)
    if "labels" in vars(settings) and settings.labels is not None:  # some metric has read them
        warn_of_tags(settings.labels)
    files = {
        "captions": [path for source in systems.values() for path in paths_in(source)],
        "references": paths_in(references),
        "objects": of_objects,
    }
    return Plan(
        read,
        by_image,
        {**made, **(scorers or {})},
        unavailable,
        allow_subset,
        settings,
        files,
    )
