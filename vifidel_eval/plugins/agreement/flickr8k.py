"""Flickr8k and Composite: how well captions describe images.

Flickr8k (Hodosh et al., JAIR 2013): each line of ``ExpertAnnotations.txt`` is an image, a caption's
id and the ratings of three experts from 1 (no relation) to 4 (describes the image without errors);
each line of ``CrowdFlowerAnnotations.txt`` is an image, a caption's id, the share of the crowd that
says *yes*, how many say *yes* and how many *no*. Tabs separate them. ``Flickr8k.token.txt`` has the
captions by id, ``IMAGE.jpg#NUMBER``.

Composite (Aditya et al., CVIU 2018) has captions of three data sets. The published files are
exports of Mechanical Turk, ``8k_correctness.csv``, ``8k_throughness.csv`` and the same for ``30k``
and ``coco``: fields separated by semicolons, one line per image with ``Input.image_url``, captions
``Input.text1``, ... and ratings from 1 to 5 ``Answer.Q1Answer``, ... The first caption is a
human's, one of the image's references in other spelling; the second and third are two systems'.
Where there is a fourth, published figures leave it out, and so does this. References are the data
sets' own files.

An `AnnotationError` says which file is missing or has another layout.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...captions import read_references
from ...doors.arguments import name_wrong_argument
from ...errors import AnnotationError
from ...io.digits import number_of
from ...io.files import read_text
from ...io.image_ids import ImageId, match, mismatch
from ...run.reading import PathLike
from .judgements import Judged, Ratings, image_id_of

#: What people were asked of Composite, by the word in the files' names.
RATINGS: Mapping[str, str] = {"relevance": "correctness", "thoroughness": "throughness"}
#: The mean of both, where a caption has both (VIFIDEL, Table 2).
BOTH = "mean of both"
#: Its data sets by the word in the files' names, and the files of their references.
SOURCES: Mapping[str, str] = {
    "8k": "Flickr8k.token.txt",
    "30k": "results_20130124.token",
    "coco": "captions_val2014.json",
}

_EXPERTS, _CROWD = "ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt"
TEXTS = (".txt", ".tsv")  #: the suffixes of files that `read_forced_choices` reads
_ID = re.compile(r"\S+#[0-9]+")
_CAPTIONS = 3
_FULL_NAMES = {"8k": "flickr8k", "30k": "flickr30k"}
_IMAGE = re.compile(r"Input\.image_?url", re.IGNORECASE)


@name_wrong_argument
def read_flickr8k(folder: PathLike) -> Ratings:
    """Read the judgements of Flickr8k: those of experts, of a crowd, or both.

    References are the image's five captions. Published figures leave out the captions that are
    among them, ``"without own references"``; ``"all"`` has them, scored against the others.
    """
    folder = Path(folder)
    captions, references = _read_tokens(folder / SOURCES["8k"])
    sources = {
        "expert": (_EXPERTS, _expert_ratings, "three ratings from 1 to 4"),
        "crowd": (_CROWD, _crowd_ratings, "the share of yes, and how many yes and no"),
    }
    files = {rating: source for rating, source in sources.items() if (folder / source[0]).exists()}
    judged, of_own_image = [], []
    answers: dict[str, list[list[float]]] = {}
    for rating, (name, parse, expected) in (files or {"expert": sources["expert"]}).items():
        answers[rating] = []
        for number, line in enumerate(_lines(folder / name), 1):
            where = f"{folder / name}: line {number}"
            fields = line.split("\t")
            values = parse(fields[2:])
            if values is None:
                raise AnnotationError(
                    f"{where}: expected image, caption id and {expected}, separated by tabs."
                )
            image, caption_id = fields[:2]
            image_id = image_id_of(image)
            if image_id not in references or caption_id not in captions:
                raise AnnotationError(
                    f"{where}: {image if image_id not in references else caption_id} is not in "
                    f"{SOURCES['8k']}; do both files belong to the same data set?"
                )
            judged.append(Judged(image_id, (captions[caption_id],), references[image_id]))
            answers[rating].append(values)
            of_own_image.append(caption_id.partition("#")[0] == image)
    ratings, start = {}, 0
    for rating, values_of in answers.items():  # one below the other
        ratings[rating] = np.full((len(judged), len(values_of[0])), np.nan)
        ratings[rating][start : start + len(values_of)] = values_of
        start += len(values_of)
    is_own = np.array(of_own_image)
    subsets = {"without own references": ~is_own, "all": np.ones_like(is_own)}
    return Ratings("Flickr8k", judged, ratings, subsets)


def _expert_ratings(answers: list[str]) -> list[float] | None:
    if len(answers) != 3 or not set("1234").issuperset(answers):
        return None
    return [float(rating) for rating in answers]


def _crowd_ratings(answers: list[str]) -> list[float] | None:
    try:
        share, yes, no = map(float, answers)
    except ValueError:
        return None
    return [share] if 0 <= share <= 1 and yes >= 0 and no >= 0 else None


def _read_tokens(path: Path) -> tuple[dict[str, str], dict[ImageId, tuple[str, ...]]]:
    """Return captions by id, and by image id, of a file of captions of Flickr8k or Flickr30k."""
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
        image_id = image_id_of(image)
        references[image_id] = (*references.get(image_id, ()), caption)
    return captions, references


def read_forced_choices(path: PathLike) -> Iterator[tuple[str, Judged]]:
    """Yield kind and captions of the pairs of Hodosh & Hockenmaier (Vision and Language 2016).

    The path is a file of one kind, such as ``switch_people.txt``, or a folder of them. A line is an
    image, its caption and the distractor, separated by tabs. Captions are texts, or ids of the
    file of Flickr30k's captions beside, which gives the references.
    """
    path = Path(path)
    tokens = (path if path.is_dir() else path.parent) / SOURCES["30k"]
    captions, references = _read_tokens(tokens) if tokens.exists() else ({}, {})
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in TEXTS)
        if not files:
            raise AnnotationError(f"{path}: has no file of pairs, such as switch_people.txt.")
    for file in files:
        for number, line in enumerate(_lines(file), 1):
            image, *texts = map(str.strip, line.split("\t"))
            if len(texts) != 2:
                raise AnnotationError(
                    f"{file}: line {number}: expected image, caption and distractor, separated by "
                    "tabs."
                )
            unknown = [text for text in texts if _ID.fullmatch(text) and text not in captions]
            if unknown:
                raise AnnotationError(
                    f"{file}: line {number}: {unknown[0]} is no caption's id in {tokens}; give "
                    "Flickr30k's file there."
                )
            pair = tuple(captions.get(text, text) for text in texts)
            image_id = image_id_of(image.partition("#")[0])
            kind = file.stem.replace("_", " ").replace("-", " ")
            yield kind, Judged(image_id, pair, references.get(image_id, ()))


def _lines(path: Path) -> list[str]:
    # A caption may hold other characters that end a line for str.splitlines.
    return read_text(path, AnnotationError).rstrip("\n").split("\n")


@name_wrong_argument
def read_composite(folder: PathLike) -> Ratings:
    """Read Composite, or the part of it that is there: one or more of its three sources.

    The subsets are ``"all"`` captions together, as published, and those of each source; and
    ``"machine"``, those of systems alone, as in VIFIDEL's Table 2, also of each source:
    ``"flickr8k machine"``. What people were asked are `RATINGS`, and `BOTH` if there are both.
    """
    folder = Path(folder)
    # By source, image, caption and its place: a system's caption may be the human's.
    answers: dict[tuple[str, ImageId, str, int], dict[str, float]] = {}
    for source in SOURCES:
        for rating, word in RATINGS.items():
            path = folder / f"{source}_{word}.csv"
            if path.exists():
                for image, caption, place, answer in _answers(path):
                    by_rating = answers.setdefault((source, image, caption, place), {})
                    if rating in by_rating:
                        raise AnnotationError(f"{path}: image {image} appears twice; keep one.")
                    by_rating[rating] = answer
    if not answers:
        raise AnnotationError(
            f"{folder}: no rating; give the folder with 8k_correctness.csv, 8k_throughness.csv "
            "and the like."
        )
    sources = list(dict.fromkeys(source for source, *_ in answers))
    judged = []
    for source in sources:
        path = folder / SOURCES[source]
        references: Mapping[Any, Sequence[str]] = (
            read_references(path) if path.suffix == ".json" else _read_tokens(path)[1]
        )
        image_ids = match({image for origin, image, *_ in answers if origin == source}, references)
        for origin, image, caption, _ in answers:
            if origin == source:
                if image not in image_ids:
                    raise mismatch([image], references, str(folder), str(path))
                judged.append(Judged(image, (caption,), tuple(references[image_ids[image]])))
    of_caption = np.array([source for source, *_ in answers])
    subsets = {"all": np.ones(len(judged), dtype=bool)}
    subsets |= {source: of_caption == source for source in sources if len(sources) > 1}
    machine = np.array([place > 0 for *_, place in answers])
    subsets |= {"machine": machine} | {
        f"{_FULL_NAMES.get(source, source)} machine": machine & (of_caption == source)
        for source in sources
    }
    ratings = {
        rating: np.array([[by_rating.get(rating, np.nan)] for by_rating in answers.values()])
        for rating in RATINGS
        if any(rating in by_rating for by_rating in answers.values())
    }
    if len(ratings) == len(RATINGS):
        ratings[BOTH] = np.mean([*ratings.values()], axis=0)
    return Ratings("Composite", judged, ratings, subsets)


def _answers(path: Path) -> Iterator[tuple[ImageId, str, int, float]]:
    """Yield the image, the caption, its place among the image's captions, and the rating."""
    columns = [(f"Input.text{n}", f"Answer.Q{n}Answer") for n in range(1, _CAPTIONS + 1)]
    rows = csv.DictReader(io.StringIO(read_text(path, AnnotationError)), delimiter=";")
    try:
        header = rows.fieldnames or ()
        image_column = next((name for name in header if _IMAGE.fullmatch(name)), "")
        if not image_column or not {name for pair in columns for name in pair} <= set(header):
            raise AnnotationError(
                f"{path}: its first line does not name Input.image_url, Input.text1 to Input.text3 "
                "and Answer.Q1Answer to Answer.Q3Answer, separated by semicolons; is it the "
                "published file?"
            )
        for fields in rows:
            row = {name: text.strip() for name, text in fields.items() if isinstance(text, str)}
            if not row.get(image_column):
                continue  # the published files end with lines without an image
            image = image_id_of(row[image_column])
            where = f"{path}: line {rows.line_num}: image {image}"
            for place, (text, answer) in enumerate(columns):
                if not row.get(text) or answer not in row:
                    raise AnnotationError(f"{where}: a caption or rating is missing.")
                rating = number_of(row[answer])
                if rating is None or not 1 <= rating <= 5:
                    raise AnnotationError(
                        f"{where}: the rating is {row[answer]!r:.40}, not a number from 1 to 5."
                    )
                yield image, row[text], place, rating
    except csv.Error as problem:  # such as a quotation mark that nothing closes
        raise AnnotationError(
            f"{path}: line {rows.line_num}: {problem}; get the published file again."
        ) from None
