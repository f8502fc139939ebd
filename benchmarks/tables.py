"""Costs of captions in tables: the kernel, the command, Spark, memory, and kill -9.

    python benchmarks/tables.py CAPTIONS.json RESULTS.json INSTANCES.json [--part PART ...]

The rows are those of one system on COCO files: captions, object labels and four references each.
No row is measured twice, and texts are read once: each further copy of the rows ends every text in
the last three words of another one, and has the labels of other images. So texts stay as long as
they are and have the same words. *First* is the first copy of a process, which makes these words
known; the others are medians after it. *Again* is the same copy a second time, and says what
repetition saves. Times are of the processor, not of the clock, so
that they stand beside other work on the machine; only what two workers gain needs idle cores.
Parts:

kernel    from columns to columns, and `compute_score` alone, alternately
command   `score-table` from Parquet to Parquet; what 10^9 rows cost; two workers against one
spark     a Spark job on two cores against the kernel alone on the same rows (needs Java, pyspark)
memory    a million rows, each with a word that was not seen before
kill      `score-table` killed twice at random moments in thirty rounds, run again, and compared:
          half-written files, other bytes, files left over
"""

from __future__ import annotations

import gc
import hashlib
import itertools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click
import pyarrow as pa
import pyarrow.parquet as pq
from tabulate import tabulate

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import VifidelH, VifidelPRF
from vifidel_eval.scorers.explaining import ExplainingScorer
from vifidel_eval.tables import TableScorer

REPEATS = 5
REFERENCES = 4
END = 3  # words at the end of a text that copies take from another one
ROUNDS = 30
NEW_WORDS = 1_000_000
COMMAND_SIZES = (8, 16)  # copies of the rows, one per file or more
COMMAND = ("VIFIDEL", "VIFIDEL,VIFIDEL-PRF")
KERNEL: dict[str, type[ExplainingScorer[Any]]] = {
    "VIFIDEL": Vifidel,
    "VIFIDEL-PRF": VifidelPRF,
    "VIFIDEL-H": VifidelH,
}
KILL_COPIES, SPARK_COPIES = 24, 32
FILES = 8

T = TypeVar("T")


@dataclass(frozen=True)
class Corpus:
    """Rows of one system on COCO files, each with an object and references."""

    captions: list[str]
    labels: list[list[str]]
    references: list[list[str]]

    def copy(self, number: int) -> Corpus:
        """Return as many rows, none of which is in another copy."""
        sides = [with_other_ends(side, number) for side in zip(*self.references, strict=True)]
        return Corpus(
            with_other_ends(self.captions, number),
            [
                [*labels[:-1], other[-1]]
                for labels, other in zip(
                    turned(self.labels, number), turned(self.labels, 7 * number), strict=True
                )
            ],
            [list(references) for references in zip(*sides, strict=True)],
        )

    def table(self) -> pa.Table:
        """Return the rows as columns."""
        return pa.table(
            {
                "image": pa.array(range(len(self.labels))),
                "caption": self.captions,
                "labels": pa.array(self.labels, pa.list_(pa.string())),
                "refs": pa.array(self.references, pa.list_(pa.string())),
            }
        )

    def write(self, folder: Path, copies: int, first: int = 0) -> int:
        """Write copies of the table as Parquet files; return how many rows there are."""
        folder.mkdir()
        tables = [self.copy(first + number).table() for number in range(copies)]
        for number in range(FILES):
            pq.write_table(pa.concat_tables(tables[number::FILES]), folder / f"{number}.parquet")
        return sum(map(len, tables))


def turned(rows: Sequence[T], number: int) -> Sequence[T]:
    """Return rows in their order, beginning with another one."""
    start = number % len(rows)
    return [*rows[start:], *rows[:start]]


def with_other_ends(texts: Sequence[str], number: int) -> list[str]:
    """Return texts, each with the last words of one further on."""
    words = [text.split() for text in texts]
    pairs = zip(words, turned(words, number), strict=True)
    return [" ".join([*text[:-END], *other[-END:]]) for text, other in pairs]


def read(references: Path, results: Path, instances: Path) -> Corpus:
    objects = read_objects(instances)
    captions = {i: caption for i, caption in read_results(results).items() if objects.get(i)}
    gold = read_references(references)
    labels = [[label for label, n in objects[i].items() for _ in range(n)] for i in captions]
    return Corpus([*captions.values()], labels, [gold[i][:REFERENCES] for i in captions])


