"""PASCAL-50S: which of two captions people prefer (Vedantam et al., CVPR 2015).

``pair_pascal.mat`` holds the pairs and the votes, ``pascal50S.mat`` the references,
``consensus_pascal.mat`` the triplets of a reference and the two captions of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import numpy as np

from ...errors import AnnotationError
from .judgements import Choices, Judged
from .matlab import read_numbers, read_structs
from .triplets import read_triplets

#: ``category`` of a pair: two human captions of the image, one of another image, a human's and a
#: machine's, two machines'.
KINDS: Mapping[int, str] = {1: "HC", 2: "HI", 3: "HM", 4: "MM"}

#: References, and what people prefer against them.
_Block = tuple[tuple[str, ...], float]


def read_pascal50s(folder: Path, consensus: bool = False) -> Choices:
    """Read PASCAL-50S, or the part of it that is there.

    Parameters
    ----------
    folder : path
        Holds the published files.
    consensus : bool
        Take the triplets' majority over the references (``consensus_pascal.mat``) instead of
        the direct votes of ``pair_pascal.mat``.

    Returns
    -------
    Choices
        In the order of ``pair_pascal.mat``. Image ids are file stems: ``2008_007226``.

    Raises
    ------
    AnnotationError
        If a file is missing or has another layout.
    """
    path = folder / "pair_pascal.mat"
    pairs = read_structs(path, "new_input", ["name", "sent1", "sent2"])
    categories = read_numbers(path, "category").tolist()
    results = read_structs(path, "result", ["result"])
    if not len(pairs) == len(categories) == len(results):
        raise AnnotationError(
            f"{path}: {len(pairs)} pairs, {len(categories)} categories and {len(results)} results; "
            "get the published file again."
        )
    unknown = set(categories) - set(KINDS)
    if unknown:
        raise AnnotationError(f"{path}: no category {min(unknown)}; they are 1 to 4.")
    references = _references(folder / "pascal50S.mat")
    judged = []
    for at, pair in enumerate(pairs, 1):
        where = f"{path}: pair {at}"
        image = _stem(pair.name, where)
        if image not in references:
            raise AnnotationError(f"{where}: no references of image {image!r} in pascal50S.mat.")
        captions = (_text(pair.sent1, where), _text(pair.sent2, where))
        judged.append(Judged(image, captions, references[image]))
    if consensus:
        triplets = read_triplets(folder / "consensus_pascal.mat")
        blocks: dict[tuple[str, ...], list[_Block]] = {}
        for captions, *block in zip(
            triplets.pairs, triplets.references, triplets.preferred.tolist(), strict=True
        ):
            blocks.setdefault(captions, []).append((block[0], block[1]))
        lacking = [pair.captions for pair in judged if pair.captions not in blocks]
        if lacking:
            raise AnnotationError(
                f"{folder / 'consensus_pascal.mat'}: no triplets of {len(lacking)} of the "
                f"{len(judged)} pairs in pair_pascal.mat, such as {lacking[0]!r}."
            )
        preferred = np.array([_of_image(blocks[pair.captions], pair) for pair in judged])
    else:
        preferred = np.array(
            [_majority(one.result, f"{path}: pair {at}") for at, one in enumerate(results, 1)]
        )
    kinds = [KINDS[category] for category in categories]
    return Choices("PASCAL-50S", judged, preferred, kinds)


def _of_image(blocks: list[_Block], pair: Judged) -> float:
    """Return what people prefer; machines give many images the same two captions."""
    own = set(pair.references)
    block = max(blocks, key=lambda block: len(own.intersection(block[0])))
    if len(blocks) > 1:
        blocks.remove(block)
    return block[1]


def _majority(votes: object, where: str) -> float:
    given = np.ravel(np.asarray(votes))
    if not len(given) or given.dtype.kind not in "iuf" or not np.isin(given, (-1, 1)).all():
        raise AnnotationError(
            f"{where}: the votes are {votes!r:.40}, not 1 and -1; get the published file again."
        )
    return float(np.sign(given.sum(dtype=np.float64)))


def _references(path: Path) -> dict[str, tuple[str, ...]]:
    references = {}
    for at, image in enumerate(read_structs(path, "train_sent_final", ["name", "sentences"]), 1):
        where = f"{path}: image {at}"
        sentences = tuple(_text(sentence, where) for sentence in np.atleast_1d(image.sentences))
        references[_stem(image.name, where)] = sentences
    return references


def _stem(name: object, where: str) -> str:
    """Return the image id of a file name or an address."""
    return PurePosixPath(_text(name, where)).stem


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise AnnotationError(f"{where}: found {value!r:.40} instead of text; get the file again.")
    return value.strip()
