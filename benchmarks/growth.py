"""Time per caption and peak memory as the corpus grows.

    python benchmarks/growth.py CAPTIONS.json RESULTS.json INSTANCES.json

Scores every caption 1, 10 and 100 times under each metric, each number in a process of its own. The
process first scores one copy; then one copy and all rows are timed in turn, three times, nothing
prepared, and the medians of the processor time are compared: other work on the machine makes both
slower. The memory of the captions themselves is printed beside the peak.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
from tabulate import tabulate

from vifidel_eval import Vifidel
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import Chair, VifidelH, VifidelPRF, Wmd

COPIES = (1, 10, 100)
REPEATS = 3
METRICS = {
    "VIFIDEL": Vifidel,
    "VIFIDEL-PRF": VifidelPRF,
    "VIFIDEL-H": VifidelH,
    "WMD": lambda _: Wmd(),
    "CHAIR": Chair,
}


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measure(
    metric: str, copies: int, references: Path, results: Path, instances: Path
) -> list[float]:
    """Return captions, microseconds per caption, their ratio to one copy's, and megabytes.

    The megabytes are those of the dictionaries, and those at the peak.
    """
    gold, results_of = read_references(references), read_results(results)
    ids, captions = list(results_of), list(results_of.values())
    many = ids * copies
    of_rows = [gold[i] for i in many]
    scorer = METRICS[metric](instances)
    scorer.score(captions, image_ids=ids, references=[gold[i] for i in ids])
    before = peak_megabytes()

    def seconds(rows: int) -> float:
        # What is prepared now is of this row.
        scorer.score(captions[:1], image_ids=ids[:1], references=of_rows[:1])
        all_captions = captions * (rows // len(ids))
        start = time.process_time()
        scorer.score(all_captions, image_ids=many[:rows], references=of_rows[:rows])
        return time.process_time() - start

    times = [(seconds(len(ids)), seconds(len(many))) for _ in range(REPEATS)]
    of_one, of_all = (statistics.median(side) for side in zip(*times, strict=True))
    us = 1e6 * of_all / len(many)
    return [len(many), us, of_all / of_one / copies, before, peak_megabytes()]


@click.command()
@click.argument("references", type=click.Path(exists=True, path_type=Path))
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.argument("instances", type=click.Path(exists=True, path_type=Path))
def main(references: Path, results: Path, instances: Path) -> None:
    """Measure on COCO files: REFERENCES, RESULTS of one system, INSTANCES."""
    rows = []
    for metric in METRICS:
        for copies in COPIES:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as process:
                measured = process.submit(measure, metric, copies, references, results, instances)
                rows.append((metric, *measured.result()))
    print(
        tabulate(
            rows,
            headers=["", "captions", "us a caption", "ratio", "MB before", "MB peak"],
            floatfmt=("", ".0f", ".1f", ".2f", ".0f", ".0f"),
        )
    )


if __name__ == "__main__":
    main()
