"""Object labels of images: what every reader of this package returns."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from ..errors import AnnotationError
from ..image_ids import ImageId, check_distinct, match, mismatch, to_json_value
from ..nfc import nfc

#: Detections of COCO's 80 categories count from this score on (VIFIDEL paper, section 4.1, D80).
DETECTION_THRESHOLD = 0.6
#: Open Images detections count from this score on (VIFIDEL paper, section 4.1, D500).
OPEN_IMAGES_THRESHOLD = 0.4

# PASCAL VOC writes these categories as one word.
_RUN_TOGETHER = {
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}
_SENSE = re.compile(r"(?<=\S) ?\([^()]*\)")
_CLEANED_NAMES_KEPT = 1 << 14

#: The name that DETR's COCO models give to category ids which COCO does not use.
NO_CATEGORY = "N/A"

#: The longest names of categories, LVIS's with their senses, have about 40 characters.
LONGEST_NAME = 1000

#: Single precision may round a score of 1 up.
HIGHEST_SCORE = 1.001

#: Counts up to here are whole numbers in float64 too.
HIGHEST_COUNT = 1 << 53

# From this many images on, detections that know fewer than half of them are of other images.
_ENOUGH_TO_JUDGE = 10


class _Content(NamedTuple):
    images: dict[ImageId, dict[str, int]]
    categories: frozenset[str]


class ObjectLabels(Mapping[ImageId, Mapping[str, int]]):
    """The object labels of each image with their counts, read-only: ``{42: {"dog": 2}}``.

    Nothing in it can change after it was made. It equals any mapping with the same content. A
    pickle holds the content, or, where that was read from files, only their paths: the files are
    then read again when the content is first needed.

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
        The names that the source looked for, where it lists them.

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
    _read_again: Callable[[], ObjectLabels] | None

    def __init__(
        self,
        images: Mapping[ImageId, Mapping[str, int]],
        kind: str,
        where: str,
        threshold: float | None = None,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
    ) -> None:
        check_distinct(images, where)
        vars(self).update(
            _content=_Content(
                {image_id: dict(labels) for image_id, labels in images.items()},
                frozenset(clean_label(name) for name in categories if name != NO_CATEGORY),
            ),
            kind=kind,
            where=where,
            threshold=threshold,
            lists_every_image=lists_every_image,
            _read_again=None,
        )

    def __getitem__(self, image_id: ImageId) -> Mapping[str, int]:
        return MappingProxyType(self._content.images[image_id])

    def __iter__(self) -> Iterator[ImageId]:
        return iter(self._content.images)

    def __len__(self) -> int:
        return len(self._content.images)

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._content.images

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
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
        return f"<ObjectLabels {self._source()}: {holds}, {self.where}>"

    def __copy__(self) -> ObjectLabels:
        return self

    def __deepcopy__(self, memo: object) -> ObjectLabels:
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self._read_again is not None:
            state["_digest"] = self._digest
            state.pop("_content", None)
        return state

    @property
    def categories(self) -> frozenset[str]:
        """The labels that the source looked for, where it lists them; else none."""
        return self._content.categories

    def vocabulary(self) -> frozenset[str]:
        """Return all labels that the source knows: its categories, and every label it gives."""
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
        found = [images.get(image_id) for image_id in ids]
        if None not in found:
            return found  # type: ignore[return-value]
        matched = match(ids, images)
        missing = [image_id for image_id in ids if image_id not in matched]
        if missing and (
            self.lists_every_image
            or (len(ids) >= _ENOUGH_TO_JUDGE and 2 * len(missing) > len(ids))
            or (not matched and {type(i) for i in missing}.isdisjoint(type(i) for i in images))
        ):
            raise mismatch(missing, images, "the captions", f"the image side ({self.where})")
        nothing: dict[str, int] = {}
        return [images[matched[i]] if i in matched else nothing for i in ids]

    def signature(self) -> str:
        """Return kind, threshold and a digest of the content, as scorers' signatures show it."""
        return f"{self._source()}#{self._digest[:8]}"

    def pickled_as(self, read_again: Callable[[], ObjectLabels]) -> ObjectLabels:
        """Return the same labels, whose pickle holds `read_again` instead of the content.

        Parameters
        ----------
        read_again : callable
            Reads the same labels from where they came from; can be pickled.
        """
        same = object.__new__(ObjectLabels)
        vars(same).update(vars(self), _read_again=read_again)
        return same

    def _source(self) -> str:
        return self.kind + from_threshold(self.threshold)

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for key, labels in sorted(
            (repr(to_json_value(image_id)), sorted(labels.items()))
            for image_id, labels in self._content.images.items()
        ):
            digest.update(f"{key}:{labels!r}\n".encode())
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