def alternately(
    runs: dict[str, Callable[[int], Callable[[], object]]],
) -> dict[str, list[float]]:
    """Return the processor seconds of each in every turn; it gets ready, and is then measured."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(REPEATS + 1):
        for name, run in runs.items():
            ready = run(turn)
            gc.collect()
            start = time.process_time()
            ready()
            times[name].append(time.process_time() - start)
    return times


def kernel(corpus: Corpus) -> None:
    """Print the processor time per row of the kernel, of `compute_score` and of `score`."""
    rows = []
    for metric, weighted in itertools.product(KERNEL, (False, True)):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            times = process.submit(_times_of, corpus, metric, weighted).result()
        us = {name: 1e6 * seconds / len(corpus.captions) for name, seconds in times.items()}
        name = f"{metric}, {REFERENCES if weighted else 'no'} references"
        # 10^9 times, in 3.6 * 10^9 microseconds an hour
        rows.append((name, *us.values(), us["columns"] / us["alone"], us["columns"] / 3.6))
    print(f"kernel: {len(corpus.captions)} rows at a time, microseconds of the processor per row")
    headers = ["", "first", "columns to columns", "again", "compute_score", "score(captions, ...)"]
    print(
        tabulate(
            rows,
            headers=[*headers, "columns / compute_score", "core-hours for 10^9"],
            floatfmt=(".1f", ".1f", ".1f", ".1f", ".1f", ".1f", ".2f", ".1f"),
        )
    )


def _times_of(corpus: Corpus, metric: str, weighted: bool) -> dict[str, float]:
    """Return processor seconds in a process that scored nothing before: medians, after `first`."""
    times = alternately(ways_to_score(corpus, TableScorer(metrics=[metric]), metric, weighted))
    medians = {name: statistics.median(found[1:]) for name, found in times.items()}
    return {"first": times["columns"][0], **medians}


def ways_to_score(
    corpus: Corpus, scorer: TableScorer, metric: str, weighted: bool
) -> dict[str, Callable[[int], Callable[[], object]]]:
    """Return what gets copies of the rows ready, a new one each time, to be scored in four ways."""
    numbers = itertools.count(1)
    own = [corpus.copy(next(numbers)) for _ in range(REPEATS + 1)]
    labels = chain.from_iterable(copy.labels for copy in own)
    # Ids that are not numbers of rows.
    alone = KERNEL[metric]({f"{n}.jpg": of for n, of in enumerate(labels)}, references=weighted)
    row_api = KERNEL[metric](references=weighted)
    columns: list[tuple[Any, ...]] = []

    def in_coco_form(turn: int) -> Callable[[], object]:
        first, rows = turn * len(corpus.captions), own[turn]
        ids = [f"{number}.jpg" for number in range(first, first + len(rows.captions))]
        gts = dict(zip(ids, rows.references, strict=True))
        res = {i: [caption] for i, caption in zip(ids, rows.captions, strict=True)}
        return lambda: alone.compute_score(gts, res)

    def in_columns(_: int) -> Callable[[], object]:
        table = corpus.copy(next(numbers)).table().combine_chunks()
        columns[:] = [(table["caption"], table["labels"], table["refs"] if weighted else None)]
        return again(0)

    def again(_: int) -> Callable[[], object]:
        captions, labels, references = columns[0]
        return lambda: scorer.score(captions, labels, references=references)

    def in_lists(_: int) -> Callable[[], object]:
        copy = corpus.copy(next(numbers))
        references = copy.references if weighted else None
        return lambda: row_api.score(copy.captions, objects=copy.labels, references=references)

    return {"columns": in_columns, "again": again, "alone": in_coco_form, "rows": in_lists}


def score_table(
    source: Path, output: Path, *options: str, metrics: str = "VIFIDEL"
) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "vifidel_eval", "score-table", str(source)]
    command += ["--metrics", metrics]
    return subprocess.Popen(
        [*command, "--output", str(output), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a command, and stop if it failed."""
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(errors.decode())


def of_children() -> float:
    """Return the processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(corpus: Corpus) -> None:
    """Print what rows cost from file to file, and what a second worker gains."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # What the start of processes costs is that of a run over one copy, and is taken off.
        sizes = {copies: corpus.write(folder / f"rows{copies}", copies) for copies in COMMAND_SIZES}
        few, many = COMMAND_SIZES
        rows = []
        cases = itertools.product(COMMAND, ("no", str(REFERENCES)))
        for at, (metrics, what) in enumerate(cases):
            options = [] if what == "no" else ["--references", "refs"]
            clock: dict[str, float] = {}
            for workers in ("1", "2"):
                used, seconds = {}, {}
                for copies in COMMAND_SIZES:
                    output = folder / f"{at}-{workers}-{copies}"
                    source = folder / f"rows{copies}"
                    before, start = of_children(), time.perf_counter()
                    options = [*options, "--workers", workers]
                    finish(score_table(source, output, *options, metrics=metrics))
                    seconds[copies] = time.perf_counter() - start
                    used[copies] = of_children() - before
                us = 1e6 * (used[many] - used[few]) / (sizes[many] - sizes[few])
                clock[workers] = seconds[many] - seconds[few]
                faster = clock["1"] / clock[workers]
                rows.append((metrics, f"{what} references", workers, us, us / 3.6, faster))
    print(f"command: {sizes[many]} rows in {FILES} Parquet files, Parquet to Parquet")
    headers = ["", "", "workers", "us of CPU a row", "core-hours for 10^9", "times one worker"]
    print(tabulate(rows, headers=headers, floatfmt=("", "", "", ".1f", ".1f", ".2f")))


