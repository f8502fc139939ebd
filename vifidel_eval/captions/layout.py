"""The record of a layout of caption files, and the values that all layouts check.

A layout is a module of this package that ends with its record, ``LAYOUT``, and a line in the table
of `.layouts`. The same record serves results and references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId, from_json_key, from_json_value

#: The usual names of captions in result files.
CAPTIONS = (
    "caption",
    "prediction",
    "pred",
    "text",
    "answer",
    "response",
    "output",
    "generated_caption",
    "candidate",
)
#: The usual names of references.
REFERENCES = ("caption", "captions", "reference", "references", "sentence", "sentences", "text")

#: What a field that an entry lacks is read as.
MISSING: Any = object()

#: Where several captions per image belong.
SEVERAL = (
    "several captions per image are samples, of which `vifidel-eval score --samples` or "
    "evaluate(samples=True) gives the mean, best and worst; or rows, by `vifidel-eval score-table` "
    "or the scorers' score(captions, image_ids=...)"
)


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
    samples : bool
        Whether results may have several captions for an image.
    """

    references: bool
    id_fields: Sequence[str] = ()
    caption_fields: Sequence[str] = ()
    splits: Sequence[str] = ()
    samples: bool = False

    @property
    def several(self) -> bool:
        """Whether an image may have several captions."""
        return self.references or self.samples

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
    keys, fields : tuple of str, optional
        The signs (`vifidel_eval.signs`) of a JSON object or mapping of this layout, and of records
        by the names of their fields; None where it never comes as such. The first layout that
        content has all signs of reads it.
    read : callable
        Returns the captions of each image: one for results.
    has_splits : bool
        Whether `Wanted.splits` has an effect.
    """

    name: str
    source: str
    as_results: str
    as_references: str
    keys: tuple[str, ...] | None
    fields: tuple[str, ...] | None
    read: Callable[[Any, str, Wanted], dict[ImageId, list[str]]]
    has_splits: bool = False

    def serves(self, wanted: Wanted) -> bool:
        """Return whether files of this layout hold what is wanted."""
        return bool(self.as_references if wanted.references else self.as_results)


def image_id_of(value: Any, name: str, at: str, textual: bool = False) -> ImageId:
    """Return the image id that a field holds.

    Parameters
    ----------
    value : object
        The field's value; `MISSING` if there is none.
    name, at : str
        The field, and where the entry is, for messages.
    textual : bool
        Whether the value comes from a table of text, where an id of digits is a number.

    Raises
    ------
    CaptionError
        If it is missing or neither an integer nor a string.
    """
    if value is MISSING:
        raise CaptionError(f"{at}: {name!r:.40} is missing; every entry needs an image id.")
    if textual:
        value = from_json_key(value.strip())
    image_id = from_json_value(value)
    if image_id is None:
        found = "null" if value is None else "empty" if value == "" else f"{value!r:.40}"
        raise CaptionError(f"{at}: {name!r:.40} is {found}; an image id is an integer or a string.")
    return image_id


def text_of(caption: Any, at: str) -> str:
    """Return a caption.

    Raises
    ------
    CaptionError
        If it is missing or not a string.
    """
    if caption is MISSING:
        raise CaptionError(f"{at}: the caption is missing.")
    if not isinstance(caption, str):
        found = "null" if caption is None else f"{caption!r:.40}"
        raise CaptionError(f"{at}: the caption is {found}, not a string.")
    return caption


def one_text_of(caption: Any, at: str) -> str:
    """Return a caption that may be the only one of a list, as ``compute_score`` takes them.

    Raises
    ------
    CaptionError
        If it is not a string, or a list of more or fewer captions.
    """
    if not isinstance(caption, list):
        return text_of(caption, at)
    if len(caption) != 1:
        if caption and all(isinstance(one, str) for one in caption):
            raise CaptionError(
                f"{at}: {len(caption)} captions for one image; keep one ({SEVERAL})."
            )
        raise CaptionError(f"{at}: the caption is {caption!r:.40}, not a string.")
    return text_of(caption[0], at)


def texts_of(captions: Any, at: str) -> list[str]:
    """Return the captions of an image: one, or a list.

    Raises
    ------
    CaptionError
        If one is not a string.
    """
    if isinstance(captions, list):
        return [text_of(caption, at) for caption in captions]
    return [text_of(captions, at)]


def list_of(value: Any, at: str) -> list[Any]:
    """Return a list.

    Raises
    ------
    CaptionError
        If it is something else.
    """
    if not isinstance(value, list | tuple):
        raise CaptionError(f"{at}: expected a list, found {value!r:.40}.")
    return list(value)
