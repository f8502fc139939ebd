"""What systems make up, as the page counts it: a line per system, a number per image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...image_ids import ImageId
from .content import Content

_MOST = 5


@dataclass(frozen=True)
class MadeUp:
    """What a system makes up.

    Attributes
    ----------
    system : str
        Its name.
    captions : int
        Captions of whose image something is known.
    inventing : int
        Those of them that make something up.
    things : int
        Things that are made up, each once a caption.
    most : list of (class, captions)
        The classes that most captions make up, the most frequent first.
    """

    system: str
    captions: int
    inventing: int
    things: int
    most: list[tuple[str, int]]


def made_up(content: Content) -> list[MadeUp]:
    """Return what each system makes up; nothing if no caption of any does."""
    if not any(content.inventions.values()):
        return []
    found = []
    for system, inventions in content.inventions.items():
        things = dict.fromkeys((row.image_id, row.category) for row in inventions)
        classes = Counter(category for _, category in things)
        frequent = sorted(classes.items(), key=lambda item: (-item[1], item[0]))
        captions = sum(int(part.known.sum()) for part in content.explanations[system])
        inventing = len({image_id for image_id, _ in things})
        found.append(MadeUp(system, captions, inventing, len(things), frequent[:_MOST]))
    return found


def things_made_up(content: Content, ids: Sequence[ImageId]) -> list[list[int | None]]:
    """Return how many things each system's caption of each image makes up.

    Parameters
    ----------
    content : Content
        What is shown.
    ids : sequence
        The images.

    Returns
    -------
    list of list
        By system and image; None where there is no caption, or nothing is known of the image.
    """
    found = []
    for system, inventions in content.inventions.items():
        things = Counter(
            image_id for image_id, _ in {(row.image_id, row.category) for row in inventions}
        )
        judged = {
            image_id
            for part in content.explanations[system]
            for image_id, known in zip(part.ids, part.known.tolist(), strict=True)
            if known
        }
        found.append([things[image_id] if image_id in judged else None for image_id in ids])
    return found
