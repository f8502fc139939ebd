"""The cache folder: what is kept there, for which content, and how it is recognised as ours.

Every folder in it that this package made holds a file with our mark, and every file there begins
with `SIGN`: nothing else is ever removed, whatever its name. The digest of a large file is
remembered with what shows that the file is still the same: size, times, inode, and blocks of its
content spread over the file.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import VectorsError, VifidelError
from ..io.files import open_file, read_bytes, reason, sha256_of, write_whole

#: The file in each folder of the cache that says whose it is, and what it holds.
MARK_NAME = "made-by-vifidel-eval.txt"
MARK = (
    b"vifidel-eval made this folder. It can be deleted at any time, as clear-cache does.\n"
    b"Signature: 3f6c1f9be0a54d7f8f0c54f1a5f7c2d9\n"
)

#: How each other file begins that this package writes into folders with its mark. JSON goes on
#: after it; what is in binary files begins at a place that fits all types.
SIGN = b'{"made by": "vifidel-eval, 3f6c1f9be0a54d7f8f0c54f1a5f7c2d9"'.ljust(80)

# The names of those files, `store`'s and digests: an empty one is what is left of ours.
_OWN_NAME = re.compile(
    rf"{re.escape(MARK_NAME)}|layout\.json|vectors\.f32|words\.(utf8|starts)|hashes\.(u64|rows)"
    r"|[0-9a-f]{32}\.json|\.[0-9a-f]{16}\.part"
)
# What version 0.2.0 remembered of a file, without `SIGN`.
_OLD_RECORD = re.compile(rb'\{"stamp": \[[^]]{1,200}\], "content": "[0-9a-f]{32}"\}')
_BUILDING = "building-"
_SEEN = "digests"
# As many bytes as tell whose a file is, and as many as are enough of one that was cut.
_HEAD, _TELLING = 400, 16
# A file up to this size is looked at as a whole, of others so many blocks of so many bytes.
_LOOKED_AT, _BLOCKS, _BLOCK_BYTES = 1 << 24, 256, 1 << 14


class Cleared(NamedTuple):
    """What `clear_cache` removed, in bytes, and the folders that it left.

    They lack our mark, or hold files of others.
    """

    bytes: int
    left: list[Path]


def cache_folder() -> Path:
    """Return where converted vectors are kept.

    ``VIFIDEL_EVAL_CACHE`` if that is set, else the user's cache folder of the platform.
    """
    from platformdirs import user_cache_path

    chosen = os.environ.get("VIFIDEL_EVAL_CACHE")
    return Path(chosen) if chosen else user_cache_path("vifidel_eval", appauthor=False)


def clear_cache() -> Cleared:
    """Remove what this package keeps in the cache folder, and nothing else.

    A VectorsError is raised if something cannot be removed.
    """
    cache = cache_folder()
    size, left = 0, []
    try:
        for folder in sorted(cache.iterdir()) if cache.is_dir() else ():
            if is_ours(folder):
                size += remove(folder)
                left += [folder] if folder.exists() else []
            elif folder.is_dir():
                left.append(folder)
    except OSError as problem:
        raise VectorsError(
            f"{problem.filename or cache}: cannot be removed: {reason(problem)}."
        ) from None
    return Cleared(size, left)


def is_ours(folder: Path) -> bool:
    """Return whether a folder carries our mark; what a link leads to is not ours."""
    if folder.is_symlink():
        return False
    try:
        with open(folder / MARK_NAME, "rb") as file:
            return file.read(len(MARK) + 1) == MARK
    except OSError:
        return False


def remove(folder: Path) -> int:
    """Remove what we wrote into a folder of ours, the mark last; return how many bytes that was.

    What others put there stays, and the folder with it.
    """
    old = _of_old_layout(folder)
    files = [path for path in folder.iterdir() if _is_own(path) or path in old]
    size = 0
    for path in sorted(files, key=lambda path: path.name == MARK_NAME):
        size += path.lstat().st_size
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
    return size


def _is_own(path: Path) -> bool:
    """Return whether we wrote a file, as its beginning shows; of an empty one, its name."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        return _OWN_NAME.fullmatch(path.name) is not None
    if path.name == MARK_NAME:
        return head == MARK
    if path.parent.name == _SEEN and _OLD_RECORD.fullmatch(head):
        return True
    return len(head) >= _TELLING and any(_is_like(head, begin) for begin in (SIGN, MARK))


