"""Object labels of images: what every reader of this package returns."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId, match, mismatch, to_json_value

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
_SENSE = re.compile(r"(?<=\S)[\s_]*\([^()]*\)")

# Single precision may round a score of 1 up.
_HIGHEST_SCORE = 1.001

# From this many images on, detections that know fewer than half of them are of other images.
_ENOUGH_TO_JUDGE = 10


class ObjectLabels(dict[ImageId, Counter[str]]):
    """The object labels of each image with their counts: ``{42: Counter({"dog": 2})}``.

    Parameters
    ----------
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
        The labels that the source looked for, where it lists them.
    """

    def __init__(
        self,
        kind: str,
        where: str,
        threshold: float | None = None,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.kind = kind
        self.where = where
        self.threshold = threshold
        self.lists_every_image = lists_every_image
        self.categories = frozenset(clean_label(name) for name in categories)

    def vocabulary(self) -> frozenset[str]:
        """Return all labels that the source knows: its categories, and every label it gives."""
        return self.categories.union(*self.values())

    def add(self, image_id: ImageId, name: str) -> None:
        """Count one instance of a category; its name is cleaned by `clean_label`."""
        self.setdefault(image_id, Counter())[clean_label(name)] += 1

    def of_images(self, ids: Sequence[ImageId]) -> list[Counter[str]]:
        """Return the labels of each of `ids`; a COCO file stem finds its number.

        Raises
        ------
        ImageIdError
            If an id is unknown. Where the source lists no images without objects, ids may be
            missing as long as most are known.
        """
        found = [self.get(image_id) for image_id in ids]
        if None not in found:
            return found  # type: ignore[return-value]
        matched = match(ids, self)
        missing = [image_id for image_id in ids if image_id not in matched]
        if missing and (
            self.lists_every_image
            or (len(ids) >= _ENOUGH_TO_JUDGE and 2 * len(missing) > len(ids))
            or (not matched and {type(i) for i in missing}.isdisjoint(type(i) for i in self))
        ):
            raise mismatch(missing, self, "the captions", f"the image side ({self.where})")
        nothing: Counter[str] = Counter()
        return [self[matched[i]] if i in matched else nothing for i in ids]

    def under(self, image_of: Mapping[ImageId, ImageId]) -> ObjectLabels:
        """Return the same objects under other ids, where an image has several captions.

        The signature stays that of the source.

        Parameters
        ----------
        image_of : mapping
            The image id of each new id.

        Raises
        ------
        ImageIdError
            As `of_images` raises it.
        """
        renamed = _Renamed(self)
        images = list(dict.fromkeys(image_of.values()))
        labels = dict(zip(images, self.of_images(images), strict=True))
        renamed.update((new, labels[image_id]) for new, image_id in image_of.items())
        return renamed

    def signature(self) -> str:
        """Return kind, threshold and a digest of the content, as scorers' signatures show it."""
        digest = hashlib.sha256()
        for key, labels in sorted(
            (repr(to_json_value(image_id)), sorted(labels.items()))
            for image_id, labels in self.items()
        ):
            digest.update(f"{key}:{labels!r}\n".encode())
        threshold = "" if self.threshold is None else f">={self.threshold:g}"
        return f"{self.kind}{threshold}#{digest.hexdigest()[:8]}"


class _Renamed(ObjectLabels):
    """Objects of a source under other ids."""

    def __init__(self, source: ObjectLabels) -> None:
        super().__init__(source.kind, source.where, source.threshold)
        self._source = source

    def vocabulary(self) -> frozenset[str]:
        return self._source.vocabulary()

    def signature(self) -> str:
        return self._source.signature()


def clean_label(name: str) -> str:
    """Return a category name in lower case with its words apart.

    Underscores become blanks (LVIS), a sense in parentheses goes (LVIS, Open Images), PASCAL
    VOC's run-together names are split.

    >>> clean_label("bow_(decorative_ribbons)"), clean_label("tvmonitor"), clean_label("Hot dog")
    ('bow', 'tv monitor', 'hot dog')
    """
    name = name.encode(errors="replace").decode()  # JSON can spell half a character
    name = unicodedata.normalize("NFC", name).lower()
    name = " ".join(_SENSE.sub("", name).replace("_", " ").split())
    return _RUN_TOGETHER.get(name, name)


def check_score(score: Any, where: str) -> float:
    """Return a detection's score as a float.

    Raises
    ------
    AnnotationError
        If it is not a finite number; `where` names the file and the entry.
    """
    try:
        number = math.nan if isinstance(score, bool | str) else float(score)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise AnnotationError(f"{where}: score {score!r:.40} is not a number; write a number.")
    if number > _HIGHEST_SCORE:
        raise AnnotationError(
            f"{where}: score {score!r:.40} is above 1; divide percentages by 100."
        )
    return number


def union(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Unite several sources as the VIFIDEL paper does (section 4.1): each label once an image.

    One source alone stays as it is, with its counts.

    Ids of later sources that are COCO file stems join the numbers of the first.

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
    if len(sources) == 1:
        return sources[0]
    first = sources[0]
    united = ObjectLabels(
        kind=f"union({'+'.join(source.signature().partition('#')[0] for source in sources)})",
        where=" + ".join(source.where for source in sources),
        lists_every_image=any(source.lists_every_image for source in sources),
        categories=frozenset().union(*(source.categories for source in sources)),
    )
    for source in sources:
        same_image = match(source, united)
        if source and united and not same_image:
            raise mismatch(source, united, source.where, first.where)
        for image_id, labels in source.items():
            together = united.setdefault(same_image.get(image_id, image_id), Counter())
            together.update(labels.keys() - together.keys())
    return united
