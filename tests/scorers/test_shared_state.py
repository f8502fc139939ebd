"""One scorer in many threads, interrupted or pickled gives the bits of a fresh one."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vifidel_eval import Vifidel
from vifidel_eval.kernels import lexicon
from vifidel_eval.scorers import VifidelH, VifidelPRF, Wmd

NOUNS = (
    "dog cat horse bird sheep cow bear zebra car bus train truck boat bicycle table chair couch "
    "bed bottle cup bowl fork knife spoon apple banana orange pizza cake sandwich man woman child "
    "street beach kitchen field snow river window"
).split()
MODES = ["objects alone", "references", "WMD", "VIFIDEL-PRF", "VIFIDEL-H"]


def corpus(seed: int, captions: int = 24):
    """Return captions, objects and references that share most of their words."""
    random_ = random.Random(seed)

    def sentence(words: int) -> str:
        return " and ".join(random_.sample(NOUNS, words))

    return (
        [sentence(random_.randint(1, 6)) for _ in range(captions)],
        [random_.choices(NOUNS, k=random_.randint(1, 4)) for _ in range(captions)],
        [[sentence(4) for _ in range(3)] for _ in range(captions)],
    )


def make(mode: str):
    return {"WMD": Wmd, "VIFIDEL-PRF": VifidelPRF, "VIFIDEL-H": VifidelH}.get(mode, Vifidel)()


def score(scorer, mode: str, seed: int, captions_of_call: int = 24) -> np.ndarray:
    captions, objects, references = corpus(seed, captions_of_call)
    return scorer.score(
        captions,
        objects=None if mode == "WMD" else objects,
        references=None if mode == "objects alone" else references,
    )


@pytest.fixture(scope="module")
def expected() -> Callable[[str, int], bytes]:
    """Return the bytes of the scores of a scorer that has done nothing else."""
    known: dict[tuple[str, int], bytes] = {}

    def expected(mode: str, seed: int) -> bytes:
        if (mode, seed) not in known:
            with alone():
                known[mode, seed] = score(make(mode), mode, seed).tobytes()
        return known[mode, seed]

    return expected


@contextlib.contextmanager
def alone():
    """In it, no scorer shares its words with one made before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexicon, "_SPACES", {})
        yield


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("warm", [False, True])
def test_eight_threads_get_the_bits_of_a_fresh_scorer(mode, warm, expected):
    target = {seed: expected(mode, seed) for seed in range(6)}
    with alone():
        scorer = make(mode)
    if warm:
        score(scorer, mode, 0)
    barrier = threading.Barrier(8)
    wrong: list[object] = []

    def work(number: int) -> None:
        barrier.wait()
        try:
            for step in range(3):
                seed = (number + step) % 6
                if score(scorer, mode, seed).tobytes() != target[seed]:
                    wrong.append((number, seed))
        except Exception as problem:
            wrong.append(problem)

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switching)
    assert wrong == []


class Stopped(BaseException):
    """Stands in for KeyboardInterrupt."""


def traced(call: Callable[[], object], on_line: Callable[[Any], None]) -> None:
    """Run a call, and tell of each line of the package that it runs through."""

    def trace(frame, event, _):
        if frame.f_globals.get("__name__", "").partition(".")[0] != "vifidel_eval":
            return None
        if event == "line":
            on_line(frame)
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)


def interrupt(call: Callable[[], object], line: int) -> None:
    """Run a call up to a line."""
    left = itertools.count(line, -1)

    def stop(_) -> None:
        if next(left) <= 0:
            raise Stopped

    with contextlib.suppress(Stopped):
        traced(call, stop)


@pytest.mark.parametrize("mode", ["references", "VIFIDEL-PRF"])  # all of them are slow
def test_an_interrupt_leaves_no_trace(mode):
    """Where every 97th line of an evaluation runs for the first and for the last time."""
    captions, seeds, lines = 8, (1, 0, 2), []
    with alone():
        fresh = make(mode)
    traced(
        lambda: score(fresh, mode, 1, captions),
        lambda frame: lines.append((frame.f_code.co_filename, frame.f_lineno)),
    )
    first = {line: at for at, line in reversed(list(enumerate(lines)))}
    last = {line: at for at, line in enumerate(lines)}
    moments = sorted({*first.values(), *last.values()})
    assert len(moments) > 200
    target = [score(fresh, mode, seed, captions).tobytes() for seed in seeds]
    for line in moments[::97]:
        with alone():
            scorer = make(mode)
            score(scorer, mode, 0, captions)
            interrupt(lambda: score(scorer, mode, 1, captions), line)  # noqa: B023
        result = [score(scorer, mode, seed, captions).tobytes() for seed in seeds]
        assert result == target, line


def test_a_caption_with_more_words_than_a_lexicon_holds(monkeypatch):
    many = " ".join(f"word{number}" for number in range(300))
    expected = Vifidel().score([many, "a dog"], objects=[["dog"], ["dog"]])
    monkeypatch.setattr(lexicon, "CAPACITY", 10)
    with alone():
        result = Vifidel().score([many, "a dog"], objects=[["dog"], ["dog"]])
    assert result.tobytes() == expected.tobytes()
