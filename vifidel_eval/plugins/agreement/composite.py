"""Composite: ratings of captions of three data sets (Aditya et al., CVIU 2018).

The published files are exports of Mechanical Turk, ``8k_correctness.csv``, ``8k_throughness.csv``
and the same for ``30k`` and ``coco``: fields separated by semicolons, one line per image with
``Input.image_url``, captions ``Input.text1``, ... and ratings from 1 to 5 ``Answer.Q1Answer``, ...
The first caption is a human's, one of the image's references in other spelling; the second and
third are two systems'. Where there is a fourth, published figures leave it out, and so does this.
References are the data sets' own files.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...captions import read_references
from ...errors import AnnotationError
from ...io.files import read_text
from ...io.image_ids import ImageId, from_json_key, match, mismatch
from .flickr8k import read_tokens
from .judgements import Judged, Ratings

#: What people were asked, by the word in the files' names.
RATINGS: Mapping[str, str] = {"relevance": "correctness", "thoroughness": "throughness"}
#: The data sets by the word in the files' names, and the files of their references.
SOURCES: Mapping[str, str] = {
    "8k": "Flickr8k.token.txt",
    "30k": "results_20130124.token",
    "coco": "captions_val2014.json",
}

_CAPTIONS = 3
_IMAGE = re.compile(r"Input\.image_?url", re.IGNORECASE)
_LOWEST, _HIGHEST = 1, 5


def read_composite(folder: Path) -> Ratings:
    """Read what there is of Composite.

    Parameters
    ----------
    folder : path
        Holds the published files of one or more of the three sources, and their references.

    Returns
    -------
    Ratings
        ``"relevance"`` and ``"thoroughness"``, one judge each; NaN where a caption has none.
        ``"all"`` captions together, as published, and those of each source. Image ids are file
        stems, whole numbers (Flickr30k's) as numbers.

    Raises
    ------
    AnnotationError
        If there is no file, or one has another layout.
    ImageIdError
        If an image has no references.
    """
    # By source, image, caption and its place: a system's caption may be the human's.
    answers: dict[tuple[str, ImageId, str, int], dict[str, float]] = {}
    for source in SOURCES:
        for rating, word in RATINGS.items():
            path = folder / f"{source}_{word}.csv"
            if path.exists():
                for image, caption, place, answer in _answers(path):
                    given = answers.setdefault((source, image, caption, place), {})
                    if rating in given:
                        raise AnnotationError(f"{path}: image {image} appears twice; keep one.")
                    given[rating] = answer
    if not answers:
        raise AnnotationError(
            f"{folder}: no rating; it should hold 8k_correctness.csv, 8k_throughness.csv and the "
            "like."
        )
    sources = list(dict.fromkeys(source for source, *_ in answers))
    judged = []
    for source in sources:
        path = folder / SOURCES[source]
        references: Mapping[Any, Sequence[str]] = (
            read_references(path) if path.suffix == ".json" else read_tokens(path)[1]
        )
        known = match({image for of, image, *_ in answers if of == source}, references)
        for of, image, caption, _ in answers:
            if of == source:
                if image not in known:
                    raise mismatch([image], references, str(folder), str(path))
                judged.append(Judged(image, (caption,), tuple(references[known[image]])))
    of_caption = np.array([source for source, *_ in answers])
    subsets = {"all": np.ones(len(judged), dtype=bool)}
    subsets |= {source: of_caption == source for source in sources if len(sources) > 1}
    ratings = {
        rating: np.array([[given.get(rating, np.nan)] for given in answers.values()])
        for rating in RATINGS
        if any(rating in given for given in answers.values())
    }
    return Ratings("Composite", judged, ratings, subsets)


def _answers(path: Path) -> Iterator[tuple[ImageId, str, int, float]]:
    """Yield image, caption, its place among the image's and the rating."""
    rows = _rows(path)
    _, header = next(rows, (0, []))
    image_column = next((at for at, name in enumerate(header) if _IMAGE.fullmatch(name)), None)
    columns = [(f"Input.text{n}", f"Answer.Q{n}Answer") for n in range(1, _CAPTIONS + 1)]
    if image_column is None or not {name for pair in columns for name in pair} <= set(header):
        raise AnnotationError(
            f"{path}: its first line does not name Input.image_url, Input.text1 to Input.text3 and "
            "Answer.Q1Answer to Answer.Q3Answer, separated by semicolons; is it the published file?"
        )
    places = [(header.index(text), header.index(answer)) for text, answer in columns]
    for line, row in rows:
        where = f"{path}: line {line}"
        if len(row) <= image_column or not row[image_column].strip():
            continue  # the published files end with lines without an image
        image = from_json_key(PurePosixPath(row[image_column].strip()).stem)
        for place, (text, answer) in enumerate(places):
            if len(row) <= max(text, answer) or not row[text].strip():
                raise AnnotationError(f"{where}: image {image}: a caption or rating is missing.")
            yield image, row[text].strip(), place, _rating(row[answer], where, image)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(read_text(path, AnnotationError)), delimiter=";")
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as problem:  # such as a quotation mark that nothing closes
        raise AnnotationError(
            f"{path}: line {rows.line_num}: {problem}; get the published file again."
        ) from None


def _rating(answer: str, where: str, image: ImageId) -> float:
    try:
        rating = float(answer)
    except ValueError:
        rating = np.nan
    if not _LOWEST <= rating <= _HIGHEST:
        raise AnnotationError(
            f"{where}: image {image}: the rating is {answer!r:.40}, not a number from 1 to 5."
        )
    return rating
