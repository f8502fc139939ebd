"""Files of detections: a header, then a line per picture, or per picture and round of questions.

::

    {"vifidel_eval": "detections", "version": 1, "model": "owlv2", "weights": "5f6c...", ...}
    {"image_id": "a.jpg", "labels": ["nut"], "scores": [0.71], "boxes": [[10, 12, 60, 80]],
     "width": 640, "height": 480, "digest": "9f86d081884c7d65", "asked": ["nut", "lamp"]}
    {"image_id": "b.jpg", "problem": "not a picture"}

While a run goes on, its lines are in a file of their own (`unfinished_path`), to which each is
added as it comes; an interrupted run is continued from there. A finished file is written as a
whole. `digest` pins the bytes of a picture: what was written about a picture that has others now is
left out.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import VifidelError
from ...io.files import beside, json_line, read_kept, reason, write_whole
from ...io.records import locked

#: What the header says the file is.
KIND = {"vifidel_eval": "detections", "version": 1}

# What may differ between two runs into one file: the name that a folder happens to have.
_FREE = frozenset({"model"})


def unfinished_path(output: str | os.PathLike[str]) -> Path:
    """Return the file that holds the lines of an unfinished run."""
    return beside(output, ".unfinished")


class ObjectsFile:
    """The lines that earlier runs wrote, and those that this one adds.

    Parameters
    ----------
    output : path
        The file of detections; it may exist.
    header : mapping
        Of this run.

    Raises
    ------
    VifidelError
        If one of the two files cannot be read, is something else, or is of another run: of another
        model, other classes or settings.
    """

    def __init__(self, output: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.output = Path(output)
        self.unfinished = unfinished_path(self.output)
        self._header = {**KIND, **header}
        self._lines: dict[str, list[bytes]] = {}
        self._asked: dict[str, set[str]] = {}
        self._digests: dict[str, str | None] = {}
        self._problems: dict[str, str] = {}
        if self.output.exists():
            self._read(self.output)
        self._seen = self._states()
        self._keep = self._read(self.unfinished) if self.unfinished.exists() else 0

    @property
    def without_digest(self) -> int:
        """How many pictures have lines that do not say which bytes the picture had."""
        return sum(digest is None for digest in self._digests.values())

    def __contains__(self, image_id: str) -> bool:
        """Whether there are lines of a picture, which say which bytes it had."""
        return self._digests.get(image_id) is not None

    def asked(self, image_id: str, digest: str) -> set[str] | None:
        """Return what was asked about a picture; None if nothing is known of one of these bytes."""
        return self._asked.get(image_id) if self._digests.get(image_id) == digest else None

    def pin(self, image_id: str, digest: str | None) -> None:
        """Say which bytes a picture has; what is known of others is forgotten."""
        if self._digests.get(image_id, digest) != digest:
            del self._lines[image_id], self._asked[image_id], self._digests[image_id]

    @contextlib.contextmanager
    def adding(self) -> Iterator[ObjectsFile]:
        """Open the file of this run's lines, for one process at a time.

        Raises
        ------
        VifidelError
            If another run writes it, or it cannot be written.
        """
        from filelock import Timeout

        try:
            with contextlib.ExitStack() as opened:
                opened.enter_context(locked(beside(self.output, ".lock")))
                if self._states() != self._seen:  # by one that held the lock until now
                    raise Timeout(str(self.output))
                mode = "r+b" if self._keep else "wb"
                self._file = opened.enter_context(open(self.unfinished, mode))
                # Half a line at the end is what an interrupted run left.
                self._file.truncate(self._keep)
                self._file.seek(self._keep)
                if not self._keep:
                    self._file.write(_line(self._header))
                    self._file.flush()
                yield self
        except Timeout:
            raise VifidelError(
                f"{self.output}: another run is writing this file; wait for it, or name another."
            ) from None
        except OSError as problem:
            if problem.filename is None:  # a full disk, not one of the pictures
                raise VifidelError(
                    f"{self.unfinished}: cannot be written: {reason(problem)}."
                ) from None
            raise

    def _states(self) -> list[tuple[int, int] | None]:
        """Return what tells whether the files are those that were read."""
        states: list[tuple[int, int] | None] = []
        for path in (self.output, self.unfinished):
            try:
                state = path.stat()
                states.append((state.st_size, state.st_mtime_ns))
            except FileNotFoundError:
                states.append(None)
        return states

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Add lines, which are in the file when this returns."""
        lines = [_line(entry) for entry in entries]
        self._file.write(b"".join(lines))
        self._file.flush()
        for line, entry in zip(lines, entries, strict=True):
            self._take(entry, line)

    def finish(self, order: Iterable[str]) -> None:
        """Write all lines as a whole: pictures that are no longer there, then `order`."""
        listed = dict.fromkeys(order)
        known = dict.fromkeys([*self._lines, *self._problems])
        ids = [image_id for image_id in known if image_id not in listed] + list(listed)
        content = [_line(self._header)]
        for image_id in ids:
            if image_id in self._lines:
                content += self._lines[image_id]
            elif image_id in self._problems:
                problem = self._problems[image_id]
                content.append(_line({"image_id": image_id, "problem": problem}))
        write_whole(self.output, b"".join(content))
        self.unfinished.unlink(missing_ok=True)

    def _read(self, path: Path) -> int:
        """Take the lines of a file; return how many bytes those have that are whole."""
        content = read_kept(path, VifidelError)
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.splitlines(keepends=True)
        if not lines:
            if content and not _begins_header(content):
                raise self._foreign(path)
            return 0
        self._check_header(path, _parsed(lines[0]))
        for number, line in enumerate(lines[1:], 2):
            entry = _parsed(line)
            if not _is_entry(entry):
                raise VifidelError(
                    f"{path}: line {number} is not what detect writes; delete the line, and its "
                    "picture is read again."
                )
            self._take(entry, line)
        return len(whole)

    def _take(self, entry: Mapping[str, Any], line: bytes) -> None:
        image_id = entry["image_id"]
        if "problem" in entry:
            self._problems[image_id] = str(entry["problem"])
            return
        digest = entry.get("digest")
        self.pin(image_id, digest)
        self._digests[image_id] = digest
        if line not in self._lines.setdefault(image_id, []):
            self._lines[image_id].append(line)
        self._asked.setdefault(image_id, set()).update(entry.get("asked", ()))

    def _check_header(self, path: Path, header: Any) -> None:
        if not isinstance(header, dict) or header.get("vifidel_eval") != KIND["vifidel_eval"]:
            raise self._foreign(path)
        now = json.loads(_line(self._header))
        differing = [
            name
            for name in dict.fromkeys([*now, *header])
            if name not in _FREE and header.get(name) != now.get(name)
        ]
        if differing:
            name = differing[0]
            raise VifidelError(
                f"{path}: made by another run: {name} is {header.get(name)!r:.60} there and "
                f"{now.get(name)!r:.60} now; name another --output, or delete the file."
            )

    def _foreign(self, path: Path) -> VifidelError:
        return VifidelError(
            f"{path}: is there already, and is not a file of detections; name another --output."
        )


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("image_id"), str):
        return False
    asked, digest = entry.get("asked", []), entry.get("digest", "")
    return isinstance(asked, list) and all(isinstance(text, str) for text in [*asked, digest])


def _begins_header(content: bytes) -> bool:
    begin = _line(KIND)[:-2]
    return content.startswith(begin[: len(content)])


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _line(entry: Mapping[str, Any]) -> bytes:
    # A name that is not UTF-8 has lone surrogates, which JSON can spell.
    return json_line(entry).encode("utf-8", errors="backslashreplace") + b"\n"
