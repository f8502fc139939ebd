"""Intervals and p-values on simulated systems that are equal, and whether they keep their word.

    python benchmarks/comparison.py
    python benchmarks/comparison.py --systems 40

Four systems of the same quality score the same images; their scores are as skewed as CIDEr's.
Each trial has new images. Printed in per cent of the trials: how often the 95 % interval of a
system's score holds the true mean (95 if right); how often a test finds a difference between the
first two systems (at most 5 if right); how often the randomisation test finds one in any of the
six pairs, without and with Holm's correction (the latter at most 5 if right).

With --systems it prints how long it takes instead to compare so many systems of 5 000 images in 14
columns: seven means, VIFIDEL-H's three rates and the four of BLEU.
"""

from __future__ import annotations

import time

import click
import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from vifidel_eval.evaluation import Statistics
from vifidel_eval.scorers import Bleu, Evaluation, VifidelH
from vifidel_eval.scores.comparison import Comparison, compare
from vifidel_eval.scores.scores import Scores

_ALPHA = 0.05


def trial(images: int, rng: np.random.Generator, seed: int) -> Comparison:
    # Mean 1: how easy an image is times how well a caption went.
    rows = rng.gamma(2, 0.5, images) * rng.gamma(2, 0.5, (4, images))
    evaluations = {
        f"system {at}": {"M": Evaluation(list(range(images)), row)} for at, row in enumerate(rows)
    }
    return compare(Scores({"M": "M"}, evaluations), seed=seed, resamples=999).metrics["M"]


def system(images: int, rng: np.random.Generator) -> dict[str, Evaluation]:
    ids = list(range(images))
    columns = {f"mean {at}": Evaluation(ids, rng.gamma(2, 0.2, images)) for at in range(7)}
    things = rng.integers(0, 6, (5, images))
    things[0] = 1
    words = rng.integers(8, 14, images)
    n_grams = [words, words + 1, *(rng.integers(0, 8 - n, images) for n in range(4))]
    n_grams += [words - n for n in range(4)]
    for scorer, counts in ((VifidelH, things), (Bleu, n_grams)):
        of_rows = np.array(counts, dtype=np.float64).T
        for column in scorer.columns:
            if column.of_sums is not None:
                statistics = Statistics(of_rows, column.of_sums)
                columns[column.name] = Evaluation(ids, np.zeros(images), statistics=statistics)
    return columns


def time_of(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    evaluations = {f"system {at}": system(5000, rng) for at in range(systems)}
    columns = evaluations["system 0"]
    wall, cpu = time.perf_counter(), time.process_time()
    found = compare(Scores(dict.fromkeys(columns, ""), evaluations))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{systems} systems, {len(columns)} columns, {found.resamples} resamples: {wall:.0f} s, "
        f"{cpu:.0f} s of CPU"
    )


@click.command()
@click.option("--trials", default=1000, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the simulated scores.")
@click.option("--systems", type=click.IntRange(min=2), help="Print how long so many take instead.")
def main(trials: int, seed: int, systems: int | None) -> None:
    """Print a row for each number of images."""
    if systems is not None:
        time_of(systems, seed)
        return
    rows = []
    for images in (10, 30, 100, 1000):
        rng = np.random.default_rng([seed, images])
        held = [0] * 5
        for number in tqdm(range(trials), desc=f"{images} images", disable=None, leave=False):
            compared = trial(images, rng, number)
            first, p_values = compared.systems["system 0"], compared.pairs[0]
            held[0] += first.low <= 1 <= first.high
            held[1] += p_values.bootstrap_p <= _ALPHA
            held[2] += p_values.randomisation_p <= _ALPHA
            held[3] += any(pair.randomisation_p <= _ALPHA for pair in compared.pairs)
            held[4] += any(pair.winner is not None for pair in compared.pairs)
        rows.append((images, *(100 * count / trials for count in held)))
    headers = ["images", "interval holds", "bootstrap finds", "randomisation finds"]
    headers += ["any pair", "any pair, Holm"]
    print(tabulate(rows, headers=headers, floatfmt=".1f"))


if __name__ == "__main__":
    main()
