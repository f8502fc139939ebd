"""VIFIDEL with other image sides, without counts, with other word vectors (its Table 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from ...annotations import ObjectLabels
from ...scorers import Scorer, Vifidel
from ...words.word_vectors import load_vectors


def ablations(
    sides: Mapping[str, ObjectLabels],
    vectors: Sequence[Any],
    settings: Mapping[str, Any],
) -> dict[str, Scorer]:
    """Return a scorer for each image side, with counts and by presence, and each word vectors.

    Parameters
    ----------
    sides : mapping
        Name to objects.
    vectors : sequence
        As `vifidel_eval.vectors.load_vectors` takes them.
    settings : mapping
        Further arguments of `Vifidel`.

    Returns
    -------
    dict
        ``"VIFIDEL gold counts"`` and the like; the vectors are named if there are several. A
        side on which no label counts twice, such as a union, has presence only.
    """
    loaded = [load_vectors(source) for source in vectors]
    signatures = [known.signature() for known in loaded]
    names = [signature.partition("#")[0] for signature in signatures]
    if len(set(names)) < len(names):  # different files of the same name
        names = signatures
    named = dict(zip(names, loaded, strict=True))
    scorers: dict[str, Scorer] = {}
    for (side, objects), counts, (vector, known) in product(
        sides.items(), (True, False), named.items()
    ):
        if counts and all(number == 1 for of in objects.values() for number in of.values()):
            continue
        name = f"VIFIDEL {side} {'counts' if counts else 'presence'}"
        if len(named) > 1:
            name += f" {vector}"
        scorers[name] = Vifidel(objects, **{**settings, "vectors": known, "counts": counts})
    return scorers
