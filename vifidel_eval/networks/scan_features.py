"""Region features of images: vectors of detected regions, read from large files when needed.

Bottom-up attention (Anderson et al., 2018) describes an image by a vector for each of the regions
that a detector found. Files of a whole dataset have tens of gigabytes, so that only the place of
each image is kept, and an image is read when it is asked for.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VifidelError
from ..files import read_text, reason
from ..image_ids import ImageId, from_json_key, match, mismatch, to_json_value

# So many images, spread evenly over all, are checked and hashed when a source is opened.
_SAMPLED = 64

_TSV_FIELDS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
# More than the first four fields of a line have, and more than a line of any detector.
_TSV_HEAD, _TSV_LINE = 1 << 12, 1 << 28
_BYTES_PER_BOX = 4 * 4  # four numbers in single precision


class RegionFeatures:
    """The region features of images, as `read_regions` returns them.

    Parameters
    ----------
    kind : str
        The format they come from, for signatures.
    where : str
        The file, for messages.
    places : mapping
        Image id to where `read` finds the image.
    read : callable
        From a place to an array-like of shape (regions, width).

    Attributes
    ----------
    width : int
        How many numbers a region has.

    Raises
    ------
    VifidelError
        If there is no image, or one of those that are looked at cannot be used.
    """

    def __init__(
        self, kind: str, where: str, places: Mapping[ImageId, Any], read: Callable[[Any], Any]
    ) -> None:
        if not places:
            raise VifidelError(f"{where}: no image in it; give features of the images to score.")
        self._kind = kind
        self._where = where
        self._places = places
        self._read = read
        self._names: Mapping[ImageId, ImageId] | None = None
        self.width = 0  # whatever the first image has
        self.width = self.of_image(next(iter(places))).shape[1]
        self._digest = self._digested()

    def ids_of(self, ids: Sequence[ImageId]) -> list[ImageId]:
        """Return the id that each image has in the source; a COCO file stem finds its number.

        Raises
        ------
        ImageIdError
            If an id is unknown.
        """
        known = self._places if self._names is None else self._names
        matched = match(ids, known)
        missing = [image_id for image_id in dict.fromkeys(ids) if image_id not in matched]
        if missing:
            raise mismatch(missing, known, "the captions", f"the image side ({self._where})")
        found = [matched[image_id] for image_id in ids]
        return found if self._names is None else [self._names[image_id] for image_id in found]

    def of_image(self, image_id: ImageId) -> NDArray[np.float32]:
        """Return the features of an image, by the id that it has in the source.

        Returns
        -------
        (regions, width) float32
            Two regions or more.

        Raises
        ------
        VifidelError
            If they cannot be read, have another shape or hold something other than numbers.
        """
        at = f"{self._where}: image {image_id!r}"
        try:
            found = np.asarray(self._read(self._places[image_id]))
        except (OSError, ValueError) as problem:  # ValueError: lists of different lengths, base64
            raise VifidelError(f"{at}: its features cannot be read ({problem}).") from None
        if found.ndim != 2 or found.dtype.kind != "f":
            raise VifidelError(
                f"{at}: features of shape {found.shape} and type {found.dtype}; expected one row "
                "of floating-point numbers for each region."
            )
        if len(found) < 2:
            raise VifidelError(
                f"{at}: regions are compared with each other; give two or more, not {len(found)}."
            )
        if self.width and found.shape[1] != self.width:
            raise VifidelError(
                f"{at}: {found.shape[1]} numbers a region where others have {self.width}; make all "
                "features with one detector."
            )
        with np.errstate(over="ignore"):
            features = found.astype(np.float32, copy=False)
        if not np.isfinite(features).all():
            raise VifidelError(f"{at}: a feature is no finite number; make its features anew.")
        return features

    def under(self, image_of: Mapping[ImageId, ImageId]) -> RegionFeatures:
        """Return the same features under other ids, where an image has several captions.

        The signature stays that of the source.

        Parameters
        ----------
        image_of : mapping
            The image id of each new id.

        Raises
        ------
        ImageIdError
            As `ids_of` raises it.
        """
        renamed = copy.copy(self)
        renamed._names = dict(zip(image_of, self.ids_of(list(image_of.values())), strict=True))
        return renamed

    def signature(self) -> str:
        """Return the kind and a digest of all image ids and of the features of 64 images.

        The images are spread evenly over the sorted ids: other features have another digest,
        whichever file they come from, without tens of gigabytes being read for it. A change of
        a single image can go unnoticed.
        """
        return f"{self._kind}#{self._digest}"

    def _digested(self) -> str:
        ids = sorted(self._places, key=lambda image_id: repr(to_json_value(image_id)))
        digest = hashlib.sha256(repr([to_json_value(image_id) for image_id in ids]).encode())
        count = min(_SAMPLED, len(ids))
        for at in range(count):
            features = self.of_image(ids[at * len(ids) // count])
            digest.update(repr(features.shape).encode())
            digest.update(features.astype("<f4").tobytes())
        return digest.hexdigest()[:8]


def read_regions(source: Any) -> RegionFeatures:
    """Open the region features of images.

    Parameters
    ----------
    source : path, mapping or RegionFeatures
        A path is recognised by its content: ``NAME_ims.npy`` of SCAN, float32 of shape (images,
        regions, width) beside ``NAME_ids.txt`` with an image id for each *caption*; or a TSV file
        of bottom-up attention with image_id, image_w, image_h, num_boxes, boxes and features,
        the last two in base64. A mapping gives each image id an array of shape (regions, width).

    Returns
    -------
    RegionFeatures

    Raises
    ------
    VifidelError
        If the source is none of these, is damaged, or its parts do not belong together.
    """
    if isinstance(source, RegionFeatures):
        return source
    if isinstance(source, Mapping):
        places = {image_id: image_id for image_id in source}
        return RegionFeatures("mapping", "features", places, source.__getitem__)
    if not isinstance(source, str | os.PathLike):
        raise VifidelError(
            f"features cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
            "path, or a mapping {image id: array of shape (regions, width)}."
        )
    path = Path(source)
    try:
        with open(path, "rb") as file:
            start = file.read(6)
        return _read_scan(path) if start == b"\x93NUMPY" else _read_tsv(path)
    except VifidelError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None


def ids_path(path: Path) -> Path:
    """Return the file of image ids that belongs to a ``.npy`` file of SCAN.

    >>> ids_path(Path("testall_ims.npy")).name
    'testall_ids.txt'
    """
    return path.with_name(path.stem.removesuffix("_ims") + "_ids.txt")


def _read_scan(path: Path) -> RegionFeatures:
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise VifidelError(
            f"{path}: no array of numbers, or cut off; get it again or make it anew."
        ) from None
    if rows.ndim != 3:
        raise VifidelError(
            f"{path}: an array of shape {rows.shape}; SCAN's have (images, regions, width)."
        )
    of_captions = read_text(ids_path(path), VifidelError).split()
    lines = len(of_captions)
    if lines not in (len(rows), 5 * len(rows)):
        raise VifidelError(
            f"{path}: {len(rows)} images, but {lines} captions in {ids_path(path).name}; SCAN has "
            "one or five captions an image there."
        )
    per_image = max(1, lines // max(1, len(rows)))
    places: dict[ImageId, int] = {}
    for line, text in enumerate(of_captions):
        row = line // per_image
        if text != of_captions[row * per_image]:
            raise VifidelError(
                f"{ids_path(path)}, line {line + 1}: image {text} where the lines of one image "
                f"({of_captions[row * per_image]}) should be; the file does not belong to "
                f"{path.name}."
            )
        # Where every caption has a row, an image's rows are copies of each other.
        places.setdefault(from_json_key(text), row)
    return RegionFeatures("scan", str(path), places, rows.__getitem__)


def _read_tsv(path: Path) -> RegionFeatures:
    places: dict[ImageId, tuple[int, int]] = {}
    line = width = start = 0
    size = path.stat().st_size
    with open(path, "rb") as file:
        while start < size:
            line += 1
            at = f"{path}, line {line}"
            file.seek(start)
            head = file.read(_TSV_HEAD).split(b"\t", 4)
            try:
                image, boxes = head[0].decode(), int(head[3])
                if boxes < 1:
                    raise ValueError
                if not width:
                    file.seek(start)
                    fields = file.readline(_TSV_LINE).rstrip(b"\r\n").split(b"\t")
                    width, odd = divmod(len(base64.b64decode(fields[5])), 4 * boxes)
                    if odd or not width or len(fields) != len(_TSV_FIELDS):
                        raise ValueError
            except (ValueError, IndexError, ZeroDivisionError):
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
                    "numbers; the file is damaged or cut off, get it again."
                )
            image_id = from_json_key(image)
            if image_id in places:
                raise VifidelError(f"{at}: image {image} stands twice; keep one line.")
            places[image_id] = (start, end)
            start = end + (2 if break_after == b"\r\n" else 1)

    def read(place: tuple[int, int]) -> NDArray[np.float32]:
        with open(path, "rb") as file:
            file.seek(place[0])
            fields = file.read(place[1] - place[0]).split(b"\t")
        features = np.frombuffer(base64.b64decode(fields[5], validate=True), "<f4")
        return features.reshape(int(fields[3]), -1)

    return RegionFeatures("bottom-up-tsv", str(path), places, read)


def _base64(size: int) -> int:
    """Return the length of so many bytes in base64."""
    return -(-size // 3) * 4
