"""Durations of a reward of a training loop: of 64 captions, k samples an image, and of one row.

    python benchmarks/reward.py CAPTIONS.json RESULTS.json INSTANCES.json

Captions of RESULTS.json stand for the samples of a policy. Each call has other captions; the scorer
is warm, and the objects come with the rows. *Prepared* references are those of the call before, as
where the samples of a step are scored in several calls; *new* ones are of other images in every
call. Printed are the median of a call in milliseconds, of elapsed and of processor time, the 99th
percentile over the median, and the median after 10 000 calls over the one before them (of processor
time both, which other work on the machine disturbs less).

Then the same rows come one by one, as verl's reward managers pass them. Of each, right after it,
`ot.emd` solves a transport problem of its size: labels of the image by content words of the
caption. Printed are the medians in microseconds of processor time, and their ratio.
"""

from __future__ import annotations

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import ot
from tabulate import tabulate

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import Scorer, Vifidel, VifidelH, VifidelPRF
from vifidel_eval.text.words import STOP_WORDS, content_words

CAPTIONS, SAMPLES = 64, 8
BATCHES = 200
CALLS, BETWEEN = 1000, 10_000
SINGLE_ROWS = 2000

Batch = dict[str, list]


def batches(
    results: dict, references: dict | None, objects: dict, same_images: bool
) -> list[Batch]:
    """Return the arguments of calls: captions, and what is known of their images."""
    draw = random.Random(0)
    texts, ids = list(results.values()), list(results)
    found = []
    images = draw.sample(ids, CAPTIONS // SAMPLES)
    for _ in range(BATCHES):
        if not same_images:
            images = draw.sample(ids, CAPTIONS // SAMPLES)
        rows = [image_id for image_id in images for _ in range(SAMPLES)]
        batch: Batch = {
            "captions": draw.sample(texts, CAPTIONS),
            "objects": [objects[image_id] for image_id in rows],
        }
        if references is not None:
            batch["references"] = [references[image_id] for image_id in rows]
        found.append(batch)
    return found


def times(scorer: Scorer, calls: Iterator[Batch], number: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each of some calls, sorted: elapsed, and of the processor."""
    elapsed, busy = [], []
    for batch in itertools.islice(calls, number):
        start, busy_start = time.perf_counter(), time.process_time()
        scorer.score(**batch)
        busy.append(1000 * (time.process_time() - busy_start))
        elapsed.append(1000 * (time.perf_counter() - start))
    return sorted(elapsed), sorted(busy)


def row(name: str, scorer: Scorer, found: list[Batch], between: int) -> list[object]:
    """Return the line of a table: medians, percentile and growth."""
    calls = itertools.cycle(found)
    times(scorer, calls, 2 * BATCHES)  # warm
    gc.collect()
    elapsed, before = times(scorer, calls, CALLS)
    times(scorer, calls, between)
    _, after = times(scorer, calls, CALLS)
    median = statistics.median(before)
    return [
        name,
        statistics.median(elapsed),
        median,
        before[CALLS * 99 // 100] / median,
        statistics.median(after) / median,
    ]


def single_rows(found: list[Batch]) -> Iterator[Batch]:
    """Yield the rows of some batches, one by one, again and again."""
    for batch in itertools.cycle(found):
        for n in range(CAPTIONS):
            yield {name: values[n : n + 1] for name, values in batch.items()}


def single_row(name: str, scorer: Scorer, found: list[Batch]) -> list[object]:
    """Return the line of a table: a row by itself, `ot.emd` on a problem of its size, the ratio."""
    rows = single_rows(found)
    times(scorer, rows, SINGLE_ROWS)  # warm
    draw = np.random.default_rng(0)
    of_rows, of_solver = [], []
    for batch in itertools.islice(rows, SINGLE_ROWS):
        start = time.process_time()
        scorer.score(**batch)
        of_rows.append(1e6 * (time.process_time() - start))
        labels = len(set(batch["objects"][0]))
        words = len(set(content_words(batch["captions"][0], STOP_WORDS)))
        if labels and words:
            masses = np.full(labels, 1 / labels), np.full(words, 1 / words)
            costs = draw.random((labels, words))
            start = time.process_time()
            ot.emd(*masses, costs)
            of_solver.append(1e6 * (time.process_time() - start))
    median, solver = statistics.median(of_rows), statistics.median(of_solver)
    return [name, median, solver, median / solver]


@click.command()
@click.argument("captions", type=click.Path(path_type=Path))
@click.argument("results", type=click.Path(path_type=Path))
@click.argument("instances", type=click.Path(path_type=Path))
@click.option("--between", default=BETWEEN, show_default=True, help="Calls before the last median.")
def main(captions: Path, results: Path, instances: Path, between: int) -> None:
    references, samples = read_references(captions), read_results(results)
    labels = read_objects(instances)
    listed = {
        image_id: [name for name, count in labels[image_id].items() for _ in range(count)]
        for image_id in samples
    }
    metrics: list[tuple[str, Callable[..., Scorer]]] = [
        ("VIFIDEL", Vifidel),
        ("VIFIDEL-PRF", VifidelPRF),
        ("VIFIDEL-H", VifidelH),
    ]
    rows, single = [], []
    for name, metric in metrics:
        settings = {
            "no references": (None, False),
            "prepared references": (references, True),
            "new references": (references, False),
        }
        for setting, (known, same_images) in settings.items():
            found = batches(samples, known, listed, same_images)
            scorer = metric(references=known is not None)
            rows.append(row(f"{name}, {setting}", scorer, found, between))
            single.append(single_row(f"{name}, {setting}", scorer, found))
    headers = ["64 captions", "ms", "processor", "p99 / median", f"after {between} calls / before"]
    print(tabulate(rows, headers, floatfmt=".2f"), end="\n\n")
    headers = ["one row", "us", "ot.emd, us", "ratio"]
    print(tabulate(single, headers, floatfmt=".1f"))


if __name__ == "__main__":
    main()
