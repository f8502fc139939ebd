"""Objects from any source, recognised by its content, or from several; the table of formats.

The formats that most runs are given are here; `formats` adds those of plug-ins. Content is
recognised by it, messages and help list it, and docs/formats.md shows them all.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from ..doors.arguments import as_python, check_thresholds, name_wrong_argument
from ..doors.entry_points import FORMATS, of_plugins, service
from ..errors import AnnotationError
from ..io.containers import Content, CsvTable, Kind, content_of_file
from ..io.entries import Entries, Source, is_frame, root, shows, unknown
from ..io.image_ids import ImageId, match, mismatch, names_image
from . import coco, plain
from .categories import NO_NAMES, CategorySource, read_categories
from .instances import Format, Instances, LabelList, counts_of_names
from .labels import AttributeSource
from .objects import ImageBoxes, ObjectLabels

# The formats that most runs are given, and those that would also recognise what plug-ins read.
_FIRST = (coco.INSTANCES, coco.RESULTS, coco.NOCAPS, plain.RECORDS)
_LAST = (plain.ARRAYS, plain.LABELS)

# The signs of a record of an image; a JSON object that has them is JSON Lines of one line.
_RECORD = (
    "image_id= image= img_path= file_name= filename= id=",
    "objects tags labels[] labels= thing entity_info text",
)


def formats() -> Iterator[Format]:
    """Yield all formats: the first variant of a format that recognises content reads it."""
    yield from _FIRST
    yield from of_plugins(FORMATS)
    yield from _LAST


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


@name_wrong_argument
def read_objects(
    source: ObjectSource,
    threshold: float | None = None,
    categories: CategorySource = None,
    uncertain: float | None = None,
    agree: bool = False,
    attributes: AttributeSource = None,
) -> ObjectLabels:
    """Read the object labels of images from any accepted source.

    Parameters
    ----------
    source : path, pycocotools COCO, mapping, or list of these
        A file or folder of any of the `formats`, recognised by its content. A mapping
        has the shape of the labels file. A list with lists of labels in it, ``[["dog"], ["cat",
        "cat"]]``, has those of images 0, 1, ..., as `label_rows` takes them. Any other list is the
        union of its members; nocaps' images among them give the others nocaps' image ids.
    threshold : float, optional
        The lowest score that counts, from 0 to 1, if there are scores; by default .6, and .4 for
        Open Images (VIFIDEL paper, section 4.1).
    categories : path, mapping, or list of paths, optional
        Names of category ids or class indices, as `read_categories` takes them.
    uncertain : float, optional
        The score below which a thing that was asked about is not in the image; from this score up
        to the lowest that counts, it is not judged. By default, there is no such range.
    agree : bool
        Whether the members of a list must agree (`agreed`) instead of being combined.
    attributes : mapping, path, or list of paths, optional
        Attributes of objects and labels of scenes: ``{image id: ["red car", "sunny"]}``,
        ``{image id: {"car": ["red"], "scene": ["sunny"]}}``, or a file, as docs/objects.md has it.

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
    listed = isinstance(source, list | tuple)
    rows = listed and plain.are_rows(source)
    members: Any = source if listed and not rows else [source]
    members_read = [_read(member, threshold, categories, uncertain) for member in members]
    nocaps = [labels for labels in members_read if labels.kind == coco.NOCAPS_KIND]
    united = [labels for labels in members_read if labels.kind != coco.NOCAPS_KIND]
    if len(nocaps) > 1 or (nocaps and not united):
        raise AnnotationError(
            f"{nocaps[-1].where}: nocaps' images, which have no objects; give one such file "
            "together with Open Images' boxes, which then get nocaps' image ids."
        )
    for images in nocaps:
        united = [coco.renamed_for_nocaps(labels, images) for labels in united]
    objects = agreed(united) if agree else union(united)
    for images in nocaps:
        vars(objects).update(other_ids=images.other_ids)
    paths = None if rows else _absolute(source)
    described = _absolute(attributes)
    if attributes is not None:
        objects = service("attributes")(objects, attributes, categories)
    if paths is None or (attributes is not None and described is None):
        return objects
    names = dict(categories) if isinstance(categories, Mapping) else _absolute(categories)
    return objects.pickled_as(
        partial(read_objects, paths, threshold, names, uncertain, agree, described)
    )


