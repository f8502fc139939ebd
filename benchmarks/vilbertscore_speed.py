"""ViLBERTScore's speed and memory at the published sizes, with random weights.

    python benchmarks/vilbertscore_speed.py [--device cuda]

Makes a checkpoint of `multi_task_model.bin`'s sizes, without what the score does not need (0.9 GB
in a temporary folder), a vocabulary and features of 100 regions per image. A process of its own
then scores two systems against five references per image and prints encoded captions per second
(candidates and references for the first system, candidates alone for the second) and its peak
memory. The scores mean nothing.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
import numpy as np
import torch
from tabulate import tabulate

from vifidel_eval.plugins.networks.regions import regions_of, write_regions
from vifidel_eval.plugins.networks.vilbert import Architecture, new_network
from vifidel_eval.plugins.networks.vilbertscore import ViLBERTScore

_REFERENCES = 5
_WORDS = (8, 13)  # of a caption
_FIRST_WORD = 2000


def make_checkpoint(path: Path) -> None:
    """Write random weights of the published names and shapes."""
    sizes = Architecture()
    network = new_network(sizes, len(sizes.t_biattention_id) - 1, 20)
    torch.manual_seed(0)
    weights = {name: 0.02 * torch.randn(meta.shape) for name, meta in network.state_dict().items()}
    torch.save(weights, path)


def make_vocabulary(path: Path) -> None:
    """Write words of our own, except for those that the scorer looks for."""
    pieces = [f"word{number}" for number in range(Architecture().vocab_size)]
    for token, piece in {
        0: "[PAD]",
        100: "[UNK]",
        101: "[CLS]",
        102: "[SEP]",
        1012: ".",
        1037: "a",
        3899: "dog",
    }.items():
        pieces[token] = piece
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8")


def make_features(folder: Path, images: int, random: np.random.Generator) -> None:
    for image in range(images):
        corners = random.uniform(0, 200, (100, 2))
        content = {
            "features": random.exponential(size=(100, 2048)),
            "boxes": np.hstack([corners, corners + random.uniform(1, 200, (100, 2))]),
            "width": 640,
            "height": 480,
        }
        write_regions(folder, image, regions_of(content, f"image {image}"))


def captions(images: int, many: int, random: np.random.Generator) -> dict[int, list[str]]:
    """Return captions of known words, so that a word is a token."""
    return {
        image: [
            " ".join(
                f"word{n}" for n in random.integers(_FIRST_WORD, 3000, random.integers(*_WORDS))
            )
            for _ in range(many)
        ]
        for image in range(images)
    }


def measure(folder: Path, images: int, device: str | None) -> list[tuple[str, int, float, float]]:
    """Return what was done, captions, seconds and the peak memory in MB after it."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    random = np.random.default_rng(1)
    gts = captions(images, _REFERENCES, random)
    rows = []

    def note(what: str, encoded: int, start: float) -> None:
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        rows.append((what, encoded, seconds, peak))

    start = time.perf_counter()
    scorer = ViLBERTScore(
        folder / "multi_task_model.bin", folder / "vocab.txt", folder, device=device
    )
    note("checkpoint read", 0, start)
    for system, encoded in (("first", 1 + _REFERENCES), ("second", 1)):
        res = captions(images, 1, random)
        start = time.perf_counter()
        scorer.compute_score(gts, res)
        note(f"{system} system", encoded * images, start)
    return rows


@click.command()
@click.option("--images", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--device", help="Where PyTorch computes.  [default: cpu]")
def main(images: int, device: str | None) -> None:
    """Measure loading and two systems, the second with the references encoded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_checkpoint(folder / "multi_task_model.bin")
        make_vocabulary(folder / "vocab.txt")
        make_features(folder, images, np.random.default_rng(0))
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as process:
            rows = process.submit(measure, folder, images, device).result()
    print(f"{torch.get_num_threads()} threads, device {device or 'cpu'}")
    print(
        tabulate(
            [(what, n, s, n / s if n else None, peak) for what, n, s, peak in rows],
            headers=["", "captions encoded", "seconds", "captions/s", "peak MB"],
            floatfmt=("", ".0f", ".1f", ".1f", ".0f"),
        )
    )


if __name__ == "__main__":
    main()
