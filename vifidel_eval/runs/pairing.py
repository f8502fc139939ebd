"""Systems and references brought together by image id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import ImageIdError
from ..image_ids import ImageId, check_distinct, match, mismatch, samples
from ..rows import Rows, check_references


@dataclass(frozen=True)
class System:
    """A captioning system: its name and its caption of each image."""

    name: str
    captions: Mapping[ImageId, str]


def all_images(systems: Iterable[System]) -> dict[ImageId, list[str]]:
    """Return the images of all systems together, as references that are empty."""
    return {image_id: [] for system in systems for image_id in system.captions}


def paired(system: System, references: Mapping[ImageId, Sequence[str]], allow_subset: bool) -> Rows:
    """Return the captions and references of the images of a system, in the references' order.

    Parameters
    ----------
    system : System
        Its image ids may be spelled as file stems where the references have numbers.
    references : mapping
        Image id to references.
    allow_subset : bool
        Whether the system may lack some of the images.

    Raises
    ------
    ImageIdError
        If the ids of both sides do not match.
    """
    check_distinct(references, "the references")
    reference_id = match(system.captions, references)
    unknown = [image_id for image_id in system.captions if image_id not in reference_id]
    if unknown:
        raise mismatch(unknown, references, f"system {system.name!r}", "the reference side")
    captions = {reference_id[image_id]: caption for image_id, caption in system.captions.items()}
    if len(captions) < len(system.captions):
        raise ImageIdError(
            f"system {system.name!r}: two of its image ids mean the same image; keep one."
        )
    missing = [image_id for image_id in references if image_id not in captions]
    if missing and not allow_subset:
        raise ImageIdError(
            f"system {system.name!r} has no caption for {len(missing)} of {len(references)} "
            f"images, such as {samples(missing)}; complete the file, or give --allow-subset "
            "(allow_subset=True) to score only the images it has."
        )
    ids = [image_id for image_id in references if image_id in captions]
    rows = Rows([captions[i] for i in ids], [references[i] for i in ids], ids)
    check_references(rows)
    return rows
