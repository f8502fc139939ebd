"""Objects from any source, recognised by its content, what users say of it; the table of formats.

`FORMATS` is the only place that knows them all: content is recognised by it, messages and help list
it, and the table of docs/objects.md is its rows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol, TypeAlias, cast

from ..errors import AnnotationError
from ..io.arguments import named_if_wrong
from ..io.containers import Content, content_of
from ..io.entries import Entries, Source, root, shows
from ..io.files import read_bytes, read_text
from ..io.image_ids import ImageId, match
from .categories import COCO_CATEGORIES, CategorySource, read_categories
from .coco import NocapsImages
from .instances import Format, ImageBoxes, Instances, check_thresholds
from .labels import NO_NAMES, clean_label
from .objects import ObjectLabels, agreed, union
from .plain import LabelList, are_rows
from .tables import columns_of

# The record of each format, in this order: the first way that recognises content reads it.
_RECORDS = (
    "coco.INSTANCES",
    "coco.RESULTS",
    "coco.PANOPTIC",
    "folders.VOC",
    "tables.IMAGE_LABELS",
    "tables.BOXES",
    "coco.NOCAPS",
    "plain.RECORDS",
    "coco.VISUAL_GENOME",
    "folders.YOLO",
    "tables.TABLE",
    "answers.DETECTED",
    "answers.ANSWERS",
    "answers.POPE",
    "answers.AMBER",
    "answers.WOODPECKER",
    "plain.ARRAYS",
    "folders.JSON",
    "plain.LABELS",
)
#: The records of all formats.
FORMATS: tuple[Format, ...] = tuple(resolve_name(f"{__package__}.{name}") for name in _RECORDS)


# The signs of a record of an image; a JSON object that has them is JSON Lines of one line.
_RECORD = (
    "image_id= image= img_path= file_name= filename= id=",
    "objects thing entity_info text",
)


class HasDataset(Protocol):
    """A pycocotools ``COCO``, or what looks like one."""

    @property
    def dataset(self) -> Any:
        """The parsed annotation file."""


#: Everything that `read_objects` takes.
ObjectSource: TypeAlias = (
    str
    | os.PathLike[str]
    | ObjectLabels
    | HasDataset
    | Mapping[Any, LabelList]
    | Sequence["ObjectSource | LabelList"]
)


@named_if_wrong
def read_objects(
    source: ObjectSource,
    threshold: float | None = None,
    categories: CategorySource = None,
    uncertain: float | None = None,
    agree: bool = False,
) -> ObjectLabels:
    """Read the object labels of images from any accepted source.

    Parameters
    ----------
    source : path, pycocotools COCO, mapping, or list of these
        A file or folder of any of the formats in `FORMATS`, recognised by its content. A mapping
        has the shape of the labels file; it is copied. A list with lists of labels in it,
        ``[["dog"], ["cat", "cat"]]``, has those of images 0, 1, ..., as `label_rows` takes them.
        Any other list is the union of its members; nocaps' images among them give the others
        nocaps' image ids.
    threshold : float, optional
        The lowest score that counts where there are scores, from 0 to 1; by default .6, and .4
        for Open Images (VIFIDEL paper, section 4.1).
    categories : path, mapping, or list of paths, optional
        Names of category ids or class indices, where the source has only these, as
        `read_categories` takes them.
    uncertain : float, optional
        The score below which something that was asked for is not in the image, from 0 to 1; from it
        on and below the lowest score that counts, nothing is said of it. By default nothing is
        between the two.
    agree : bool
        Whether the members of a list must agree: instead of their union, what all of them found is
        there, and what all of them looked for and none found is not (`agreed`).

    Returns
    -------
    ObjectLabels
        ``{image id: {label: count}}``, read-only. It pickles as paths if it was read from paths.

    Raises
    ------
    AnnotationError
        If the source cannot be read or is none of these.
    ImageIdError
        If members of a list have no image in common.
    """
    check_thresholds(threshold, uncertain)
    sources = source if isinstance(source, list | tuple) else [source]
    if are_rows(source):
        sources = [source]
    objects = _united([_read(one, threshold, categories, uncertain) for one in sources], agree)
    paths = None if are_rows(source) else _absolute(source)
    if paths is None:
        return objects
    names = dict(categories) if isinstance(categories, Mapping) else _absolute(categories)
    return objects.pickled_as(partial(read_objects, paths, threshold, names, uncertain, agree))


@named_if_wrong
def read_boxes(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    threshold: float | None = None,
    categories: CategorySource = None,
) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of the images of a source of objects, for the images that have any.

    Parameters
    ----------
    source : path or list of paths
        What `read_objects` has read; formats without boxes have none. Of several sources that have
        boxes for an image, the first counts.
    threshold, categories : optional
        As for `read_objects`.

    Raises
    ------
    AnnotationError
        As `read_objects` raises it.
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    names = read_categories(categories)
    sources = [Instances(str(path), threshold, names, keep_boxes=True) for path in paths]
    labels = [_read_content(_content(Path(found.where)), found) for found in sources]
    united: dict[ImageId, ImageBoxes] = {}
    for found in sources:
        boxes = found.boxes or {}
        for images in labels:
            if isinstance(images, NocapsImages):
                boxes = images.rename_boxes(boxes)
        same_image = match(boxes, united)
        for image_id, boxes_of_image in boxes.items():
            united.setdefault(same_image.get(image_id, image_id), boxes_of_image)
    return united


def _read(
    source: ObjectSource,
    threshold: float | None,
    categories: CategorySource,
    uncertain: float | None,
) -> ObjectLabels | NocapsImages:
    """Read one source, or a list as the union of its members."""
    if isinstance(source, ObjectLabels):
        if threshold is not None:
            raise AnnotationError(
                "a threshold has no effect on objects that have already been read; give it to "
                "read_objects when reading them."
            )
        return source
    rows = are_rows(source)
    if isinstance(source, list | tuple) and not rows:
        return read_objects(source, threshold, categories, uncertain)
    names = NO_NAMES if categories is None else read_categories(categories)
    dataset = getattr(source, "dataset", None)
    memory = Source("objects", AnnotationError)
    if isinstance(source, str | os.PathLike):
        if source == "":
            raise AnnotationError("objects: the path is empty.")
        content = _content(Path(source))
    elif isinstance(dataset, Mapping):  # a pycocotools COCO
        memory.where = "the COCO object"
        content = Content("object", root(dataset, memory), memory)
    elif rows:
        content = Content("list", Entries(cast(Any, source), memory), memory)
    elif isinstance(source, Mapping):
        content = Content("object", root(source, memory), memory)
    else:
        raise AnnotationError(
            f"objects cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
            "path, a pycocotools COCO, a mapping {image id: [label, ...]}, a list of these, or "
            "lists of labels, one for each row."
        )
    found = Instances(content.source.where, threshold, names, uncertain)
    return _read_content(content, found)


def _content(path: Path) -> Content:
    if os.path.isdir(path):
        return Content("folder", path, Source(str(path), AnnotationError))
    return content_of(read_bytes(path, AnnotationError), str(path), AnnotationError)


def _read_content(content: Content, found: Instances) -> ObjectLabels | NocapsImages:
    """Return the labels of content, or nocaps' images."""
    kind, value, source = content
    seen = value
    if kind == "object":
        seen = value.content
        if shows(seen, _RECORD):
            kind, value, seen = "list", Entries([seen], source, numbers=[1], unit="line"), [seen]
        elif not seen and found.where != "objects":
            kind = "other"
    elif kind == "list":
        seen = value.values
    elif kind == "table":
        seen = columns_of(value)
    for known in FORMATS:
        for way in known.ways:
            if way.carrier == kind and (
                shows(seen, way.recognised)
                if isinstance(way.recognised, tuple)
                else way.recognised(value)
            ):
                if isinstance(way.read, str):
                    raise AnnotationError(f"{found.where}: {way.read}")
                with source.net(known.name):
                    labels: ObjectLabels | NocapsImages = way.read(value, found)
                return labels
    raise AnnotationError(f"{found.where}: not a source of objects; accepted: {accepted()}.")


