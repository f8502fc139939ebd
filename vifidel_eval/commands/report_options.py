"""The options of ``vifidel-eval score`` that make a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import gathered
from .paths import FILE, OUTPUT

if TYPE_CHECKING:
    from ..image_ids import ImageId
    from ..runs.comparison import Comparisons
    from ..runs.harness import Scores
    from ..runs.pairing import System
    from ..scorers import Scorer


@dataclass(frozen=True)
class ReportOptions:
    """The page to write, if any, and the folder of its pictures."""

    report: Path | None
    images: Path | None

    def check(self) -> None:
        """Raise before long work what would make the report fail.

        Raises
        ------
        click.UsageError
            If there are images and no report.
        """
        if self.report is None and self.images is not None:
            raise click.UsageError("--images goes with --report.")

    def pictures(
        self,
        inputs: Iterable[Path | None],
        systems: Iterable[System],
        references: Mapping[ImageId, list[str]] | None,
    ) -> dict[ImageId, Path]:
        """Return the picture of each image that has one.

        Parameters
        ----------
        inputs : iterable of path
            COCO files among them say what the images' files are called.
        systems, references
            They say which images there are.

        Raises
        ------
        VifidelError
            As `vifidel_eval.report.html.find_pictures` raises it.
        """
        if self.images is None:
            return {}
        from ..report.html import file_names, find_pictures

        ids = references or {image_id: [] for system in systems for image_id in system.captions}
        names = file_names(path for path in inputs if path is not None)
        return find_pictures(self.images, ids, names)

    def write(
        self,
        scores: Scores,
        comparisons: Comparisons | None,
        systems: Iterable[System],
        references: Mapping[ImageId, list[str]] | None,
        scorers: Iterable[Scorer],
        pictures: Mapping[ImageId, Path],
    ) -> None:
        """Write the page, if one is asked for.

        Parameters
        ----------
        scores, comparisons, systems, references, scorers, pictures
            As `vifidel_eval.report.html.gather` takes them.

        Raises
        ------
        VifidelError
            If the file cannot be written.
        """
        if self.report is None or comparisons is None:
            return
        from ..files import write_whole
        from ..report.html import gather, render_page

        content = gather(scores, comparisons, systems, references, scorers, pictures)
        write_whole(self.report, render_page(content))


#: Adds the options of `ReportOptions`; the command gets them together as ``page``.
report_options = gathered(
    ReportOptions,
    [
        click.option(
            "--report",
            type=OUTPUT,
            help="Write this HTML page: scores, comparison, every image with its captions.",
        ),
        click.option(
            "--images", type=FILE, help="Folder of the images, for thumbnails in the report."
        ),
    ],
    "page",
)
