"""Image ids: reading them from JSON and file names, and matching the ids of two sides.

An id is any hashable that the caller uses; COCO's are integers, other datasets use strings. Two
sides are compared by equality first. Where that fails, a COCO file stem
(``COCO_val2014_000000000042`` or ``000000000042``, with or without a file extension) means image
42 if the other side has numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from numbers import Integral
from typing import Any

from .errors import ImageIdError

ImageId = Hashable

_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_COCO_STEM = re.compile(r"(?:COCO_\w+_)?(\d{12})(?:\.\w{3,4})?")


def from_json_key(key: str) -> ImageId:
    """Return the image id that a JSON object's key means: a number if it is a whole number.

    Zero-padded numbers are file stems and stay strings.

    >>> from_json_key("42"), from_json_key("000000000042"), from_json_key("beach")
    (42, '000000000042', 'beach')
    """
    if _WHOLE_NUMBER.fullmatch(key):
        return int(key)
    return key


def from_json_value(value: Any) -> ImageId | None:
    """Return a JSON value as an image id, or None if it cannot be one."""
    # From 2**53 on, floats skip whole numbers: there is no telling which one was meant.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return value


def _number(image_id: ImageId) -> int | None:
    if isinstance(image_id, str):
        stem = _COCO_STEM.fullmatch(image_id)
        return int(stem[1]) if stem else None
    return int(image_id) if isinstance(image_id, Integral) else None


def to_json_value(image_id: ImageId) -> Any:
    """Return an image id in a type that JSON has; NumPy's numbers become Python's."""
    if isinstance(image_id, Integral):
        return int(image_id)
    return image_id if isinstance(image_id, str | float) else str(image_id)


def in_order(image_id: ImageId) -> tuple[bool, Any]:
    """Return a sort key for image ids, whatever the order of a file; numbers come first."""
    value = to_json_value(image_id)
    return isinstance(value, str), value


def digest_of_ids(ids: Iterable[ImageId]) -> str:
    """Return how many images there are, and eight hexadecimal digits that pin which.

    Their order does not matter, nor how often each occurs, nor whether COCO's are numbers or file
    stems.

    >>> digest_of_ids([42, 7, 42]) == digest_of_ids(["COCO_val2014_000000000042", 7])
    True
    """
    images = {
        repr(to_json_value(image_id) if number is None else number)
        for image_id in ids
        for number in [_number(image_id)]
    }
    return f"{len(images)}#{hashlib.sha256(' '.join(sorted(images)).encode()).hexdigest()[:8]}"


def check_distinct(ids: Iterable[ImageId], where: str) -> None:
    """Check that no two ids of one source mean the same image, as 1, ``"1"`` and a stem of 1 do.

    A JSON object would keep one of them, and what is said under the others would be lost.

    Parameters
    ----------
    ids : iterable
        Different ids.
    where : str
        Where they are, for messages.

    Raises
    ------
    ImageIdError
        If two of them mean the same image.
    """
    ids = list(ids)
    if set(map(type, ids)) <= {int}:
        return
    meant: dict[str, ImageId] = {}
    for image_id in ids:
        number = _number(image_id)
        first = meant.setdefault(str(image_id if number is None else number), image_id)
        if first is not image_id:
            raise ImageIdError(
                f"{where}: {first!r} and {image_id!r} mean the same image; write its id in one way."
            )


def match(
    wanted: Iterable[ImageId], known: Collection[ImageId] | Mapping[ImageId, Any]
) -> dict[ImageId, ImageId]:
    """Return the other side's id of each wanted image that it has.

    Raises
    ------
    ImageIdError
        If two ids of the other side mean the same image.
    """
    wanted = list(wanted)
    matched = {image_id: image_id for image_id in wanted if image_id in known}
    if len(matched) == len(wanted):
        return matched
    by_number: dict[int, ImageId] = {}
    for image_id in known:
        number = _number(image_id)
        if number is None:
            continue
        if number in by_number:
            raise ImageIdError(
                f"{image_id!r} and {by_number[number]!r} both mean image {number}: keep "
                "one of them."
            )
        by_number[number] = image_id
    for image_id in wanted:
        number = _number(image_id)
        if image_id not in matched and number in by_number:
            matched[image_id] = by_number[number]
    return matched


def mismatch(
    missing: Collection[ImageId],
    known: Collection[ImageId],
    asked: str,
    knower: str,
) -> ImageIdError:
    """Return the error for ids that `knower` lacks, with the likely cause.

    Parameters
    ----------
    missing : collection
        The ids that are wanted and missing.
    known : collection
        The ids that the other side has.
    asked, knower : str
        What to call the two sides: whose ids are wanted, and which side lacks them.
    """
    return ImageIdError(
        f"{knower} lacks {_counted(missing)} of {asked}: {samples(missing)}; it has "
        f"{_counted(known)}: {samples(known)}; {_likely_cause(missing, known)}"
    )


def samples(ids: Collection[ImageId], most: int = 3) -> str:
    """Return the first few ids, as a message quotes them."""
    shown = [repr(image_id) for image_id, _ in zip(ids, range(most), strict=False)]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "none"


def _counted(ids: Collection[ImageId]) -> str:
    return f"{len(ids)} image id" + ("" if len(ids) == 1 else "s")


def _likely_cause(missing: Collection[ImageId], known: Collection[ImageId]) -> str:
    known_text = {str(image_id) for image_id in known}
    if any(str(image_id) in known_text for image_id in missing):
        return "one side has strings where the other has integers: convert one of them."
    if _look_like_files(missing) != _look_like_files(known):
        return "one side has file names where the other has image ids: use the same on both."
    if all(isinstance(image_id, Integral) for ids in (missing, known) for image_id in ids):
        return (
            "check that both come from the same split of the same dataset (COCO's splits of 2014 "
            "and 2017 differ)."
        )
    return "check that both come from the same split of the same dataset."


def _look_like_files(ids: Collection[ImageId]) -> bool:
    return any(
        isinstance(image_id, str) and not image_id.isdigit() and _number(image_id) is None
        for image_id in ids
    )
