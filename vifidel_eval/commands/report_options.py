"""The options of ``vifidel-eval score`` that make a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import gathered
from .paths import FILE, OUTPUT


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
