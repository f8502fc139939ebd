"""TIGEr at the published sizes, with random weights: captions per second and peak memory.

    python benchmarks/tiger.py [--images 500] [--device cuda]

Makes a checkpoint of SCAN's sizes (11 353 words of 300 numbers, encoders of 1024, regions of
2048), features of 36 regions per image in SCAN's layout, and for each image five references and
two systems' captions of ten words (`<start>`, `<end>` and the full stop come on top), in a
process of its own. Then times the steps of a run; the first system pays for the image side and
the references. The peak is of the measuring process; that of the PyTorch and NLTK modules alone
is printed first. Speed does not depend on what the weights are.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
import numpy as np
from tabulate import tabulate

WORDS, WORD, SIZE, WIDTH, REGIONS = 11_353, 300, 1024, 2048, 36
REFERENCES, WORDS_OF_A_CAPTION = 5, 10
SPECIAL = ("<pad>", "<start>", "<end>", "<unk>", ".")


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def write(folder: Path, images: int) -> None:
    """Write the checkpoint, the vocabulary and the features."""
    import torch

    torch.manual_seed(0)
    image = {"fc": torch.nn.Linear(WIDTH, SIZE)}
    text = {
        "embed": torch.nn.Embedding(WORDS, WORD),
        "rnn": torch.nn.GRU(WORD, SIZE, bidirectional=True),
    }
    model = [dict(torch.nn.ModuleDict(part).state_dict()) for part in (image, text)]
    torch.save({"model": model}, folder / "model_best.pth")
    words = [*SPECIAL, *(f"w{number}" for number in range(WORDS - len(SPECIAL)))]
    numbers = {word: number for number, word in enumerate(words)}
    (folder / "vocab.json").write_text(json.dumps({"word2idx": numbers}))
    features = np.lib.format.open_memmap(
        folder / "made_ims.npy", "w+", np.float32, (images, REGIONS, WIDTH)
    )
    random = np.random.default_rng(0)
    for of_image in features:
        of_image[:] = random.standard_exponential(of_image.shape, np.float32)
    ids = "".join(f"{number}\n" for number in range(images))
    (folder / "made_ids.txt").write_text(ids)


def captions(images: int, each: int, seed: int) -> dict[int, list[str]]:
    random = np.random.default_rng(seed)
    shape = (images, each, WORDS_OF_A_CAPTION)
    drawn = random.integers(0, WORDS - len(SPECIAL), shape).tolist()
    return {
        image_id: [" ".join(f"w{number}" for number in text) + "." for text in of_image]
        for image_id, of_image in enumerate(drawn)
    }


@click.command()
@click.option("--images", default=500, show_default=True)
@click.option("--device", default="cpu", show_default=True)
def main(images: int, device: str) -> None:
    """Print the table."""
    import nltk.tokenize  # noqa: F401
    import torch

    from vifidel_eval.scorers import Tiger

    rows: list[tuple[str, float | None, float | None, float]] = []
    rows.append(("modules", None, None, peak_megabytes()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ProcessPoolExecutor(1) as other:
            other.submit(write, folder, images).result()
        started = time.perf_counter()
        scorer = Tiger(
            folder / "model_best.pth", folder / "vocab.json", folder / "made_ims.npy", device
        )
        rows.append(("open files", time.perf_counter() - started, None, peak_megabytes()))
        gts = captions(images, REFERENCES, seed=1)
        for system, read in (("first system", REFERENCES + 1), ("second system", 1)):
            res = captions(images, 1, seed=2 + len(rows))
            started = time.perf_counter()
            scorer.compute_score(gts, res)
            seconds = time.perf_counter() - started
            rows.append((system, seconds, images * read / seconds, peak_megabytes()))
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(
        f"{images} images, {REFERENCES} references each; files of {size:.0f} MB; {device}, "
        f"{torch.get_num_threads()} threads\n{scorer.signature()}\n"
    )
    headers = ["", "seconds", "captions a second, references included", "MB peak"]
    print(tabulate(rows, headers=headers, floatfmt=("", ".1f", ".0f", ".0f")))


if __name__ == "__main__":
    main()
