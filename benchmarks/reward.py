"""How long a reward of a training loop takes: 64 captions, k samples of each of some images.

    python benchmarks/reward.py CAPTIONS.json RESULTS.json INSTANCES.json

Captions of RESULTS.json stand for the samples of a policy. Each call has other captions; the scorer
is warm, and the objects come with the rows. *Prepared* references are those of the call before, as
where the samples of a step are scored in several calls; *new* ones are of other images in every
call. Printed are the median of a call in milliseconds, of elapsed and of processor time, the 99th
percentile over the median, and the median after 10 000 calls over the one before them (of processor
time both, which other work on the machine disturbs less).
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
from tabulate import tabulate

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import Scorer, Vifidel, VifidelPRF

CAPTIONS, SAMPLES = 64, 8
BATCHES = 200
CALLS, BETWEEN = 1000, 10_000

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
    ]
    rows = []
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
    headers = ["64 captions", "ms", "processor", "p99 / median", f"after {between} calls / before"]
    print(tabulate(rows, headers, floatfmt=".2f"))


if __name__ == "__main__":
    main()
