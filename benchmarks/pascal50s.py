"""Agreement with human votes on PASCAL-50S (CIDEr paper; VIFIDEL paper, Table 1).

    python benchmarks/pascal50s.py DIR

DIR holds the published ``pair_pascal.mat`` and ``pascal50S.mat`` and the PASCAL VOC
``Annotations`` of the images. Prints, for each kind of pair and number of references, how often
VIFIDEL prefers the caption that most people prefer (ties count half), with gold objects and the
default vectors. References are drawn with a fixed seed, five times over; a candidate is never
among its own references.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.io import loadmat
from tabulate import tabulate

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects

KINDS = {1: "HC", 2: "HI", 3: "HM", 4: "MM"}
REFERENCE_NUMBERS = (0, 1, 5)
SEED, DRAWS = 50, 5


def load(path: Path, field: str) -> Any:
    """Return one variable of a MATLAB file, structs as objects."""
    return loadmat(path, squeeze_me=True, struct_as_record=False)[field]


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Print accuracies on the PASCAL-50S files in FOLDER."""
    pairs = [
        (Path(pair.name.strip()).stem, pair.sent1.strip(), pair.sent2.strip())
        for pair in load(folder / "pair_pascal.mat", "new_input")
    ]
    kinds = load(folder / "pair_pascal.mat", "category")
    votes = np.array([v.result.sum() for v in load(folder / "pair_pascal.mat", "result")])
    sentences = {
        Path(image.name.strip()).stem: [s.strip() for s in image.sentences]
        for image in load(folder / "pascal50S.mat", "train_sent_final")
    }
    objects = read_objects(folder / "Annotations")
    scorer = Vifidel({at: objects[image] for at, (image, _, _) in enumerate(pairs)})

    rows = []
    for number in REFERENCE_NUMBERS:
        random = np.random.default_rng(SEED)
        right = []
        for _ in range(DRAWS if number else 1):
            gts = {}
            for at, (image, *captions) in enumerate(pairs):
                others = [s for s in sentences[image] if s not in captions]
                gts[at] = [others[i] for i in random.permutation(len(others))[:number]]
            first, second = (
                scorer.compute_score(gts, {at: [pair[side]] for at, pair in enumerate(pairs)})[1]
                for side in (1, 2)
            )
            right.append((np.sign(first - second) * np.sign(votes) + 1) / 2)
        mean = np.mean(right, axis=0)
        rows.append([number, *(mean[kinds == kind].mean() for kind in KINDS), mean.mean()])
    print(f"{len(pairs)} pairs, {scorer.signature()}, seed {SEED}, {DRAWS} draws, ties half")
    print(tabulate(rows, headers=["references", *KINDS.values(), "all"], floatfmt=".4f"))


if __name__ == "__main__":
    main()
