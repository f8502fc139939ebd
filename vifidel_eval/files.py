"""Files in and out: JSON read with errors a person can act on, outputs written whole or not."""

from __future__ import annotations

import json
import os
import tempfile
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
    except OSError as problem:
        raise error(f"{path}: {_reason(problem)}; check the path.") from None


def parse_json(text: str, where: str, error: type[VifidelError]) -> Any:
    """Return parsed JSON; `error` tells a truncated text from one that is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        if not text.strip():
            raise error(f"{where}: the file is empty; write it again.") from None
        truncated = problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated")
        what = "the JSON ends too early, the file looks truncated" if truncated else "not JSON"
        raise error(
            f"{where}: {what} (line {problem.lineno}, column {problem.colno}: {problem.msg}); "
            "write it again."
        ) from None
    except RecursionError:
        raise error(f"{where}: the JSON is nested too deeply to be read.") from None


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that the path never holds half of it: temporary file, then rename.

    Raises
    ------
    VifidelError
        If the file cannot be written; what stood at `path` before is unharmed.
    """
    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp is private; an output is an ordinary file
        os.replace(temporary, target)
    except OSError as problem:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise VifidelError(f"{path}: cannot be written: {_reason(problem)}.") from None


def _reason(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()
