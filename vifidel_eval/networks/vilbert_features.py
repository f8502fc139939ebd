"""Image regions as ViLBERT reads them: a detector's features and boxes, one ``.npz`` an image.

A file ``IMAGE_ID.npz`` holds four arrays, as ``numpy.savez`` writes them: ``features`` (regions,
2048), ``boxes`` (regions, 4) in pixels as x1, y1, x2, y2, and the image's ``width`` and
``height``. ``vifidel-eval convert-features`` makes such files from the published pickles.
"""

from __future__ import annotations

import copy
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VifidelError
from ..files import reason, write_whole
from ..image_ids import ImageId, from_json_key, match, mismatch, to_json_value

Floats32 = NDArray[np.float32]

# In an image of more pixels a side than this, boxes that all end within one are not pixels.
_TOO_LARGE_FOR_ONE_PIXEL = 16
_IMAGE_FILES = frozenset({"jpg", "jpeg", "png"})


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


class DetectorFeatures:
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

    def __init__(self, source: Any) -> None:
        self.where = "features"
        if isinstance(source, Mapping):
            self._images: Mapping[ImageId, Any] = source
        elif isinstance(source, str | os.PathLike):
            self.where = os.fspath(source)
            self._images = _Folder(Path(source))
        else:
            raise VifidelError(
                f"features cannot be {type(source).__name__} {source!r:.40}; accepted: a folder "
                "with one .npz file an image, or a mapping {image id: {'features', 'boxes', "
                "'width', 'height'}}."
            )
        self._names: Mapping[ImageId, ImageId] | None = None
        self._digests: dict[ImageId, str] = {}

    def find(self, ids: Sequence[ImageId], length: int) -> list[ImageId]:
        """Return the image of each id as the source calls it, after a look at all of them.

        Every image is read and checked once, so that what is damaged is found before the first
        score.

        Parameters
        ----------
        ids : sequence
            COCO file stems find their numbers, file names of images those without extension.
        length : int
            How long a region's feature has to be.

        Raises
        ------
        ImageIdError
            If an id is unknown.
        VifidelError
            If an image's regions cannot be read or are not as described.
        """
        images = self._located(ids)
        for image in dict.fromkeys(images):
            if image not in self._digests:
                regions = self.read(image)
                if regions.features.shape[1] != length:
                    raise VifidelError(
                        f"{self._name(image)}: features of length {regions.features.shape[1]}, "
                        f"but the checkpoint reads {length}; give those of the detector that "
                        "belongs to it."
                    )
                self._digests[image] = regions.digest()
        return images

    def read(self, image: ImageId) -> Regions:
        """Return the regions of an image, which is one of those that `find` returned.

        Raises
        ------
        VifidelError
            If they cannot be read or are not as described.
        """
        return regions_of(self._images[image], self._name(image))

    def under(self, image_of: Mapping[ImageId, ImageId]) -> DetectorFeatures:
        """Return the same features under other ids, where an image has several captions.

        The signature stays that of the source.

        Parameters
        ----------
        image_of : mapping
            The image id of each new id.

        Raises
        ------
        ImageIdError
            If an image is unknown.
        """
        renamed = copy.copy(self)
        images = self._located(list(image_of.values()))
        renamed._names = dict(zip(image_of, images, strict=True))
        return renamed

    def signature(self) -> str:
        """Return how many images were used so far, and a digest of their regions."""
        digest = hashlib.sha256()
        for line in sorted(f"{to_json_value(i)!r}:{d}\n" for i, d in self._digests.items()):
            digest.update(line.encode())
        return f"{len(self._digests)}#{digest.hexdigest()[:8]}"

    def _located(self, ids: Sequence[ImageId]) -> list[ImageId]:
        known = self._images if self._names is None else self._names
        found = match(ids, known)
        for image_id in ids:
            if image_id not in found and isinstance(image_id, str):
                stem, _, extension = image_id.rpartition(".")
                if stem in known and extension.lower() in _IMAGE_FILES:
                    found[image_id] = stem
        missing = list(dict.fromkeys(image_id for image_id in ids if image_id not in found))
        if missing:
            raise mismatch(missing, known, "the captions", f"the feature side ({self.where})")
        images = [found[image_id] for image_id in ids]
        return images if self._names is None else [self._names[image] for image in images]

    def _name(self, image: ImageId) -> str:
        if isinstance(self._images, _Folder):
            return str(self._images.files[image])
        return f"{self.where}: image {image!r}"


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
            raise VifidelError(f"{folder}: no .npz file, one an image, in this folder; {advice}.")

    def __getitem__(self, image: ImageId) -> Mapping[str, Any]:
        path = self.files[image]
        try:
            content = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
            if isinstance(content, Mapping):
                return dict(content)
            problem: Any = "a single array"
        except OSError as error:
            raise VifidelError(f"{path}: {reason(error)}.") from None
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            problem = str(error).strip().partition("\n")[0].rstrip(".")
        raise VifidelError(f"{path}: no .npz file, or damaged ({problem}); write it again.")

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
        array = np.asarray(content[name])
        if array.ndim != dimensions or array.dtype.kind not in "fiu" or not array.size:
            raise VifidelError(
                f"{where}: {name} is an array of shape {array.shape} and type {array.dtype}; "
                f"expected {'numbers, a row a region' if dimensions else 'one number'}."
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