@name_wrong_argument
def read_boxes(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    threshold: float | None = None,
    categories: CategorySource = None,
) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of images, if any, from paths that `read_objects` has read.

    Of several sources that have boxes for an image, the first counts.
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    names = read_categories(categories)
    sources = [Instances(str(path), threshold, names, keeps_boxes=True) for path in paths]
    labels = [_read_content(_content(Path(instances.where)), instances) for instances in sources]
    united: dict[ImageId, ImageBoxes] = {}
    for instances in sources:
        boxes = instances.boxes
        for images in labels:
            if images.kind == coco.NOCAPS_KIND:
                ids = images.other_ids
                boxes = {ids.get(i, i): of_image for i, of_image in boxes.items()}
        same_image = match(boxes, united)
        for image_id, boxes_of_image in boxes.items():
            united.setdefault(same_image.get(image_id, image_id), boxes_of_image)
    return united


def _read(
    source: ObjectSource,
    threshold: float | None,
    categories: CategorySource,
    uncertain: float | None,
) -> ObjectLabels:
    """Read one source, or a list as the union of its members."""
    if isinstance(source, ObjectLabels):
        if threshold is not None:
            raise AnnotationError(
                "a threshold has no effect on objects that have already been read; give it to "
                "read_objects when reading them."
            )
        return source
    if categories is None and (labels := _by_image(source)) is not None:
        return labels
    rows = plain.are_rows(source)
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
    elif is_frame(source):
        memory.where = "the table of objects"
        content = Content("table", CsvTable(_csv_of(source, memory), memory), memory)
    elif isinstance(source, Mapping):
        content = Content("object", root(source, memory), memory)
    else:
        raise AnnotationError(
            f"objects cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
            "path, a DataFrame, a pycocotools COCO, a mapping {image id: [label, ...]}, a list of "
            "these, or lists of labels, one for each row."
        )
    instances = Instances(content.source.where, threshold, names, uncertain)
    return _read_content(content, instances)


def _csv_of(frame: Any, source: Source) -> str:
    """Return a DataFrame as CSV, in which lists in cells are JSON."""
    rows = Entries.of_frame(frame, source)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows.names)
    for row in rows:
        cells = map(as_python, row.content.values())
        writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in cells])
    return text.getvalue()


def _by_image(source: Any) -> ObjectLabels | None:
    """Return the labels of a mapping of lists of names, whose ids are no keys of a format."""
    if not isinstance(source, Mapping) or not source or any(isinstance(i, str) for i in source):
        return None
    by_image = {image_id: counts_of_names(items) for image_id, items in source.items()}
    counts = {image_id: of_image for image_id, of_image in by_image.items() if of_image is not None}
    return ObjectLabels(counts, "labels", "objects") if len(counts) == len(by_image) else None


def _content(path: Path) -> Content:
    if os.path.isdir(path):
        return Content("folder", path, Source(str(path), AnnotationError))
    content = content_of_file(path, AnnotationError)
    is_empty = content.kind == "object" and not content.value.content
    return content._replace(kind="other", value={}) if is_empty else content


def _read_content(content: Content, instances: Instances) -> ObjectLabels:
    """Return the labels of content."""
    kind, value, source = content
    seen = value
    if kind == "object":
        seen = value.content
        if shows(seen, _RECORD):
            kind, value, seen = "list", Entries([seen], source, numbers=[1], unit="line"), [seen]
    elif kind == "list":
        seen = value.values
    elif kind == "table":
        seen = value.columns
    for kind_of_file in formats():
        for variant in kind_of_file.variants:
            if variant.container == kind and (
                shows(seen, variant.recognised)
                if isinstance(variant.recognised, tuple)
                else variant.recognised(value)
            ):
                if isinstance(variant.read, str):
                    raise AnnotationError(f"{instances.where}: {variant.read}")
                with source.reading_as(kind_of_file.name):
                    labels: ObjectLabels = variant.read(value, instances)
                return labels
    raise _unknown_format(instances.where, kind, value, seen)


