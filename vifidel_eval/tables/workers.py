"""Processes that score files. One that is killed is replaced, and its file is tried again."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from ..errors import VifidelError

# How often a file is tried whose worker is killed.
_TRIES = 3

Task = TypeVar("Task")
Done = TypeVar("Done")

#: Does a task in a worker, and says how many rows it has just done.
Function = Callable[[Task, Callable[[int], object]], Done]


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: int


@dataclass
class _State:
    """How far a task is: its tries, the rows of this one, and the most of all."""

    tries: int = 0
    rows: int = 0
    most: int = 0


class Pool(Generic[Task, Done]):
    """Worker processes, one task each at a time.

    They are spawned, on every system. None outlives the process that started it: its pipe breaks.

    Parameters
    ----------
    function : callable
        At the top of a module, or an object that pickles.
    workers : int
        How many processes; with one, tasks are done in this process.
    """

    def __init__(self, function: Function[Task, Done], workers: int) -> None:
        self._function, self._most = function, workers
        self._workers: list[_Worker] = []

    def run(
        self,
        tasks: Sequence[Task],
        on_rows: Callable[[int], object],
        on_done: Callable[[int, Done], Iterable[Task]],
    ) -> None:
        """Do all tasks, and those that follow from them.

        Parameters
        ----------
        tasks : sequence
            What pickles.
        on_rows : callable
            Called with the number of rows just done; rows that are done again count once.
        on_done : callable
            Called with the number of each task that is done and what it returned, in any order;
            returns further tasks, which are done next. They have the numbers that follow.

        Raises
        ------
        VifidelError
            The first that a task raises, or if the worker of one is killed again and again.
        """
        tasks = list(tasks)
        waiting, states = deque(range(len(tasks))), [_State() for _ in tasks]

        def finish(at: int, returned: Done) -> None:
            for task in on_done(at, returned):
                waiting.appendleft(len(tasks))
                tasks.append(task)
                states.append(_State())

        workers = min(self._most, len(tasks))
        if workers <= 1:
            while waiting:
                at = waiting.popleft()
                finish(at, self._function(tasks[at], on_rows))
            return
        try:
            for _ in range(workers):
                self._start(tasks, waiting.popleft())
            while self._workers:
                ready = wait([worker.pipe for worker in self._workers])
                for worker in [w for w in self._workers if w.pipe in ready]:
                    at, (kind, content) = worker.task, _said(worker)
                    if kind == "rows":
                        new = _new_rows(states[at], content)
                        if new:
                            on_rows(new)
                    elif kind == "killed":
                        _check_tries(states[at])
                        self._remove(worker)
                        self._start(tasks, at)
                    else:
                        finish(at, _returned(kind, content))
                        self._next(worker, tasks, waiting)
        finally:
            for worker in list(self._workers):
                self._remove(worker)

    def _next(self, worker: _Worker, tasks: Sequence[Task], waiting: deque[int]) -> None:
        """Give a worker another task, or end it."""
        if not waiting:
            self._remove(worker)
            return
        worker.task = waiting.popleft()
        with contextlib.suppress(OSError):  # killed: seen when it is read
            worker.pipe.send(tasks[worker.task])

    def _start(self, tasks: Sequence[Task], at: int) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
        with _interrupts_ignored():
            process.start()
        self._workers.append(_Worker(process, ours, at))
        theirs.close()
        with contextlib.suppress(OSError):  # killed: seen when it is read
            ours.send(tasks[at])

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _said(worker: _Worker) -> tuple[str, Any]:
    """Return what a worker says; of one that was killed, its pipe has ended."""
    try:
        said: tuple[str, Any] = worker.pipe.recv()
    except (EOFError, OSError):
        return "killed", None
    return said


def _new_rows(state: _State, rows: int) -> int:
    """Return how many of a task's rows were not done before."""
    state.rows += rows
    new = max(0, state.rows - state.most)
    state.most += new
    return new


def _check_tries(state: _State) -> None:
    state.tries, state.rows = state.tries + 1, 0
    if state.tries == _TRIES:
        raise VifidelError(
            f"the worker of a file was killed {_TRIES} times, perhaps because memory ran out; run "
            "the same command with fewer --workers: finished files are kept."
        )


def _returned(kind: str, content: Any) -> Any:
    if kind == "refused":
        raise VifidelError(content)
    if kind == "failed":
        raise RuntimeError(f"a worker failed:\n{content}")
    return content


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let a process that is started here ignore Ctrl-C: this one ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(pipe: Connection, function: Function[Any, Any]) -> None:
    """Do tasks until the process that sends them has no more, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def on_rows(rows: int) -> None:
        try:
            pipe.send(("rows", rows))
        except OSError:
            raise SystemExit from None

    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            try:
                said = "done", function(task, on_rows)
            except VifidelError as problem:
                said = "refused", str(problem)
            except Exception:
                said = "failed", traceback.format_exc()
            pipe.send(said)
