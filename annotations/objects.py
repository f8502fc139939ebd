"""Object labels of images, which every reader of this package returns; several sources in one."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from ..errors import AnnotationError, VifidelWarning
from ..io.arguments import named_if_wrong
from ..io.image_ids import (
    ImageId,
    are_row_numbers,
    check_distinct,
    match,
    mismatch,
    to_json_value,
)
from .labels import NO_CATEGORY, clean_label

# From this many images on, detections that know fewer than half of them are of other images.
_ENOUGH_TO_JUDGE = 10


# What helps where captions have no image ids, but row numbers.
_BY_ROW = (
    ', or give the objects by row: as a list in the order of the captions, [["dog"], ["cat"]], or '
    'as {0: ["dog"]}'
)


class _Content(NamedTuple):
    images: dict[ImageId, dict[str, int]]
    categories: frozenset[str]
    asked: dict[ImageId, frozenset[str]] | None
    unsure: int


class ObjectLabels(Mapping[ImageId, Mapping[str, int]]):
    """The object labels of each image with their counts, read-only: ``{42: {"dog": 2}}``.

    Beside them it has what was looked for, where the source says so: what was looked for and has
    no count is not in the image. A label that is not there is never among the counts.

    Nothing in it can change after it was made. It equals any mapping with the same counts, and
    other object labels if the same was looked for. A pickle holds the content, or, where that was
    read from files, only their paths: the files are then read again when the content is first
    needed.

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
        Whether an image without objects has an entry too. Detection results have none, so an
        id that is missing there is an image in which nothing was found.
    categories : iterable of str
        The names that the source looked for in every image, where it lists them.
    asked : mapping, optional
        Image id to the labels that were looked for in that image, there or not, as `clean_label`
        returns them; labels with a count need not be listed. An image that has no entry was asked
        nothing beyond `categories`. None if the format does not say what was looked for; where it
        does, if only by `categories`, give a mapping, so that signatures tell sources apart that
        looked for different things.
    unsure : int
        How many answers of the source leave open whether something is there.
    leaves_out : bool
        Whether something has a score below the threshold.

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
    _read_again: Callable[[], ObjectLabels] | None

    @named_if_wrong
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
    ) -> None:
        counts: dict[ImageId, dict[str, int]] = {
            image_id: {label: number for label, number in labels.items() if number}
            for image_id, labels in images.items()
        }
        looked_for: dict[ImageId, frozenset[str]] | None = None
        if asked is not None:
            looked_for = {
                image_id: frozenset(of_image).union(counts.setdefault(image_id, {}))
                for image_id, of_image in asked.items()
            }
        check_distinct(counts, where)
        vars(self).update(
            _content=_Content(
                counts,
                frozenset(clean_label(name) for name in categories if name != NO_CATEGORY),
                looked_for,
                unsure,
            ),
            kind=kind,
            where=where,
            threshold=threshold,
            lists_every_image=lists_every_image,
            leaves_out=leaves_out,
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
            return mine.images == theirs.images if unsaid else mine == theirs
        return self._content.images == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._content.images))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name!r} cannot be set: object labels cannot be changed.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name!r} cannot be deleted: object labels cannot be changed.")

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

    def __copy__(self) -> ObjectLabels:
        return self

    def __deepcopy__(self, memo: object) -> ObjectLabels:
        return self

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
        """Return all labels that the source knows: its categories, and every label it gives.

        What was looked for in single images and found in none is not among them.
        """
        return self.categories.union(*self._content.images.values())

    def of_images(self, ids: Sequence[ImageId]) -> list[Mapping[str, int]]:
        """Return the labels of each of `ids`; a COCO file stem finds its number.

        The mappings are the ones that are kept here, so that large batches cost nothing: read
        them, do not change them.

        Raises
        ------
        ImageIdError
            If an id is unknown. Where the source does not list images without objects, ids may
            be missing as long as most are known.
        """
        images = self._content.images
        nothing: dict[str, int] = {}
        return [nothing if known is None else images[known] for known in self._known(ids)]

    def check_images(self, ids: Sequence[ImageId]) -> None:
        """Check that a run's images are known; warn if their ids may only number its rows.

        The image ids are those of all the run, each once.

        Raises
        ------
        ImageIdError
            As `of_images` raises it.
        """
        self._known(ids)
        if are_row_numbers(ids) and len(self) > len(ids):
            warnings.warn(
                f"the captions' ids are 0 to {len(ids) - 1} in this order, and the image side "
                f"({self.where}) knows {len(self)} images; if they are row numbers, the scores are "
                f"those of other images: write image ids{_BY_ROW}.",
                VifidelWarning,
                stacklevel=4,
            )

    def asked_of(self, ids: Sequence[ImageId]) -> list[frozenset[str] | None]:
        """Return what was looked for in each of `ids`, which are found as by `of_images`.

        That is labels, there or not; None where the source does not say it of this image. What it
        looked for in every image is in `categories` only.
        """
        asked = self._content.asked
        if not asked:
            return [None] * len(ids)
        return [None if known is None else asked.get(known) for known in self._known(ids)]

    def _known(self, ids: Sequence[ImageId]) -> Sequence[ImageId | None]:
        """Return the source's own id of each of `ids`; None for one that it may lack."""
        images = self._content.images
        if all(image_id in images for image_id in ids):
            return ids
        matched = match(ids, images)
        missing = [image_id for image_id in ids if image_id not in matched]
        if missing and (
            self.lists_every_image
            or (len(ids) >= _ENOUGH_TO_JUDGE and 2 * len(missing) > len(ids))
            or (not matched and {type(i) for i in missing}.isdisjoint(type(i) for i in images))
        ):
            where = f"the image side ({self.where})"
            raise mismatch(missing, images, "the captions", where, ids, _BY_ROW)
        return [matched.get(image_id) for image_id in ids]

    def signature(self) -> str:
        """Return kind, threshold and a digest of the content, as scorers' signatures show it.

        Where the source says what was looked for, so does the signature: ``asked:image`` of each
        image, ``asked:classes`` of all alike.
        """
        return f"{self.source()}{self._asked_by}#{self._digest[:8]}"

    def pickled_as(self, read_again: Callable[[], ObjectLabels]) -> ObjectLabels:
        """Return the same labels, whose pickle holds `read_again` instead of the content."""
        same = object.__new__(ObjectLabels)
        vars(same).update(vars(self), _read_again=read_again)
        return same

    def source(self) -> str:
        """Return kind and threshold, as signatures show them."""
        return self.kind + from_threshold(self.threshold)

    def looked_for(self, image_id: ImageId) -> frozenset[str] | None:
        """Return what was looked for in an image that has an entry, in every image or in it.

        None if the source does not say it.
        """
        content = self._content
        of_image = None if content.asked is None else content.asked.get(image_id)
        if of_image is None:
            return content.categories or None
        return of_image | content.categories if content.categories else of_image

    def renamed(self, ids: Mapping[ImageId, ImageId]) -> ObjectLabels:
        """Return the same labels of some images under other ids.

        `ids` has the id of each image that is kept, with its new one; an image that is not known
        becomes one without objects.
        """
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
        """What signatures say of what was looked for."""
        content = self._content
        if content.asked is None:
            return ""
        by_image = "+asked:image" if content.asked else ""
        return by_image + ("+asked:classes" if content.categories else "")

    @cached_property
    def _digest(self) -> str:
        content = self._content
        lines = _sorted_lines({i: labels.items() for i, labels in content.images.items()})
        if content.asked is not None:
            lines += [f"asked:{line}" for line in _sorted_lines(content.asked)]
            lines.append(f"classes:{sorted(content.categories)!r}\n")
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


