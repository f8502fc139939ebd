"""Runs of ``score-table``: files scored by a pool of processes, and a manifest of what was done.

A folder with a manifest is of a run that ended; before, `vifidel_eval.io.outputs.Parts` are
beside it. A file is recorded before it gets its name: one that no record has the digest of is not
ours.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ...errors import VifidelError, warn
from ...io.files import (
    beside,
    json_text,
    open_file,
    read_json,
    read_text,
    sha256_of,
    write_whole,
    writing,
)
from ...io.outputs import Parts, alone, check_inside
from ...io.progress import progress_bar
from ...scorers.registry import METRICS
from ...scorers.vifidel_h import warn_of_undeclared
from ...scores.run_warnings import warn_of_texts
from ...words.word_vectors import WordVectors
from .file_scoring import OnRows, Record, Task, Work, add_up, corpus_scores, seal, totals_of
from .files import TableFile
from .rows import RANKS

#: The file that says what a run did.
MANIFEST = "manifest.json"

_PACKAGES = ("vifidel-eval", "numpy", "POT", "pyarrow")

# Files that are opened at the same time before the first row: object stores answer slowly.
_AT_ONCE = 8
_LOOKED_AT = 8  # files whose language is looked at
_SECONDS = 0.2  # between two chances for Ctrl-C, while workers score


def score_tables(
    work: Work, files: Sequence[TableFile], output: Path, settings: Mapping[str, Any], workers: int
) -> tuple[dict[str, Any], bool]:
    """Score files of rows into a folder; return the manifest, and whether any was not done before.

    If all were done before, nothing is written, and the folder may be read-only.
    """
    outputs = _outputs(files, work.style)
    rows, signature = _checked(work, files)
    some = files[:: -(-len(files) // _LOOKED_AT) or 1]
    captions = {file.path: work.first_captions(file) for file in some}
    warn_of_texts(captions, work.scorer.scorers)
    plan = {
        "command": "score-table",
        "signature": signature,
        "settings": dict(settings),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES}
        | METRICS.packages(work.scorer.metrics),
    }
    with _RunFolder.opened(output, plan) as folder:
        folder.check_outputs(set(outputs))
        tasks = {
            name: Task(file, name, folder.temporary(at), signature, folder.record_of(name))
            for at, (file, name) in enumerate(zip(files, outputs, strict=True))
        }
        records: dict[str, Record] = {}

        def finish(record: Record) -> None:
            task = tasks[record["output"]]
            records[task.output] = record
            if record != task.done:
                folder.add(task.temporary, record)

        with progress_bar(rows, " rows", unit_scale=True) as bar:
            _do(work, list(tasks.values()), workers, bar.update, finish)
        totals = add_up(map(totals_of, records.values()))
        judge(totals, work.scorer.vectors)
        manifest = {
            **plan,
            **{name: total for name, total in totals.items() if name not in ("sums", "words")},
            "scores": corpus_scores(work.scorer.metrics, totals),
            "files": [records[name] for name in outputs],
        }
        is_new = any(record != tasks[name].done for name, record in records.items())
        path, text = output / MANIFEST, json_text(manifest) + "\n"
        if not path.exists() or read_text(path, VifidelError) != text:
            write_whole(path, text, folder.temporary(MANIFEST))
        return manifest, is_new


def judge(totals: Mapping[str, Any], vectors: WordVectors) -> None:
    """Warn if few words of a run have vectors, or no row has all scores; refuse almost none."""
    for kind, tally in totals["words"].items():
        tally.check_known(kind, vectors)
    warn_of_undeclared(totals["statuses"].get("nothing looked for", 0))
    statuses = {status: number for status, number in totals["statuses"].items() if number}
    if statuses and all(RANKS[status] >= RANKS["nothing looked for"] for status in statuses):
        causes = ", ".join(f"{number} {status}" for status, number in statuses.items())
        warn(f"none of the {totals['rows']} rows has a score under every metric ({causes}).")


def _checked(work: Work, files: Sequence[TableFile]) -> tuple[int | None, str]:
    """Check all files; return their rows, if they are known, and the signature of all."""

    def check(file: TableFile) -> tuple[int | None, str | None]:
        table, signature, _ = work.check(file)
        return table.count_rows(), signature

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        rows, signed = zip(*threads.map(check, files), strict=True)
    signatures = {s: file for s, file in zip(signed, files, strict=True) if s is not None}
    if len(signatures) > 1:
        first, second = list(signatures.values())[:2]
        raise VifidelError(
            f"{first.path} and {second.path}: labels have scores in one of them only; score them "
            "into different folders."
        )
    return None if None in rows else sum(rows), next(iter(signatures), work.scorer.signature())


def _outputs(files: Sequence[TableFile], style: str) -> list[str]:
    """Return the name of each file's output; no two may differ in case only, or not at all."""
    names = [f"{file.stem}.{style}" for file in files]
    seen: dict[str, TableFile] = {}
    for name, file in zip(names, files, strict=True):
        first = seen.setdefault(name.casefold(), file)
        if first is not file and (first.path, first.filesystem) == (file.path, file.filesystem):
            raise VifidelError(f"{file.path}: is given twice; give it once.")
        if first is not file:
            raise VifidelError(
                f"{first.path} and {file.path}: both would be written to {name}; score them into "
                "different folders, or give a folder that contains both."
            )
    return names


