"""What an interrupted run has done, which the next one continues."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from .files import beside, read_kept, reason, write_whole

# The first line of records, by which a file is known to be ours.
_MARK = '{"vifidel-eval": "an unfinished run"}\n'


class Parts:
    """What an interrupted run has done, by key, in a file ``.unfinished`` beside its output."""

    # A key says everything that the part depends on, so that a part that is there is never stale.

    def __init__(self, output: Path | None) -> None:
        self.path: Path | None = None  # of no output, or of a device, parts are not kept
        if output is not None and (output.is_file() or not output.exists()):
            self.path = beside(output, ".unfinished")
        self._known: dict[str, Any] = {}
        self.damaged = 0  # parts that could not be read
        self._begun = False
        if self.path is None or not self.path.exists():
            return
        try:
            content = read_kept(self.path, VifidelError).decode()
        except (OSError, UnicodeDecodeError) as problem:
            raise VifidelError(
                f"{self.path}: the unfinished run cannot be read ({problem}); delete it to start "
                "again."
            ) from None
        self._begun = content.startswith(_MARK)
        if not self._begun and not _MARK.startswith(content):
            raise VifidelError(
                f"{self.path}: is not an unfinished run of this version; move it away."
            )
        for line in filter(None, content.splitlines()[1:]):
            try:
                part = json.loads(line)
                key, kept, digest = part["key"], part["content"], part["digest"]
                if digest != _digest(key, kept):
                    raise ValueError
                self._known[key] = kept
            except (ValueError, KeyError, TypeError, RecursionError):
                self.damaged += 1

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def add(self, key: str, content: Any, alone: bool = False) -> None:
        """Keep a part, a value of JSON, in place of what its key had, or (`alone`) of all parts."""
        if alone:
            self._known.clear()
        self._known[key] = content
        if self.path is None:
            return
        part = {"key": key, "content": content, "digest": _digest(key, content)}
        line = json.dumps(part, allow_nan=False)
        if alone:
            write_whole(self.path, f"{_MARK}{line}\n")
        else:
            try:
                mode = "a" if self._begun else "w"
                with self.path.open(mode, encoding="utf-8", newline="\n") as file:
                    # Another run of the same output may have ended, and removed the file.
                    before = "" if file.tell() else _MARK
                    file.write(f"{before}\n{line}\n")  # the line before may have no end
            except OSError as problem:
                raise VifidelError(f"{self.path}: cannot be written: {reason(problem)}.") from None
        self._begun = True

    def clear(self) -> None:
        """Forget all parts: the run is complete. A file that is not of this run stays."""
        if self.path is not None and self._begun:
            with contextlib.suppress(FileNotFoundError):
                with self.path.open("rb") as file:
                    ours = file.read(len(_MARK)) == _MARK.encode()
                if ours:
                    self.path.unlink()
            self._begun = False


def _digest(key: str, content: Any) -> str:
    """Return what tells a part from a damaged one."""
    text = json.dumps([key, content], allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