def from_threshold(threshold: float | None) -> str:
    """Return a threshold as signatures show it: ``>=0.6``, or nothing where there are no scores."""
    return "" if threshold is None else f">={threshold:g}"


def _sorted_lines(images: Mapping[ImageId, Collection[Any]]) -> list[str]:
    """Return a line for each image, whatever the order of images and of what each has."""
    pairs = sorted((repr(to_json_value(image_id)), sorted(of)) for image_id, of in images.items())
    return [f"{key}:{listed!r}\n" for key, listed in pairs]


@named_if_wrong
def union(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Unite several sources as the VIFIDEL paper does (section 4.1): each label once per image.

    A single source stays as it is, with its counts. Ids of later sources that are COCO file
    stems join the numbers of the first. What one of them found is there, whatever others say; what
    none found and one looked for is not.

    Raises
    ------
    AnnotationError
        If there is no source.
    ImageIdError
        If a source shares no image with those before it.
    """
    sources = list(sources)
    if not sources:
        raise AnnotationError("a union needs at least one source of objects.")
    first = sources[0]
    if len(sources) == 1:
        return first
    united: dict[ImageId, dict[str, int]] = {}
    asked: dict[ImageId, frozenset[str]] = {}
    by_image = any(source.says_what_was_asked for source in sources)
    for source in sources:
        same_image = match(source, united)
        if source and united and not same_image:
            raise mismatch(source, united, source.where, first.where)
        for image_id, labels in source.items():
            same = same_image.get(image_id, image_id)
            united.setdefault(same, {}).update(dict.fromkeys(labels, 1))
            looked_for = source.looked_for(image_id) if by_image else None
            if looked_for is not None:
                asked[same] = asked[same] | looked_for if same in asked else looked_for
    return ObjectLabels(
        united,
        kind=f"union({'+'.join(source.source() for source in sources)})",
        where=" + ".join(source.where for source in sources),
        lists_every_image=any(source.lists_every_image for source in sources),
        # What one source looked for in all its images was not looked for in another's.
        categories=(
            () if by_image else frozenset().union(*(source.categories for source in sources))
        ),
        asked=asked if by_image else None,
        unsure=sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
    )


@named_if_wrong
def agreed(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Return what several sources agree on: each label once per image, as in a union.

    What all of them found is there, what all of them looked for and none found is not. Where they
    differ, or one of them did not look, nothing is said; the first is counted as unsure.

    Parameters
    ----------
    sources : iterable of ObjectLabels
        Two or more, each of which says what it looked for. Images that one of them lacks are left
        out.

    Raises
    ------
    AnnotationError
        If there are fewer than two, or one does not say what it looked for.
    ImageIdError
        If a source shares no image with the first.

    Examples
    --------
    >>> from vifidel_eval.annotations import read_objects
    >>> first = read_objects({7: {"dog": 1, "lamp": 1, "nut": 0}})
    >>> both = agreed([first, read_objects({7: {"dog": 2, "lamp": 0, "nut": 0}})])
    >>> dict(both[7]), sorted(both.asked_of([7])[0]), both.unsure
    ({'dog': 1}, ['dog', 'nut'], 1)
    """
    sources = list(sources)
    if len(sources) < 2:
        raise AnnotationError("agreement needs two sources of objects; give another one.")
    for source in sources:
        if not (source.says_what_was_asked or source.categories):
            raise AnnotationError(
                f"{source.where}: does not say what was looked for, so that it cannot agree with "
                "another source that something is not there; give labels that were looked for and "
                "are not there a count of 0."
            )
    first = sources[0]
    asked = {image_id: first.looked_for(image_id) or frozenset() for image_id in first}
    there = {image_id: frozenset(labels) for image_id, labels in first.items()}
    differing: dict[ImageId, set[str]] = {image_id: set() for image_id in first}
    for source in sources[1:]:
        theirs = match(asked, source)
        if not theirs:
            raise mismatch(source, asked, source.where, first.where)
        asked = {
            image_id: asked[image_id] & (source.looked_for(other) or frozenset())
            for image_id, other in theirs.items()
        }
        for image_id, other in theirs.items():
            differing[image_id] |= there[image_id] ^ source[other].keys()
    judged = {image_id: of_image - differing[image_id] for image_id, of_image in asked.items()}
    return ObjectLabels(
        {i: dict.fromkeys(sorted(there[i] & of_image), 1) for i, of_image in judged.items()},
        f"agreed({'+'.join(source.source() for source in sources)})",
        " and ".join(source.where for source in sources),
        lists_every_image=all(source.lists_every_image for source in sources),
        asked=judged,
        unsure=sum(len(of_image & differing[i]) for i, of_image in asked.items())
        + sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
    )
