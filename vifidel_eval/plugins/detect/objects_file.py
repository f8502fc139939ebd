"""Files of detections: a header, then a line per picture, or per picture and round of questions.

::

    {"vifidel_eval": "detections", "version": 1, "model": "owlv2", "weights": "5f6c...", ...}
    {"image_id": "a.jpg", "labels": ["nut"], "scores": [0.71], "boxes": [[10, 12, 60, 80]],
     "width": 640, "height": 480, "digest": "9f86d081884c7d65", "asked": ["nut", "lamp"]}
    {"image_id": "b.jpg", "problem": "not a picture"}

`digest` pins the bytes of a picture: what was written about a picture that has others now is left
out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import VifidelError
from ...io.files import json_line, read_kept, write_whole
from ...io.records import Parts

#: What the header says the file is.
KIND = {"vifidel_eval": "detections", "version": 1}

# What may differ between two runs into one file: the name that a folder happens to have.
_FREE = frozenset({"model"})
_HEADER = "header"  # its key among the parts of an unfinished run


@dataclass
class _Picture:
    """The lines of a picture, and the digest of its bytes (None in files of older versions)."""

    digest: str | None
    lines: list[bytes] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)


class ObjectsFile:
    """The lines that earlier runs of this header wrote, and those that this one adds, alone."""

    def __init__(self, output: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.output = Path(output)
        self._header = {**KIND, **header}
        self._pictures: dict[str, _Picture] = {}
        self._problems: dict[str, str] = {}
        lines = read_kept(self.output, VifidelError).splitlines() if self.output.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                entry = None
            if number == 1:
                self._check_header(self.output, entry)
            elif _is_entry(entry):
                self._take(entry, line + b"\n")
            else:
                raise VifidelError(
                    f"{output}: line {number} is not what detect writes; delete the line, and its "
                    "picture is read again."
                )
        self._parts = Parts(self.output)
        parts = {key: self._parts[key] for key in self._parts}
        if parts:
            self._check_header(self._parts.path, parts.pop(_HEADER, None))
        for line in parts.values():
            self._take(json.loads(line), line.encode())

    def __contains__(self, image_id: str) -> bool:
        """Whether there are lines of a picture, which say which bytes it had."""
        return image_id in self._pictures and self._pictures[image_id].digest is not None

    def asked(self, image_id: str, digest: str) -> set[str] | None:
        """Return what was asked about a picture; None if nothing is known of one of these bytes."""
        picture = self._pictures.get(image_id)
        return picture.asked if picture is not None and picture.digest == digest else None

    def pin(self, image_id: str, digest: str | None) -> None:
        """Say which bytes a picture has; what is known of others is forgotten."""
        if image_id in self._pictures and self._pictures[image_id].digest != digest:
            del self._pictures[image_id]

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Add lines, which are kept when this returns."""
        for entry in entries:
            if _HEADER not in self._parts:
                self._parts.add(_HEADER, self._header)
            line = _line(entry)
            depends_on = [entry.get(name) for name in ("image_id", "digest", "asked")]
            self._parts.add(json.dumps(depends_on), line.decode())
            self._take(entry, line)

    def finish(self, order: Iterable[str]) -> None:
        """Write all lines as a whole: pictures that are no longer there, then `order`."""
        listed = dict.fromkeys(order)
        known = dict.fromkeys([*self._pictures, *self._problems])
        content = [_line(self._header)]
        for image_id in [*(image_id for image_id in known if image_id not in listed), *listed]:
            if image_id in self._pictures:
                content += self._pictures[image_id].lines
            elif image_id in self._problems:
                content.append(_line({"image_id": image_id, "problem": self._problems[image_id]}))
        write_whole(self.output, b"".join(content))
        self._parts.clear()

    def _take(self, entry: Mapping[str, Any], line: bytes) -> None:
        image_id = entry["image_id"]
        if "problem" in entry:
            self._problems[image_id] = str(entry["problem"])
            return
        self.pin(image_id, entry.get("digest"))
        picture = self._pictures.setdefault(image_id, _Picture(entry.get("digest")))
        if line not in picture.lines:
            picture.lines.append(line)
        picture.asked.update(entry.get("asked", ()))

    def _check_header(self, path: Path | None, header: Any) -> None:
        if not isinstance(header, dict) or header.get("vifidel_eval") != KIND["vifidel_eval"]:
            raise VifidelError(
                f"{path}: is there already, and is not a file of detections; name another --output."
            )
        now = json.loads(_line(self._header))
        for name in dict.fromkeys([*now, *header]):
            if name not in _FREE and header.get(name) != now.get(name):
                raise VifidelError(
                    f"{path}: made by another run: {name} is {header.get(name)!r:.60} there and "
                    f"{now.get(name)!r:.60} now; name another --output, or delete the file."
                )


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("image_id"), str):
        return False
    asked, digest = entry.get("asked", []), entry.get("digest", "")
    return isinstance(asked, list) and all(isinstance(text, str) for text in [*asked, digest])


def _line(entry: Mapping[str, Any]) -> bytes:
    # A name that is not UTF-8 has lone surrogates, which JSON can spell.
    return json_line(entry).encode("utf-8", errors="backslashreplace") + b"\n"