def _is_like(head: bytes, begin: bytes) -> bool:
    """Return whether a file begins as ours do; some bytes may be damaged."""
    pairs = list(zip(head, begin, strict=False))
    return 2 * sum(one == other for one, other in pairs) > len(pairs)


def _of_old_layout(folder: Path) -> set[Path]:
    """Return the files of a folder of version 0.2.0: those that have the digests of its layout."""
    layout = folder / "layout.json"
    try:
        digests = dict(json.loads(layout.read_bytes())["files"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return set()
    found = {layout}
    for path in folder.iterdir():
        if path.name in digests and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if digests[path.name] in (whole_digest(file), sampled_digest(file)):
                    found.add(path)
    return found if len(found) > 1 else set()


def signed(content: Mapping[str, Any]) -> bytes:
    """Return JSON of ours as a file holds it."""
    return SIGN + b", " + json.dumps(content).encode()[1:]


def checked_content(content: bytes) -> dict[str, Any]:
    """Return the JSON of a file of ours; it raises ValueError of one that is not.

    >>> checked_content(signed({"words": 5}))
    {'words': 5}
    """
    found = json.loads(content) if content.startswith(SIGN) else None
    if not isinstance(found, dict):
        raise ValueError("not ours")
    del found["made by"]
    return found


@contextlib.contextmanager
def building(cache: Path) -> Iterator[Path]:
    """Make a folder with our mark aside, to be filled and renamed; what is left of it goes.

    A VectorsError is raised if nothing can be written there, also by what fills it.
    """
    folder = cache / f"{_BUILDING}{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True)
        (folder / MARK_NAME).write_bytes(MARK)
        yield folder
    except OSError as problem:
        raise VectorsError(
            f"{cache}: word vectors cannot be kept there ({reason(problem)}); set "
            "VIFIDEL_EVAL_CACHE to a folder with room for them."
        ) from None
    finally:
        with contextlib.suppress(OSError):
            remove(folder)


def content_digest(path: Path) -> str:
    """Return a digest of a file's content, 32 hexadecimal digits.

    The file is read to its end once; while it stays the same, the digest is remembered. A
    VectorsError is raised if it cannot be read.
    """
    cache = cache_folder()
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    known = cache / _SEEN / f"{name}.json"
    with open_file(path, VectorsError) as file:
        try:
            stamp = [*stamp_of(file), sampled_digest(file)]
            before = _remembered(known)
            if before.get("stamp") == stamp and isinstance(before.get("content"), str):
                return str(before["content"])
            digest = whole_digest(file)
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None
    _remember(known, {"stamp": stamp, "content": digest})
    if before.get("content") not in (None, digest):
        _forget(cache, str(before["content"]))
    return digest


def stamp_of(file: IO[bytes]) -> list[int]:
    """Return what changes with an open file's content: size, times, inode and device."""
    state = os.fstat(file.fileno())
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_dev]


def sampled_digest(file: IO[bytes]) -> str:
    """Return a digest of a file's size and content, of a large file of evenly spaced blocks."""
    size = os.fstat(file.fileno()).st_size
    if size <= _LOOKED_AT:
        return whole_digest(file)
    digest = hashlib.sha256(str(size).encode())
    for number in range(_BLOCKS):
        file.seek((size - _BLOCK_BYTES) * number // (_BLOCKS - 1))
        digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()[:32]


def whole_digest(file: IO[bytes]) -> str:
    """Return a digest of all of a file's content."""
    file.seek(0)
    return sha256_of(file)[:32]


def _remembered(known: Path) -> dict[str, object]:
    try:
        return checked_content(read_bytes(known, VectorsError))
    except (ValueError, RecursionError):  # not there, or damaged: VectorsError is one too
        return {}


def _remember(known: Path, content: dict[str, object]) -> None:
    with contextlib.suppress(OSError, VifidelError):  # the file is read again next time
        known.parent.mkdir(parents=True, exist_ok=True)
        mark = known.parent / MARK_NAME
        if not mark.exists():
            write_whole(mark, MARK)
        if not known.exists() or _is_own(known):
            write_whole(known, signed(content))


def _forget(cache: Path, digest: str) -> None:
    """Remove what was made from content that no file is known to have any more."""
    with contextlib.suppress(OSError):
        records = map(_remembered, (cache / _SEEN).glob("*.json"))
        if all(record.get("content") != digest for record in records):
            for folder in cache.glob("*-" + glob.escape(digest)):
                if is_ours(folder):
                    remove(folder)
