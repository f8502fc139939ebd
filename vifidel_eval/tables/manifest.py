"""The folder of a run: what is finished, what must be the same to go on, and the manifest."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from ..files import json_text, read_json, reason, write_whole
from .digests import as_text
from .scoring import PART
from .totals import Totals

#: The files of a folder: what a finished run says of itself, and what an unfinished one keeps.
MANIFEST, STATE = "manifest.json", ".unfinished"

_RUN, _LOCK = "run.json", "lock"
_PACKAGES = ("vifidel-eval", "numpy", "POT", "pyarrow")


def versions() -> dict[str, str]:
    """Return the versions of what computes and writes."""
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


@dataclass(frozen=True)
class Key:
    """A file of a run by its number, or a part of it."""

    file: int
    part: int | None = None

    def __str__(self) -> str:
        return f"{self.file}" if self.part is None else f"{self.file}-{self.part}"


@dataclass(frozen=True)
class Record:
    """What is recorded of a file that was written.

    Attributes
    ----------
    totals : Totals
        Of the rows that were read for it.
    size : int
        Bytes.
    """

    totals: Totals
    size: int


class RunFolder:
    """The output folder of one run; `opened` makes it.

    Parameters
    ----------
    path : Path
        The folder.
    plan : mapping
        What must be the same to go on: signature, settings, inputs, versions.
    outputs : sequence of str
        The name of each output file below the folder.
    parts : sequence of int
        In how many parts each is made; 0 if in one go.
    """

    def __init__(
        self,
        path: Path,
        plan: Mapping[str, Any],
        outputs: Sequence[str],
        parts: Sequence[int],
    ) -> None:
        self.path, self.state = path, path / STATE
        self._plan, self._outputs = dict(plan), outputs
        self._parts = [[Key(at, part) for part in range(n)] for at, n in enumerate(parts)]
        self._records: dict[Key, Record] = {}
        self._begun = False
        #: The manifest of a run that ended; None before.
        self.manifest: dict[str, Any] | None = None

    @classmethod
    @contextlib.contextmanager
    def opened(
        cls, path: Path, plan: Mapping[str, Any], outputs: Sequence[str], parts: Sequence[int]
    ) -> Iterator[RunFolder]:
        """Return a folder for one run alone; after an error or interrupt it holds finished files.

        Raises
        ------
        VifidelError
            If it cannot be written, holds something else, a run with other settings or inputs, or
            another process is writing there.
        """
        from filelock import FileLock, Timeout

        folder = cls(path, plan, outputs, parts)
        new = not path.exists()
        try:
            folder._check_empty()
            folder.state.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder.state / _LOCK)
            lock.acquire(timeout=0)
        except Timeout:
            raise VifidelError(
                f"{path}: another run is writing to this folder; wait for it, or name another."
            ) from None
        except (OSError, NotImplementedError) as problem:
            why = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise VifidelError(f"{path}: cannot be written: {why}.") from None
        try:
            folder._read()
            yield folder
        finally:
            folder._clean(new, lock)

    def _check_empty(self) -> None:
        """Refuse a folder that holds something and no run."""
        if self.path.exists() and not self.path.is_dir():
            raise VifidelError(f"{self.path}: is a file; name a folder for the output.")
        if not self.path.parent.is_dir():
            raise VifidelError(f"{self.path}: there is no folder above it; create that first.")
        if not self.path.exists() or (self.path / MANIFEST).exists() or self.state.exists():
            return
        if any(self.path.iterdir()):
            raise VifidelError(
                f"{self.path}: the folder is not empty, and holds no run of this command; name "
                "another one."
            )

    def _read(self) -> None:
        """Find out what is finished, or begin."""
        if (self.path / MANIFEST).exists():
            manifest = read_json(self.path / MANIFEST, VifidelError)
            self._check_plan(manifest, MANIFEST)
            for of_input in manifest["inputs"]:
                output = self.path / of_input["output"]
                if _size(output) != of_input["output_bytes"]:
                    raise VifidelError(
                        f"{output}: is missing or was changed after the run had ended; delete "
                        f"{self.path} to score everything again, or name another folder."
                    )
            self.manifest = manifest
            return
        run = self.state / _RUN
        if not run.exists():
            self._begun = True
            write_whole(run, json_text(self._plan) + "\n")
            return
        self._check_plan(read_json(run, VifidelError), f"{STATE}/{_RUN}")
        for part in self.state.glob(f"*{PART}"):  # of a run that was killed
            part.unlink(missing_ok=True)
        for at, parts in enumerate(self._parts):
            self._recall(Key(at))
            if not self.is_finished(Key(at)):
                for key in parts:
                    self._recall(key)

    def _recall(self, key: Key) -> None:
        """Read what is recorded of a file, unless it was changed since."""
        record = self.state / f"{key}.json"
        if record.exists():
            content = read_json(record, VifidelError)
            if _size(self.path_of(key)) == content["size"]:
                self._records[key] = Record(Totals.from_json(content["totals"]), content["size"])

    def _check_plan(self, other: Any, name: str) -> None:
        """Refuse a run that is not this one."""
        plan = json.loads(json.dumps(self._plan))
        where = f"{self.path / name}"
        if not isinstance(other, dict) or not other.keys() >= plan.keys():
            raise VifidelError(f"{where}: is not of a run of this command; name another folder.")
        for key in plan:
            told = other[key]
            if key == "inputs":
                told = [{k: of_input.get(k) for k in plan[key][0]} for of_input in told]
            if told != plan[key]:
                raise VifidelError(
                    f"{self.path}: was begun with {_difference(key, told, plan[key])}; give the "
                    "same, or name another folder."
                )

    def path_of(self, key: Key) -> Path:
        """Return where a file, or a part of it, is written."""
        if key.part is None:
            return self.path / self._outputs[key.file]
        return self.state / f"{key}.parquet"

    def is_finished(self, key: Key) -> bool:
        """Return whether a file, or a part of it, was written and recorded."""
        return key in self._records

    def has_parts(self, at: int) -> bool:
        """Return whether all parts of a file are finished."""
        return all(map(self.is_finished, self._parts[at]))

    def outputs(self) -> list[Record | None]:
        """Return what is recorded of each file; None if it is not finished."""
        return [self._records.get(Key(at)) for at in range(len(self._outputs))]

    def rows(self) -> int:
        """Return how many rows are done."""
        return sum(record.totals.rows for record in self._records.values())

    def add(self, key: Key, totals: Totals) -> None:
        """Record that a file, or a part of it, is finished; a file's parts are dropped then."""
        size = _size(self.path_of(key)) or 0
        record = json.dumps({"totals": totals.to_json(), "size": size})
        write_whole(self.state / f"{key}.json", record)
        self._records[key] = Record(totals, size)
        if key.part is None:
            for part in self._parts[key.file]:
                del self._records[part]
                self.path_of(part).unlink(missing_ok=True)

    def totals_of_parts(self, at: int) -> Totals:
        """Return the totals of a file whose parts are all finished."""
        return sum((self._records[key].totals for key in self._parts[at]), Totals())

    def totals(self) -> Totals:
        """Return the totals of all finished files, in their order."""
        return sum((record.totals for record in self.outputs() if record is not None), Totals())

    def finish(self, statuses: Sequence[str], scores: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest of a run whose files are all finished, and return it.

        Parameters
        ----------
        statuses : sequence of str
            Their order.
        scores : mapping
            The scores of the run.
        """
        totals = self.totals()
        finished = [record for record in self.outputs() if record is not None]
        inputs = [
            {
                **of_input,
                "rows": record.totals.rows,
                "kept": record.totals.kept,
                "output": name,
                "output_bytes": record.size,
            }
            for of_input, name, record in zip(
                self._plan["inputs"], self._outputs, finished, strict=True
            )
        ]
        self.manifest = {
            **self._plan,
            "rows": totals.rows,
            "kept": totals.kept,
            "dropped": totals.rows - totals.kept,
            "statuses": {name: totals.statuses.get(name, 0) for name in statuses},
            "scores": dict(scores),
            "digest": as_text(totals.digest),
            "inputs": inputs,
        }
        # Made whole beside the records, so that a kill leaves nothing in the folder itself.
        ready = self.state / MANIFEST
        write_whole(ready, json_text(self.manifest) + "\n")
        os.replace(ready, self.path / MANIFEST)
        return self.manifest

    def _clean(self, new: bool, lock: Any) -> None:
        """Remove temporary files, and everything else but finished files that a run may go on from.

        Another run's files stay as they are.
        """
        for part in self.state.glob(f"*{PART}"):
            part.unlink(missing_ok=True)
        lock.release()
        unfinished = self.manifest is None and (self.state / _RUN).exists()
        if unfinished and not (self._begun and not self._records):
            return
        if unfinished:  # files that were renamed just now, and not yet recorded
            for name in self._outputs:
                (self.path / name).unlink(missing_ok=True)
            for folder, _, _ in os.walk(self.path, topdown=False):
                with contextlib.suppress(OSError):  # not empty
                    if Path(folder) != self.path:
                        os.rmdir(folder)
        shutil.rmtree(self.state, ignore_errors=True)
        if new:
            with contextlib.suppress(OSError):  # not empty
                self.path.rmdir()


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _difference(key: str, told: Any, now: Any) -> str:
    """Return in a few words what is not the same."""
    if key == "inputs":
        before, after = ({i["name"]: i for i in inputs} for inputs in (told, now))
        missing = next((name for name in before if name not in after), None)
        if missing is not None:
            return f"the input {missing}, which is not given now"
        new = next((name for name in after if name not in before), None)
        if new is not None:
            return f"other inputs, without {new}"
        changed = next(name for name in after if before[name] != after[name])
        return f"another content of the input {changed}"
    if isinstance(told, dict) and isinstance(now, dict):
        for name in [*now, *told]:
            if told.get(name) != now.get(name):
                return (
                    f"other {key}: {name} was {json.dumps(told.get(name))} and is now "
                    f"{json.dumps(now.get(name))}"
                )
    return f"another {key}: {json.dumps(told)}, and is now {json.dumps(now)}"
