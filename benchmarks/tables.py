"""Costs of captions in tables: the kernel, the command, Spark, memory, and kill -9.

    python benchmarks/tables.py CAPTIONS.json RESULTS.json INSTANCES.json [--part PART ...]

The rows are those of one system on COCO files: captions, object labels and four references each.
Times are of the processor, not of the clock, so that they stand beside other work on the machine;
only what two workers gain needs idle cores. Parts:

kernel    from columns to columns against `compute_score` alone on the same rows, alternately
command   `score-table` from Parquet to Parquet; what 10^9 rows cost; two workers against one
spark     a Spark job on two cores against the kernel alone on the same rows (needs Java, pyspark)
memory    a million rows, each with a word that was not seen before
kill      `score-table` killed at twenty random moments, run again, and compared byte by byte

Beyond val2017's rows, each copy of the table has the labels of other images beside its captions,
so that no row repeats.
"""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
from tabulate import tabulate

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.tables import TableScorer

REPEATS = 7
REFERENCES = 4
KILLS = 20
NEW_WORDS = 1_000_000
COMMAND_SIZES = (8, 48)  # copies of the rows
KILL_COPIES, SPARK_COPIES = 24, 32
FILES = 8


@dataclass(frozen=True)
class Corpus:
    """Rows of one system on COCO files, each with an object and references."""

    instances: Path
    gts: dict[Any, list[str]]
    res: dict[Any, list[str]]
    labels: list[list[str]]

    def table(self, copy: int = 0) -> pa.Table:
        """Return the rows as columns; a copy has the labels of images further on."""
        labels = self.labels[copy:] + self.labels[:copy]
        return pa.table(
            {
                "image": pa.array(range(len(labels))),
                "caption": [caption for (caption,) in self.res.values()],
                "labels": pa.array(labels, pa.list_(pa.string())),
                "refs": pa.array(list(self.gts.values()), pa.list_(pa.string())),
            }
        )

    def write(self, folder: Path, copies: int) -> int:
        """Write copies of the table as Parquet files; return how many rows there are."""
        folder.mkdir()
        tables = [self.table(copy) for copy in range(copies)]
        for number in range(FILES):
            pq.write_table(pa.concat_tables(tables[number::FILES]), folder / f"{number}.parquet")
        return sum(map(len, tables))


def read(references: Path, results: Path, instances: Path) -> Corpus:
    objects = read_objects(instances)
    res = {i: [caption] for i, caption in read_results(results).items() if objects.get(i)}
    gold = read_references(references)
    gts = {i: gold[i][:REFERENCES] for i in res}
    labels = [[label for label, n in objects[i].items() for _ in range(n)] for i in res]
    return Corpus(instances, gts, res, labels)


