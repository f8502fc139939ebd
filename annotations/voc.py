"""PASCAL VOC annotations: one XML file per image.

Format: the VOC development kit, ``annotation/object/name``. Only direct ``object`` children
count: ``object/part`` is a head, a hand or a foot.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from xml.etree import ElementTree

from ..errors import AnnotationError
from ..files import read_bytes
from ..image_ids import ImageId, from_json_key
from .objects import ObjectLabels, clean_label, count


def read_voc(
    files: list[Path], where: str, contents: Mapping[Path, bytes] | None = None
) -> ObjectLabels:
    """Read VOC XML files.

    The image id is the stem of ``filename``, or of the XML file where there is none; a stem that
    is a whole number is a numeric id. `contents` has those files that were read already.

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
        image_id = image_id_of(root, path.name)
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
    return ObjectLabels(labels, "voc", where)


def image_id_of(root: ElementTree.Element, name: str) -> ImageId:
    """Return the image that an ``annotation`` is of, in the XML file of that name."""
    # A Windows path accepts both kinds of slash.
    image = PureWindowsPath(root.findtext("filename", "").strip() or name)
    return from_json_key(image.stem)
