"""Consensus triplets: which of two captions is more like a reference (Vedantam et al., CVPR 2015).

A pair of captions B, C is judged against 48 references A, one after the other; ``rating`` is 1
for B, -1 for C. What people prefer is the majority over the references.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnnotationError
from ...evaluation import Floats
from .matlab import read_structs

#: How many triplets follow each other for each pair.
REFERENCES = 48


@dataclass(frozen=True)
class Triplets:
    """Pairs of captions and the majority over their references.

    Attributes
    ----------
    pairs : list of tuples of two str
        In the order of the file.
    references : list of tuples of str
        The references each pair was judged against.
    preferred : (number of pairs,) float64
        1 for the first caption, -1 for the second, 0 where the references are divided.
    """

    pairs: list[tuple[str, str]]
    references: list[tuple[str, ...]]
    preferred: Floats


def read_triplets(path: Path) -> Triplets:
    """Read ``consensus_abstract.mat`` or ``consensus_pascal.mat``.

    Raises
    ------
    AnnotationError
        If the file is missing or has another layout.
    """
    triplets = read_structs(path, "triplets", ["A", "B", "C", "rating"])
    if len(triplets) % REFERENCES:
        raise AnnotationError(
            f"{path}: {len(triplets)} triplets, which are not {REFERENCES} a pair; get the "
            "published file again."
        )
    pairs: list[tuple[str, str]] = []
    references: list[tuple[str, ...]] = []
    preferred: list[float] = []
    for start in range(0, len(triplets), REFERENCES):
        of_pair = triplets[start : start + REFERENCES]
        where = f"{path}: triplets {start + 1} to {start + REFERENCES}"
        if not all(_is_triplet(triplet) for triplet in of_pair):
            raise AnnotationError(
                f"{where}: not three captions and a rating of 1, -1 or 0; get the published file "
                "again."
            )
        candidates = {(triplet.B.strip(), triplet.C.strip()) for triplet in of_pair}
        if len(candidates) > 1:
            raise AnnotationError(f"{where}: not all of one pair; get the published file again.")
        pairs += candidates
        references.append(tuple(triplet.A.strip() for triplet in of_pair))
        preferred.append(np.sign(sum(float(triplet.rating) for triplet in of_pair)))
    return Triplets(pairs, references, np.array(preferred))


def _is_triplet(triplet: Any) -> bool:
    captions = (triplet.A, triplet.B, triplet.C)
    is_rating = np.ndim(triplet.rating) == 0 and triplet.rating in (-1, 0, 1)
    return is_rating and all(isinstance(caption, str) for caption in captions)
