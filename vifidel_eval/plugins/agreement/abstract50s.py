"""Abstract-50S: which of two captions of an abstract scene people prefer (Vedantam et al., 2015).

``consensus_abstract.mat`` holds 400 pairs: two correct captions, or a correct one and one of
another scene. It names no images, and does not say which pair is which. (The first half is often
taken for the pairs of two correct captions; in the published file both kinds are in both halves.)
"""

from __future__ import annotations

from pathlib import Path

from .judgements import Choices, Judged
from .triplets import read_triplets


def read_abstract50s(folder: Path) -> Choices:
    """Read Abstract-50S.

    Returns
    -------
    Choices
        Two pairs are of one scene if they were judged against the same references, which are
        its references; its image id is its number in the file, from 1.

    Raises
    ------
    AnnotationError
        If the file is missing or has another layout.
    """
    triplets = read_triplets(folder / "consensus_abstract.mat")
    scenes: dict[tuple[str, ...], int] = {}
    judged = [
        Judged(scenes.setdefault(references, len(scenes) + 1), pair, references)
        for pair, references in zip(triplets.pairs, triplets.references, strict=True)
    ]
    return Choices("Abstract-50S", judged, triplets.preferred, [""] * len(judged))
