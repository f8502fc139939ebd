"""Image regions as ViLBERT reads them: a detector's features and boxes, one ``.npz`` per image.

A file ``IMAGE_ID.npz`` holds four arrays, as ``numpy.savez`` writes them: ``features`` (regions,
2048), ``boxes`` (regions, 4) in pixels as x1, y1, x2, y2, and the image's ``width`` and
``height``. ``vifidel-eval convert-features`` makes such files from the published pickles.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ...io.files import first_line, read_bytes, reason, write_whole
from ...io.image_ids import ImageId, from_json_key
from .features import Features

Floats32 = NDArray[np.float32]

# Of the arrays of an image: a hundred times what detectors write.
_MOST_BYTES = 1 << 28

# In an image of more pixels per side than this, boxes that all end within one are not pixels.
_TOO_LARGE_FOR_ONE_PIXEL = 16


@dataclass(frozen=True)
class Regions:
    """The regions that a detector found in an image.

    Attributes
    ----------
    features : (regions, length of a feature) float32
    boxes : (regions, 4) float32
        x1, y1, x2, y2 in pixels.
    width, height : float
        Of the image, in pixels.
    """

    features: Floats32
    boxes: Floats32
    width: float
    height: float

    def inputs(self) -> tuple[Floats32, Floats32]:
        """Return what ViLBERT sees, the whole image first, as one region more.

        Returns
        -------
        features : (regions + 1, length of a feature) float32
            The first row is the mean of the others.
        locations : (regions + 1, 5) float32
            The box as shares of width and height, and its share of the area.
        """
        mean = self.features.mean(axis=0, dtype=np.float64).astype(np.float32)
        width, height = self.boxes[:, 2] - self.boxes[:, 0], self.boxes[:, 3] - self.boxes[:, 1]
        sides = np.array([self.width, self.height] * 2, dtype=np.float32)
        area = height * width / np.float32(self.width * self.height)
        locations = np.column_stack([self.boxes / sides, area])
        whole = np.array([[0, 0, 1, 1, 1]], dtype=np.float32)
        return np.concatenate([mean[None], self.features]), np.concatenate([whole, locations])

    def digest(self) -> str:
        """Return a SHA-256 of everything, hexadecimal."""
        digest = hashlib.sha256(repr((self.features.shape, self.width, self.height)).encode())
        digest.update(np.ascontiguousarray(self.features, "<f4").tobytes())
        digest.update(np.ascontiguousarray(self.boxes, "<f4").tobytes())
        return digest.hexdigest()


#: What `DetectorFeatures` takes: a folder, or image id to features, boxes, width and height.
DetectorSource: TypeAlias = str | os.PathLike[str] | Mapping[Any, Mapping[str, Any]]


class DetectorFeatures(Features[Regions]):
    """The regions of many images, read one at a time when they are needed.

    Parameters
    ----------
    source : path or mapping
        A folder of ``.npz`` files named after the image ids, or a mapping of image id to a
        mapping with the same four entries.

    Raises
    ------
    VifidelError
        If the source is neither, or a folder without such files.
    """

    def __init__(self, source: DetectorSource) -> None:
        if isinstance(source, Mapping):
            super().__init__("features", source)
        elif isinstance(source, str | os.PathLike):
            super().__init__(os.fspath(source), _Folder(Path(source)))
        else:
            raise VifidelError(
                f"features cannot be {type(source).__name__} {source!r:.40}; accepted: a folder "
                "with one .npz file per image, or a mapping {image id: {'features', 'boxes', "
                "'width', 'height'}}."
            )

    def read(self, image: ImageId) -> Regions:
        return regions_of(self._images[image], self.name(image))

    def describe(self, content: Regions) -> tuple[int, str]:
        return content.features.shape[1], content.digest()

    def name(self, image: ImageId) -> str:
        if isinstance(self._images, _Folder):
            return str(self._images.files[image])
        return super().name(image)


class _Folder(Mapping[ImageId, Mapping[str, Any]]):
    """The ``.npz`` files of a folder by image id, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        try:
            names = sorted(os.listdir(folder))
        except (OSError, ValueError) as problem:
            raise VifidelError(f"{folder}: {reason(problem)}; give a folder.") from None
        self.files: dict[ImageId, Path] = {
            from_json_key(name.removesuffix(".npz")): folder / name
            for name in names
            if name.endswith(".npz")
        }
        if not self.files:
            others = any(name.endswith((".npy", ".pkl")) for name in names)
            advice = "convert-features makes them of pickles" if others else "name another folder"
            raise VifidelError(
                f"{folder}: there are no .npz files (one per image) in it; {advice}."
            )

    def __getitem__(self, image: ImageId) -> Mapping[str, Any]:
        path = self.files[image]
        content = io.BytesIO(read_bytes(path, VifidelError))
        try:
            if zipfile.is_zipfile(content):  # NumPy would take other files for pickles
                with zipfile.ZipFile(content) as archive:
                    size = sum(member.file_size for member in archive.infolist())
                if size <= _MOST_BYTES:
                    return dict(np.load(content, allow_pickle=False))
                problem = f"unpacks to {size >> 20} MiB, more than the {_MOST_BYTES >> 20}"
                raise VifidelError(f"{path}: {problem} that are read; is it the right file?")
        except VifidelError:
            raise
        except Exception:  # a damaged archive or header raises nearly anything
            pass
        raise VifidelError(
            f"{path}: not an .npz file of four arrays of numbers, or damaged; write it again."
        )

    def __contains__(self, image: object) -> bool:  # without reading it
        return image in self.files

    def __iter__(self) -> Iterator[ImageId]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def regions_of(content: Any, where: str) -> Regions:
    """Return regions from their four arrays.

    Raises
    ------
    VifidelError
        If an array is missing, has another shape, or holds something other than finite numbers;
        if boxes are not pixels or not x1, y1, x2, y2.
    """
    if not isinstance(content, Mapping):
        raise VifidelError(f"{where}: {type(content).__name__} instead of a mapping of arrays.")
    arrays = {}
    for name, dimensions in (("features", 2), ("boxes", 2), ("width", 0), ("height", 0)):
        if name not in content:
            raise VifidelError(
                f"{where}: no {name!r}, only {', '.join(sorted(map(str, content))) or 'nothing'}; "
                "it has to hold features, boxes, width and height."
            )
        try:
            array = np.asarray(content[name])
        except (ValueError, TypeError, RuntimeError) as error:  # tensors that NumPy cannot take
            raise VifidelError(f"{where}: {name} cannot be read ({first_line(error)}).") from None
        if array.ndim != dimensions or array.dtype.kind not in "fiu" or not array.size:
            raise VifidelError(
                f"{where}: {name} is an array of shape {array.shape} and type {array.dtype}; "
                f"expected {'numbers, one row per region' if dimensions else 'one number'}."
            )
        with np.errstate(over="ignore"):  # what is too large is not finite either
            arrays[name] = array.astype(np.float32)
        if not np.isfinite(arrays[name]).all():
            raise VifidelError(
                f"{where}: {name} holds numbers that are not finite; extract them again."
            )
    features, boxes = arrays["features"], arrays["boxes"]
    width, height = float(arrays["width"]), float(arrays["height"])
    if boxes.shape != (len(features), 4):
        problem = f"{len(features)} features, but boxes of shape {boxes.shape}"
    elif width <= 0 or height <= 0:
        problem = f"the image is {width:g} pixels wide and {height:g} high"
    elif (boxes[:, 2:] < boxes[:, :2]).any():
        problem = "a box ends before it starts: boxes are x1, y1, x2, y2"
    elif boxes.max() <= 1 and min(width, height) > _TOO_LARGE_FOR_ONE_PIXEL:
        problem = "all boxes are within one pixel: boxes are pixels, not shares of the image"
    else:
        return Regions(features, boxes, width, height)
    raise VifidelError(f"{where}: {problem}; write it again.")


def write_regions(folder: str | os.PathLike[str], image_id: ImageId, regions: Regions) -> Path:
    """Write the ``.npz`` file of an image, whole or not at all.

    Returns
    -------
    Path
        The file, named after the image id.

    Raises
    ------
    VifidelError
        If the image id cannot be a file name or the file cannot be written.
    """
    name = str(image_id)
    if not name or os.path.basename(name) != name or name in (os.curdir, os.pardir):
        raise VifidelError(f"the image id {image_id!r} cannot be the name of a file in {folder}.")
    content = io.BytesIO()
    np.savez(
        content,
        features=regions.features,
        boxes=regions.boxes,
        width=regions.width,
        height=regions.height,
    )
    path = Path(folder) / f"{name}.npz"
    write_whole(path, content.getvalue())
    return path
