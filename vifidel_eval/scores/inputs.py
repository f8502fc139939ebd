"""What a run was made from, so that its file leads back to it: arguments, and files by content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from ..io.files import open_file, sha256_of

# What stands for a path among arguments in JSON.
_FILE = "file"


@dataclass(frozen=True)
class Inputs:
    """The arguments of a run, in which paths are those of files or folders that it read.

    `digests` are those of a run that was loaded, by path; of any other run, files are read for them
    when they are to be written.
    """

    arguments: Mapping[str, Any]
    digests: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any] | None:
        """Return ``{"arguments": ..., "files": {PATH: SHA-256}}``.

        There is nothing to return if an argument is no path, text or number, or a file cannot be
        read again (a pipe).
        """
        try:
            arguments = _to_json(self.arguments)
            digests = self.digests
            if digests is None:
                digests = {str(path): _digest(path) for path in _paths(self.arguments)}
        except (TypeError, VifidelError):
            return None
        return {"arguments": arguments, "files": dict(digests)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Inputs:
        """Return what `to_json` returned."""
        digests = {str(path): str(digest) for path, digest in content["files"].items()}
        return cls(_from_json(content["arguments"]), digests)

    def found(self, scores: str) -> Mapping[str, Any]:
        """Return the arguments with paths to the files as they were.

        A path is looked up as it was given and then beside the file of scores.

        Raises
        ------
        VifidelError
            If files are not there or have changed; it names them.
        """
        there: dict[Path, Path] = {}
        problems = []
        for path in _paths(self.arguments):
            places = [p for p in (path, Path(scores).parent / path) if p.exists()]
            same = [
                place for place in places if _digest(place) == (self.digests or {}).get(str(path))
            ]
            if same:
                there[path] = same[0]
            else:
                problems.append(f"{path} {'has changed' if places else 'is not there'}")
        if problems:
            raise VifidelError(", ".join(problems))
        found: Mapping[str, Any] = _replaced(self.arguments, there)
        return found


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _paths(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _paths(member)


def _replaced(value: Any, there: Mapping[Path, Path]) -> Any:
    if isinstance(value, Path):
        return there[value]
    if isinstance(value, Mapping):
        return {key: _replaced(member, there) for key, member in value.items()}
    return [_replaced(member, there) for member in value] if isinstance(value, list) else value


def _to_json(value: Any) -> Any:
    """Return arguments for JSON; a TypeError says that there are others."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, Path):
        return {_FILE: str(value)}
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: _to_json(member) for key, member in value.items()}
    if isinstance(value, Set):
        return sorted(map(_to_json, value))
    if isinstance(value, list | tuple):
        return [_to_json(member) for member in value]
    raise TypeError(type(value).__name__)


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_FILE}:
            return Path(value[_FILE])
        return {key: _from_json(member) for key, member in value.items()}
    return [_from_json(member) for member in value] if isinstance(value, list) else value


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents in a folder.

    Raises a VifidelError for what is neither, or cannot be read.
    """
    if path.is_dir():
        digest = hashlib.sha256()
        files = (Path(at, name) for at, _, names in os.walk(path) for name in names)
        for name, file in sorted((file.relative_to(path).as_posix(), file) for file in files):
            digest.update(f"{name}\n{_digest(file)}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
    if not path.is_file():
        raise VifidelError(f"{path}: is no file or folder.")
    with open_file(path, VifidelError) as opened:
        return sha256_of(opened)
