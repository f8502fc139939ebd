"""Runs of ``score-table``: files scored by a pool of processes, and a manifest of what was done.

A folder with a manifest is of a run that ended; before, `vifidel_eval.io.records.Parts` are beside
it. A file is recorded before it gets its name: one that no record has the digest of is not ours.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import queue
import secrets
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ...errors import VifidelError, VifidelWarning
from ...io.files import (
    beside,
    json_text,
    open_file,
    read_json,
    reason,
    sha256_of,
    write_whole,
)
from ...io.records import Parts, alone
from ...scorers.registry import METRICS
from ...scorers.vifidel_h import warn_of_undeclared
from ...words.word_vectors import WordVectors
from .file_scoring import Record, Task, Work, add_up, corpus_scores, seal, tally_of
from .files import TableFile
from .rows import RANKS

#: The file that says what a run did.
MANIFEST = "manifest.json"

_PACKAGES = ("vifidel-eval", "numpy", "POT", "pyarrow")

# Files that are opened at the same time before the first row: object stores answer slowly.
_AT_ONCE = 8
_SECONDS = 0.2  # between two chances for Ctrl-C, while workers score


def score_tables(
    work: Work,
    files: Sequence[TableFile],
    output: Path,
    settings: Mapping[str, Any],
    workers: int,
    begin: Callable[[int | None], Callable[[int], object]],
) -> dict[str, Any]:
    """Score files of rows into a folder, if that was not done before, and return the manifest.

    That has the settings: what else the output depends on. `begin` goes from the number of all
    rows, if it is known, to what is called with the number of rows that were just scored.
    """
    outputs = _outputs(files, work.style)
    rows, signature = _checked(work, files)
    plan = {
        "command": "score-table",
        "signature": signature,
        "settings": dict(settings),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES}
        | METRICS.packages(work.scorer.metrics),
    }
    with _RunFolder.opened(output, plan) as folder:
        done = folder.done(outputs)
        tasks = [
            Task(file, name, folder.temporary(at), signature, done[at])
            for at, (file, name) in enumerate(zip(files, outputs, strict=True))
        ]
        records: list[Record] = [{}] * len(tasks)

        def finish(at: int, record: Record) -> None:
            records[at] = record
            if record not in done[at].values():
                folder.add(tasks[at].temporary, record)

        _do(work, tasks, workers, begin(rows), finish)
        totals = add_up(records)
        judge(totals, work.scorer.vectors)
        manifest = {
            **plan,
            **{name: said for name, said in totals.items() if name not in ("sums", "words")},
            "scores": corpus_scores(work.scorer.metrics, totals),
            "files": records,
        }
        folder.finish(manifest)
        return manifest


def judge(totals: Mapping[str, Any], vectors: WordVectors) -> None:
    """Warn if vectors know few words of a run, or no row has all scores; refuse almost no words."""
    for what, words in totals["words"].items():
        tally_of(words).check_known(what, vectors)
    statuses = {status: number for status, number in totals["statuses"].items() if number}
    warn_of_undeclared(statuses.get("nothing looked for", 0))
    if statuses and all(RANKS[status] >= RANKS["nothing looked for"] for status in statuses):
        causes = ", ".join(f"{number} {status}" for status, number in statuses.items())
        warnings.warn(
            f"none of the {totals['rows']} rows has a score under every metric ({causes}).",
            VifidelWarning,
            stacklevel=2,
        )


def _pin(plan: Mapping[str, Any]) -> str:
    """Return a digest of what outputs depend on beside the inputs; `plan` may be a manifest."""
    named = {name: plan[name] for name in ("command", "signature", "settings", "versions")}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def _checked(work: Work, files: Sequence[TableFile]) -> tuple[int | None, str]:
    """Check all files; return their rows, if they are known, and the signature of all."""

    def check(file: TableFile) -> tuple[int | None, str | None]:
        table, signature = work.check(file)
        return table.count_rows(), signature

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = list(threads.map(check, files))
    signatures = {s: file for file, (_, s) in zip(files, found, strict=True) if s is not None}
    if len(signatures) > 1:
        one, other = list(signatures.values())[:2]
        raise VifidelError(
            f"{one.path} and {other.path}: labels have scores in one of them only; score them into "
            "different folders."
        )
    rows = [number for number, _ in found if number is not None]
    known = sum(rows) if len(rows) == len(found) else None
    return known, next(iter(signatures), None) or work.scorer.signature()


def _outputs(files: Sequence[TableFile], style: str) -> list[str]:
    """Return the name of each file's output; no two may differ in case only, or not at all."""
    names = [f"{file.stem}.{style}" for file in files]
    seen: dict[str, TableFile] = {}
    for name, file in zip(names, files, strict=True):
        other = seen.setdefault(name.casefold(), file)
        if other is file:
            continue
        if other.path == file.path and other.filesystem == file.filesystem:
            raise VifidelError(f"{file.path}: is given twice; give it once.")
        raise VifidelError(
            f"{other.path} and {file.path}: both would be written to {name}; score them into "
            "different folders, or give a folder that both are below."
        )
    return names


