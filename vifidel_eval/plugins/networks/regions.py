"""Image regions: what a detector found in many images, read when it is asked for.

Bottom-up attention (Anderson et al., 2018) describes an image by a vector for each of the regions
that a detector found. Files of a whole dataset have tens of gigabytes, so that only the place of
each image is kept. TIGEr reads features alone (`tiger`), ViLBERTScore boxes too.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import getitem
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import Rows, image_ids_of
from ...errors import CaptionError, ImageIdError, VifidelError
from ...io.files import first_line, read_bytes, reason, write_whole
from ...io.image_ids import ImageId, from_json_key, match, mismatch, to_json_value
from ...io.outputs import check_inside

Floats32 = NDArray[np.float32]

# So many images are read before they are encoded: bounds memory.
_IMAGES_AT_ONCE = 32
# Bytes of the arrays of an image: a hundred times as many as detectors write.
_MOST_BYTES = 1 << 28
# In an image of more pixels per side than this, boxes that all end within one are not pixels.
_TOO_LARGE_FOR_ONE_PIXEL = 16


@dataclass(frozen=True)
class Regions:
    """The regions that a detector found in an image."""

    features: Floats32  #: (regions, length of a feature) float32
    boxes: Floats32 | None = None  #: (regions, 4) float32, x1, y1, x2, y2 in pixels; None if unread
    width: float = 0  #: of the image, in pixels
    height: float = 0

    def inputs(self) -> tuple[Floats32, Floats32]:
        """Return features and (regions + 1, 5) shares of sides and area, the whole image first."""
        assert self.boxes is not None
        mean = self.features.mean(axis=0, dtype=np.float64).astype(np.float32)
        width, height = self.boxes[:, 2] - self.boxes[:, 0], self.boxes[:, 3] - self.boxes[:, 1]
        sides = np.array([self.width, self.height] * 2, dtype=np.float32)
        area = height * width / np.float32(self.width * self.height)
        locations = np.column_stack([self.boxes / sides, area])
        whole = np.array([[0, 0, 1, 1, 1]], dtype=np.float32)
        return np.concatenate([mean[None], self.features]), np.concatenate([whole, locations])

    def digest(self) -> str:
        """Return a SHA-256 of everything, hexadecimal."""
        shape = self.features.shape
        described = shape if self.boxes is None else (shape, self.width, self.height)
        digest = hashlib.sha256(repr(described).encode())
        for array in (self.features, self.boxes):
            if array is not None:
                digest.update(np.ascontiguousarray(array, "<f4").tobytes())
        return digest.hexdigest()


@dataclass
class Features:
    """The regions of many images, each image read when it is asked for."""

    where: str  #: the file or folder, as messages call it
    places: Mapping[ImageId, Any]
    load: Callable[[Any, str], Regions]  #: from a place, and its name in messages

    def name(self, image: ImageId) -> str:
        """Return what messages call an image."""
        place = self.places[image]
        return str(place) if isinstance(place, Path) else f"{self.where}: image {image!r}"

    def read(self, image: ImageId) -> Regions:
        """Return the regions of an image, which is one of those that `find` returned."""
        return self.load(self.places[image], self.name(image))

    def find(self, ids: Sequence[ImageId]) -> list[ImageId]:
        """Return the image of each id, as the source calls it; an unknown one is an error."""
        try:
            images = match(ids, self.places)
        except ImageIdError as problem:
            raise ImageIdError(f"{self.where}: {problem}") from None
        if missing := list(dict.fromkeys(i for i in ids if i not in images)):
            side = f"the feature side ({self.where})"
            raise mismatch(missing, self.places, "the captions", side)
        return [images[image_id] for image_id in ids]


#: What `read_boxed_regions` and `tiger.read_regions` take.
FeatureSource: TypeAlias = str | os.PathLike[str] | Mapping[Any, Any] | Features


def numbers(read: Callable[[], Any], at: str, name: str, kinds: str, dimensions: int) -> Floats32:
    """Return finite numbers in single precision, or raise what an array is instead."""
    try:
        array = np.asarray(read())
    # ValueError: lists of different lengths, base64; the others: tensors that NumPy cannot take
    except (OSError, ValueError, TypeError, RuntimeError) as problem:
        raise VifidelError(f"{at}: {name} cannot be read ({first_line(problem)}).") from None
    if array.ndim != dimensions or array.dtype.kind not in kinds or not array.size:
        expected = "floating-point numbers" if kinds == "f" else "numbers"
        raise VifidelError(
            f"{at}: {name} is an array of shape {array.shape} and type {array.dtype}; expected "
            f"{f'{expected}, one row per region' if dimensions else 'one number'}."
        )
    with np.errstate(over="ignore"):  # too large a number is not finite either
        numbers = array.astype(np.float32, copy=False)
    if not np.isfinite(numbers).all():
        raise VifidelError(f"{at}: {name} holds numbers that are not finite; extract them again.")
    return numbers


def read_boxed_regions(source: FeatureSource) -> Features:
    """Open the features and boxes of image regions.

    The source is a folder of files ``IMAGE_ID.npz`` of `numpy.savez`, or a mapping of image id to
    a mapping, with ``features`` (regions, 2048), ``boxes`` (regions, 4) in pixels as x1, y1, x2,
    y2, and the image's ``width`` and ``height``.
    """
    if isinstance(source, Features):
        return source
    if isinstance(source, Mapping):
        return Features("features", source, regions_of)
    if not isinstance(source, str | os.PathLike):
        raise VifidelError(
            f"features cannot be {type(source).__name__} {source!r:.40}; accepted: a folder with "
            "one .npz file per image, or a mapping {image id: {'features', 'boxes', 'width', "
            "'height'}}."
        )
    try:
        names = sorted(os.listdir(source))
    except (OSError, ValueError) as problem:
        raise VifidelError(f"{source}: {reason(problem)}; give a folder.") from None
    files: dict[ImageId, Path] = {
        from_json_key(name.removesuffix(".npz")): Path(source, name)
        for name in names
        if name.endswith(".npz")
    }
    if not files:
        convertible = any(name.endswith((".npy", ".pkl")) for name in names)
        advice = (
            "convert-features makes them from pickles" if convertible else "name another folder"
        )
        raise VifidelError(f"{source}: has no .npz files (one per image); {advice}.")
    return Features(str(source), files, _load_file)


def _load_file(path: Path, at: str) -> Regions:
    content = io.BytesIO(read_bytes(path, VifidelError))
    try:
        with zipfile.ZipFile(content) as archive:  # NumPy would take other files for pickles
            size = sum(member.file_size for member in archive.infolist())
        arrays = dict(np.load(content, allow_pickle=False)) if size <= _MOST_BYTES else {}
    except Exception:  # a damaged archive or header raises nearly anything
        raise VifidelError(
            f"{path}: not an .npz file of four arrays of numbers, or damaged; write it again."
        ) from None
    if size > _MOST_BYTES:
        raise VifidelError(
            f"{path}: unpacks to {size >> 20} MiB, and at most {_MOST_BYTES >> 20} are read; is "
            "it the right file?"
        )
    return regions_of(arrays, at)


def regions_of(content: Any, where: str) -> Regions:
    """Return regions from their four arrays, or raise what is wrong with those at `where`."""
    if not isinstance(content, Mapping):
        raise VifidelError(f"{where}: {type(content).__name__} instead of a mapping of arrays.")
    arrays = []
    for name, dimensions in (("features", 2), ("boxes", 2), ("width", 0), ("height", 0)):
        if name not in content:
            raise VifidelError(
                f"{where}: no {name!r}, only "
                f"{', '.join(sorted(map(str, content))) or 'nothing'}; it must have features, "
                "boxes, width and height."
            )
        arrays.append(numbers(partial(getitem, content, name), where, name, "fiu", dimensions))
    features, boxes, *sides = arrays
    width, height = map(float, sides)
    if boxes.shape != (len(features), 4):
        problem = f"{len(features)} features, but boxes of shape {boxes.shape}"
    elif width <= 0 or height <= 0:
        problem = f"the image is {width:g} pixels wide and {height:g} high"
    elif (boxes[:, 2:] < boxes[:, :2]).any():
        problem = "a box ends before it starts: boxes are x1, y1, x2, y2"
    elif boxes.max() <= 1 and min(width, height) > _TOO_LARGE_FOR_ONE_PIXEL:
        problem = (
            "all boxes are within one pixel: boxes are in pixels, not in fractions of the image"
        )
    else:
        return Regions(features, boxes, width, height)
    raise VifidelError(f"{where}: {problem}; write it again.")


def write_regions(folder: str | os.PathLike[str], image_id: ImageId, regions: Regions) -> Path:
    """Write the ``.npz`` file of an image, whole or not at all, and return it."""
    name = str(image_id)
    if not name or os.path.basename(name) != name or name in (os.curdir, os.pardir):
        raise VifidelError(f"the image id {image_id!r} cannot be the name of a file in {folder}.")
    content = io.BytesIO()
    np.savez(content, **vars(regions))
    path = Path(folder) / f"{name}.npz"
    check_inside(path, Path(folder))
    write_whole(path, content.getvalue())
    return path


def digest_of_images(digests: Mapping[ImageId, str]) -> str:
    """Return how many images there are, and a digest of those of their contents."""
    lines = sorted(f"{to_json_value(i)!r}:{digest}\n" for i, digest in digests.items())
    content = "".join(lines).encode(errors="backslashreplace")
    return f"{len(lines)}#{hashlib.sha256(content).hexdigest()[:8]}"


class BoundedCache(dict[Any, Any]):
    """What the next system can use again, up to a number of bytes; threads may share it."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room
        self._lock = threading.Lock()  # of the room: a value that several threads keep counts once
        self.is_full = room <= 0

    def complete(
        self, keys: Iterable[Any], compute: Callable[[list[Any]], Mapping[Any, Any]]
    ) -> dict[Any, Any]:
        """Return the values of keys: what is not kept is computed, and kept if there is room."""
        distinct_keys = dict.fromkeys(keys)
        values = {key: self[key] for key in distinct_keys if key in self}
        if new := [key for key in distinct_keys if key not in values]:
            computed = compute(new)
            values |= computed
            for key, value in computed.items():
                with self._lock:
                    if key not in self and value.nbytes <= self._room:
                        self._room -= value.nbytes
                        self[key] = value
                    self.is_full |= key not in self
        return values


