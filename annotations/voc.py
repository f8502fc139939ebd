"""PASCAL VOC annotations: one XML file an image.

Format: the VOC development kit, ``annotation/object/name``. Only direct ``object`` children
count: ``object/part`` is a head, a hand or a foot.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PureWindowsPath
from xml.etree import ElementTree

from ..errors import AnnotationError
from ..files import reason
from ..image_ids import ImageId, from_json_key
from .objects import ObjectLabels


def read_voc(files: list[Path], where: str) -> ObjectLabels:
    """Read VOC XML files; the image id is the stem of ``filename``, else that of the XML file.

    A stem that is a whole number is an id as a number.

    Raises
    ------
    AnnotationError
        If a file is not VOC XML, or two files annotate the same image.
    """
    objects = ObjectLabels("voc", where)
    read_from: dict[ImageId, Path] = {}
    for path in files:
        try:
            root = ElementTree.parse(path).getroot()
        except (ElementTree.ParseError, ValueError, LookupError) as problem:  # encodings too
            raise AnnotationError(f"{path}: not well-formed XML ({problem}).") from None
        except OSError as problem:
            raise AnnotationError(f"{path}: {reason(problem)}; check the path.") from None
        if root.tag != "annotation":
            raise AnnotationError(f"{path}: <{root.tag}> is not a PASCAL VOC <annotation>.")
        # A Windows path takes both kinds of slashes.
        image = PureWindowsPath(root.findtext("filename", "").strip() or path.name)
        image_id = from_json_key(image.stem)
        if image_id in read_from:
            raise AnnotationError(
                f"{path} and {read_from[image_id]} both annotate image {image_id!r}; "
                "keep one of them."
            )
        read_from[image_id] = path
        objects.setdefault(image_id, Counter())
        for number, child in enumerate(root.findall("object")):
            name = child.findtext("name", "").strip()
            if not name:
                raise AnnotationError(f"{path}: object {number + 1} has no <name>.")
            objects.add(image_id, name)
    return objects
