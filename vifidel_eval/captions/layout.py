"""The record of a layout of caption files: its row in docs/captions.md, and what reads it.

A layout is a module of this package that ends with its record, ``LAYOUT``, and a line in the table
of `.layouts`. The same record serves results and references.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..image_ids import ImageId
from .columns import Wanted


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

    def serves(self, wanted: Wanted) -> bool:
        """Return whether files of this layout hold what is wanted."""
        return bool(self.as_references if wanted.references else self.as_results)