def count(labels: dict[str, int], name: str, number: int = 1, at: str = "") -> None:
    """Count instances of a category; its name is cleaned by `clean_label`.

    DETR's ``N/A`` is not a category. Messages begin with `at`, the file and the entry.

    Raises
    ------
    AnnotationError
        If nothing is left of the name, or it is longer than any name.
    """
    if name == NO_CATEGORY:
        return
    before = f"{at}: " if at else ""
    if len(name) > LONGEST_NAME:
        raise AnnotationError(
            f"{before}the label {name!r:.40} is {len(name)} characters long; at most "
            f"{LONGEST_NAME} are read: is it a label?"
        )
    label = clean_label(name)
    if not label:
        raise AnnotationError(f"{before}the label {name!r:.40} has no word in it.")
    labels[label] = labels.get(label, 0) + number


@lru_cache(_CLEANED_NAMES_KEPT)
def clean_label(name: str) -> str:
    """Return a category name in lower case with blanks between its words.

    Underscores become blanks (LVIS), a sense in parentheses is dropped (LVIS, Open Images),
    and the names that PASCAL VOC writes as one word are split.

    >>> clean_label("bow_(decorative_ribbons)"), clean_label("tvmonitor"), clean_label("Hot dog")
    ('bow', 'tv monitor', 'hot dog')
    """
    name = name.encode(errors="replace").decode()  # JSON can spell a lone surrogate
    name = nfc(name).lower()
    name = _SENSE.sub("", " ".join(name.replace("_", " ").split()))
    return _RUN_TOGETHER.get(name, name)


def check_threshold(threshold: float | None) -> None:
    """Raise if something is given as the lowest score that counts and is not from 0 to 1.

    Raises
    ------
    AnnotationError
        If so.
    """
    if threshold is None:
        return
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (real and 0 <= threshold <= 1):
        raise AnnotationError(f"threshold {threshold!r} is not a number between 0 and 1.")


def check_score(score: Any, where: str) -> float:
    """Return a detection's score as a float.

    Raises
    ------
    AnnotationError
        If it is not a finite number; `where` names the file and the entry.
    """
    try:
        # NumPy's and PyTorch's scalars say what they are; float() drops an imaginary part.
        value = score.item() if hasattr(score, "item") else score
        real = isinstance(value, Real) and not isinstance(value, bool)
        number = float(value) if real else math.nan
    except (TypeError, ValueError, OverflowError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise AnnotationError(f"{where}: score {score!r:.40} is not a number; write a number.")
    if number < 0:
        raise AnnotationError(f"{where}: score {score!r:.40} is negative; scores are from 0 to 1.")
    if number > HIGHEST_SCORE:
        raise AnnotationError(
            f"{where}: score {score!r:.40} is above 1; divide percentages by 100."
        )
    return number


def from_threshold(threshold: float | None) -> str:
    """Return a threshold as signatures show it: ``>=0.6``, or nothing where there are no scores."""
    return "" if threshold is None else f">={threshold:g}"


def union(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Unite several sources as the VIFIDEL paper does (section 4.1): each label once per image.

    A single source stays as it is, with its counts. Ids of later sources that are COCO file
    stems join the numbers of the first.

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
    for source in sources:
        same_image = match(source, united)
        if source and united and not same_image:
            raise mismatch(source, united, source.where, first.where)
        for image_id, labels in source.items():
            together = united.setdefault(same_image.get(image_id, image_id), {})
            together.update(dict.fromkeys(labels, 1))
    return ObjectLabels(
        united,
        kind=f"union({'+'.join(source._source() for source in sources)})",
        where=" + ".join(source.where for source in sources),
        lists_every_image=any(source.lists_every_image for source in sources),
        categories=frozenset().union(*(source.categories for source in sources)),
    )
