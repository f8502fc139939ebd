"""Times until scoring can start: import, help, default vectors, and a big file of vectors.

    python benchmarks/startup.py

Every step runs in a process of its own, repeated; medians of wall-clock seconds and the peak
memory of the last run (read from Linux's /proc) are printed, beside a process that does nothing.
The big file is made up: a million words with 300 numbers in word2vec's binary format (1.2 GB, in
a temporary folder).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tabulate import tabulate

WORDS, DIMENSIONS, REPEATS = 1_000_000, 300, 5

LOOK_UP = (
    "from vifidel_eval.words.word_vectors import load_vectors\n"
    "rows = load_vectors({path!r}).lookup(['word7', 'word999999', 'unheard'])\n"
    "assert not (rows[:2] != rows[:2]).any() and (rows[2] != rows[2]).all()\n"
)
# ru_maxrss would count what the parent process held when it forked.
PEAK = "\nimport re; print(re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())[1])"


def run(code: str, repeats: int = REPEATS) -> tuple[float, float]:
    """Return the median seconds and the peak megabytes of a Python process."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code + PEAK], check=True, capture_output=True, text=True
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times), int(done.stdout.split()[-1]) / 1e3


def write_word2vec(path: Path) -> None:
    """Write the made-up vectors, a block at a time."""
    random = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(f"{WORDS} {DIMENSIONS}\n".encode())
        for start in range(0, WORDS, 10_000):
            rows = random.standard_normal((10_000, DIMENSIONS), dtype=np.float32)
            for at, row in enumerate(rows):
                file.write(f"word{start + at} ".encode() + row.tobytes() + b"\n")


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VIFIDEL_EVAL_CACHE"] = str(Path(folder) / "cache")
        path = Path(folder) / "big.bin"
        write_word2vec(path)
        command_help = (
            "from vifidel_eval.commands.main import main\n"
            "main(['score', '--help'], standalone_mode=False)"
        )
        rows = [
            ("python -c pass", *run("pass")),
            ("import vifidel_eval", *run("import vifidel_eval")),
            ("vifidel-eval score --help", *run(command_help)),
            ("embedded vectors, first words", *run(LOOK_UP.format(path=None).replace(
                "'word7', 'word999999', 'unheard'", "'dog', 'cat', '\\u72d7'"))),
            (f"{path.stat().st_size / 1e9:.1f} GB word2vec file, first time",
             *run(LOOK_UP.format(path=str(path)), 1)),
            ("the same, second time", *run(LOOK_UP.format(path=str(path)))),
            ("gensim's KeyedVectors on that file", *run(
                "from gensim.models import KeyedVectors\n"
                f"KeyedVectors.load_word2vec_format({str(path)!r}, binary=True)", 1)),
        ]  # fmt: skip
    print(tabulate(rows, headers=["", "seconds", "MB peak"], floatfmt=(".1f", ".2f", ".0f")))


if __name__ == "__main__":
    main()