def alternately(runs: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Return the median processor seconds of each, called in turn with the number of the turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(REPEATS + 1):
        for name, run in runs.items():
            gc.collect()
            start = time.process_time()
            run(turn)
            times[name].append(time.process_time() - start)
    return {name: statistics.median(found[1:]) for name, found in times.items()}  # the first warms


def kernel(corpus: Corpus) -> None:
    """Print the processor time per row of the kernel, of `compute_score` and of `score`."""
    table = corpus.table().combine_chunks()
    captions, labels = table["caption"], table["labels"]
    # References in another order are new ones: nothing that was prepared for the others serves.
    orders = [[list(refs) for refs in corpus.gts.values()] for _ in range(2)]
    orders[1] = [refs[::-1] for refs in orders[1]]
    gts = [dict(zip(corpus.gts, refs, strict=True)) for refs in orders]
    refs = [pa.array(order, pa.list_(pa.string())) for order in orders]
    texts = captions.to_pylist()
    rows = []
    for metric, scorer_class in (("VIFIDEL", Vifidel), ("VIFIDEL-PRF", VifidelPRF)):
        scorer = TableScorer(metrics=[metric])
        for weighted in (False, True):
            alone = scorer_class(corpus.instances, references=weighted)
            row_api = scorer_class(references=weighted)
            seconds = alternately(
                {
                    "alone": lambda turn, a=alone: a.compute_score(gts[turn % 2], corpus.res),
                    "columns": lambda turn, s=scorer, w=weighted: s.score(
                        captions, labels, references=refs[turn % 2] if w else None
                    ),
                    "rows": lambda turn, r=row_api, w=weighted: r.score(
                        texts, objects=corpus.labels, references=orders[turn % 2] if w else None
                    ),
                }
            )
            us = {name: 1e6 * value / len(table) for name, value in seconds.items()}
            rows.append(
                (
                    f"{metric}, {REFERENCES if weighted else 'no'} references",
                    us["alone"],
                    us["columns"],
                    us["columns"] / us["alone"],
                    us["rows"],
                )
            )
    print(f"kernel: {len(table)} rows, microseconds of the processor per row")
    print(
        tabulate(
            rows,
            headers=["", "compute_score", "columns to columns", "ratio", "score(captions, ...)"],
            floatfmt=(".1f", ".1f", ".1f", ".2f", ".1f"),
        )
    )


def score_table(source: Path, output: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "vifidel_eval", "score-table", str(source)]
    command += ["--metrics", "VIFIDEL"]
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
        for what, options in (("no", []), (str(REFERENCES), ["--references", "refs"])):
            clock: dict[str, float] = {}
            for workers in ("1", "2"):
                used, seconds = {}, {}
                for copies in COMMAND_SIZES:
                    output = folder / f"{what}-{workers}-{copies}"
                    before, start = of_children(), time.perf_counter()
                    finish(
                        score_table(
                            folder / f"rows{copies}", output, "--workers", workers, *options
                        )
                    )
                    seconds[copies] = time.perf_counter() - start
                    used[copies] = of_children() - before
                us = 1e6 * (used[many] - used[few]) / (sizes[many] - sizes[few])
                clock[workers] = seconds[many] - seconds[few]
                faster = clock["1"] / clock[workers]
                rows.append((f"{what} references", workers, us, us * 1e9 / 3.6e9, faster))
    print(f"command: {sizes[many]} rows in {FILES} Parquet files, VIFIDEL, Parquet to Parquet")
    print(
        tabulate(
            rows,
            headers=["", "workers", "us of CPU a row", "core-hours for 10^9", "times one worker"],
            floatfmt=("", "", ".1f", ".1f", ".2f"),
        )
    )


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
    """Kill the command at random moments; print how often the files are equal at the end."""
    moments = random.Random(14)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus.write(folder / "rows", KILL_COPIES)
        start = time.perf_counter()
        finish(score_table(folder / "rows", folder / "out", "--workers", "2"))
        whole = time.perf_counter() - start
        expected = digests(folder / "out")
        same = in_the_middle = 0
        for number in range(KILLS):
            output = folder / f"out{number}"
            process = score_table(folder / "rows", output, "--workers", "2")
            time.sleep(moments.uniform(0, whole))
            in_the_middle += process.poll() is None
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
            process.communicate()
            finish(score_table(folder / "rows", output, "--workers", "2"))
            same += digests(output) == expected
    print(
        f"kill: {KILLS} times at random within {whole:.1f} s, {in_the_middle} of them in mid-run; "
        f"the same files and bytes at the end: {same} of {KILLS}"
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
        n = corpus.write(Path(name) / "rows", SPARK_COPIES)
        frame = session.read.parquet(str(Path(name) / "rows"))
        scored = {
            "without the column": frame,
            "no references": frame.withColumn("f", vifidel("caption", "labels")),
            f"{REFERENCES} references": frame.withColumn("f", vifidel("caption", "labels", "refs")),
        }
        rows = []
        for what, job in scored.items():
            job.write.format("noop").mode("overwrite").save()  # the JVM compiles
            start = used()
            job.write.format("noop").mode("overwrite").save()
            in_spark = 1e6 * (used() - start) / n
            if what == "without the column":
                rows.append((what, in_spark, None, None))
                continue
            scorer = TableScorer()
            batches = pq.read_table(Path(name) / "rows").to_batches(10_000)
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
