"""The pictures of a page: small ones with the boxes of their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...annotations import ImageBoxes
from ...image_ids import ImageId, match
from .content import Material
from .thumbnails import shrink

# What all pictures may take: base64 in the page.
_BYTES = 32_000_000
# A box's sides are whole numbers of this share of the picture's.
_STEPS = 1000


def pictures(material: Material, important: Sequence[ImageId], labels: list[str]) -> dict[str, Any]:
    """Return the pictures of a page and what is drawn in them.

    Parameters
    ----------
    material : Material
        Pictures and boxes.
    important : sequence
        All images, the most important first: as many get a picture as there is room for.
    labels : list of str
        The page's labels; those of boxes that it lacks are added.

    Returns
    -------
    dict
        By image id ``images``, JPEG in base64, and ``boxes``: (label, x, y, width, height, score),
        ..., in thousandths of the picture; scores are hundredths, -1 where there is none.
    """
    of_images = {i: material.pictures[i] for i in important if i in material.pictures}
    budget = _BYTES if material.picture_bytes is None else material.picture_bytes
    small = shrink(of_images, budget)
    same_image = match(material.boxes, small)
    by_id = {same_image.get(image_id, image_id): b for image_id, b in material.boxes.items()}
    numbers = {label: number for number, label in enumerate(labels)}
    boxes = {
        image_id: drawn
        for image_id, picture in small.items()
        if image_id in by_id and (drawn := _drawn(by_id[image_id], picture.size, numbers))
    }
    labels += list(numbers)[len(labels) :]
    return {"images": {i: picture.data for i, picture in small.items()}, "boxes": boxes}


def _drawn(of_image: ImageBoxes, size: tuple[int, int], numbers: dict[str, int]) -> list[int]:
    width, height = of_image.size or size
    drawn: list[int] = []
    for box in of_image.boxes:
        left, right = (_step(x / width) for x in (box.x, box.x + box.width))
        top, bottom = (_step(y / height) for y in (box.y, box.y + box.height))
        if left < right and top < bottom:
            score = -1 if box.score is None else round(100 * box.score)
            label = numbers.setdefault(box.label, len(numbers))
            drawn += [label, left, top, right - left, bottom - top, score]
    return drawn


def _step(share: float) -> int:
    return round(_STEPS * min(max(share, 0.0), 1.0))


def by_place(of_images: Mapping[ImageId, Any], ids: Sequence[ImageId]) -> dict[int, Any]:
    """Return the same by the place of the image in the page."""
    return {place: of_images[i] for place, i in enumerate(ids) if i in of_images}
