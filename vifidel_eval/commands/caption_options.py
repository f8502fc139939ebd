"""Options of commands that read caption files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import CaptionError
from .options import gathered
from .paths import SystemFile, names_of

if TYPE_CHECKING:
    from ..image_ids import ImageId
    from ..runs.pairing import System


@dataclass(frozen=True)
class ReferenceOptions:
    """What a user chose of reference files; one field per option."""

    id_field: tuple[str, ...]
    reference_field: tuple[str, ...]
    split: tuple[str, ...]

    def read_references(self, path: Path) -> dict[ImageId, list[str]]:
        """Return the references of a file, as `vifidel_eval.captions.read_references` does."""
        from ..captions import read_references

        return read_references(path, self.split, self.id_field, self.reference_field)


@dataclass(frozen=True)
class CaptionOptions(ReferenceOptions):
    """What a user chose of result files and references; one field per option."""

    caption_field: tuple[str, ...]

    def read_systems(self, results: Sequence[SystemFile]) -> list[System]:
        """Return the systems of result files."""
        from ..captions import read_results
        from ..runs.pairing import System

        return [
            System(name, read_results(result.path, self.id_field, self.caption_field))
            for name, result in zip(names_of(results), results, strict=True)
        ]

    def read(
        self, results: Sequence[SystemFile], references: Path | None
    ) -> tuple[list[System], dict[ImageId, list[str]] | None]:
        """Return systems and references.

        Raises
        ------
        CaptionError
            If a file cannot be read, or the references are what a system says.
        """
        systems = self.read_systems(results)
        gold = None if references is None else self.read_references(references)
        for system in systems:
            if gold == {image_id: [caption] for image_id, caption in system.captions.items()}:
                raise CaptionError(
                    f"{references}: holds the captions of system {system.name!r} and no others; "
                    "give captions that people wrote as references."
                )
        return systems, gold


_ID_FIELD = click.option(
    "--id-field",
    multiple=True,
    metavar="NAME",
    help="Column or key of image ids in caption files.  [default: image_id, image, file_name, ...]",
)
_CAPTION_FIELD = click.option(
    "--caption-field",
    multiple=True,
    metavar="NAME",
    help="Column or key of captions in result files.  [default: caption, prediction, text, ...]",
)
_REFERENCE_FIELD = click.option(
    "--reference-field",
    multiple=True,
    metavar="NAME",
    help="Column or key of captions in references.  [default: caption, reference, ...]",
)
_SPLIT = click.option(
    "--split",
    multiple=True,
    metavar="NAME",
    help="Split of Karpathy's dataset JSON, such as test. Repeat for several.",
)

#: Adds the options of `ReferenceOptions`; the command gets them together as ``layout``.
reference_options = gathered(ReferenceOptions, (_ID_FIELD, _REFERENCE_FIELD, _SPLIT), "layout")

#: Adds the options of `CaptionOptions`; the command gets them together as ``layout``.
caption_options = gathered(
    CaptionOptions, (_ID_FIELD, _CAPTION_FIELD, _REFERENCE_FIELD, _SPLIT), "layout"
)
