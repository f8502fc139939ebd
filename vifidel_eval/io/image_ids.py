"""Image ids: reading them from JSON and file names, and matching the ids of two sides (`match`).

An id is any hashable that the caller uses; COCO's are integers, other datasets use strings. COCO
file stems are ``COCO_val2014_000000000042`` and ``000000000042``, with or without an extension.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import chain
from numbers import Integral
from typing import Any

from ..errors import ImageIdError
from .files import parse_json, read_text

ImageId = Hashable

_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_COCO_STEM = re.compile(r"(?:COCO_\w+_)?(\d{12})(?:\.\w{3,4})?")
_VOC_STEM = re.compile(r"0\d{5}")  # as PASCAL VOC 2007 names pictures
_BATCH_AND_ROW = re.compile(r"\d+_\d+")  # as M2 and GRIT name captions
_PICTURE_OR_VIDEO = re.compile(
    r"\.(?:jpe?g|png|web[pm]|gif|bmp|tiff?|avif|hei[cf]|dcm|mp4|m4v|mov|avi|mkv|mpe?g|wmv|flv|ogv|3gp)",
    re.IGNORECASE,
)

# Roboflow exports beach.jpg as beach_jpg.rf.<hash>.jpg, Label Studio as <eight digits>-beach.jpg.
_OF_ROBOFLOW = re.compile(r"(?:^|(?<=[/\\]))([^/\\]+)_(\w{3,4})\.rf\.\w+(?:\.\w{3,4})?$")
_OF_LABEL_STUDIO = re.compile(r"(?:^|(?<=[/\\]))[0-9a-f]{8}-(?=[^/\\]+$)")


def from_json_key(key: str) -> ImageId:
    """Return the image id that a key means: a number unless it is zero-padded, like file stems."""
    return int(key) if _WHOLE_NUMBER.fullmatch(key) else key


def names_image(text: str) -> bool:
    """Return whether a text can only be an image id: a number, or the name of a picture."""
    return text.isdigit() or _PICTURE_OR_VIDEO.fullmatch(os.path.splitext(text)[1]) is not None


def from_json_value(value: Any) -> ImageId | None:
    """Return a JSON value as an image id, or None if it cannot be one."""
    if type(value) is int:  # almost all are, and files have many
        return value
    # From 2**53 on, floats skip whole numbers: there is no telling which one was meant.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return value


def read_image_ids(path: str | os.PathLike[str]) -> list[ImageId]:
    """Read the ids of images from a file, as `parse_image_ids` does from its text."""
    return parse_image_ids(read_text(path, ImageIdError), str(path))


def parse_image_ids(text: str, where: str) -> list[ImageId]:
    """Return the ids of images in a text that `where` names: a JSON list, or one id per line."""
    lines = enumerate(map(str.strip, text.splitlines()), 1)  # which may be empty
    written: list[tuple[str, Any, ImageId | None]]  # place, text or value, and id
    written = [(f"line {at}", line, from_json_key(line)) for at, line in lines if line]
    if text.lstrip()[:1] in ("[", "{"):
        content = parse_json(text, where, ImageIdError)
        if not isinstance(content, list):
            raise ImageIdError(
                f"{where}: holds a JSON object; give image ids as a list, or one per line."
            )
        entries = enumerate(content)
        written = [
            (f"[{at}]", value, from_json_value(value)) for at, value in entries if value != ""
        ]
    first_at: dict[ImageId, str] = {}
    for place, value, image_id in written:
        if image_id is None:
            raise ImageIdError(
                f"{where}: {place} is {value!r:.40}; an image id is an integer or a string."
            )
        if image_id in first_at:
            raise ImageIdError(
                f"{where}: image {image_id!r} appears twice ({first_at[image_id]} and {place}); "
                "keep one."
            )
        first_at[image_id] = place
    if not first_at:
        raise ImageIdError(f"{where}: has no image ids.")
    return list(first_at)


def _number(image_id: ImageId, or_text: bool = False) -> int | None:
    """Return the number of an id: its own, that of COCO's file stem, or one in text (`or_text`)."""
    if isinstance(image_id, str):
        whole = image_id.removesuffix(".0")  # pandas writes numbers so beside a missing one
        if or_text and (_WHOLE_NUMBER.fullmatch(whole) or _VOC_STEM.fullmatch(image_id)):
            return int(whole)
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
    """Return how many images there are, and eight hexadecimal digits that pin which."""
    images = {
        repr(to_json_value(image_id) if number is None else number)
        for image_id in ids
        for number in [_number(image_id)]
    }
    return f"{len(images)}#{hashlib.sha256(' '.join(sorted(images)).encode()).hexdigest()[:8]}"


