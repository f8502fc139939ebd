"""Object labels and boxes from any source, recognised by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..image_ids import ImageId, match
from .agreed import agreed
from .boxes import BoxCollector, ImageBoxes
from .carriers import content_of
from .formats import read_content
from .labels import LabelList
from .names import CategorySource, read_categories
from .nocaps import NocapsImages
from .objects import ObjectLabels, check_threshold, check_uncertain, union
from .record import ReadOptions


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
    | Sequence["ObjectSource"]
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
        has the shape of the labels file; it is copied. A list is the union of its members; nocaps'
        images among them give the others nocaps' image ids.
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
    check_threshold(threshold)
    check_uncertain(uncertain, threshold)
    if isinstance(source, list | tuple):
        members = [_read(member, threshold, categories, uncertain) for member in source]
        return _pickled_as_paths(
            _united(members, agree), source, threshold, categories, uncertain, agree
        )
    if agree:
        raise AnnotationError("agreement needs two sources of objects; give another one.")
    objects = _read(source, threshold, categories, uncertain)
    if isinstance(objects, NocapsImages):
        raise _no_objects(objects)
    return _pickled_as_paths(objects, source, threshold, categories, uncertain)


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
    found: list[dict[ImageId, ImageBoxes]] = []
    renaming: list[NocapsImages] = []
    for path in paths:
        boxes = BoxCollector()
        read = _read_path(Path(path), ReadOptions(str(path), threshold, names, boxes))
        found.append(boxes.images)
        if isinstance(read, NocapsImages):
            renaming.append(read)
    united: dict[ImageId, ImageBoxes] = {}
    for boxes_of_source in found:
        renamed = boxes_of_source
        for images in renaming:
            renamed = images.rename_boxes(renamed)
        same_image = match(renamed, united)
        for image_id, of_image in renamed.items():
            united.setdefault(same_image.get(image_id, image_id), of_image)
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
    if isinstance(source, list | tuple):
        return read_objects(source, threshold, categories, uncertain)
    names = read_categories(categories)
    options = ReadOptions("objects", threshold, names, uncertain=uncertain)
    dataset = getattr(source, "dataset", None)
    if isinstance(source, str | os.PathLike):
        if source == "":
            raise AnnotationError("objects: the path is empty.")
        return _read_path(Path(source), replace(options, where=str(Path(source))))
    if isinstance(dataset, Mapping):  # a pycocotools COCO
        options = replace(options, where="the COCO object")
        return read_content("object", dataset, options)
    if isinstance(source, Mapping):
        return read_content("object", source, options)
    raise AnnotationError(
        f"objects cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
        "path, a pycocotools COCO, a mapping {image id: [label, ...]}, or a list of these."
    )


def _read_path(path: Path, options: ReadOptions) -> ObjectLabels | NocapsImages:
    carrier, content = content_of(path)
    return read_content(carrier, content, options)


def _united(members: list[ObjectLabels | NocapsImages], agree: bool) -> ObjectLabels:
    """Return the union of all objects, or what they agree on.

    It is under nocaps' image ids if its images are among them.
    """
    images = [member for member in members if isinstance(member, NocapsImages)]
    objects = [member for member in members if isinstance(member, ObjectLabels)]
    if len(images) > 1:
        raise AnnotationError(
            f"{images[1].where}: a second file of nocaps' images beside {images[0].where}; "
            "give one."
        )
    if images and not objects:
        raise _no_objects(images[0])
    for one in images:
        objects = [one.rename(member) for member in objects]
    return agreed(objects) if agree else union(objects)


def _no_objects(images: NocapsImages) -> AnnotationError:
    return AnnotationError(
        f"{images.where}: nocaps' images and captions, without objects; give Open Images' boxes "
        "beside it, which then get nocaps' image ids."
    )


def _pickled_as_paths(
    objects: ObjectLabels,
    source: ObjectSource,
    threshold: float | None,
    categories: CategorySource,
    uncertain: float | None,
    agree: bool = False,
) -> ObjectLabels:
    paths = _absolute(source)
    if paths is None:
        return objects
    names = dict(categories) if isinstance(categories, Mapping) else _absolute(categories)
    return objects.pickled_as(partial(read_objects, paths, threshold, names, uncertain, agree))


def _absolute(source: Any) -> Any:
    """Return a path, or all paths of a list, for any working directory; None if it has others."""
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(source)
    if not isinstance(source, list | tuple):
        return None
    paths = [_absolute(member) for member in source]
    return None if None in paths else paths