def _united(members: list[ObjectLabels | NocapsImages], agree: bool) -> ObjectLabels:
    """Return the union of all objects, or what they agree on, under nocaps' ids if it is there."""
    images = [member for member in members if isinstance(member, NocapsImages)]
    objects = [member for member in members if isinstance(member, ObjectLabels)]
    if len(images) > 1:
        raise AnnotationError(
            f"{images[1].where}: a second file of nocaps' images beside {images[0].where}; "
            "give one."
        )
    if images and not objects:
        raise AnnotationError(
            f"{images[0].where}: nocaps' images and captions, without objects; give Open Images' "
            "boxes beside it, which then get nocaps' image ids."
        )
    for one in images:
        objects = [one.rename(member) for member in objects]
    if agree:
        return agreed(objects)
    return objects[0] if len(objects) == 1 else union(objects)


def _absolute(source: Any) -> Any:
    """Return a path, or all paths of a list, for any working directory; None if it has others."""
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(source)
    if not isinstance(source, list | tuple):
        return None
    paths = [_absolute(member) for member in source]
    return None if None in paths else paths


def accepted() -> str:
    """Return the names of all formats, as messages list them."""
    return ", ".join(known.name for known in FORMATS)


def table_rows() -> list[str]:
    """Return the lines of the table of docs/objects.md."""
    return [f"| {known.source} | {known.scores} | {known.notes} |" for known in FORMATS]


