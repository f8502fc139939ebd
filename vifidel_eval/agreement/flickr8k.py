"""Flickr8k expert judgements: how well captions describe images (Hodosh et al., JAIR 2013).

Each line of ``ExpertAnnotations.txt`` is an image, a caption's id and the ratings of three experts
from 1 (no relation) to 4 (describes the image without errors), separated by tabs;
``Flickr8k.token.txt`` has the captions by id, ``IMAGE.jpg#NUMBER``.
"""

from __future__ import annotations

from pathlib import Path, PurePath

import numpy as np

from ..errors import AnnotationError
from ..files import read_text
from ..image_ids import ImageId, from_json_key
from .judgements import Judged, Ratings

#: The files of the data set.
FILES = ("ExpertAnnotations.txt", "Flickr8k.token.txt")

_RATINGS = frozenset("1234")


def read_flickr8k(folder: Path) -> Ratings:
    """Read the expert judgements of Flickr8k.

    Returns
    -------
    Ratings
        Image ids are file stems, whole numbers as numbers. References are the image's five
        captions. Published figures leave out the captions that are among them,
        ``"without own references"``; ``"all"`` has them, scored against the others.

    Raises
    ------
    AnnotationError
        If a file is missing or has another layout.
    """
    captions, references = read_tokens(folder / "Flickr8k.token.txt")
    path = folder / "ExpertAnnotations.txt"
    judged, ratings, own = [], [], []
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}: line {number}"
        fields = line.split("\t")
        if len(fields) != 5 or not _RATINGS.issuperset(fields[2:]):
            raise AnnotationError(
                f"{where}: expected image, caption id and three ratings from 1 to 4, separated "
                "by tabs."
            )
        image, caption_id, *experts = fields
        image_id = from_json_key(PurePath(image).stem)
        if image_id not in references or caption_id not in captions:
            raise AnnotationError(
                f"{where}: {image if image_id not in references else caption_id} is not in "
                "Flickr8k.token.txt; are both files of the same data set?"
            )
        judged.append(Judged(image_id, (captions[caption_id],), references[image_id]))
        ratings.append([float(rating) for rating in experts])
        own.append(caption_id.partition("#")[0] == image)
    if not judged:
        raise AnnotationError(f"{path}: no judgement in it.")
    is_own = np.array(own)
    subsets = {"without own references": ~is_own, "all": np.ones_like(is_own)}
    return Ratings("Flickr8k", judged, {"expert": np.array(ratings)}, subsets)


def read_tokens(path: Path) -> tuple[dict[str, str], dict[ImageId, tuple[str, ...]]]:
    """Return captions by id, and by image id, of a file of captions of Flickr8k or Flickr30k.

    Raises
    ------
    AnnotationError
        If the file is missing or has another layout.
    """
    captions: dict[str, str] = {}
    references: dict[ImageId, tuple[str, ...]] = {}
    for number, line in enumerate(_lines(path), 1):
        caption_id, tab, caption = line.partition("\t")
        image, hash_sign, _ = caption_id.partition("#")
        if not tab or not hash_sign:
            raise AnnotationError(
                f"{path}: line {number}: expected IMAGE.jpg#NUMBER, a tab and the caption."
            )
        if caption_id in captions:
            raise AnnotationError(f"{path}: line {number}: {caption_id} appears twice; keep one.")
        captions[caption_id] = caption
        image_id = from_json_key(PurePath(image).stem)
        references[image_id] = (*references.get(image_id, ()), caption)
    return captions, references


def _lines(path: Path) -> list[str]:
    # A caption may hold other characters that end a line for str.splitlines.
    return read_text(path, AnnotationError).rstrip("\n").split("\n")
