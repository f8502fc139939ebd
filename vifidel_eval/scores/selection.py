"""What users choose of the images and systems of a run."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from ..doors.options import INPUT, option
from ..io.image_ids import ImageId

#: A file of image ids, or the ids; None for all.
Ids: TypeAlias = str | os.PathLike[str] | Collection[ImageId] | None


@dataclass(frozen=True)
class Selection:
    """Which images are scored, and whether people are scored beside the systems."""

    image_ids: Ids = option(
        None, "Use only these images: a JSON list of ids, or one id per line.", section=INPUT
    )
    allow_subset: bool = option(
        False,
        "Accept files that lack some of the images.",
        bool,
        section=INPUT,
    )
    people: bool = option(
        False,
        "Score people too: some references against the others.",
        bool,
        section=INPUT,
    )
