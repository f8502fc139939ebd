"""Features of image regions for TIGEr: SCAN's arrays, or TSV files of bottom-up attention."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import VifidelError
from ...io.files import open_file, read_text, reason, unmapped
from ...io.image_ids import ImageId, from_json_key
from .regions import Features, FeatureSource, Floats32, Regions, numbers

_TSV_FIELDS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
# More than the first four fields of a line have, and more than a line of any detector.
_TSV_HEAD, _TSV_LINE = 1 << 12, 1 << 28
_BYTES_PER_BOX = 4 * 4  # four numbers in single precision


def read_regions(source: FeatureSource) -> Features:
    """Open the features of image regions, without their boxes.

    A path is recognised by its content: ``NAME_ims.npy`` of SCAN, float32 of shape (images,
    regions, width) beside ``NAME_ids.txt`` with an image id for each *caption*; or a TSV file
    of bottom-up attention with image_id, image_w, image_h, num_boxes, boxes and features,
    the last two in base64. A mapping gives each image id an array of shape (regions, width).
    """
    if isinstance(source, Features):
        return source
    read: Callable[[Any], Any]
    if isinstance(source, Mapping):
        where, places, read = "features", {key: key for key in source}, source.__getitem__
    elif isinstance(source, str | os.PathLike):
        where, path = str(source), Path(source)
        try:
            with open_file(path, VifidelError) as file:
                start = file.read(6)
            places, read = (_scan_rows if start == b"\x93NUMPY" else _tsv_lines)(path)
        except OSError as problem:
            raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None
    else:
        raise VifidelError(
            f"features cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
            "path, or a mapping {image id: array of shape (regions, width)}."
        )
    if not places:
        raise VifidelError(f"{where}: no image in it; give features of the images to score.")

    def load(place: Any, at: str) -> Regions:
        features = numbers(partial(read, place), at, "features", "f", 2)
        if len(features) < 2:
            raise VifidelError(
                f"{at}: regions are compared with each other; give two or more, not "
                f"{len(features)}."
            )
        return Regions(features)

    return Features(where, places, load)


def ids_path(path: Path) -> Path:
    """Return the file of image ids of SCAN's ``testall_ims.npy``: ``testall_ids.txt``."""
    return path.with_name(path.stem.removesuffix("_ims") + "_ids.txt")


def _scan_rows(path: Path) -> tuple[dict[ImageId, Any], Callable[[Any], Any]]:
    """Return the rows of each image in an array of SCAN, and what reads them."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception:  # a damaged header raises nearly anything
        raise VifidelError(
            f"{path}: not an array of numbers, or cut off; get or make it again."
        ) from None
    if mapped.ndim != 3:
        raise VifidelError(
            f"{path}: an array of shape {mapped.shape}; SCAN's have (images, regions, width)."
        )
    rows = unmapped(mapped, VifidelError, "the file was cut while it was in use")
    del mapped
    of_captions = read_text(ids_path(path), VifidelError).split()
    if len(of_captions) not in (len(rows), 5 * len(rows)):
        raise VifidelError(
            f"{path}: {len(rows)} images, but {len(of_captions)} captions in "
            f"{ids_path(path).name}; SCAN has one or five captions per image there."
        )
    per_image = max(1, len(of_captions) // max(1, len(rows)))
    places: dict[ImageId, list[int]] = {}
    for line, text in enumerate(of_captions):
        row = line // per_image
        if text != of_captions[row * per_image]:
            raise VifidelError(
                f"{ids_path(path)}, line {line + 1}: image {text} where the lines of one image "
                f"({of_captions[row * per_image]}) should be; the file does not belong to "
                f"{path.name}."
            )
        of_image = places.setdefault(from_json_key(text), [])
        if row not in of_image[-1:]:
            of_image.append(row)

    def read(of_image: list[int]) -> Any:
        first, *others = (rows[row] for row in of_image)
        # Where every caption has a row, an image's rows are copies of each other.
        if not all(np.array_equal(first, other, equal_nan=True) for other in others):
            raise ValueError("its rows differ, although they are of one image")
        return first

    return places, read


def _tsv_lines(path: Path) -> tuple[dict[ImageId, Any], Callable[[Any], Any]]:
    """Return where the line of each image begins and ends, and what reads its features."""
    places: dict[ImageId, tuple[int, int]] = {}
    line = width = start = 0
    size = path.stat().st_size
    with open(path, "rb") as file:
        while start < size:
            line += 1
            at = f"{path}, line {line}"
            file.seek(start)
            begin = file.read(_TSV_HEAD)
            if places and not begin.strip() and start + len(begin) == size:
                break  # blank lines at the end
            head = begin.split(b"\t", 4)
            try:
                image, boxes = head[0].decode(), int(head[3])
                if image != image.strip() or not 1 <= boxes * _BYTES_PER_BOX <= size:
                    raise ValueError
                if not width:
                    file.seek(start)
                    fields = file.readline(_TSV_LINE).rstrip(b"\r\n").split(b"\t")
                    width, odd = divmod(len(base64.b64decode(fields[5])), 4 * boxes)
                    if odd or not width or len(fields) != len(_TSV_FIELDS):
                        raise ValueError
            except (ValueError, IndexError):
                raise VifidelError(
                    f"{at}: not region features; expected {', '.join(_TSV_FIELDS)}, with tabs "
                    "between, or SCAN's .npy."
                ) from None
            before = sum(map(len, head[:4])) + 4
            end = start + before + _base64(boxes * _BYTES_PER_BOX) + 1 + _base64(boxes * width * 4)
            file.seek(end)
            break_after = file.read(2)
            if end > size or not (break_after[:1] in (b"", b"\n") or break_after == b"\r\n"):
                raise VifidelError(
                    f"{at}: image {image} does not have the length of {boxes} regions of {width} "
                    "numbers; the file is damaged or cut off, get a fresh copy."
                )
            image_id = from_json_key(image)
            if image_id in places:
                raise VifidelError(f"{at}: image {image} appears twice; keep one line.")
            places[image_id] = (start, end)
            start = end + (2 if break_after == b"\r\n" else 1)

    def read(place: tuple[int, int]) -> Floats32:
        with open(path, "rb") as file:
            file.seek(place[0])
            fields = file.read(place[1] - place[0]).split(b"\t")
        features = np.frombuffer(base64.b64decode(fields[5], validate=True), "<f4")
        return features.reshape(int(fields[3]), -1)

    return places, read


def _base64(size: int) -> int:
    """Return the length of so many bytes in base64."""
    return -(-size // 3) * 4
