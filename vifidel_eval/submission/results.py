"""One result file of a submission, read to its end: its captions and all that is wrong with it.

The rules are those at the top of `vifidel_eval.submission`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from ..errors import CaptionError
from ..files import parse_json
from ..image_ids import ImageId, from_json_value
from ..text.tokenization import LINE_BREAKS
from .sources import Fault, Source

#: The splits of a submission, in the order of the zip, and how many images each has.
SPLITS = {"val2014": 40_504, "test2014": 40_775}

#: An algorithm's name: what every file system and zip program can spell.
ALGORITHM = re.compile(r"[A-Za-z0-9._-]+")

_NAME = re.compile(rf"captions_({'|'.join(SPLITS)})_({ALGORITHM.pattern})_results\.json")
# Categories of Unicode: separators, control and format characters such as U+200B.
_INVISIBLE = ("Zs", "Zl", "Zp", "Cc", "Cf")
_DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")


@dataclass(frozen=True)
class ResultFile:
    """The result file of one split, as far as it could be read.

    Attributes
    ----------
    file : str
        What the user calls it.
    split : str or None
        A key of `SPLITS`; None if neither its name nor its image ids tell.
    algorithm : str or None
        The algorithm's name in the file name; None if the file cannot be read.
    captions : dict
        Image id to caption, in the order of the file, with all repairs made.
    entries : int
        The length of the file's list.
    """

    file: str
    split: str | None
    algorithm: str | None
    captions: dict[ImageId, str]
    entries: int


class _Repeated(dict[str, Any]):
    """A JSON object in which a key appears twice; it holds the last value, as the server does."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else _Repeated(pairs)


