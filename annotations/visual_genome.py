"""Visual Genome's ``objects.json``, and its ``scene_graphs.json``, which has the same objects.

Layout (the ``visual_genome`` package and the data's readme): a list with one entry per image,
``{"image_id": 1, "objects": [{"object_id": 5, "names": ["tree"], "synsets": [...]}]}``, with boxes;
version 1.0 calls ``image_id`` ``id``. An object is called by the first of its names, as that
package prints it; ``synsets`` are senses of WordNet and not read.
"""

from __future__ import annotations

from typing import Any

from ..errors import AnnotationError
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .objects import ObjectLabels


def read_visual_genome(content: list[Any], found: Instances) -> ObjectLabels:
    """Read the objects of Visual Genome; every box is one instance.

    A box is ``x``, ``y``, ``w`` and ``h``, in pixels.
    """
    for at, image in entries(content, found.where):
        is_old = "id" in image and "image_id" not in image
        image_id = image_id_of(image, "id" if is_old else "image_id", at)
        found.image_once(image_id, at)
        of = f"{at} (image {image_id!r:.40})"
        if "objects" not in image:
            raise AnnotationError(f"{of}: 'objects' is missing; every image needs a list of them.")
        for place, thing in entries(image["objects"], of, "objects"):
            names = thing.get("names")
            if not isinstance(names, list) or not names or not isinstance(names[0], str):
                what = f"'names' is {names!r:.40}" if "names" in thing else "'names' is missing"
                raise AnnotationError(f"{place}: {what}; an object needs a list of names.")
            found.add(image_id, names[0], place, sides=[thing.get(side) for side in "xywh"])
    return found.object_labels("visual-genome")


VISUAL_GENOME = Format(
    "Visual Genome",
    "Visual Genome `objects.json` or `scene_graphs.json`",
    "",
    "the first name of each object",
    (Way("list", ("[].objects[]",), read_visual_genome),),
)