def _grow(rows: int) -> list[float]:
    """Return megabytes after the first thousand rows and at the peak of all."""
    scorer = TableScorer(metrics=["VIFIDEL", "VIFIDEL-PRF"])
    peaks = []
    for start in range(0, rows, 1_000):
        captions = [f"a dog near page{n}xq{n * 7919}" for n in range(start, start + 1_000)]
        scorer.score(captions, [["dog", "cat"]] * len(captions))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return [peaks[0] / unit, peaks[-1] / unit]


def memory(_: Corpus) -> None:
    """Print the memory of a process that meets a new word in each of a million rows."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        first, peak = process.submit(_grow, NEW_WORDS).result()
    print(
        f"memory: {first:.0f} MB after the first 1000 rows, {peak:.0f} MB at the peak of "
        f"{NEW_WORDS} with a new word each: {peak - first:.0f} MB more"
    )


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kill(corpus: Corpus) -> None:
    """Kill the command twice at random moments, and run it again; print what differs at the end."""
    moments = random.Random(14)
    with tempfile.TemporaryDirectory() as name:
        folder, options = Path(name), ("--workers", "2")
        corpus.write(folder / "rows", KILL_COPIES)
        start = time.perf_counter()
        finish(score_table(folder / "rows", folder / "out", *options))
        whole = time.perf_counter() - start
        expected = digests(folder / "out")
        kills = 0
        halves, differing, left = list[str](), list[str](), list[str]()
        for number in range(ROUNDS):
            output = folder / f"out{number}"
            for _ in range(2):
                process = score_table(folder / "rows", output, *options)
                try:
                    process.communicate(timeout=moments.uniform(0, whole))
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
                    kills += 1
                there = digests(output).items() if output.exists() else ()
                halves += [name for name, it in there if expected.get(name, it) != it]
            finish(score_table(folder / "rows", output, *options))
            found = digests(output)
            differing += [name for name, it in expected.items() if found.get(name) != it]
            left += found.keys() - expected.keys()
            shutil.rmtree(output)
        left += {path.name for path in folder.iterdir()} - {"rows", "out"}
    print(
        f"kill: {ROUNDS} rounds, {kills} kills at random within {whole:.1f} s; half-written under "
        f"their names: {halves or 'none'}; other bytes at the end: {differing or 'none'}; left "
        f"over: {left or 'none'}"
    )


def spark(corpus: Corpus) -> None:
    """Print the processor time per row of a Spark job and of the kernel alone."""
    import psutil
    from pyspark.sql import SparkSession

    from vifidel_eval.spark import vifidel

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    session = session.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    jvm = psutil.Process(session.sparkContext._gateway.proc.pid)

    def used() -> float:
        every = [jvm, *jvm.children(recursive=True)]
        return sum(t.user + t.system for t in (process.cpu_times() for process in every))

    with tempfile.TemporaryDirectory() as name:
        columns = {
            "without the column": (),
            "no references": ("caption", "labels"),
            f"{REFERENCES} references": ("caption", "labels", "refs"),
        }
        rows = []
        for at, (what, names) in enumerate(columns.items()):
            # The JVM compiles, and words become known, on other rows than those measured.
            for number, folder in enumerate(("first", "rows"), 2 * at):
                n = corpus.write(Path(name) / f"{folder}{at}", SPARK_COPIES, number * SPARK_COPIES)
                frame = session.read.parquet(str(Path(name) / f"{folder}{at}"))
                job = frame.withColumn("f", vifidel(*names)) if names else frame
                start = used()
                job.write.format("noop").mode("overwrite").save()
            in_spark = 1e6 * (used() - start) / n
            if what == "without the column":
                rows.append((what, in_spark, None, None))
                continue
            scorer = TableScorer()
            batches = pq.read_table(Path(name) / f"rows{at}").to_batches(10_000)
            start = time.process_time()
            for batch in batches:
                references = None if what.startswith("no ") else batch["refs"]
                scorer.score(batch["caption"], batch["labels"], references=references)
            alone = 1e6 * (time.process_time() - start) / n
            rows.append((what, in_spark, alone, in_spark / alone))
    session.stop()
    print(f"spark: {n} rows from Parquet, microseconds of the processor per row")
    print(
        tabulate(
            rows,
            headers=["", "Spark, JVM and Python", "kernel alone", "ratio"],
            floatfmt=(".1f", ".1f", ".1f", ".2f"),
        )
    )


PARTS = {"kernel": kernel, "command": command, "spark": spark, "memory": memory, "kill": kill}


@click.command()
@click.argument("references", type=click.Path(exists=True, path_type=Path))
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.argument("instances", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(list(PARTS)), help="Default: all."
)
def main(references: Path, results: Path, instances: Path, parts: tuple[str, ...]) -> None:
    """Measure on COCO files: REFERENCES, RESULTS of one system, INSTANCES."""
    corpus = read(references, results, instances)
    for part in parts or PARTS:
        PARTS[part](corpus)


if __name__ == "__main__":
    main()
