"""Options of commands that read caption files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import gathered
from .paths import SystemFile, named

if TYPE_CHECKING:
    from ..captions.fields import Wanted
    from ..image_ids import ImageId
    from ..runs.pairing import System


@dataclass(frozen=True)
class CaptionOptions:
    """What a user chose of result files and references, as far as a command has the options."""

    id_field: tuple[str, ...]
    caption_field: tuple[str, ...] = ()
    reference_field: tuple[str, ...] = ()
    split: tuple[str, ...] = ()

    def read_references(self, path: Path) -> dict[ImageId, list[str]]:
        """Return the references of a file, as `vifidel_eval.captions.read_references` does."""
        from ..captions import read_references

        return read_references(path, self.split, self.id_field, self.reference_field)

    def wanted(self) -> Wanted:
        """Return what fields are called, as `vifidel_eval.entry` takes it."""
        from ..captions.fields import Wanted

        return Wanted(self.id_field, self.caption_field, self.reference_field, self.split)

    def read(
        self,
        results: Sequence[SystemFile],
        references: Path | None,
        image_ids: Path | None = None,
    ) -> tuple[list[System], dict[ImageId, list[str]] | None]:
        """Return systems and references, of all images or those of a file of ids.

        Raises
        ------
        CaptionError
            If a file cannot be read, or the references are what a system says.
        ImageIdError
            If an image of the ids is not there.
        """
        from ..entry.evaluating import read_captions

        return read_captions(named(results), references, self.wanted(), image_ids)


_ID_FIELD = click.option(
    "--id-field",
    multiple=True,
    metavar="NAME",
    help="Column or key of image ids in caption files, or the path to it, such as doc.image_id.  "
    "[default: image_id, image, file_name, ...]",
)
_CAPTION_FIELD = click.option(
    "--caption-field",
    multiple=True,
    metavar="NAME",
    help="Column, key or path of captions in result files, such as 'filtered_resps[0]'.  [default: "
    "caption, prediction, text, ...]",
)
_REFERENCE_FIELD = click.option(
    "--reference-field",
    multiple=True,
    metavar="NAME",
    help="Column, key or path of captions in references.  [default: caption, reference, ...]",
)
_SPLIT = click.option(
    "--split",
    multiple=True,
    metavar="NAME",
    help="Split of Karpathy's dataset JSON, such as test. Repeat for several.",
)

#: Add the options of result files, of references, or of both; a command gets the `CaptionOptions`
#: as ``layout``.
field_options = gathered(CaptionOptions, (_ID_FIELD, _CAPTION_FIELD), "layout")
reference_options = gathered(CaptionOptions, (_ID_FIELD, _REFERENCE_FIELD, _SPLIT), "layout")
caption_options = gathered(
    CaptionOptions, (_ID_FIELD, _CAPTION_FIELD, _REFERENCE_FIELD, _SPLIT), "layout"
)