def _unknown_format(where: str, kind: Kind, value: Any, seen: Any) -> AnnotationError:
    """Return the error of content in no format, with the formats that are nearest to it."""
    names: Any = seen if kind == "object" else str(value)
    if kind == "object" and any(map(names_image, map(str, seen))):  # their shape is unknown
        names = dict.fromkeys(chain(*(x for x in seen.values() if isinstance(x, Mapping)))) or seen
    if kind == "list":
        names = dict.fromkeys(chain(*value.first)) or str(seen)
    elif kind == "table":
        names = value.header if value.delimiter else value.text
    readable = [
        known
        for known in formats()
        if any(variant.container == kind and callable(variant.read) for variant in known.variants)
    ]
    readable.sort(key=lambda known: not known.is_general)
    described = {known.name: f"{known.source} {known.notes}" for known in readable or formats()}
    return AnnotationError(
        f"{where}: not a source of objects: {unknown(names, described)}; docs/formats.md lists all."
    )


def _absolute(source: Any) -> Any:
    """Return a path, or all paths of a list, for any working directory; None if it has others."""
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(source)
    if not isinstance(source, list | tuple):
        return None
    paths = [_absolute(member) for member in source]
    return None if None in paths else paths


@name_wrong_argument
def union(sources: Iterable[ObjectLabels], counts: bool = False) -> ObjectLabels:
    """Unite several sources as the VIFIDEL paper does (section 4.1): each label once per image.

    A single source keeps its counts; with `counts`, a label of several sources has the largest of
    theirs, as in the unions with frequency of the paper's Table 3. A thing that one source found is
    there, whatever the others say; a thing that one looked for and none found is not.

    No source is an `AnnotationError`, one that shares no image with those before `ImageIdError`.
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
            own_id = same_image.get(image_id, image_id)
            of_image = united.setdefault(own_id, {})
            for label, number in labels.items():
                of_image[label] = max(number, of_image.get(label, 0)) if counts else 1
            about = source.asked_about(image_id) if by_image else None
            if about is not None:
                asked[own_id] = asked[own_id] | about if own_id in asked else about
    # A name that leads to two images leads to none.
    names = [(name, own) for source in sources for name, own in source.other_ids.items()]
    others: dict[ImageId, ImageId] = {}
    for name, image_id in names:
        others[name] = image_id if others.get(name, image_id) == image_id else None
    return ObjectLabels(
        united,
        kind=f"union{'-counts' * counts}({'+'.join(source.source() for source in sources)})",
        where=" + ".join(source.where for source in sources),
        lists_every_image=any(source.lists_every_image for source in sources),
        # What one source looked for in all its images was not looked for in another's.
        categories=(
            () if by_image else frozenset().union(*(source.categories for source in sources))
        ),
        asked=asked if by_image else None,
        unsure=sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
        other_ids={name: image_id for name, image_id in others.items() if image_id in united},
    )


@name_wrong_argument
def agreed(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Return what two or more sources agree on: each label once per image, as in a union.

    A thing that all found is there; a thing that all looked for and none found is not. If they
    differ, or one did not look, nothing is judged; differences are counted as unsure. Images that
    any of them lacks are left out.

    Fewer than two, or one that does not say what it looked for, are an `AnnotationError`, one that
    shares no image with the first is an `ImageIdError`.
    """
    sources = list(sources)
    if len(sources) < 2:
        raise AnnotationError("agreement needs at least two sources of objects; give another one.")
    for source in sources:
        if not (source.says_what_was_asked or source.categories):
            raise AnnotationError(
                f"{source.where}: does not say what was looked for, so it cannot confirm that "
                "something is not there; give labels that were looked for and are not there a "
                "count of 0."
            )
    first = sources[0]
    asked = {image_id: first.asked_about(image_id) or frozenset() for image_id in first}
    labels_of = {image_id: frozenset(labels) for image_id, labels in first.items()}
    differing: dict[ImageId, set[str]] = {image_id: set() for image_id in first}
    for source in sources[1:]:
        theirs = match(asked, source)
        if not theirs:
            raise mismatch(source, asked, source.where, first.where)
        asked = {
            image_id: asked[image_id] & (source.asked_about(other) or frozenset())
            for image_id, other in theirs.items()
        }
        for image_id, other in theirs.items():
            differing[image_id] |= labels_of[image_id] ^ source[other].keys()
    judged = {image_id: of_image - differing[image_id] for image_id, of_image in asked.items()}
    return ObjectLabels(
        {i: dict.fromkeys(sorted(labels_of[i] & of_image), 1) for i, of_image in judged.items()},
        f"agreed({'+'.join(source.source() for source in sources)})",
        " and ".join(source.where for source in sources),
        lists_every_image=all(source.lists_every_image for source in sources),
        asked=judged,
        unsure=sum(len(of_image & differing[i]) for i, of_image in asked.items())
        + sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
    )
