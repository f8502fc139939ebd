"""Files in COCO's results format: checked to their end, and written from captions.

`write_results` checks what it writes as `check_results` does: no file with a fault is written.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from ...errors import CaptionError
from ...io.arguments import named_if_wrong
from ...io.files import parse_json, read_bytes, write_whole
from ...io.image_ids import ImageId, from_json_value, match, to_json_value
from ...words.tokenization import LINE_BREAKS

# Categories of Unicode: separators, control and format characters such as U+200B.
_INVISIBLE = ("Zs", "Zl", "Zp", "Cc", "Cf")
_DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")


@dataclass(frozen=True)
class Fault:
    """Something that is not in the results format, or that an evaluation counts as nothing."""

    #: The file as the user called it.
    file: str
    #: What faults of the same kind have in common, in a few words.
    kind: str
    #: What is wrong.
    what: str
    #: The place in the file's list, counted from 0; None if no entry is at fault.
    entry: int | None = None
    #: The image, as far as it is known.
    image_id: int | str | None = None


@dataclass(frozen=True)
class Results:
    """A results file that was read to its end."""

    #: The file as the user called it.
    file: str
    #: The length of its list.
    entries: int
    #: Everything that is wrong with it, kind by kind.
    faults: Sequence[Fault]


@named_if_wrong
def check_results(path: str | os.PathLike[str], images: Collection[ImageId]) -> Results:
    """Look for every fault of a results file, which should describe all images.

    Parameters
    ----------
    path : path
        A JSON list of ``{"image_id": ..., "caption": "..."}``, under any name. A file that cannot
        be read is a fault.
    images : collection
        The image ids, as `read_image_list` returns them.
    """
    check = _Check(str(path))
    entries = check.entries(path)
    if entries is not None:
        check.captions(entries, images)
    return Results(check.file, len(entries or ()), check.by_kind())


@named_if_wrong
def write_results(
    captions: Mapping[ImageId, str],
    path: str | os.PathLike[str],
    images: Collection[ImageId] | None = None,
) -> Results:
    """Write captions in the results format, unless there would be a fault in the file.

    White space around captions is dropped, and line breaks in them become blanks. The file is
    ASCII, and the same bytes for the same captions.

    Parameters
    ----------
    captions : mapping
        Image id to caption, as `vifidel_eval.captions.read_results` returns it.
    path : path
        The file, which is replaced if it exists.
    images : collection, optional
        The images that the file must describe, as `read_image_list` returns them; it has their ids
        and their order. By default the images that have a caption.

    Returns
    -------
    Results
        What was checked; nothing is written if it has faults.

    Raises
    ------
    ImageIdError
        If an id of the captions could mean two of the images.
    VifidelError
        If the file cannot be written.
    """
    known = captions if images is None else images
    same_image = match(captions, known)
    of_image = {same_image.get(image_id, image_id): text for image_id, text in captions.items()}
    unknown = [image_id for image_id in of_image if image_id not in known]
    entries = [
        {
            "image_id": to_json_value(image_id),
            "caption": of_image[image_id].strip().translate(LINE_BREAKS),
        }
        for image_id in [*known, *unknown]
        if image_id in of_image
    ]
    check = _Check(str(path))
    check.captions(entries, known)
    if not check.faults:
        write_whole(path, json.dumps(entries).encode("ascii"))
    return Results(check.file, len(entries), check.by_kind())


class _Repeated(dict[str, Any]):
    """A JSON object in which a key appears twice; it holds the last value, as other readers do."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else _Repeated(pairs)


