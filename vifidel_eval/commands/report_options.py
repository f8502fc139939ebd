"""The options of ``vifidel-eval score`` that make a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import gathered
from .paths import FILE, OUTPUT

if TYPE_CHECKING:
    from ..image_ids import ImageId
    from ..report.html import Material
    from ..runs.comparison import Comparisons
    from ..runs.harness import Scores
    from ..runs.pairing import System
    from ..scorers import Scorer
    from ..scorers.record import Settings


@dataclass(frozen=True)
class ReportOptions:
    """The page to write, if any, its title, and the folder of its pictures."""

    report: Path | None
    images: Path | None
    images_mb: int | None
    title: str | None

    def check(self) -> None:
        """Raise before long work what would make the report fail.

        Raises
        ------
        click.UsageError
            If an option of the report is given and no report.
        """
        if self.report is None:
            for flag, value in (("--images", self.images), ("--title", self.title)):
                if value is not None:
                    raise click.UsageError(f"{flag} goes with --report.")
        if self.images is None and self.images_mb is not None:
            raise click.UsageError("--images-mb goes with --images.")

    def material(
        self,
        results: Sequence[Path],
        references: Path | None,
        settings: Settings,
        systems: Iterable[System],
        gold: Mapping[ImageId, list[str]] | None,
    ) -> Material | None:
        """Return what the page shows beside what is scored; None without a page.

        Parameters
        ----------
        results, references, settings
            The inputs. COCO files among them say what the images' files are called, and the
            objects where they are in the pictures.
        systems, gold
            Captions and references, which say which images there are.

        Raises
        ------
        VifidelError
            If a folder or file cannot be read.
        """
        if self.report is None:
            return None
        from ..annotations.boxes import read_boxes
        from ..report.html import Material, file_names, find_pictures

        objects = [] if settings.objects is None else list(settings.objects)
        inputs = {
            "captions": [path.name for path in results],
            "references": [] if references is None else [references.name],
            "objects": [Path(path).name for path in objects],
        }
        material = Material(
            {what: names for what, names in inputs.items() if names},
            title=self.title or Material.title,
            picture_bytes=None if self.images_mb is None else 10**6 * self.images_mb,
        )
        if self.images is None:
            return material
        ids = gold or {image_id: [] for system in systems for image_id in system.captions}
        files = [path for path in (*results, references, *objects) if path is not None]
        pictures = find_pictures(self.images, ids, file_names(files))
        boxes = read_boxes(objects, settings.threshold, settings.categories)
        return replace(material, pictures=pictures, boxes=boxes)

    def write(
        self,
        scores: Scores,
        comparisons: Comparisons | None,
        systems: Iterable[System],
        references: Mapping[ImageId, list[str]] | None,
        scorers: Iterable[Scorer],
        material: Material | None,
    ) -> None:
        """Write the page, if one is asked for.

        Parameters
        ----------
        scores, comparisons, systems, references, scorers, material
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

        content = gather(scores, comparisons, systems, references, scorers, material)
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
        click.option("--title", help="Title of the report.  [default: Caption evaluation]"),
        click.option(
            "--images",
            type=FILE,
            help="Folder of the images, for the report.",
        ),
        click.option(
            "--images-mb",
            type=click.IntRange(min=1),
            help="Megabytes that they may take in the report; those on which systems disagree "
            "most come first.  [default: 32]",
        ),
    ],
    "page",
)
