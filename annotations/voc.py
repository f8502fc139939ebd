"""PASCAL VOC annotations: one XML file per image.

Format: the VOC development kit, ``annotation/object/name``. Only direct ``object`` children
count: ``object/part`` is a head, a hand or a foot.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from xml.etree import ElementTree

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..files import read_bytes
from ..image_ids import ImageId, from_json_key
from .boxes import BoxCollector, number_of
from .objects import ObjectLabels, clean_label, count
from .record import Format, Way


@named_if_wrong
def read_voc(
    files: list[Path],
    where: str,
    contents: Mapping[Path, bytes] | None = None,
    boxes: BoxCollector | None = None,
) -> ObjectLabels:
    """Read VOC XML files.

    The image id is the stem of ``filename``, or of the XML file where there is none; a stem that
    is a whole number is a numeric id. `contents` has those files that were read already;
    `boxes` keeps ``bndbox``, whose pixels are counted from 1, and both of whose corners are inside.

    Raises
    ------
    AnnotationError
        If a file is not VOC XML, or two files annotate the same image.
    """
    labels: dict[ImageId, dict[str, int]] = {}
    read_from: dict[ImageId, Path] = {}
    for path in files:
        known = contents or {}
        content = known[path] if path in known else read_bytes(path, AnnotationError)
        try:
            root = ElementTree.fromstring(content)
        except (ElementTree.ParseError, ValueError, LookupError) as problem:  # encodings too
            raise AnnotationError(f"{path}: not well-formed XML ({problem}).") from None
        if root.tag != "annotation":
            raise AnnotationError(f"{path}: <{root.tag}> is not a PASCAL VOC <annotation>.")
        image_id = _image_id(root, path.name)
        if image_id == "":
            raise AnnotationError(f"{path}: its <filename> names no file.")
        if image_id in read_from:
            raise AnnotationError(
                f"{path} and {read_from[image_id]} both annotate image {image_id!r}; "
                "keep one of them."
            )
        read_from[image_id] = path
        labels[image_id] = {}
        for number, child in enumerate(root.findall("object")):
            name = child.findtext("name", "").strip()
            if not clean_label(name):
                raise AnnotationError(f"{path}: object {number + 1} has no <name>.")
            count(labels[image_id], name, at=str(path))
            if boxes is not None:
                boxes.add_corners(image_id, name, _corners(child), size=_size(root))
    return ObjectLabels(labels, "voc", where)


def _image_id(root: ElementTree.Element, name: str) -> ImageId:
    """Return the image that an ``annotation`` is of, in the XML file of that name."""
    # A Windows path accepts both kinds of slash.
    image = PureWindowsPath(root.findtext("filename", "").strip() or name)
    return from_json_key(image.stem)


def _corners(child: ElementTree.Element) -> list[float] | None:
    names = ("xmin", "ymin", "xmax", "ymax")
    numbers = [number_of(child.findtext(f"bndbox/{name}")) for name in names]
    sides = [number for number in numbers if number is not None]
    return [sides[0] - 1, sides[1] - 1, *sides[2:]] if len(sides) == len(names) else None


def _size(root: ElementTree.Element) -> tuple[float | None, float | None]:
    return number_of(root.findtext("size/width")), number_of(root.findtext("size/height"))


FORMAT = Format(
    "PASCAL VOC XML",
    "PASCAL VOC XML, a folder or one file",
    "",
    "whole objects, not their parts; `diningtable` becomes *dining table*",
    (
        Way(
            "xml",
            (),
            lambda raw, options: read_voc(
                [Path(options.where)], options.where, {Path(options.where): raw}, options.boxes
            ),
        ),
        Way(
            "folder",
            lambda folder: any(folder.glob("*.xml")),
            lambda folder, options: read_voc(
                sorted(folder.glob("*.xml")), options.where, boxes=options.boxes
            ),
        ),
    ),
)
