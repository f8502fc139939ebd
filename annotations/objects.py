"""Object labels of images, which every reader of this package returns, and boxes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from ..doors.arguments import name_wrong_argument
from ..errors import AnnotationError, warn
from ..io.image_ids import (
    ImageId,
    are_row_numbers,
    check_distinct,
    match,
    mismatch,
    names_image,
    to_json_value,
)
from .labels import CLEAN, NO_NAME, ImageAttributes
from .tags import NAMES_IN

# From this many images on, detections that know fewer than half of them are of other images.
_ENOUGH_TO_JUDGE = 10

# What helps where captions have no image ids, but row numbers.
_BY_ROW = (
    ', or give the objects by row: as a list in the order of the captions, [["dog"], ["cat"]], or '
    'as {0: ["dog"]}'
)


class Box(NamedTuple):
    """An object in an image, with its label as `ObjectLabels` has it.

    `x` and `y` are its upper left corner, from that of the image; `width` and `height` are positive
    and in the same unit. A detection has a `score`.
    """

    label: str
    x: float
    y: float
    width: float
    height: float
    score: float | None = None


@dataclass(frozen=True)
class ImageBoxes:
    """The boxes of an image, in the order of the source."""

    boxes: list[Box]
    #: Width and height of the image in the unit of the boxes; None where the source does not say
    #: it, and boxes are pixels.
    size: tuple[float, float] | None = None


class _Content(NamedTuple):
    images: dict[ImageId, dict[str, int]]
    categories: frozenset[str]
    asked: dict[ImageId, frozenset[str]] | None
    unsure: int
    attributes: Mapping[ImageId, ImageAttributes] | None = None


class ObjectLabels(Mapping[ImageId, Mapping[str, int]]):
    """The object labels of each image with their counts, read-only: ``{42: {"dog": 2}}``.

    A label that was looked for and has no count is not in the image. It equals any mapping with the
    same counts, and other object labels if the same was looked for. If it was read from files, its
    pickle holds their paths: they are read again when first needed.

    Parameters
    ----------
    images : mapping
        Image id to label to count, the labels as `clean_label` returns them; copied.
    kind : str
        The format they came from, for signatures, e.g. ``"coco-instances"``.
    where : str
        The file or folder, for messages.
    threshold : float, optional
        The lowest score that counted; None if the source has no scores.
    lists_every_image : bool
        Whether an image without objects has an entry too; detection results have none.
    categories : iterable of str
        The names that the source looked for in every image, if it lists them.
    asked : mapping, optional
        Image id to the labels that were looked for in that image, there or not; those with a count
        need not be listed. None if the format does not say it, not even by `categories`.
    unsure : int
        How many answers of the source leave open whether something is there.
    leaves_out : bool
        Whether any label has a score below the threshold.
    other_ids : mapping, optional
        Ids that captions may have for an image instead of its own, such as its file name, and its
        own.

    Raises
    ------
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    AnnotationError
        When an unpickled object reads its files again and they are missing or have changed.
    """

    kind: str
    where: str
    threshold: float | None
    lists_every_image: bool
    leaves_out: bool
    other_ids: Mapping[ImageId, ImageId]
    _read_again: Callable[[], ObjectLabels] | None

    @name_wrong_argument
    def __init__(
        self,
        images: Mapping[ImageId, Mapping[str, int]],
        kind: str,
        where: str,
        threshold: float | None = None,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
        *,
        asked: Mapping[ImageId, Collection[str]] | None = None,
        unsure: int = 0,
        leaves_out: bool = False,
        other_ids: Mapping[ImageId, ImageId] | None = None,
    ) -> None:
        counts = {
            image_id: {label: number for label, number in labels.items() if number}
            for image_id, labels in images.items()
        }
        by_image = None
        if asked is not None:
            by_image = {
                image_id: frozenset(labels).union(counts.setdefault(image_id, {}))
                for image_id, labels in asked.items()
            }
        check_distinct(counts, where)
        names = frozenset(CLEAN[name] for x in categories for name in NAMES_IN[x]) - NO_NAME
        vars(self).update(
            _content=_Content(counts, names, by_image, unsure),
            kind=kind,
            where=where,
            threshold=threshold,
            lists_every_image=lists_every_image,
            leaves_out=leaves_out,
            other_ids=other_ids or {},
            _read_again=None,
        )

    def __getitem__(self, image_id: ImageId) -> Mapping[str, int]:
        return MappingProxyType(self._content.images[image_id])

    def __iter__(self) -> Iterator[ImageId]:
        return iter(self._content.images)

    def __len__(self) -> int:
        return len(self._content.images)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        if isinstance(other, ObjectLabels):
            mine, theirs = self._content, other._content
            unsaid = mine.asked is None and theirs.asked is None
            same = mine.images == theirs.images and mine.attributes == theirs.attributes
            return same if unsaid else mine == theirs
        return self._content.images == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._content.images))

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(f"{name!r} cannot be set or deleted: object labels are immutable.")

    __delattr__ = __setattr__

    def __repr__(self) -> str:
        holds = "not read yet"
        if "_content" in vars(self):
            images, labels = len(self), len(self.vocabulary())
            holds = f"{images} image{'s' * (images != 1)}, {labels} label{'s' * (labels != 1)}"
            if self.denied:
                holds += f", {self.denied} not there"
            if self.unsure:
                holds += f", {self.unsure} unsure"
        return f"<ObjectLabels {self.source()}: {holds}, {self.where}>"

    def __deepcopy__(self, memo: object = None) -> ObjectLabels:
        return self

    __copy__ = __deepcopy__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self._read_again is not None:
            state["_digest"] = self._digest
            state["_asked_by"] = self._asked_by
            state.pop("_content", None)
        return state

    @property
    def categories(self) -> frozenset[str]:
        """The labels that the source looked for in every image, where it lists them; else none."""
        return self._content.categories

    @property
    def says_what_was_asked(self) -> bool:
        """Whether the source says what was looked for, image by image or by its categories."""
        return self._content.asked is not None

    @property
    def unsure(self) -> int:
        """How many answers of the source leave open whether something is there."""
        return self._content.unsure

    @property
    def denied(self) -> int:
        """How many labels were looked for in a certain image and are not there, in all images."""
        images = self._content.images
        asked = self._content.asked or {}
        return sum(len(labels) - len(images[image_id]) for image_id, labels in asked.items())

    def vocabulary(self) -> frozenset[str]:
        """Return all labels that the source knows: its categories, and every label it gives."""
        return self.categories.union(*self._content.images.values())

    def names_denied(self) -> frozenset[str]:
        """Return all labels that were looked for in a certain image and are not there."""
        images = self._content.images
        asked = self._content.asked or {}
        return frozenset().union(*(labels - images[i].keys() for i, labels in asked.items()))

    def of_images(self, ids: Sequence[ImageId]) -> list[Mapping[str, int]]:
        """Return the labels of each of `ids`, not copied; a COCO file stem finds its number.

        An unknown id is an `ImageIdError`, unless most are known and the source does not list
        images without objects.
        """
        images = self._content.images
        return [{} if own_id is None else images[own_id] for own_id in self._known(ids)]

    def check_images(self, ids: Sequence[ImageId]) -> None:
        """Check that images, each once, are known; warn if they may only number the rows."""
        self._known(ids)
        if are_row_numbers(ids) and len(self) > len(ids):
            warn(
                f"the captions' ids are 0 to {len(ids) - 1} in this order, and the image side "
                f"({self.where}) has {len(self)} images; if these ids are row numbers, captions "
                f"are scored against wrong images: write image ids{_BY_ROW}."
            )

    def asked_of(self, ids: Sequence[ImageId]) -> list[frozenset[str] | None]:
        """Return what was looked for in each of `ids`, there or not; None where it is not said.

        What was looked for in every image is in `categories` only.
        """
        asked = self._content.asked
        if not asked:
            return [None] * len(ids)
        return [None if own_id is None else asked.get(own_id) for own_id in self._known(ids)]

    def _known(self, ids: Sequence[ImageId]) -> Sequence[ImageId | None]:
        """Return the source's own id of each of `ids`; None for one that it may lack."""
        images = self._content.images
        if all(image_id in images for image_id in ids):
            return ids
        matched = self.own_ids(ids)
        missing = [image_id for image_id in ids if image_id not in matched]
        if missing and (
            self.lists_every_image
            or (len(ids) >= _ENOUGH_TO_JUDGE and 2 * len(missing) > len(ids))
            or (not matched and {type(i) for i in missing}.isdisjoint(type(i) for i in images))
        ):
            where = f"the image side ({self.where})"
            raise mismatch(missing, images, "the captions", where, ids, _BY_ROW)
        return [matched.get(image_id) for image_id in ids]

    def own_ids(self, ids: Iterable[ImageId]) -> dict[ImageId, ImageId]:
        """Return the source's own id of each of `ids` that it knows, by that or another name.

        File names that the source lists go first: its image 8 may be ``7.jpg``.
        """
        images, others = self._content.images, self.other_ids
        if not others:
            return match(ids, images)
        names = [i for i in ids if i not in images and isinstance(i, str) and not i.isdigit()]
        files = [name for name in names if names_image(name)]
        own = {i: others[name] for i, name in match(files, others).items()}
        own |= match([image_id for image_id in ids if image_id not in own], images)
        lost = [image_id for image_id in ids if image_id not in own]
        return own | {i: others[name] for i, name in match(lost, others).items()}

    def signature(self) -> str:
        """Return kind, threshold and a digest of the content, as scorers' signatures show it.

        What was looked for is ``asked:image`` of each image, ``asked:classes`` of all alike;
        ``attributes`` says that there are some.
        """
        return f"{self.source()}{self._asked_by}#{self._digest[:8]}"

    def pickled_as(self, read_again: Callable[[], ObjectLabels]) -> ObjectLabels:
        """Return the same labels, whose pickle holds `read_again` instead of the content."""
        copy = object.__new__(ObjectLabels)
        vars(copy).update(vars(self), _read_again=read_again)
        return copy

    def described(self, attributes: Mapping[ImageId, ImageAttributes]) -> ObjectLabels:
        """Return the same labels with attributes, by this source's own image ids."""
        copy, content = object.__new__(ObjectLabels), self._content._replace(attributes=attributes)
        vars(copy).update(vars(self), _content=content, _read_again=None)
        for cached in ("_asked_by", "_digest"):
            vars(copy).pop(cached, None)
        return copy

    def attributes_of(self, ids: Sequence[ImageId]) -> list[ImageAttributes] | None:
        """Return the attributes of each of `ids`; None as a whole if the source has none."""
        attributes = self._content.attributes
        if attributes is None:
            return None
        nothing = ImageAttributes({}, {})
        return [attributes.get(own_id, nothing) for own_id in self._known(ids)]

    def source(self) -> str:
        """Return kind and threshold, as signatures show them."""
        return self.kind + ("" if self.threshold is None else f">={self.threshold:g}")

    def asked_about(self, image_id: ImageId) -> frozenset[str] | None:
        """Return what was looked for in an image or in every image; None if that is not said."""
        content = self._content
        of_image = None if content.asked is None else content.asked.get(image_id)
        if of_image is None:
            return content.categories or None
        return of_image | content.categories if content.categories else of_image

    def renamed(self, ids: Mapping[ImageId, ImageId]) -> ObjectLabels:
        """Return the same labels of some images, the keys of `ids`, under other ids."""
        content, asked = self._content, None
        if content.asked is not None:
            asked = {new: content.asked[old] for old, new in ids.items() if old in content.asked}
        return ObjectLabels(
            {new: content.images.get(old, {}) for old, new in ids.items()},
            self.kind,
            self.where,
            self.threshold,
            categories=content.categories,
            asked=asked,
            unsure=content.unsure,
            leaves_out=self.leaves_out,
        )

    @cached_property
    def _asked_by(self) -> str:
        """What signatures say of what was looked for, and that there are attributes."""
        content, says_asked = self._content, self._content.asked is not None
        by_image = "+asked:image" if content.asked else ""
        by_image += "+asked:classes" if says_asked and content.categories else ""
        return by_image + ("" if content.attributes is None else "+attributes")

    @cached_property
    def _digest(self) -> str:
        content = self._content
        lines = _sorted_lines({i: labels.items() for i, labels in content.images.items()})
        if content.asked is not None:
            lines += [f"asked:{line}" for line in _sorted_lines(content.asked)]
            lines.append(f"classes:{sorted(content.categories)!r}\n")
        for image_id, (objects, scene, partly) in (content.attributes or {}).items():
            pairs = sorted((label, sorted(listed.items())) for label, listed in objects.items())
            listed = pairs, sorted(scene.items()), sorted(partly)
            lines.append(f"attributes:{to_json_value(image_id)!r}:{listed!r}\n")
        digest = hashlib.sha256()
        for line in lines:
            digest.update(line.encode())
        return digest.hexdigest()

    @cached_property
    def _content(self) -> _Content:
        """What a pickle left out; everything else is made with its content."""
        assert self._read_again is not None
        now = self._read_again()
        if now._digest != self._digest:
            raise AnnotationError(
                f"{self.where}: the objects were {self.signature()} when they were pickled and "
                f"are {now.signature()} now; pickle them again, or restore the file."
            )
        return now._content


def _sorted_lines(images: Mapping[ImageId, Collection[Any]]) -> list[str]:
    """Return a line for each image, whatever the order of images and of what each has."""
    pairs = sorted((repr(to_json_value(i)), sorted(labels)) for i, labels in images.items())
    return [f"{key}:{listed!r}\n" for key, listed in pairs]
