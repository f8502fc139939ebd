"""Visual Genome's ``objects.json``, and its ``scene_graphs.json``, which has the same objects.

Layout (the ``visual_genome`` package and the data's readme): a list with one entry per image,
``{"image_id": 1, "objects": [{"object_id": 5, "names": ["tree"], "synsets": [...]}]}``, with boxes;
version 1.0 calls ``image_id`` ``id``. An object is called by the first of its names, as that
package prints it; ``synsets`` are senses of WordNet and not read.
"""

from __future__ import annotations

from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .carriers import places
from .coco import entries, image_id_of
from .objects import ObjectLabels, count
from .record import Format, ReadOptions, Way


def read_visual_genome(content: list[Any], options: ReadOptions) -> ObjectLabels:
    """Read the objects of Visual Genome; every box is one instance.

    A box is ``x``, ``y``, ``w`` and ``h``, in pixels.

    Raises
    ------
    AnnotationError
        If an image is listed twice, an object has no name, or an entry has another shape.
    """
    where, boxes = options.where, options.boxes
    labels: dict[ImageId, dict[str, int]] = {}
    for image, at in zip(entries(content, "", where), places(content, where), strict=True):
        image_id = _image_id(image, at)
        if image_id in labels:
            raise AnnotationError(f"{at}: image {image_id!r:.40} is listed twice; keep one entry.")
        of_image = labels[image_id] = {}
        of = f"{at} (image {image_id!r:.40})"
        if "objects" not in image:
            raise AnnotationError(f"{of}: 'objects' is missing; every image needs a list of them.")
        for position, thing in enumerate(entries(image["objects"], "objects", of)):
            names = thing.get("names")
            if not isinstance(names, list) or not names or not isinstance(names[0], str):
                what = f"'names' is {names!r:.40}" if "names" in thing else "'names' is missing"
                raise AnnotationError(
                    f"{of}: objects[{position}]: {what}; an object needs a list of names."
                )
            count(of_image, names[0], at=f"{of}: objects[{position}]")
            if boxes is not None:
                boxes.add(image_id, names[0], [thing.get(side) for side in "xywh"])
    return ObjectLabels(labels, "visual-genome", where)


def _image_id(image: dict[str, Any], at: str) -> ImageId:
    """Return the image id of an entry; version 1.0 has it under another key."""
    is_old = "id" in image and "image_id" not in image
    return image_id_of(image, "id" if is_old else "image_id", at)


FORMAT = Format(
    "Visual Genome",
    "Visual Genome `objects.json` or `scene_graphs.json`",
    "",
    "the first name of each object",
    (
        Way(
            "list",
            ("[].objects[]",),
            read_visual_genome,
        ),
    ),
)