class ResultReader:
    """Reads one result file to its end and collects what is wrong with it."""

    def __init__(self, label: str) -> None:
        self.faults: list[Fault] = []
        self._label = label

    def _fault(self, kind: str, what: str, **where: Any) -> None:
        self.faults.append(Fault(self._label, kind, what, **where))

    def read(
        self, source: Source, images: Mapping[str, Collection[int]], named: bool
    ) -> ResultFile:
        """Return what `source` holds; `named` says whether its name must be the server's."""
        name = _NAME.fullmatch(source.name)
        split, algorithm = name.groups() if name else (None, None)
        entries = self._entries(source.data)
        if entries is None:
            algorithm = None
        else:
            split = self._split(split, entries, images)
        if named and name is None:
            self._fault(
                "file name",
                f"the server expects captions_{split or '[split]'}_[alg]_results.json: rename "
                "it, or let pack --algorithm name it",
            )
        captions = {}
        if entries is not None and split is not None:
            if split not in images:
                raise CaptionError(
                    f"{source.label}: no list of the images of {split} to check it against; give "
                    f"--images-{split.removesuffix('2014')}."
                )
            captions = self._captions(entries, images[split], split)
        return ResultFile(self._label, split, algorithm, captions, len(entries or ()))

    def read_plain(self, source: Source, images: Collection[ImageId]) -> ResultFile:
        """Return what `source` holds, checked against a list of images and nothing else."""
        entries = self._entries(source.data)
        captions = {}
        if entries is not None:
            captions = self._captions(entries, images, "the list")
        return ResultFile(self._label, None, None, captions, len(entries or ()))

    def _entries(self, data: bytes) -> list[Any] | None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as problem:
            self._fault("unreadable", f"not a UTF-8 text file (byte {problem.start})")
            return None
        if text.startswith("\ufeff"):
            self._fault(
                "byte order mark",
                "starts with a byte order mark, which is not JSON",
                repair="mark removed",
            )
        try:
            content = parse_json(text.lstrip("\ufeff"), self._label, CaptionError, _object)
        except CaptionError as problem:
            self._fault("unreadable", str(problem).removeprefix(f"{self._label}: ").rstrip("."))
            return None
        if not isinstance(content, list):
            self._fault("not a list", f"expected a list of entries, found {_json(content)}")
            return None
        return content

    def _split(
        self, named: str | None, entries: list[Any], images: Mapping[str, Collection[int]]
    ) -> str | None:
        """Return the split whose images the file describes, by its name or else its ids."""
        ids = {_image_id(entry.get("image_id")) for entry in entries if isinstance(entry, dict)}
        known = {split: len(ids.intersection(images[split])) for split in images}
        most = max(known, key=known.__getitem__)
        if known[most] <= known.get(named or "", 0):
            if named is None:
                self._fault(
                    "unknown split",
                    "neither its name nor its image ids tell the split, so its ids are not checked",
                )
            return named
        if named is not None:
            self._fault("wrong split", f"named {named}, but its images are of {most}")
        return most

    def _captions(
        self, entries: list[Any], known: Collection[ImageId], split: str
    ) -> dict[ImageId, str]:
        captions: dict[ImageId, str] = {}
        first_at: dict[ImageId, int] = {}
        image_of = _image_id if {type(image) for image in known} <= {int} else _image_among(known)
        for number, entry in enumerate(entries):
            if not isinstance(entry, dict):
                self._fault(
                    "no entry",
                    f'expected {{"image_id": ..., "caption": ...}}, found {_json(entry)}',
                    entry=number,
                )
                continue
            image_id = image_of(entry.get("image_id"))
            caption = self._entry(entry, number, image_id)
            if image_id is None:
                continue
            where = {"entry": number, "image_id": image_id}
            if image_id in first_at:
                first = f"the image has a caption in entry {first_at[image_id]}; keep one"
                self._fault("second caption", first, **where)
                continue
            first_at[image_id] = number
            captions[image_id] = caption
            if image_id not in known:
                self._fault("unknown image", f"no image of {split} has this id", **where)
        for image_id in known:
            if image_id not in first_at:
                self._fault("missing image", "no caption for this image", image_id=image_id)
        return captions

    def _entry(self, entry: dict[str, Any], number: int, image_id: ImageId | None) -> str:
        """Check one entry but for what it has to do with others; return its repaired caption."""
        where = {"entry": number, "image_id": image_id}
        if isinstance(entry, _Repeated):
            self._fault("repeated key", f"the key {_json(entry.key)} appears twice", **where)
        if "image_id" not in entry:
            self._fault("no image id", "no key image_id", **where)
        elif image_id is None or type(entry["image_id"]) is not type(image_id):
            wanted = "a string" if isinstance(image_id, str) else "a whole number"
            self._fault(
                "image id type",
                f"the image id is {_json(entry['image_id'])}, not {wanted}",
                **where,
                repair=None if image_id is None else f"becomes {_json(image_id)}",
            )
        for key in [key for key in entry if key not in ("image_id", "caption")]:
            self._fault(
                "extra key",
                f"the key {_json(key)}, which the format does not have",
                **where,
                repair="left out",
            )
        if "caption" not in entry:
            self._fault("no caption", "no key caption", **where)
            return ""
        return self._caption(entry["caption"], where)

    def _caption(self, caption: Any, where: dict[str, Any]) -> str:
        if not isinstance(caption, str):
            self._fault("caption type", f"the caption is {_json(caption)}, not a string", **where)
            return ""
        text = caption.strip()
        if all(category(character) in _INVISIBLE for character in text):
            self._fault("empty caption", "the caption has no words", **where)
        elif text != caption:
            self._fault(
                "white space",
                "white space around the caption",
                **where,
                repair="removed",
            )
        if breaks := [character for character in text if ord(character) in LINE_BREAKS]:
            self._fault(
                "line break",
                f"the line break {_json(breaks[0])} inside the caption",
                **where,
                repair="becomes a blank",
            )
        if any("\ud800" <= character <= "\udfff" for character in text):
            self._fault("lone surrogate", "a lone surrogate, which UTF-8 cannot encode", **where)
        return text.translate(LINE_BREAKS)


def _image_id(value: Any) -> int | None:
    """Return the image that a JSON value stands for, or None."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    number = from_json_value(value)
    return number if isinstance(number, int) else None


def _image_among(known: Collection[ImageId]) -> Callable[[Any], ImageId | None]:
    """Return a function from a JSON value to the image among `known` that it stands for, or None.

    An id that is not among them is returned as it is.
    """
    ids = set(known)
    of_text = {str(image_id): image_id for image_id in ids}

    def image_of(value: Any) -> ImageId | None:
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