#: COCO's 80 and PASCAL VOC's 20 categories, which are annotated in every image of theirs.
CLOSED_SETS = {
    "coco": frozenset(COCO_CATEGORIES.values()),
    "voc": frozenset(
        "aeroplane bicycle bird boat bottle bus car cat chair cow dog horse motorbike person sheep "
        "sofa train".split()
    ).union(("dining table", "potted plant", "tv monitor")),
}

#: What declares that whatever is not listed is not there.
EVERYTHING = "all"


@dataclass(frozen=True)
class LookedFor:
    """What was looked for in every image: labels as `clean_label` returns them; None for all.

    The name is ``"coco"``, ``"voc"``, ``"all"``, or that of a file.
    """

    name: str
    labels: frozenset[str] | None

    def signature(self) -> str:
        """Return the name, and a digest of labels that the name does not pin."""
        if self.name in CLOSED_SETS or self.labels is None:
            return self.name
        lines = "\n".join(sorted(self.labels))
        return f"{self.name}#{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


#: What users declare with: a name, a file, labels, or what was read.
Declared: TypeAlias = str | os.PathLike[str] | Collection[str] | LookedFor | None


def read_looked_for(source: Declared) -> LookedFor | None:
    """Return what a user says was looked for in every image; None for None.

    Parameters
    ----------
    source : str, path, or collection of str, optional
        ``"coco"`` or ``"voc"`` for their categories; ``"all"``: whatever is not listed is not
        there; a text file with one label per line; or labels.

    Raises
    ------
    AnnotationError
        If the file cannot be read, or there is no label.
    """
    if source is None or isinstance(source, LookedFor):
        return source
    if isinstance(source, str) and source in CLOSED_SETS:
        return LookedFor(source, CLOSED_SETS[source])
    if source == EVERYTHING:
        return LookedFor(EVERYTHING, None)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if isinstance(source, str) and not path.exists():
            raise AnnotationError(
                f"looked for: {source!r:.60} is neither coco, voc nor all, and there is no such "
                "file; a file lists one label per line."
            )
        name, given = path.stem, read_text(path, AnnotationError).splitlines()
    else:
        name, given = "labels", list(source)
        wrong = next((label for label in given if not isinstance(label, str)), None)
        if wrong is not None:
            raise AnnotationError(f"looked for: {wrong!r:.40} is not a label; give text.")
    labels = frozenset(clean_label(label) for label in given if label.strip())
    if not labels:
        raise AnnotationError(f"looked for: there is no label in {source!r:.60}; list some.")
    return LookedFor(name, labels)
