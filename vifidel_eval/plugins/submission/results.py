"""COCO's results format: the images of a split, files checked to their end, and written.

`write_results` checks what it writes as `check_results` does: no file with a fault is written.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from ...captions import datasets
from ...captions.fields import IMAGE_IDS, id_field, usual
from ...captions.layouts import Named, records_of
from ...errors import CaptionError
from ...io.containers import content_of
from ...io.entries import Entries, Entry
from ...io.files import as_text, parse_json, read_bytes, write_whole
from ...io.image_ids import ImageId, check_distinct, from_json_value, match, to_json_value
from ...io.options import named_if_wrong
from ...scores.systems import parse_image_ids
from ...words.tokenization import LINE_BREAKS

# Categories of Unicode: separators, control and format characters such as U+200B.
_INVISIBLE = ("Zs", "Zl", "Zp", "Cc", "Cf")
_DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")


@dataclass(frozen=True)
class Fault:
    """Something that is not in the results format, or that an evaluation counts as nothing."""

    file: str  # as the user called it
    kind: str  # what faults of the same kind have in common, in a few words
    what: str  # what is wrong
    entry: int | None = None  # the place in the file's list, from 0; None if no entry is at fault
    image_id: ImageId | None = None


@dataclass(frozen=True)
class Results:
    """A results file that was read to its end."""

    file: str  # as the user called it
    entries: int  # the length of its list
    faults: Sequence[Fault]  # kind by kind


@named_if_wrong
def read_image_list(path: str | os.PathLike[str]) -> Named[None]:
    """Read image ids from any file that lists images.

    COCO-style JSON (``images`` with ``id``, as captions, instances and image info files have it), a
    JSON list of ids, one id per line, ``{"id": ...}``, or records (JSON, JSON Lines, CSV, TSV,
    Parquet) whose image id has a usual name.

    The ids are the keys, in the order of the file; `Named.other_ids` has file names and the like.

    Raises a CaptionError if the file cannot be read or lists no images, and an ImageIdError if two
    ids mean the same image, or a plain list has one twice.
    """
    where, raw = str(path), read_bytes(path, CaptionError)
    content = content_of(raw, where, CaptionError)
    ids: Iterable[ImageId]
    entries: list[Entry] = []
    if content.kind == "table" and not usual(content.value.header, IMAGE_IDS):
        ids = parse_image_ids(content.value.text, where)
    elif content.kind == "table" and not content.value.delimiter:
        rows = content.value.text.partition("\n")[2]
        ids = parse_image_ids(f"\n{rows}", where)  # the lines keep their numbers
    elif content.kind == "list" and content.value and not isinstance(content.value.values[0], dict):
        ids = parse_image_ids(as_text(raw, where, CaptionError), where)
    else:
        records = records_of(content)
        if isinstance(records, Entries):
            name = id_field(records.names, (), where) if records else ""
            ids = [record.image_id(name) for record in records]
        elif datasets.has_splits(records.content):
            raise CaptionError(
                f"{where}: has Karpathy's splits; write the ids of the split that is submitted, "
                "one per line."
            )
        else:
            for key, name in (("images", "id"), ("annotations", "image_id")):
                if isinstance(records.get(key), list):
                    entries = list(records.entries(key))
                    ids = [entry.image_id(name) for entry in entries]
                    break
            else:
                ids = list(records.content)
    listed = dict.fromkeys(ids)
    if not listed:
        raise CaptionError(f"{where}: there is no image id in it.")
    check_distinct(listed, where)
    return Named(listed, {entry.image: entry for entry in entries})


@named_if_wrong
def check_results(
    path: str | os.PathLike[str], images: Collection[ImageId], by_file_name: bool = False
) -> Results:
    """Look for every fault of a results file, which should describe all images.

    It is a JSON list of ``{"image_id": ..., "caption": "..."}``, or an object ``{file name:
    caption}``, under any name. That it cannot be read is a fault. `read_image_list` returns the
    images.
    """
    file = str(path)
    faults: list[Fault] = []
    entries: Any = None
    try:
        text = read_bytes(path, CaptionError).decode("utf-8")
        if text.startswith("\ufeff"):
            what = "starts with a byte order mark, which is not JSON"
            faults.append(Fault(file, "byte order mark", what))
        entries = parse_json(text.lstrip("\ufeff"), file, CaptionError, _Object)
        if by_file_name and isinstance(entries, _Object):
            if entries.repeated is not None:
                what = f"the key {_json(entries.repeated)} appears twice"
                faults.append(Fault(file, "repeated key", what))
            entries = [{"image_id": name, "caption": text} for name, text in entries.items()]
        elif by_file_name or not isinstance(entries, list):
            expected = "{file name: caption}" if by_file_name else "a list of entries"
            what = f"expected {expected}, found {_json(entries)}"
            kind = "not an object" if by_file_name else "not a list"
            faults.append(Fault(file, kind, what))
            entries = None
    except UnicodeDecodeError as problem:
        what = f"not a UTF-8 text file (byte {problem.start})"
        faults.append(Fault(file, "unreadable", what))
    except CaptionError as problem:
        what = str(problem).removeprefix(f"{file}: ").rstrip(".")
        faults.append(Fault(file, "unreadable", what))
    if not isinstance(entries, list):
        return Results(file, 0, faults)
    known = _file_names(images).values() if by_file_name else images
    return _checked(file, entries, known, faults)


@named_if_wrong
def write_results(
    captions: Mapping[ImageId, str],
    path: str | os.PathLike[str],
    images: Collection[ImageId] | None = None,
    by_file_name: bool = False,
) -> Results:
    """Write captions in the results format, unless there would be a fault in the file.

    White space around captions is dropped, and line breaks in them become blanks. The file, which
    is replaced if it exists, is ASCII, and the same bytes for the same captions. It has the ids of
    the images that it must describe, and their order: `read_image_list` returns them; by default
    they are those of the captions, as `vifidel_eval.captions.read_results` returns them.

    Raises an ImageIdError if an id of the captions could mean two of the images, and a VifidelError
    if the file cannot be written.
    """
    known = captions if images is None else images
    if isinstance(images, Named):
        captions = images.in_ids(captions)
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
    results = _checked(str(path), entries, known)
    content: Any = entries
    if by_file_name:
        names = _file_names(known)
        content = {str(names.get(e["image_id"], e["image_id"])): e["caption"] for e in entries}
    if not results.faults:
        write_whole(path, json.dumps(content).encode("ascii"))
    return results


def _file_names(images: Collection[ImageId]) -> dict[ImageId, ImageId]:
    """Return what an object of captions calls each image: its file where that is known."""
    listed = images.other_ids["file_name"] if isinstance(images, Named) else {}
    names = {image_id: name for name, image_id in listed.items()}
    return {image_id: names.get(image_id, image_id) for image_id in images}


class _Object(dict[str, Any]):
    """A JSON object with its first key that appears twice; of that it holds the last value."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(key for key, _ in pairs) if len(pairs) > len(self) else {}
        self.repeated = next((key for key, n in times.items() if n > 1), None)


