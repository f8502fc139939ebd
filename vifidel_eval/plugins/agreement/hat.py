"""HAT: machine captions whose hallucinated words people marked (Petryk et al., NAACL 2024).

The file is a JSON list, an entry per caption::

    {"image_path": "COCO_val2014_000000016903.jpg", "references": ["An orange sign ...", "..."],
     "caption": "A sign pointing in different directions.", "contains_hallucination": true,
     "grounding": [["A", false], ["sign", false], ["pointing", true], "..."]}

``grounding`` has each of the caption's pieces between blanks, and whether it is made up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .entries import Entry, read_entries
from .judgements import Hallucinations, Judged


def read_hat(path: Path) -> Hallucinations:
    """Read the captions of HAT.

    Returns
    -------
    Hallucinations
        Single captions. Image ids are file stems.

    Raises
    ------
    AnnotationError
        If the file cannot be read or has another shape.
    """
    judged, made_up, marked = [], [], []
    for entry in read_entries(path):
        captions = (entry.text("caption"),)
        judged.append(Judged(entry.image("image_path"), captions, entry.texts("references")))
        made_up.append(entry.flag("contains_hallucination"))
        marked.append(_marked(entry))
    return Hallucinations("HAT", judged, np.array([made_up]), marked)


def _marked(entry: Entry) -> frozenset[int]:
    grounding = entry.content.get("grounding")
    if not isinstance(grounding, list) or not all(
        isinstance(pair, list) and [type(part) for part in pair] == [str, bool]
        for pair in grounding
    ):
        raise entry.refusal("grounding", "a list of [token, true or false]")
    if [token for token, _ in grounding] != entry.text("caption").split():
        raise entry.refusal("grounding", "the tokens of 'caption', which blanks separate")
    return frozenset(place for place, (_, made_up) in enumerate(grounding) if made_up)