class _RunFolder:
    """The output folder of a run; `opened` makes it."""

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self._path, self._manifest, self._pin = path, path / MANIFEST, _pin(plan)
        check_inside(self._manifest, path)
        # What earlier runs have written: records, each with the pin of its run.
        self._parts = Parts(self._manifest)
        self._records: dict[str, Record] = {key: self._parts[key] for key in self._parts}
        if self._manifest.exists():  # until another file is added, it stays
            with open_file(self._manifest, VifidelError):  # an ordinary one
                ended = read_json(self._manifest, VifidelError)
            try:
                pin, records = _pin(ended), {_key(record): record for record in ended["files"]}
                ours = all(record["sha256"] == seal(record) for record in records.values())
            except (LookupError, TypeError, ValueError):
                ours = False
            if not ours:
                raise VifidelError(
                    f"{self._manifest}: was not written by this command and version; name another "
                    "folder."
                )
            for key in records.keys() - self._records.keys():
                self._records[key] = {**records[key], "pin": pin}
        self._run = secrets.token_hex(4)
        self._remove_temporaries()  # one that was killed may have left some

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
        if not new and any(path.iterdir()) and not any(output.exists() for output in ours):
            raise VifidelError(
                f"{path}: the folder is not empty, and has no run of this command; name another "
                "one."
            )
        try:
            with writing(path):
                path.mkdir(exist_ok=True)
            # Nobody writes into a folder that is read-only, which may hold all that is asked for.
            is_writable = os.access(path, os.W_OK)
            with alone(lock, path, "folder") if is_writable else contextlib.nullcontext():
                folder = cls(path, plan)
                try:
                    yield folder
                finally:
                    folder._remove_temporaries()
                    if folder._manifest.exists():  # the run has ended
                        folder._parts.clear()
        finally:
            if new:
                with contextlib.suppress(OSError):  # not empty
                    path.rmdir()

    def temporary(self, name: object) -> Path:
        """Return where a file is written before it is recorded; the name is of this run alone."""
        return self._path / f".score-table-{self._run}-{name}.part"

    def check_outputs(self, outputs: Container[str]) -> None:
        """Raise if there is a file of an earlier run that this one would not write."""
        for key in sorted(self._records):
            name, source = self._records[key]["output"], self._records[key]["input"]
            if name not in outputs and os.path.lexists(self._path / name):
                raise VifidelError(
                    f"{self._path}: holds {name} of the input {source}, which an earlier run wrote "
                    "and this one does not; give the same inputs and --format, or name another "
                    "folder."
                )

    def record_of(self, name: str) -> Record:
        """Return the record of a file that a run like this one wrote, or {}; raise for others'."""
        path = self._path / name
        check_inside(path.parent, self._path)
        if not os.path.lexists(path):
            return {}
        with open_file(path, VifidelError) as file:
            key = _key({"output": name, "output_sha256": sha256_of(file)})
        if key not in self._records:
            raise VifidelError(
                f"{path}: was not written by this command, or has changed since; move it away, "
                "or name another folder."
            )
        record = dict(self._records[key])
        return record if record.pop("pin") == self._pin else {}

    def add(self, temporary: Path, record: Record) -> None:
        """Record a file that was written, and give it its name."""
        for key in self._records.keys() - set(self._parts):
            self._parts.add(key, self._records[key])
        self._records[_key(record)] = {**record, "pin": self._pin}
        self._parts.add(_key(record), self._records[_key(record)])
        self._manifest.unlink(missing_ok=True)  # it belongs to a run that ended
        self.record_of(record["output"])  # it may have come while the rows were scored
        path = self._path / record["output"]
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(temporary, path)

    def _remove_temporaries(self) -> None:
        for path in self._path.glob(".score-table-*.part"):
            path.unlink(missing_ok=True)


def _pin(plan: Mapping[str, Any]) -> str:
    """Return a digest of what outputs depend on beside the inputs; `plan` may be a manifest."""
    return seal({name: plan[name] for name in ("command", "signature", "settings", "versions")})


def _key(record: Record) -> str:
    """Return the key of a record in `Parts`: its output's name and SHA-256."""
    return f"{record['output']}\n{record['output_sha256']}"


def _do(
    work: Work,
    tasks: Sequence[Task],
    workers: int,
    on_rows: OnRows,
    on_done: Callable[[Record], object],
) -> None:
    """Score files, in this process or in others, where they are done in any order."""
    workers = min(workers, len(tasks))
    if workers <= 1:
        for task in tasks:
            on_done(work.record(task, on_rows))
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (work,))
    try:
        # The processes, which start here, ignore Ctrl-C: this one stops them.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            waiting = {pool.submit(_record, task) for task in tasks}
        finally:
            signal.signal(signal.SIGINT, before)
        while waiting:
            finished, waiting = wait(waiting, _SECONDS, FIRST_COMPLETED)
            for future in finished:
                record = future.result()
                on_rows(record["rows"])
                on_done(record)
    except BrokenProcessPool:
        raise VifidelError(
            "a worker was killed, perhaps because memory ran out; finished files are kept: run the "
            "same command again, with fewer --workers."
        ) from None
    finally:
        for worker in multiprocessing.active_children():  # the command starts no others
            worker.terminate()
        pool.shutdown(cancel_futures=True)


# The work of a worker process, which is the same for each file.
_WORK: list[Work] = []


def _begin(work: Work) -> None:
    """Prepare a worker, which ends with the process that started it."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    _WORK.append(work)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def _record(task: Task) -> Record:
    """Score a file in a worker."""
    return _WORK[0].record(task)
