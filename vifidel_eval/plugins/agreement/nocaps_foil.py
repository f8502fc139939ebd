"""nocaps-FOIL: correct captions, and the same with one noun replaced (Petryk et al., NAACL 2024).

The file is a JSON list, an entry per pair::

    {"image_path": "0013ea2087020901.jpg", "references": ["A baby ...", "..."],
     "baseline": "A little kid standing in a shirt.",
     "foil": "A little kid standing in a skirt.", "replacement": ["shirt", "skirt"]}
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...words.content_words import content_words
from .entries import Entry, read_entries
from .judgements import Hallucinations, Judged


def read_nocaps_foil(path: Path) -> Hallucinations:
    """Read the pairs of nocaps-FOIL.

    Returns
    -------
    Hallucinations
        Pairs of the baseline and the foil. Every word of the replacement is marked wherever the
        foil has it. Image ids are file stems.

    Raises
    ------
    AnnotationError
        If the file cannot be read or has another shape.
    """
    judged, marked = [], []
    for entry in read_entries(path):
        captions = (entry.text("baseline"), entry.text("foil"))
        judged.append(Judged(entry.image("image_path"), captions, entry.texts("references")))
        marked.append(_planted(entry))
    made_up = np.repeat([[False], [True]], len(judged), axis=1)
    return Hallucinations("nocaps-FOIL", judged, made_up, marked)


def _planted(entry: Entry) -> frozenset[int]:
    """Return which pieces of the foil hold a word of the replacement."""
    replacement = entry.texts("replacement")
    if len(replacement) != 2:
        raise entry.refusal("replacement", "the word that was replaced and the one in its place")
    planted = set(content_words(replacement[1], ()))
    places = {
        place
        for place, piece in enumerate(entry.text("foil").split())
        if planted.intersection(content_words(piece, ()))
    }
    if not places:
        raise entry.refusal("replacement", "a second word that the foil has")
    return frozenset(places)