def check_ids(ids: Iterable[ImageId], where: str) -> None:
    """Check that there is an id where one is given: None and NaN stand for what is missing."""
    for number, image_id in enumerate(ids, 1):
        if image_id is None or (isinstance(image_id, float) and math.isnan(image_id)):
            raise ImageIdError(
                f"{where}: image id number {number} is {image_id!r}; give each image its id."
            )


def check_distinct(ids: Iterable[ImageId], where: str) -> None:
    """Check that no two ids mean the same image, as 1, ``"1"`` and a stem of 1 do."""
    ids = list(ids)
    if set(map(type, ids)) <= {int}:
        return
    check_ids(ids, where)
    meant: dict[str, ImageId] = {}
    for image_id in ids:
        number = _number(image_id)
        first = meant.setdefault(str(image_id if number is None else number), image_id)
        if first is not image_id:
            raise ImageIdError(
                f"{where}: {first!r} and {image_id!r} mean the same image; write its id in the "
                "same way everywhere."
            )


def match(
    wanted: Iterable[ImageId], known: Collection[ImageId] | Mapping[ImageId, Any]
) -> dict[ImageId, ImageId]:
    """Return the other side's id of each wanted image that it has.

    Equal ids go first, then COCO's numbers, in text too, and file stems, then paths and names of
    pictures and videos. A path means another id if one of them is the end of the other, folder by
    folder and without the extension: ``data/val/beach.jpg`` means ``val/beach.png``, ``beach.jpg``
    and ``beach``, and not ``train/beach.jpg``; ``images/42.jpg`` means 42, ``clip.mp4`` means
    ``clip``. Raises `ImageIdError` if two ids of the other side mean the same image, or a path
    could mean two of them.
    """
    wanted = list(wanted)
    matched = {image_id: image_id for image_id in wanted if image_id in known}
    if len(matched) == len(wanted):
        return matched
    by_number: dict[int, ImageId] = {}
    for image_id in known:
        number = _number(image_id, or_text=True)
        if number is None:
            continue
        if number in by_number:
            raise ImageIdError(
                f"{image_id!r} and {by_number[number]!r} both mean image {number}: keep "
                "one of them."
            )
        by_number[number] = image_id
    for image_id in wanted:
        number = _number(image_id, or_text=True)
        if image_id not in matched and number in by_number:
            matched[image_id] = by_number[number]
    # Where both sides have numbers only, there is no path.
    if len(matched) < len(wanted) and any(isinstance(i, str) for i in chain(wanted, known)):
        _match_paths(wanted, known, matched)
    return matched


def images_by_name(names: Iterable[tuple[str, ImageId]]) -> dict[ImageId, ImageId]:
    """Return the image of each name that only one has, also of what that was before an export.

    Roboflow's ``beach_jpg.rf.<hash>.jpg`` and Label Studio's ``<hash>-beach.jpg`` were
    ``beach.jpg``. A name that is the id itself is left out.
    """
    images: dict[str, set[ImageId]] = {}
    for name, image_id in names:
        before = _OF_ROBOFLOW.sub(r"\1.\2", _OF_LABEL_STUDIO.sub("", name))
        for spelling in {name, before}:
            images.setdefault(spelling, set()).add(image_id)
    unique = {name: next(iter(ids)) for name, ids in images.items() if len(ids) == 1}
    return {name: image_id for name, image_id in unique.items() if name != image_id}


class _Paths(dict[str, "_Paths"]):
    """Known ids by their parts from the end: those that end here, and two of those that go on."""

    ending: tuple[tuple[ImageId, bool], ...] = ()  # whether each is a path
    longer: tuple[ImageId, ...] = ()


