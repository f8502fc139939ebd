"""Image ids and captions as files hold them, checked."""

from __future__ import annotations

from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId, from_json_key, from_json_value

#: What a field that an entry lacks is read as.
MISSING: Any = object()

#: Where several captions per image belong.
SEVERAL = (
    "several captions per image are scored as rows, by `vifidel-eval score-table` or the scorers' "
    "score(captions, image_ids=...)"
)


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
