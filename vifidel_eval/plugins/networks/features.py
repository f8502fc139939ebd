"""Features of images: found by id, checked and pinned before the first score, encoded once."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ...errors import ImageIdError, VifidelError
from ...io.image_ids import ImageId, match, mismatch, to_json_value

# So many images are read before they are encoded: bounds memory.
_IMAGES_AT_ONCE = 32

_Content = TypeVar("_Content")


class Features(ABC, Generic[_Content]):
    """The features of many images, each read when it is asked for.

    Parameters
    ----------
    where : str
        The file or folder, for messages.
    images : mapping
        Image id to where the image is.
    """

    def __init__(self, where: str, images: Mapping[ImageId, Any]) -> None:
        self._where = where
        self._images = images

    @abstractmethod
    def read(self, image: ImageId) -> _Content:
        """Return the features of an image, which is one of those that `find` returned.

        Raises
        ------
        VifidelError
            If they cannot be read or are not as described.
        """

    @abstractmethod
    def describe(self, content: _Content) -> tuple[int, str]:
        """Return how many numbers a region has, and a digest of all that `read` returned."""

    def name(self, image: ImageId) -> str:
        """Return what messages call an image."""
        return f"{self._where}: image {image!r}"

    def find(self, ids: Sequence[ImageId]) -> list[ImageId]:
        """Return the image of each id, as the source calls it.

        Parameters
        ----------
        ids : sequence
            COCO file stems find their numbers; an image's file name (``12_a.jpg``, ``3.jpg``)
            and its id without the extension (``12_a``, 3) find each other.

        Raises
        ------
        ImageIdError
            If an id is unknown or means two images of the source.
        """
        known = self._images
        try:
            found = match(ids, known)
        except ImageIdError as problem:
            raise ImageIdError(f"{self._where}: {problem}") from None
        missing = list(dict.fromkeys(image_id for image_id in ids if image_id not in found))
        if missing:
            raise mismatch(missing, known, "the captions", f"the feature side ({self._where})")
        return [found[image_id] for image_id in ids]

    def images(self) -> list[ImageId]:
        """Return the ids of all images."""
        return list(self._images)


class ImageSide:
    """The images of a run as a network sees them; threads may share it.

    Parameters
    ----------
    features : Features
        Where they come from.
    width : int
        How many numbers of a region the network reads.
    encode : callable
        From what `Features.read` returned for some images to what a caption is scored with.
    most : int
        How many bytes of that are kept for the next system; what does not fit is read and
        encoded again.
    """

    def __init__(
        self,
        features: Features[Any],
        width: int,
        encode: Callable[[list[Any]], Iterable[Any]],
        most: int,
    ) -> None:
        self._features = features
        self._width = width
        self._encode = encode
        self._kept = Kept(most)
        self._digests: dict[ImageId, str] = {}  # only ever grows, by one image at a time

    def find(self, ids: Sequence[ImageId]) -> list[ImageId]:
        """Return the image of each id, as the features call it, after a look at all of them.

        Every image is read and checked, so that what is damaged is found before the first score,
        and is encoded at once as long as there is room for it.

        Raises
        ------
        ImageIdError
            If an id is unknown.
        VifidelError
            If an image's features cannot be used.
        """
        images = self._features.find(ids)
        asked = list(dict.fromkeys(images))
        new = [image for image in asked if image not in self._digests]
        for start in range(0, len(new), _IMAGES_AT_ONCE):
            contents = {image: self._read(image) for image in new[start : start + _IMAGES_AT_ONCE]}
            if not self._kept.is_full:
                self._encoded(contents)
        return images

    def encoded(self, images: Iterable[ImageId]) -> dict[ImageId, Any]:
        """Return what a caption is scored with, of images that `find` returned."""
        wanted = list(dict.fromkeys(images))
        found = self._kept.find(wanted)
        new = [image for image in wanted if image not in found]
        return found | (self._encoded({image: self._read(image) for image in new}) if new else {})

    def signature(self, ids: Sequence[ImageId] | None = None) -> str:
        """Return how many images there are, and a digest of all their features.

        Parameters
        ----------
        ids : sequence, optional
            The images that were scored; by default all that the source has.
        """
        images = dict.fromkeys(self.find(self._features.images() if ids is None else ids))
        lines = sorted(f"{to_json_value(i)!r}:{self._digests[i]}\n" for i in images)
        digest = hashlib.sha256("".join(lines).encode(errors="backslashreplace"))
        return f"{len(lines)}#{digest.hexdigest()[:8]}"

    def _read(self, image: ImageId) -> Any:
        content = self._features.read(image)
        width, digest = self._features.describe(content)
        if width != self._width:
            raise VifidelError(
                f"{self._features.name(image)}: features of length {width}, but the checkpoint "
                f"reads {self._width}; give those of the detector that belongs to it."
            )
        if self._digests.setdefault(image, digest) != digest:
            raise VifidelError(
                f"{self._features.name(image)}: its features have changed since they were "
                "first read; start again."
            )
        return content

    def _encoded(self, contents: Mapping[ImageId, Any]) -> dict[ImageId, Any]:
        encoded = dict(zip(contents, self._encode(list(contents.values())), strict=True))
        self._kept.keep(encoded)
        return encoded


class Kept:
    """What the next system can use again, up to a number of bytes; threads may share it.

    What is kept stays, and is never needed for a right answer: who does not find a value computes
    it.

    Parameters
    ----------
    most : int
        How many bytes.
    """

    def __init__(self, most: int) -> None:
        self._values: dict[Any, Any] = {}
        self._room = most
        self._lock = threading.Lock()  # of the room: a value that several threads keep counts once
        self.is_full = most <= 0

    def find(self, keys: Iterable[Any]) -> dict[Any, Any]:
        """Return those of the values that are kept."""
        return {key: self._values[key] for key in keys if key in self._values}

    def keep(self, values: Mapping[Any, Any]) -> None:
        """Keep values that fit: whatever says how large it is by ``nbytes``."""
        for key, value in values.items():
            with self._lock:
                if key in self._values:
                    continue
                if value.nbytes <= self._room:
                    self._room -= value.nbytes
                    self._values[key] = value
                else:
                    self.is_full = True
