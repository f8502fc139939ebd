"""Files: JSON with errors that people can act on, and outputs written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import select
import stat
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import VifidelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: How many bytes of a file are read into memory, and how many of a pipe or device, which do not
#: say how many they have. COCO's and Open Images' largest files have half of that.
MOST_BYTES, MOST_OF_A_PIPE = 1 << 32, 1 << 30

STANDARD_INPUT = "-"  #: what stands for standard input where a command reads a caption file

_BLOCK = 1 << 20  # bytes
_PATIENCE = 10  # seconds for somebody to write into a pipe
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")  # `Path` makes one slash of two
_LONGEST_NAME = 255  # bytes, on every file system in use
# What a terminal obeys: C0 without tab and line feed, DEL, C1, and what turns text
# around.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UTF_16 = "text in UTF-16; save it as UTF-8"
# How files begin that are often given for text: what they are, and what to do.
_NO_TEXT = {
    b"\x1f\x8b": "compressed with gzip; unpack it with gunzip, or in Python with gzip.open",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ\0": "compressed with xz; unpack it",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it",
    b"PK\x03\x04": "a zip archive; unpack it, and give a file in it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it, and give a file in it",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}


def read_json(path: str | os.PathLike[str], error: type[VifidelError]) -> Any:
    """Return the content of a JSON file; `error` names the file if it cannot be read."""
    return parse_json(read_text(path, error), str(path), error)


def read_text(path: str | os.PathLike[str], error: type[VifidelError]) -> str:
    r"""Return the text of a UTF-8 file, without a byte order mark; line ends become ``\n``."""
    return as_text(read_bytes(path, error), str(path), error)


def read_bytes(path: str | os.PathLike[str], error: type[VifidelError]) -> bytes:
    """Return the content of a file, which is opened once: it may be a pipe; else `error`."""
    check_path(path, error)
    try:
        with open(path, "rb", opener=_written_to) as file:
            state = os.fstat(file.fileno())
            ordinary = stat.S_ISREG(state.st_mode)
            if ordinary and state.st_size <= MOST_BYTES:
                return file.read()
            return _whole(file, str(path), MOST_BYTES if ordinary else MOST_OF_A_PIPE, error)
    except VifidelError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise error(f"{path}: {reason(problem)}; check the path.") from None


def _written_to(path: str, flags: int) -> int:
    """Open a file; an OSError if it is a pipe without a writer, which would never be opened."""
    if not (hasattr(select, "poll") and stat.S_ISFIFO(os.stat(path).st_mode)):
        return os.open(path, flags)
    pipe = os.open(path, flags | os.O_NONBLOCK)
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    if not ready.poll(1000 * _PATIENCE):
        with contextlib.suppress(BlockingIOError):  # it has a writer, who takes long
            os.read(pipe, 1)
            os.close(pipe)
            raise OSError(errno.EPIPE, "a pipe that nobody writes to")
    os.set_blocking(pipe, True)
    return pipe


def read_standard_input(error: type[VifidelError]) -> bytes:
    """Return all of standard input; `error` if it cannot be read or has too many bytes."""
    try:
        return _whole(sys.stdin.buffer, "standard input", MOST_OF_A_PIPE, error)
    except VifidelError:
        raise
    except (AttributeError, OSError, ValueError) as problem:  # perhaps no stream of bytes
        raise error(
            f"standard input: cannot be read ({first_line(problem)}); give a file."
        ) from None


def _whole(file: IO[bytes], where: str, limit: int, error: type[VifidelError]) -> bytes:
    """Return what can be read of a file, up to so many bytes; `error` if there are more."""
    content = bytearray()
    while len(content) <= limit and (block := file.read(_BLOCK)):
        content += block
    if len(content) > limit:
        raise error(
            f"{where}: has more than {limit >> 20} MiB, the limit for reading into memory; is it "
            "the right file?"
        )
    return bytes(content)


def sha256_of(file: Any) -> str:
    """Return the SHA-256, hexadecimal, of what can be read of a file that is open for bytes."""
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def check_path(path: Any, error: type[VifidelError], noun: str = "a path") -> None:
    """Raise `error` for what is no path: Python takes a whole number for an open file."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise error(f"{noun} must be a string or a Path, not {path!r:.40}.")