class _RunFolder:
    """The output folder of a run; `opened` makes it."""

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self._path, self._manifest, self._pin = path, path / MANIFEST, _pin(plan)
        self._parts = Parts(self._manifest)
        if self._manifest.exists():  # until another file is added, it stays
            self._take_ended()
        # What earlier runs have written, by the name of the output.
        self._records: dict[str, list[Record]] = {}
        for record in map(self._parts.__getitem__, self._parts):
            self._records.setdefault(record["output"], []).append(record)
        self._run = secrets.token_hex(4)
        self._remove_temporaries()  # one that was killed may have left some

    def _take_ended(self) -> None:
        """Take the records of a run that ended."""
        with open_file(self._manifest, VifidelError):  # an ordinary one
            ended = read_json(self._manifest, VifidelError)
        try:
            records = {_key(record, _pin(ended)): record for record in ended["files"]}
            ours = all(record["sha256"] == seal(record) for record in records.values())
        except (LookupError, TypeError, ValueError):
            ours = False
        if not ours:
            raise VifidelError(
                f"{self._manifest}: is not of a run of this command and version; name another "
                "folder."
            )
        for key in records.keys() - set(self._parts):
            self._parts.add(key, records[key])

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path, plan: Mapping[str, Any]) -> Iterator[_RunFolder]:
        """Return a folder for one run alone, in which finished files stay after an error."""
        new, lock = not path.exists(), path / f"{MANIFEST}.lock"
        if not new and not path.is_dir():
            raise VifidelError(f"{path}: is a file; name a folder for the output.")
        if not path.parent.is_dir():
            raise VifidelError(f"{path}: there is no folder above it; create that first.")
        # A run that ends writes the manifest before it removes the others: it is looked for last.
        ours = (beside(path / MANIFEST, ".unfinished"), lock, path / MANIFEST)
        if not new and any(path.iterdir()) and not any(of.exists() for of in ours):
            raise VifidelError(
                f"{path}: the folder is not empty, and holds no run of this command; name another "
                "one."
            )
        try:
            try:
                path.mkdir(exist_ok=True)
            except OSError as problem:
                raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None
            with alone(lock, path, "folder"):
                folder = cls(path, plan)
                try:
                    yield folder
                finally:
                    folder._clean()
        finally:
            if new:
                with contextlib.suppress(OSError):  # not empty
                    path.rmdir()

    def temporary(self, of: object) -> Path:
        """Return where a file is written before it is recorded; the name is of this run alone."""
        return self._path / f".score-table-{self._run}-{of}.part"

    def done(self, outputs: Sequence[str]) -> list[dict[str, Record]]:
        """Return the records of each output that is there, by the digest of the input.

        It raises if there is a file that this run would not write, or one that no run has written.
        """
        for name in sorted(self._records.keys() - set(outputs)):
            if os.path.lexists(self._path / name):
                source = self._records[name][0]["input"]
                raise VifidelError(
                    f"{self._path}: holds {name} of the input {source}, which an earlier run wrote "
                    "and this one does not; give the same inputs and --format, or name another "
                    "folder."
                )
        return [
            {
                record["input_sha256"]: record
                for record in self._written(name)
                if _key(record, self._pin) in self._parts
            }
            for name in outputs
        ]

    def _written(self, name: str) -> list[Record]:
        """Return the records of the file of that name; it raises if no run has written it."""
        path = self._path / name
        if not os.path.lexists(path):
            return []
        with open_file(path, VifidelError) as file:
            digest = sha256_of(file)
        ours = [of for of in self._records.get(name, ()) if of["output_sha256"] == digest]
        if not ours:
            raise VifidelError(
                f"{path}: was not written by this command, or was changed since; move it away, or "
                "name another folder."
            )
        return ours

    def add(self, temporary: Path, record: Record) -> None:
        """Record a file that was written, and give it its name."""
        self._manifest.unlink(missing_ok=True)  # which is of a run that ended
        self._parts.add(_key(record, self._pin), record)
        path = self._path / record["output"]
        self._written(record["output"])  # it may have come while the rows were scored
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(temporary, path)
        except OSError as problem:
            raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest of a run whose files are all finished."""
        write_whole(self._manifest, json_text(manifest) + "\n", self.temporary(MANIFEST))

    def _remove_temporaries(self) -> None:
        for path in self._path.glob(".score-table-*.part"):
            path.unlink(missing_ok=True)

    def _clean(self) -> None:
        """Remove temporary files, and then the records of a run that ended."""
        self._remove_temporaries()
        if self._manifest.exists():
            self._parts.clear()


def _key(record: Record, pin: str) -> str:
    """Return the key of a record in `Parts`; `pin` is that of its run."""
    return f"{pin}\n{record['sha256']}"


def _do(
    work: Work,
    tasks: Sequence[Task],
    workers: int,
    on_rows: Callable[[int], object],
    on_done: Callable[[int, Record], object],
) -> None:
    """Score files, in this process or in others, where they are done in any order."""
    workers = min(workers, len(tasks))
    if workers <= 1:
        for at, task in enumerate(tasks):
            on_done(at, work.record(task, on_rows))
        return
    context = multiprocessing.get_context("spawn")
    # Without a lock, which a killed process might hold.
    stop = context.RawValue("b", False)
    pool = ProcessPoolExecutor(workers, context, _begin, (work, stop))
    finished: queue.SimpleQueue[Future[tuple[int, Record]]] = queue.SimpleQueue()
    left = len(tasks)
    try:
        with _interrupts_ignored():  # by the processes, which start here: this one stops them
            for at, task in enumerate(tasks):
                pool.submit(_record, at, task).add_done_callback(finished.put)
        while left:
            with contextlib.suppress(queue.Empty):
                at, record = finished.get(timeout=_SECONDS).result()
                on_rows(record["rows"])
                on_done(at, record)
                left -= 1
    except BrokenProcessPool:
        raise VifidelError(
            "a worker was killed, perhaps because memory ran out; finished files are kept: run the "
            "same command again, with fewer --workers."
        ) from None
    finally:
        stop.value = True
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let a process that is started here ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# What a worker process does, and whether it is to stop: one pair, in a worker.
_WORK: list[tuple[Work, Any]] = []


def _begin(work: Work, stop: Any) -> None:
    """Prepare a worker, which ends with the process that started it."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    _WORK.append((work, stop))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def _record(at: int, task: Task) -> tuple[int, Record]:
    """Score a file in a worker."""
    ((work, stop),) = _WORK

    def on_rows(_: int) -> None:
        if stop.value:
            raise KeyboardInterrupt

    return at, work.record(task, on_rows)
