"""AMBER's ``annotations.json`` (Wang et al., 2023).

A list with, for each generative task, ``{"id": 1, "type": "generative", "truth": ["sky", ...],
"hallu": ["cloud", ...]}``: things that are in image 1, and things that are not and that models
name (https://github.com/junyangwang0410/AMBER). Entries of other types are about one question each
and have no list of things.
"""

from __future__ import annotations

from typing import Any

from ..errors import AnnotationError
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .objects import ObjectLabels


def read_amber(content: list[Any], found: Instances) -> ObjectLabels:
    """Read the generative entries; a word in both lists is there."""
    for at, entry in entries(content, found.where):
        if entry.get("type") != "generative":
            continue
        image_id = image_id_of(entry, "id", at)
        found.image_once(image_id, at)
        found.asked_in(image_id)
        for key, there in (("truth", True), ("hallu", False)):
            if not isinstance(entry.get(key), list):
                raise AnnotationError(
                    f"{at} (image {image_id!r:.40}): {key!r} is not a list of things."
                )
            known = {name for name in entry["truth"] if not there and isinstance(name, str)}
            for name in entry[key]:
                if not isinstance(name, str) or name not in known:
                    found.answer(image_id, name, there, f"{at}: {key}")
    if not found.images:
        raise AnnotationError(
            f"{found.where}: no entry of type 'generative', which list what is in an image; give "
            "AMBER's annotations.json."
        )
    return found.object_labels("amber", says_asked=True)


FORMAT = Format(
    "AMBER",
    "AMBER's `annotations.json`",
    "",
    "generative entries: `truth` is there, `hallu` is not; a word in both is there; image ids are "
    "AMBER's numbers",
    (Way("list", ("[].id", "[].type", "[].truth"), read_amber),),
)