def no_text(content: bytes) -> str:
    """Return what a file is that begins so, and what to do, if it is known and no UTF-8 text."""
    format_name = next((kind for magic, kind in _NO_TEXT.items() if content.startswith(magic)), "")
    # UTF-16 without a byte order mark: every other byte of ASCII is 0.
    return format_name or (_UTF_16 if b"\0\0" in (content[:4:2], content[1:4:2]) else "")


def as_text(content: bytes, where: str, error: type[VifidelError]) -> str:
    """Return the text of a file's bytes as `read_text` does."""
    if kind := no_text(content):
        raise error(f"{where}: is {kind}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"{where}: not a UTF-8 text file (byte {problem.start}); if it is the right file, "
            "save it as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def open_file(path: str | os.PathLike[str], error: type[VifidelError]) -> IO[bytes]:
    """Open an ordinary file to read at any place; a pipe, device or folder is refused."""
    check_path(path, error)
    try:
        if stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe might wait for ever
            return open(path, "rb")
        kind = "a folder" if os.path.isdir(path) else "a pipe or device"
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise error(f"{path}: {reason(problem)}; check the path.") from None
    raise error(f"{path}: is {kind}, not an ordinary file; check the path.")


def read_kept(path: str | os.PathLike[str], error: type[VifidelError]) -> bytes:
    """Return what an earlier run kept in a file, which is an ordinary one; else `error`."""
    with open_file(path, error) as file:
        return file.read()


class _RepeatedKeyError(ValueError):
    """A JSON object has a key twice; all but the last value would be lost."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise _RepeatedKeyError(key)
    return content


def parse_json(
    text: str,
    where: str,
    error: type[VifidelError],
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return parsed JSON, of objects what `pairs` makes of their items, by default a dict."""
    try:
        return json.loads(text, object_pairs_hook=pairs or _unrepeated)
    except _RepeatedKeyError as problem:
        raise error(f"{where}: the key {problem.args[0]!r} appears twice; keep one.") from None
    except json.JSONDecodeError as problem:
        if not text.strip():
            raise error(f"{where}: the file is empty; write it again.") from None
        # A truncated text is told from one that is not JSON.
        truncated = problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated")
        fault = "the JSON ends too early, the file looks truncated" if truncated else "not JSON"
        raise error(
            f"{where}: {fault} (line {problem.lineno}, column {problem.colno}: {problem.msg}); "
            "write it again."
        ) from None
    except (ValueError, RecursionError):  # Python reads no integer of more than 4300 digits
        raise error(
            f"{where}: the JSON cannot be read: it is nested too deeply, or has a number with "
            "thousands of digits."
        ) from None


def parse_json_lines(
    text: str, where: str, error: type[VifidelError], first: int = 1
) -> tuple[list[Any], list[int]]:
    """Return the values of lines that are not blank, and their numbers, from `first` on."""
    values, numbers = [], []
    decode = json.JSONDecoder(object_pairs_hook=_unrepeated).decode
    for number, line in enumerate(text.split("\n"), first):
        if not line or line.isspace():
            continue
        at = f"{where}: line {number}"
        try:
            values.append(decode(line))
        except json.JSONDecodeError as problem:
            raise error(
                f"{at} is not JSON (column {problem.colno}: {problem.msg}); write one JSON object "
                "per line."
            ) from None
        except (ValueError, RecursionError):
            parse_json(line, at, error)  # says what is wrong
            raise
        numbers.append(number)
    return values, numbers


def json_text(content: Any) -> str:
    """Return content as JSON in the style of our outputs: indented, not only ASCII, no NaN."""
    return printable(json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1))


def json_line(content: Any) -> str:
    """Return content as a line of JSON Lines, in the same style."""
    return printable(json.dumps(content, allow_nan=False, ensure_ascii=False))


