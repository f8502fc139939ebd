"""The record of a layout of caption files: its row in docs/captions.md, and what reads it.

A layout is a module of this package that ends with its record, ``LAYOUT``, and a line in the table
of `.layouts`. The same record serves results and references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..image_ids import ImageId
from .columns import CAPTIONS, REFERENCES


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a caption file.

    Attributes
    ----------
    references : bool
        Whether it is references, any number for each image, or results, one caption for each.
    id_fields, caption_fields : sequence of str
        What the user says the fields of records are called, instead of the usual names; of
        several, the first that the file has.
    splits : sequence of str
        The splits that count, where the file has splits.
    """

    references: bool
    id_fields: Sequence[str] = ()
    caption_fields: Sequence[str] = ()
    splits: Sequence[str] = ()

    @property
    def usual(self) -> tuple[str, ...]:
        """The usual names of the captions' field."""
        return REFERENCES if self.references else CAPTIONS

    @property
    def option(self) -> str:
        """The option that names the captions' field."""
        return "--reference-field" if self.references else "--caption-field"


@dataclass(frozen=True)
class Layout:
    """A layout of caption files.

    Attributes
    ----------
    name : str
        What messages call it.
    source, as_results, as_references : str
        Its row in docs/captions.md: what it is, in Markdown, and what to know of it as results and
        as references; where that is empty, it is refused as such.
    recognised : callable
        Tells whether content (`Records` or a mapping) is of this layout, given what is wanted; the
        first layout that says so reads it.
    read : callable
        Returns the captions of each image: one for results.
    has_splits : bool
        Whether `Wanted.splits` has an effect.
    """

    name: str
    source: str
    as_results: str
    as_references: str
    recognised: Callable[[Any, Wanted], bool]
    read: Callable[[Any, str, Wanted], dict[ImageId, list[str]]]
    has_splits: bool = False