def _checked(
    file: str, entries: list[Any], known: Collection[ImageId], faults: Iterable[Fault] = ()
) -> Results:
    """Return the faults kind by kind, in the order in which the kinds appear."""
    faults = [*faults, *_faults(file, entries, known)]
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    return Results(file, len(entries), sorted(faults, key=lambda fault: kinds.index(fault.kind)))


def _faults(file: str, entries: list[Any], known: Collection[ImageId]) -> Iterator[Fault]:
    """Yield what is wrong with the entries of a file that should describe the known images."""
    first_at: dict[ImageId, int] = {}
    image_of = _image_among(known)
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            what = f'expected {{"image_id": ..., "caption": ...}}, found {_json(entry)}'
            yield Fault(file, "no entry", what, number)
            continue
        image_id = image_of(entry.get("image_id"))
        for kind, what in _faults_of_entry(entry, image_id):
            yield Fault(file, kind, what, number, image_id)
        if image_id in first_at:
            what = f"the image has a caption in entry {first_at[image_id]}; keep one"
            yield Fault(file, "second caption", what, number, image_id)
        elif image_id is not None:
            first_at[image_id] = number
            if image_id not in known:
                what = "no image of the list has this id"
                yield Fault(file, "unknown image", what, number, image_id)
    for image_id in known:
        if image_id not in first_at:
            yield Fault(file, "missing image", "no caption for this image", image_id=image_id)


def _faults_of_entry(entry: dict[str, Any], image_id: ImageId | None) -> Iterator[tuple[str, str]]:
    """Yield the kind of each fault that has nothing to do with other entries, and what is wrong."""
    if isinstance(entry, _Object) and entry.repeated is not None:
        yield "repeated key", f"the key {_json(entry.repeated)} appears twice"
    if "image_id" not in entry:
        yield "no image id", "no key image_id"
    elif image_id is None or type(entry["image_id"]) is not type(image_id):
        wanted = "a string" if isinstance(image_id, str) else "a whole number"
        yield "image id type", f"the image id is {_json(entry['image_id'])}, not {wanted}"
    for key in [key for key in entry if key not in ("image_id", "caption")]:
        yield "extra key", f"the key {_json(key)}, which the format does not have"
    if "caption" not in entry:
        yield "no caption", "no key caption"
        return
    caption = entry["caption"]
    if not isinstance(caption, str):
        yield "caption type", f"the caption is {_json(caption)}, not a string"
        return
    text = caption.strip()
    if all(category(character) in _INVISIBLE for character in text):
        yield "empty caption", "the caption has no words"
    elif text != caption:
        yield "white space", "white space around the caption"
    if breaks := [character for character in text if ord(character) in LINE_BREAKS]:
        yield "line break", f"the line break {_json(breaks[0])} inside the caption"
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield "lone surrogate", "a lone surrogate, which UTF-8 cannot encode"


def _image_among(known: Collection[ImageId]) -> Callable[[Any], ImageId | None]:
    """Return a function from a JSON value to the image that it stands for, `known` or not.

    It returns None for what is no id. Text of digits is a number where all known ids are numbers.
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