def printable(text: str) -> str:
    r"""Return text with ``\u001b`` and the like, as in JSON, for what a terminal obeys."""
    return _CONTROL.sub(lambda character: f"\\u{ord(character[0]):04x}", text)


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, temporary: Path | None = None
) -> None:
    """Write a file so that the path never holds part of it: temporary file, then rename."""
    # `temporary` is where a run that may be killed looks for what it left.
    check_path(path, VifidelError)
    if isinstance(content, str):
        # JSON can hold a lone surrogate and UTF-8 cannot: it is written as an escape.
        content = content.encode("utf-8", errors="backslashreplace")
    with writing(path):
        mode = mode_of(path)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as device:
                device.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content, mode, temporary)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in one sentence why a file or folder cannot be written."""
    try:
        yield
    except VifidelError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None


def mode_of(target: str | os.PathLike[str]) -> int | None:
    """Return type and permissions of a file that may be written; None if there is none."""
    try:
        mode = os.stat(target).st_mode  # a link that leads to itself raises here
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode


def _replace(target: Path, content: bytes, mode: int | None, temporary: Path | None) -> None:
    # The name is known before the file exists, so that an interrupt at any line removes it.
    temporary = temporary or target.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # A new file gets what the umask leaves; what was private is never readable for others.
        with os.fdopen(os.open(temporary, flags, 0o666 if mode is None else 0o600), "wb") as file:
            file.write(content)
        if mode is not None:
            with contextlib.suppress(PermissionError):  # file systems without permissions
                os.chmod(temporary, stat.S_IMODE(mode))
        try:
            os.replace(temporary, target)
        except PermissionError:  # on Windows, of a file that another program holds open
            if mode is None:
                raise
            saved = beside(target, f".{secrets.token_hex(4)}{target.suffix}")
            os.replace(temporary, saved)
            raise VifidelError(
                f"{target}: cannot be replaced, as another program may have it open; the result is "
                f"in {saved}."
            ) from None
    finally:
        temporary.unlink(missing_ok=True)


def beside(path: str | os.PathLike[str], suffix: str) -> Path:
    """Return the path of a file that belongs to another: its name, shortened, and a suffix."""
    name = os.path.basename(path)
    if len(os.fsencode(name + suffix)) > _LONGEST_NAME:
        name = f"{name[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return Path(path).with_name(name + suffix)


def is_address(text: str) -> bool:
    """Return whether a text is the address of an object store; ``C:`` is a drive."""
    return _ADDRESS.match(text) is not None


def first_line(problem: BaseException) -> str:
    """Return the first line of an exception's message without its full stop, or else its type."""
    line = str(problem).strip().partition("\n")[0].rstrip(".")
    return line or type(problem).__name__


def reason(problem: OSError | ValueError) -> str:
    """Return what the operating system says about a file, without the error number and path."""
    return (getattr(problem, "strerror", None) or str(problem)).lower()


class FileRows:
    """The rows of a mapped array, read from its file; threads and forked processes may share it."""

    # Touching a mapped page beyond the end of a file that has become shorter kills the process.

    def __init__(
        self, mapped: np.memmap[Any, Any], error: type[VifidelError], message: str
    ) -> None:
        self.dtype: np.dtype[Any] = mapped.dtype
        self.shape: tuple[int, ...] = mapped.shape
        self._offset = mapped.offset
        self._row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        self._error, self._message = error, message
        self._file = open(str(mapped.filename), "rb", buffering=0)  # noqa: SIM115 - held open
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.shape[0]

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def _row(self, row: int) -> NDArray[Any]:
        import numpy as np

        at = self._offset + row * self._row_bytes
        if hasattr(os, "pread"):  # forked processes share a place in the file
            content = os.pread(self._file.fileno(), self._row_bytes, at)
        else:
            with self._lock:
                self._file.seek(at)
                content = self._file.read(self._row_bytes)
        if len(content) < self._row_bytes:
            raise self._error(self._message)
        return np.frombuffer(content, self.dtype).reshape(self.shape[1:])

    def __getitem__(self, rows: int | Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Return a row, or a copy of several."""
        import numpy as np

        if isinstance(rows, int):
            return self._row(rows)
        copied = [self._row(row) for row in map(int, rows)]
        return np.array(copied, self.dtype).reshape((len(copied), *self.shape[1:]))


def unmapped(
    mapped: NDArray[Any], error: type[VifidelError], message: str
) -> FileRows | NDArray[Any]:
    """Return the rows of a mapped array without the map; of one in another order, a copy."""
    import numpy as np

    if not isinstance(mapped, np.memmap) or not mapped.flags.c_contiguous or not mapped.ndim:
        return np.array(mapped)
    return FileRows(mapped, error, message)