def _match_paths(
    wanted: list[ImageId], known: Iterable[ImageId], matched: dict[ImageId, ImageId]
) -> None:
    """Add to `matched` the wanted images that paths and names of pictures lead to."""
    paths, none = _Paths(), _Paths()
    for image_id in known:
        parts, is_path = _ends(image_id)
        at = paths
        for part in parts:
            at.longer = (*at.longer, image_id)[:2]
            at = at.setdefault(part, _Paths())
        at.ending = (*at.ending, (image_id, is_path))[:2]
    taken = {other: image_id for image_id, other in matched.items()}
    for image_id in wanted:
        parts, is_path = ((), False) if image_id in matched else _ends(image_id)
        like: list[ImageId] = []
        at = paths
        for part in parts:
            at = at.get(part, none)
            like += (other for other, theirs_is_path in at.ending if is_path or theirs_is_path)
        like += at.longer if parts else ()
        if len(like) > 1:
            raise ImageIdError(
                f"{image_id!r:.80} could be {like[0]!r:.80} or {like[1]!r:.80}: write ids in the "
                "same way on both sides."
            )
        if like:
            if like[0] in taken:
                raise ImageIdError(
                    f"{taken[like[0]]!r:.80} and {image_id!r:.80} both mean {like[0]!r:.80}: "
                    "write ids in the same way on both sides."
                )
            taken[like[0]] = image_id
            matched[image_id] = like[0]


def _ends(image_id: ImageId) -> tuple[tuple[str, ...], bool]:
    """Return the parts of an id from its end, and whether it is a path or name of a picture."""
    if not isinstance(image_id, str):
        return (str(int(image_id)),) if isinstance(image_id, Integral) else (), False
    *folders, name = image_id.replace("\\", "/").split("/")
    stem, dot, extension = name.rpartition(".")
    has_extension = bool(dot and stem and _PICTURE_OR_VIDEO.fullmatch(dot + extension))
    number = _number(stem if has_extension else name, or_text=True)
    end = str(number) if number is not None else stem if has_extension else name
    inner = [folder for folder in reversed(folders) if folder not in ("", ".")]
    return (end, *inner), bool(has_extension or folders)


def are_row_numbers(ids: Collection[ImageId]) -> bool:
    """Return whether ids are 0, 1, 2 and so on, or ``"0"``, ``"1"``, as programs number rows."""
    return len(ids) > 1 and all(str(image_id) == str(row) for row, image_id in enumerate(ids))


def mismatch(
    missing: Collection[ImageId],
    known: Collection[ImageId],
    asked: str,
    knower: str,
    all_asked: Collection[ImageId] = (),
    instead: str = "",
) -> ImageIdError:
    """Return the error for ids of `asked` that `knower` lacks, with the likely cause."""
    ids = all_asked or missing
    of_batches = "0_0" in ids and all(
        isinstance(image_id, str) and _BATCH_AND_ROW.fullmatch(image_id) for image_id in ids
    )
    if of_batches or are_row_numbers(ids):
        instead = ", or key the objects by the same names" if of_batches else instead
        cause = f"the ids of {asked} look like row numbers: write image ids there{instead}."
        if are_row_numbers(known):
            cause = f"both sides number their rows, {len(ids)} and {len(known)}: give one per row."
    elif _look_like_files(missing) != _look_like_files(known):
        cause = (
            "one side has file names where the other has image ids: use the same on both "
            "(--id-field names the key that both have)."
        )
    else:
        numbers = all(isinstance(image_id, Integral) for image_id in chain(missing, known))
        coco = " (COCO's splits of 2014 and 2017 differ)" if numbers else ""
        cause = f"check that both come from the same split of the same dataset{coco}."
    return ImageIdError(
        f"{knower} lacks {len(missing)} image id{'s' * (len(missing) != 1)} of {asked}: "
        f"{samples(missing)}; it has {len(known)} image id{'s' * (len(known) != 1)}: "
        f"{samples(known)}; {cause}"
    )


def samples(ids: Collection[ImageId], number: int = 3) -> str:
    """Return the first few ids, as a message quotes them."""
    shown = [f"{image_id!r:.200}" for image_id, _ in zip(ids, range(number), strict=False)]
    return ", ".join(shown) + (", ..." if len(ids) > number else "") if shown else "none"


def _look_like_files(ids: Collection[ImageId]) -> bool:
    return any(
        isinstance(image_id, str) and not image_id.isdigit() and _number(image_id) is None
        for image_id in ids
    )
