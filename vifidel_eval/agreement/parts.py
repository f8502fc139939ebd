"""Finished parts of a long run, kept beside its output until the run is complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from ..files import beside, reason


class Parts:
    """What an interrupted run has computed, by key; one line of JSON per part.

    Parameters
    ----------
    output : path, optional
        The run's output, beside which the parts are kept; without one they are not.

    Raises
    ------
    VifidelError
        If the parts of an earlier run cannot be read.
    """

    def __init__(self, output: Path | None) -> None:
        self.path: Path | None = None
        if output is not None and (output.is_file() or not output.exists()):  # not a device
            self.path = beside(output, ".unfinished")
        self._known: dict[str, Any] = {}
        if self.path is None or not self.path.exists():
            return
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise VifidelError(
                f"{self.path}: the unfinished run cannot be read ({problem}); delete it to start "
                "again."
            ) from None
        for line in lines:
            try:
                part = json.loads(line)
                self._known[part["key"]] = part["content"]
            except (ValueError, KeyError, TypeError):
                continue  # the line that was being written when the run was interrupted

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def add(self, key: str, content: Any) -> None:
        """Keep a part.

        Raises
        ------
        VifidelError
            If it cannot be written.
        """
        self._known[key] = content
        if self.path is None:
            return
        line = json.dumps({"key": key, "content": content}, allow_nan=False)
        try:
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"\n{line}\n")  # the line before may have no end
        except OSError as problem:
            raise VifidelError(f"{self.path}: cannot be written: {reason(problem)}.") from None

    def clear(self) -> None:
        """Forget all parts: the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
