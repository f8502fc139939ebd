"""Files in and out: JSON with errors a person can act on, outputs written as a whole or not."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .errors import VifidelError


def read_json(path: str | os.PathLike[str], error: type[VifidelError]) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    VifidelError
        Of the class `error`, naming the file, if it is missing, not UTF-8 or not JSON.
    """
    return parse_json(read_text(path, error), str(path), error)


def read_text(path: str | os.PathLike[str], error: type[VifidelError]) -> str:
    """Return the content of a UTF-8 text file; `error` names the file if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"{path}: not a UTF-8 text file (byte {problem.start}); is it the right file?"
        ) from None
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise error(f"{path}: {reason(problem)}; check the path.") from None


def parse_json(
    text: str,
    where: str,
    error: type[VifidelError],
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return parsed JSON; `error` tells a truncated text from one that is not JSON.

    `pairs` turns an object's keys and values into something; by default that is a dict, and a
    key that appears twice is an error.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs or _unrepeated)
    except _RepeatedKeyError as problem:
        raise error(f"{where}: the key {problem.args[0]!r} appears twice; keep one.") from None
    except json.JSONDecodeError as problem:
        if not text.strip():
            raise error(f"{where}: the file is empty; write it again.") from None
        truncated = problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated")
        what = "the JSON ends too early, the file looks truncated" if truncated else "not JSON"
        raise error(
            f"{where}: {what} (line {problem.lineno}, column {problem.colno}: {problem.msg}); "
            "write it again."
        ) from None
    except ValueError as problem:  # a number of thousands of digits
        raise error(f"{where}: JSON that cannot be read ({problem}).") from None
    except RecursionError:
        raise error(f"{where}: the JSON is nested too deeply to be read.") from None


def json_text(content: Any) -> str:
    """Return content as JSON in the style of our outputs: indented, not only ASCII, no NaN."""
    return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that the path never holds part of it: temporary file, then rename.

    Text is written as UTF-8. A link is kept, and its target is written; devices and
    pipes are written to directly.

    Raises
    ------
    VifidelError
        If the file cannot be written; what was at `path` before is left as it was.
    """
    if isinstance(content, str):
        # JSON can hold a lone surrogate and UTF-8 cannot: it is written as an escape.
        content = content.encode("utf-8", errors="backslashreplace")
    target = Path(os.path.realpath(path))
    temporary = None
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as device:
                device.write(content)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp is private; an output is an ordinary file
        os.replace(temporary, target)
    except OSError as problem:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None


class _RepeatedKeyError(Exception):
    """A JSON object has a key twice; all but the last value would be lost."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return content


def check_output(path: Path, inputs: Iterable[Path | None]) -> None:
    """Raise, before long work starts, if its output could not be written or would destroy an input.

    Raises
    ------
    VifidelError
        If `path` is a folder, is in a folder that does not exist, or is one of the inputs.
    """
    if path.is_dir():
        raise VifidelError(f"{path}: the output is a folder; name a file in it.")
    if not path.resolve().parent.is_dir():
        raise VifidelError(f"{path}: there is no such folder; create it first.")
    if any(other is not None and other.resolve() == path.resolve() for other in inputs):
        raise VifidelError(f"{path}: the output would replace an input; name another file.")


def first_line(problem: BaseException) -> str:
    """Return the first line of an exception's message without its full stop, else its type."""
    said = str(problem).strip().partition("\n")[0].rstrip(".")
    return said or type(problem).__name__


def reason(problem: OSError | ValueError) -> str:
    """Return what the operating system says about a file, without the error number and path."""
    return (getattr(problem, "strerror", None) or str(problem)).lower()
