"""A run over tables: checked before the first row, scored by workers, summed up in a manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from ..errors import VifidelError
from .inputs import RowGroups, TableFile
from .manifest import Key, RunFolder, versions
from .scoring import SUFFIXES, Work
from .statuses import STATUSES
from .totals import Totals, corpus_scores, judge
from .workers import Pool

# Files that are opened at the same time before the first row: object stores answer slowly.
_AT_ONCE = 8


class Progress(Protocol):
    """Who is told how far a run is."""

    def begin(self, rows: int, done: int) -> object:
        """Take the number of rows, as far as it is known, and how many of them were done before."""

    def expect(self, more: int) -> object:
        """Take how many more rows there are than it was thought; fewer if negative."""

    def update(self, rows: int) -> object:
        """Take the number of rows that were just scored."""


@dataclass(frozen=True)
class _Task:
    """A file, or a part of it, to score, or the parts of it to join.

    Attributes
    ----------
    key : Key
        Which file and part of the run it is.
    file : TableFile
        What is read.
    part : RowGroups, optional
        The rows of the part.
    parts : tuple of Path
        Where the parts are that are joined.
    output, temporary : Path
        As `Work.score` takes them.
    """

    key: Key
    file: TableFile
    part: RowGroups | None
    parts: tuple[Path, ...]
    output: Path
    temporary: Path


@dataclass(frozen=True)
class _Scoring:
    """What workers do; the settings go to each of them once."""

    work: Work

    def __call__(self, task: _Task, on_rows: Callable[[int], object]) -> Totals:
        if task.parts:
            self.work.join(task.parts, task.output, task.temporary)
            return Totals()
        return self.work.score(task.file, task.part, task.output, task.temporary, on_rows)


@dataclass(frozen=True)
class _Checked:
    """What is known of a file before its rows are scored."""

    rows: int
    parts: list[RowGroups]
    fingerprint: str
    signature: str | None


def score_tables(
    work: Work,
    files: Sequence[TableFile],
    output: Path,
    settings: Mapping[str, Any],
    workers: int,
    progress: Progress,
) -> dict[str, Any]:
    """Score files of rows, as far as that was not done before, and return the manifest.

    Parameters
    ----------
    work : Work
        What is done with each file.
    files : sequence of TableFile
        In the order of their names.
    output : Path
        The folder that gets one file for each of them, and the manifest.
    settings : mapping
        What else must be the same for a run to go on; it is written into the manifest.
    workers : int
        How many processes score.
    progress : Progress
        Is told of rows.

    Raises
    ------
    VifidelError
        If something cannot be read or written, does not fit, or the vectors do not know the
        language of the captions.
    """
    outputs = _outputs(files, SUFFIXES[work.style])
    of_files = _checked(work, files)
    parts = [len(checked.parts) for checked in of_files]
    plan = {
        "command": "score-table",
        "signature": _signature(work, files, of_files),
        "settings": dict(settings),
        "versions": versions(),
        "inputs": [
            {"name": file.name, "bytes": file.size, "fingerprint": checked.fingerprint}
            for file, checked in zip(files, of_files, strict=True)
        ],
    }
    with RunFolder.opened(output, plan, outputs, parts) as folder:
        if folder.manifest is not None:
            return folder.manifest
        rows = [
            checked.rows if record is None else record.totals.rows
            for checked, record in zip(of_files, folder.outputs(), strict=True)
        ]
        progress.begin(sum(rows), folder.rows())
        tasks = [
            task for at, file in enumerate(files) for task in _tasks(folder, at, file, of_files[at])
        ]

        def on_done(number: int, totals: Totals) -> list[_Task]:
            task = tasks[number]
            at = task.key.file
            totals = folder.totals_of_parts(at) if task.parts else totals
            folder.add(task.key, totals)
            further: list[_Task] = []
            if task.part is None:
                progress.expect(totals.rows - rows[at])
            elif folder.has_parts(at):
                further = _tasks(folder, at, files[at], of_files[at])
            tasks.extend(further)
            return further

        Pool(_Scoring(work), workers).run(tasks, progress.update, on_done)
        totals = folder.totals()
        judge(totals, work.scorer.vectors)
        return folder.finish(STATUSES, corpus_scores(work.scorer.metrics, totals))


def _tasks(folder: RunFolder, at: int, file: TableFile, checked: _Checked) -> list[_Task]:
    """Return what is to be done next for a file: its parts, which are then joined, or all of it."""
    whole, state = Key(at), folder.state
    if folder.is_finished(whole):
        return []
    keys = [Key(at, number) for number in range(len(checked.parts))]
    missing = [
        _Task(key, file, part, (), folder.path_of(key), state)
        for key, part in zip(keys, checked.parts, strict=True)
        if not folder.is_finished(key)
    ]
    parts = tuple(map(folder.path_of, keys))
    return missing or [_Task(whole, file, None, parts, folder.path_of(whole), state)]


def _checked(work: Work, files: Sequence[TableFile]) -> list[_Checked]:
    """Check all files.

    Raises
    ------
    VifidelError
        Of the first that cannot be scored.
    """

    def check(file: TableFile) -> _Checked:
        table = work.check(file)
        return _Checked(table.count_rows(), table.parts(), file.fingerprint(), work.pinned(table))

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        try:
            return list(threads.map(check, files))
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def _signature(work: Work, files: Sequence[TableFile], of_files: Sequence[_Checked]) -> str:
    """Return the signature of all files.

    Raises
    ------
    VifidelError
        If it is not the same of all: labels have scores in some only.
    """
    signatures = {
        checked.signature: file
        for file, checked in zip(files, of_files, strict=True)
        if checked.signature is not None
    }
    if len(signatures) > 1:
        one, other = list(signatures.values())[:2]
        raise VifidelError(
            f"{one.path} and {other.path}: labels have scores in one of them only; score them into "
            "different folders."
        )
    return next(iter(signatures), None) or work.scorer.signature()


def _outputs(files: Sequence[TableFile], suffix: str) -> list[str]:
    """Return the name of each file's output.

    Raises
    ------
    VifidelError
        If two have the same; names that differ only in case do not work on every system.
    """
    names = [file.stem + suffix for file in files]
    seen: dict[str, TableFile] = {}
    for name, file in zip(names, files, strict=True):
        other = seen.setdefault(name.casefold(), file)
        if other is file:
            continue
        if other.path == file.path and other.filesystem == file.filesystem:
            raise VifidelError(f"{file.path}: is given twice; give it once.")
        raise VifidelError(
            f"{other.path} and {file.path}: both would be written to {PurePosixPath(name)}; score "
            "them into different folders, or give a folder that both are below."
        )
    return names