class _Check:
    """A check of one results file, which goes on after each fault."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def by_kind(self) -> list[Fault]:
        """Return the faults kind by kind, in the order in which the kinds appear."""
        kinds = list(dict.fromkeys(fault.kind for fault in self.faults))
        return sorted(self.faults, key=lambda fault: kinds.index(fault.kind))

    def entries(self, path: str | os.PathLike[str]) -> list[Any] | None:
        """Return the list that a file holds; None if it holds none."""
        try:
            text = read_bytes(path, CaptionError).decode("utf-8")
            if text.startswith("\ufeff"):
                self._fault("byte order mark", "starts with a byte order mark, which is not JSON")
            content = parse_json(text.lstrip("\ufeff"), self.file, CaptionError, _object)
        except UnicodeDecodeError as problem:
            self._fault("unreadable", f"not a UTF-8 text file (byte {problem.start})")
            return None
        except CaptionError as problem:
            self._fault("unreadable", str(problem).removeprefix(f"{self.file}: ").rstrip("."))
            return None
        if not isinstance(content, list):
            self._fault("not a list", f"expected a list of entries, found {_json(content)}")
            return None
        return content

    def captions(self, entries: list[Any], known: Collection[ImageId]) -> None:
        """Check the entries of a file that should describe the known images."""
        first_at: dict[ImageId, int] = {}
        image_of = _image_among(known)
        for number, entry in enumerate(entries):
            if not isinstance(entry, dict):
                what = f'expected {{"image_id": ..., "caption": ...}}, found {_json(entry)}'
                self._fault("no entry", what, entry=number)
                continue
            image_id = image_of(entry.get("image_id"))
            where = {"entry": number, "image_id": image_id}
            self._keys(entry, where)
            if image_id is None:
                continue
            if image_id in first_at:
                first = f"the image has a caption in entry {first_at[image_id]}; keep one"
                self._fault("second caption", first, **where)
                continue
            first_at[image_id] = number
            if image_id not in known:
                self._fault("unknown image", "no image of the list has this id", **where)
        for image_id in known:
            if image_id not in first_at:
                self._fault("missing image", "no caption for this image", image_id=image_id)

    def _keys(self, entry: dict[str, Any], where: dict[str, Any]) -> None:
        """Check one entry but for what it has to do with others."""
        image_id = where["image_id"]
        if isinstance(entry, _Repeated):
            self._fault("repeated key", f"the key {_json(entry.key)} appears twice", **where)
        if "image_id" not in entry:
            self._fault("no image id", "no key image_id", **where)
        elif image_id is None or type(entry["image_id"]) is not type(image_id):
            wanted = "a string" if isinstance(image_id, str) else "a whole number"
            what = f"the image id is {_json(entry['image_id'])}, not {wanted}"
            self._fault("image id type", what, **where)
        for key in [key for key in entry if key not in ("image_id", "caption")]:
            what = f"the key {_json(key)}, which the format does not have"
            self._fault("extra key", what, **where)
        if "caption" not in entry:
            self._fault("no caption", "no key caption", **where)
        elif not isinstance(entry["caption"], str):
            found = _json(entry["caption"])
            self._fault("caption type", f"the caption is {found}, not a string", **where)
        else:
            self._caption(entry["caption"], where)

    def _caption(self, caption: str, where: dict[str, Any]) -> None:
        text = caption.strip()
        if all(category(character) in _INVISIBLE for character in text):
            self._fault("empty caption", "the caption has no words", **where)
        elif text != caption:
            self._fault("white space", "white space around the caption", **where)
        if breaks := [character for character in text if ord(character) in LINE_BREAKS]:
            what = f"the line break {_json(breaks[0])} inside the caption"
            self._fault("line break", what, **where)
        if any("\ud800" <= character <= "\udfff" for character in text):
            self._fault("lone surrogate", "a lone surrogate, which UTF-8 cannot encode", **where)

    def _fault(self, kind: str, what: str, **where: Any) -> None:
        self.faults.append(Fault(self.file, kind, what, **where))


def _image_among(known: Collection[ImageId]) -> Callable[[Any], ImageId | None]:
    """Return a function from a JSON value to the image among `known` that it stands for, or None.

    An id that is not among them is returned as it is; text of digits is a number where all of them
    are numbers.
    """
    ids = set(known)
    of_text = {str(image_id): image_id for image_id in ids}
    only_numbers = {type(image_id) for image_id in ids} <= {int}

    def image_of(value: Any) -> ImageId | None:
        if only_numbers and isinstance(value, str):
            return int(value) if _DIGITS.fullmatch(value) else None
        image_id = from_json_value(value)
        if image_id is None or image_id in ids:
            return image_id
        return of_text.get(str(image_id), image_id)

    return image_of


def _json(value: Any) -> str:
    """Return a value as it is in the file, cut short; ASCII, whatever the terminal."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