@dataclass
class ImageSide:
    """The images of a run as a network sees them; threads may share it."""

    features: Features
    width: int  #: how many numbers of a region the network reads
    encode: Callable[[list[Regions]], Iterable[Any]]  #: to the arrays that captions meet
    kept: BoundedCache
    #: Of the images that were read; it only ever grows, by one image at a time.
    digests: dict[ImageId, str] = field(default_factory=dict)

    def find(self, ids: Sequence[ImageId]) -> list[ImageId]:
        """Return the image of each id, as the features call it, after a look at all of them."""
        images = self.features.find(ids)
        new = [image for image in dict.fromkeys(images) if image not in self.digests]
        for start in range(0, len(new), _IMAGES_AT_ONCE):
            some = new[start : start + _IMAGES_AT_ONCE]
            list(map(self._read, some)) if self.kept.is_full else self.encoded(some)
        return images

    def described(self, rows: Rows, metric: str) -> list[ImageId]:
        """Return the image of each row, which must have a reference."""
        for row, references in enumerate(rows.references):
            if not references:
                raise CaptionError(f"{rows.name(row)}: no reference; {metric} needs one.")
        return self.find(image_ids_of(rows, metric))

    def encoded(self, images: Iterable[ImageId]) -> dict[ImageId, Any]:
        """Return what a caption is scored with, of images that `find` returned."""
        return self.kept.complete(images, self._encoded)

    def signature(self, ids: Sequence[ImageId] | None = None) -> str:
        """Return how many images there are, by default all, and a digest of their features."""
        images = dict.fromkeys(self.find(list(self.features.places) if ids is None else ids))
        return digest_of_images({image: self.digests[image] for image in images})

    def _read(self, image: ImageId) -> Regions:
        regions = self.features.read(image)
        width = regions.features.shape[1]
        if width != self.width:
            raise VifidelError(
                f"{self.features.name(image)}: features of length {width}, but the checkpoint "
                f"reads {self.width}; use the features of the detector that belongs to it."
            )
        digest = regions.digest()
        if self.digests.setdefault(image, digest) != digest:
            raise VifidelError(
                f"{self.features.name(image)}: its features have changed since they were "
                "first read; start again."
            )
        return regions

    def _encoded(self, images: list[ImageId]) -> dict[ImageId, Any]:
        regions = [self._read(image) for image in images]
        return dict(zip(images, self.encode(regions), strict=True))
