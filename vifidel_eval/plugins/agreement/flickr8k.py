"""Flickr8k: how well captions describe images (Hodosh et al., JAIR 2013).

Each line of ``ExpertAnnotations.txt`` is an image, a caption's id and the ratings of three experts
from 1 (no relation) to 4 (describes the image without errors); each line of
``CrowdFlowerAnnotations.txt`` is an image, a caption's id, the share of the crowd that says *yes*,
how many say *yes* and how many *no*. Tabs separate them. ``Flickr8k.token.txt`` has the captions by
id, ``IMAGE.jpg#NUMBER``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePath

import numpy as np

from ...errors import AnnotationError
from ...evaluation import Floats
from ...io.files import read_text
from ...io.image_ids import ImageId, from_json_key
from .judgements import Judged, Ratings

_EXPERTS, _CROWD, _CAPTIONS = (
    "ExpertAnnotations.txt",
    "CrowdFlowerAnnotations.txt",
    "Flickr8k.token.txt",
)
_RATINGS = frozenset("1234")


def read_flickr8k(folder: Path) -> Ratings:
    """Read the judgements of Flickr8k that there are.

    Returns
    -------
    Ratings
        ``"expert"``, three judges, and ``"crowd"``, the share of *yes*; each is NaN for the lines
        of the other's file. Image ids are file stems, whole numbers as numbers. References are the
        image's five captions. Published figures leave out the captions that are among them,
        ``"without own references"``; ``"all"`` has them, scored against the others.

    Raises
    ------
    AnnotationError
        If a file is missing or has another layout.
    """
    captions, references = read_tokens(folder / _CAPTIONS)
    sources: dict[str, tuple[str, Callable[[list[str]], list[float] | None], str]] = {
        "expert": (_EXPERTS, _experts, "three ratings from 1 to 4"),
        "crowd": (_CROWD, _crowd, "the share of yes, and how many yes and no"),
    }
    there = {rating: source for rating, source in sources.items() if (folder / source[0]).exists()}
    judged, own = [], []
    given: dict[str, list[list[float]]] = {}
    for rating, (name, parse, expected) in (there or {"expert": sources["expert"]}).items():
        path = folder / name
        for number, line in enumerate(_lines(path), 1):
            where = f"{path}: line {number}"
            fields = line.split("\t")
            values = parse(fields[2:])
            if values is None:
                raise AnnotationError(
                    f"{where}: expected image, caption id and {expected}, separated by tabs."
                )
            image, caption_id = fields[:2]
            image_id = from_json_key(PurePath(image).stem)
            if image_id not in references or caption_id not in captions:
                raise AnnotationError(
                    f"{where}: {image if image_id not in references else caption_id} is not in "
                    f"{_CAPTIONS}; are both files of the same data set?"
                )
            judged.append(Judged(image_id, (captions[caption_id],), references[image_id]))
            given.setdefault(rating, []).append(values)
            own.append(caption_id.partition("#")[0] == image)
    is_own = np.array(own)
    subsets = {"without own references": ~is_own, "all": np.ones_like(is_own)}
    return Ratings("Flickr8k", judged, _one_below_the_other(given), subsets)


def _experts(answers: list[str]) -> list[float] | None:
    if len(answers) != 3 or not _RATINGS.issuperset(answers):
        return None
    return [float(rating) for rating in answers]


def _crowd(answers: list[str]) -> list[float] | None:
    try:
        share, yes, no = map(float, answers)
    except ValueError:
        return None
    return [share] if 0 <= share <= 1 and yes >= 0 and no >= 0 else None


def _one_below_the_other(given: dict[str, list[list[float]]]) -> dict[str, Floats]:
    """Return ratings of all judgements, NaN for those that another rating is of."""
    rows = sum(map(len, given.values()))
    ratings, start = {}, 0
    for rating, values in given.items():
        of_all = np.full((rows, len(values[0])), np.nan)
        of_all[start : start + len(values)] = values
        ratings[rating] = of_all
        start += len(values)
    return ratings


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
