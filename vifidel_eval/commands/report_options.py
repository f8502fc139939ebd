"""The options of ``vifidel-eval score`` that make a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import gathered
from .paths import FILE, OUTPUT


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
                    raise click.UsageError(f"{flag} needs --report.")
        if self.images is None and self.images_mb is not None:
            raise click.UsageError("--images-mb needs --images.")


#: Adds the options of `ReportOptions`; the command gets them together as ``page``.
report_options = gathered(
    ReportOptions,
    [
        click.option(
            "--report",
            type=OUTPUT,
            help="Write an HTML page: scores, comparison, all captions.",
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
            help="Megabytes that the images may take in the report; those on which systems "
            "disagree most come first.  [default: 32]",
        ),
    ],
    "page",
)
