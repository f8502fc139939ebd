"""Durations of a reward of a training loop: of one row, and of 64 captions, k samples per image.

    python benchmarks/reward.py CAPTIONS.json RESULTS.json INSTANCES.json

Captions of RESULTS.json stand for the samples of a policy, each ended in the last three words of
another one, so that no call has a caption that was scored before. The scorer knows their words, and
the objects come with the rows. *Prepared* references are those of the call before, as where the
samples of a step are scored in several calls; *new* ones are of other images in every call, and of
every eighth row.

Rows come one by one first, as verl's reward managers pass them. Of each, right after it, `ot.emd`
solves a transport problem of its size: labels of the image by content words of the caption. Printed
are the medians in microseconds of processor time, and their ratio. *Again* is the same for the
quickest of several passes over some of these rows, which leaves out what other work on the machine
takes, and all that is computed once for a text: it says what repetition saves.

Of 64 captions, printed are the median of a call in milliseconds, of elapsed and of processor time,
the 99th percentile over the median, and the median after some thousand calls over the one before
them (of processor time both, which other work on the machine disturbs less). It takes some minutes;
`--between 0` leaves out most of them.
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
from vifidel_eval.words.content_words import STOP_WORDS, content_words

CAPTIONS, SAMPLES = 64, 8
WARM = 400  # calls before the first that is measured
END = 3  # words that texts take from another one
CALLS, BETWEEN = 500, 5000
SINGLE_ROWS, AGAIN, PASSES = 2000, 200, 10

Batch = dict[str, list]


def batches(
    results: dict, references: dict | None, objects: dict, same_images: bool, seed: int
) -> Iterator[Batch]:
    """Yield the arguments of calls: captions, and what is known of their images."""
    draw = random.Random(seed)
    texts, ids = list(results.values()), list(results)

    def with_another_end(text: str) -> str:
        return " ".join([*text.split()[:-END], *draw.choice(texts).split()[-END:]])

    def drawn() -> tuple[list, dict]:
        images = draw.sample(ids, CAPTIONS // SAMPLES)
        known = references or {key: [] for key in images}
        return images, {
            image_id: list(map(with_another_end, known[image_id])) for image_id in images
        }

    images, known = drawn()
    while True:
        if not same_images:
            images, known = drawn()
        rows = [image_id for image_id in images for _ in range(SAMPLES)]
        batch: Batch = {
            "captions": list(map(with_another_end, draw.sample(texts, CAPTIONS))),
            "objects": [objects[image_id] for image_id in rows],
        }
        if references is not None:
            batch["references"] = [known[image_id] for image_id in rows]
        yield batch


def times(scorer: Scorer, calls: Iterator[Batch], number: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each of some calls, sorted: elapsed, and of the processor."""
    elapsed, busy = [], []
    for batch in itertools.islice(calls, number):
        start, busy_start = time.perf_counter(), time.process_time()
        scorer.score(**batch)
        busy.append(1000 * (time.process_time() - busy_start))
        elapsed.append(1000 * (time.perf_counter() - start))
    return sorted(elapsed), sorted(busy)


def row(name: str, scorer: Scorer, calls: Iterator[Batch], between: int) -> list[object]:
    """Return the line of a table: medians, percentile and growth."""
    times(scorer, calls, WARM)
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


def single_rows(calls: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the rows of batches, one by one."""
    for batch in calls:
        for n in range(CAPTIONS):
            yield {name: values[n : n + 1] for name, values in batch.items()}


def single_row(name: str, scorer: Scorer, calls: Iterator[Batch]) -> list[object]:
    """Return the line of a table: a row by itself, `ot.emd` on a problem of its size, the ratio."""
    rows = single_rows(calls)
    times(scorer, rows, SINGLE_ROWS)  # warm
    line: list[object] = [name]
    for number, passes in ((SINGLE_ROWS, 1), (AGAIN, PASSES)):
        some = list(itertools.islice(rows, number))
        # (passes, rows, 2)
        measured = np.array([[beside_solver(scorer, one) for one in some] for _ in range(passes)])
        of_rows, of_solver = np.median(measured.min(axis=0), axis=0).tolist()
        line += [of_rows, of_solver, of_rows / of_solver]
    return line


def beside_solver(scorer: Scorer, row_of_batch: Batch) -> tuple[float, float]:
    """Return the microseconds of a row, and of `ot.emd` on a problem of its size."""
    labels = max(len(set(row_of_batch["objects"][0])), 1)
    words = max(len(set(content_words(row_of_batch["captions"][0], STOP_WORDS))), 1)
    masses = np.full(labels, 1 / labels), np.full(words, 1 / words)
    costs = np.random.default_rng(words).random((labels, words))
    start = time.process_time()
    scorer.score(**row_of_batch)
    between = time.process_time()
    ot.emd(*masses, costs)
    return 1e6 * (between - start), 1e6 * (time.process_time() - between)


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
    settings = {
        "no references": (None, False),
        "prepared references": (references, True),
        "new references": (references, False),
    }
    cases = []
    for name, metric in metrics:
        for setting, (known, same_images) in settings.items():
            calls = batches(samples, known, listed, same_images, len(cases))
            scorer = metric(references=known is not None)
            cases.append((f"{name}, {setting}", scorer, calls))
    headers = ["one row", "us", "ot.emd, us", "ratio", "again, us", "ot.emd, us", "ratio"]
    single = [single_row(*case) for case in cases]
    print(tabulate(single, headers, floatfmt=".1f"), end="\n\n", flush=True)
    headers = ["64 captions", "ms", "processor", "p99 / median", f"after {between} calls / before"]
    print(tabulate([row(*case, between) for case in cases], headers, floatfmt=".2f"))


if __name__ == "__main__":
    main()
