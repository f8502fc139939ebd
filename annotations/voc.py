"""PASCAL VOC annotations: one XML file per image.

Format: the VOC development kit, ``annotation/object/name``. Only direct ``object`` children
count: ``object/part`` is a head, a hand or a foot.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any
from xml.etree import ElementTree

from ..errors import AnnotationError
from ..io.arguments import named_if_wrong
from ..io.files import read_bytes
from ..io.image_ids import ImageId, from_json_key
from .csv_rows import number_of
from .format import Format, Way
from .instances import Instances, from_corners
from .objects import ObjectLabels, clean_label


@named_if_wrong
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
    return _read(files, contents or {}, Instances(where))


def _read(files: list[Path], contents: Mapping[Path, bytes], found: Instances) -> ObjectLabels:
    """Read files as `read_voc` does; a box is ``bndbox``, in pixels that are counted from 1."""
    read_from: dict[ImageId, Path] = {}
    for path in files:
        content = contents[path] if path in contents else read_bytes(path, AnnotationError)
        try:
            root = ElementTree.fromstring(content)
        except (ElementTree.ParseError, ValueError, LookupError) as problem:  # encodings too
            raise AnnotationError(f"{path}: not well-formed XML ({problem}).") from None
        if root.tag != "annotation":
            raise AnnotationError(f"{path}: <{root.tag}> is not a PASCAL VOC <annotation>.")
        # A Windows path accepts both kinds of slash.
        image = PureWindowsPath(root.findtext("filename", "").strip() or path.name)
        image_id = from_json_key(image.stem)
        if image_id == "":
            raise AnnotationError(f"{path}: its <filename> names no file.")
        if image_id in read_from:
            raise AnnotationError(
                f"{path} and {read_from[image_id]} both annotate image {image_id!r}; "
                "keep one of them."
            )
        read_from[image_id] = path
        found.image(image_id)
        for number, child in enumerate(root.findall("object"), 1):
            name = child.findtext("name", "").strip()
            if not clean_label(name):
                raise AnnotationError(f"{path}: object {number} has no <name>.")
            box = {} if found.boxes is None else _box(root, child)
            found.add(image_id, name, str(path), **box)
    return found.object_labels("voc")


def _box(root: ElementTree.Element, child: ElementTree.Element) -> dict[str, Any]:
    """Return the sides of a box and the size of its image, as `Instances.add` takes them.

    Both corners of a box are inside it.
    """
    names = ("bndbox/xmin", "bndbox/ymin", "bndbox/xmax", "bndbox/ymax")
    left, top, *others = [number_of(child.findtext(name)) for name in names]
    size = number_of(root.findtext("size/width")), number_of(root.findtext("size/height"))
    if left is None or top is None:
        return {}
    return {"sides": from_corners([left - 1, top - 1, *others]), "size": size}


VOC = Format(
    "PASCAL VOC XML",
    "PASCAL VOC XML, a folder or one file",
    "",
    "whole objects, not their parts; `diningtable` becomes *dining table*",
    (
        Way(
            "xml",
            (),
            lambda raw, found: _read([Path(found.where)], {Path(found.where): raw}, found),
        ),
        Way(
            "folder",
            lambda folder: any(folder.glob("*.xml")),
            lambda folder, found: _read(sorted(folder.glob("*.xml")), {}, found),
        ),
    ),
)
