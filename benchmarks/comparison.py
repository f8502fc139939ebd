"""Intervals and p-values on simulated systems that are equal, and whether they keep their word.

    python benchmarks/comparison.py

Four systems of the same quality score the same images; their scores are as skewed as CIDEr's.
Each trial has new images. Printed in per cent of the trials: how often the 95 % interval of a
system's score holds the true mean (95 if right); how often a test finds a difference between the
first two systems (at most 5 if right); how often the randomisation test finds one in any of the
six pairs, without and with Holm's correction (the latter at most 5 if right).
"""

from __future__ import annotations

import click
import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from vifidel_eval.runs.comparison import Comparison, compare
from vifidel_eval.runs.harness import Scores
from vifidel_eval.scorers import Evaluation

_ALPHA = 0.05


def trial(images: int, rng: np.random.Generator, seed: int) -> Comparison:
    # Mean 1: how easy an image is times how well a caption went.
    rows = rng.gamma(2, 0.5, images) * rng.gamma(2, 0.5, (4, images))
    evaluations = {
        f"system {at}": {"M": Evaluation(list(range(images)), row)} for at, row in enumerate(rows)
    }
    return compare(Scores({"M": "M"}, evaluations), seed=seed, resamples=999).metrics["M"]


@click.command()
@click.option("--trials", default=1000, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the simulated scores.")
def main(trials: int, seed: int) -> None:
    """Print a row for each number of images."""
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
