"""Systems of a run: their captions, references and objects are brought under one id for each image.

This is where ids are matched and checked, once; whatever has an `Aligned` looks ids up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..annotations import ObjectLabels
from ..captions.generated import Answer, captions_in, read_answers
from ..captions.rows import Rows, checked
from ..errors import ImageIdError
from ..io.image_ids import ImageId, check_distinct, match, mismatch, samples
from .scores import People

#: The references of each image.
References = Mapping[ImageId, Sequence[str]]


@dataclass(frozen=True)
class System:
    """A captioning system: its name, its caption of each image, and whose sample it is."""

    name: str
    captions: Mapping[ImageId, str]
    sample_of: str | None = None
    #: What captions were read from, of those that are not as written; it may have other images too.
    answers: Mapping[ImageId, Answer] = field(default_factory=dict)

    @property
    def claims(self) -> list[str]:
        """Its captions without those that claim nothing."""
        silent = {i for i, answer in self.answers.items() if answer.why_nothing}
        return [caption for i, caption in self.captions.items() if i not in silent]

    @classmethod
    def read(
        cls,
        name: str,
        texts: Mapping[ImageId, str],
        as_written: bool = False,
        sample_of: str | None = None,
    ) -> System:
        """Return a system with the captions in its texts or, if `as_written`, all of these."""
        answers = None if as_written else read_answers(list(texts.values()))
        if answers is None:
            return cls(name, texts, sample_of)
        captions = dict(zip(texts, captions_in(texts.values(), answers), strict=True))
        read = {i: answer for i, answer in zip(texts, answers, strict=True) if answer is not None}
        return cls(name, captions, sample_of, read)


def samples_of(systems: Iterable[System]) -> dict[str, list[System]]:
    """Return the samples of each system by its name; one that has none is its own."""
    samples: dict[str, list[System]] = {}
    for system in systems:
        samples.setdefault(system.sample_of or system.name, []).append(system)
    return samples


def pooled(systems: Iterable[System]) -> list[System]:
    """Return systems with all captions of their samples, for what only counts captions' words."""
    return [
        System(
            name,
            {(s.name, i): caption for s in samples for i, caption in s.captions.items()},
            answers={(s.name, i): answer for s in samples for i, answer in s.answers.items()},
        )
        for name, samples in samples_of(systems).items()
    ]


@dataclass(frozen=True, eq=False)
class Aligned:
    """The images of a run with their references, and systems with captions under the same ids."""

    images: References  #: each with its references, if any, in the order of rows
    systems: list[System]  #: in the run's order; without `allow_subset`, they have all images
    uncaptioned: int = 0  #: how many images are left out, as no system has a caption of them
    people: People | None = None  #: how the captions of people were made, if they are a system

    @property
    def has_samples(self) -> bool:
        """Whether the systems are samples, one of each image."""
        return any(system.sample_of is not None for system in self.systems)

    def rows(self) -> dict[str, Rows]:
        """Return the rows of each system."""
        return {system.name: self.rows_of(system) for system in self.systems}

    def rows_of_answers(self) -> dict[str, Rows]:
        """Return the rows of each system, of all its samples together."""
        return {name: self.rows_of(*samples) for name, samples in samples_of(self.systems).items()}

    def rows_of(self, *systems: System) -> Rows:
        """Return captions with references, image by image in the run's order, in each by system."""
        pairs = [(i, system) for i in self.images for system in systems if i in system.captions]
        ids = [image_id for image_id, _ in pairs]
        captions = [system.captions[image_id] for image_id, system in pairs]
        rows = Rows(captions, [self.images[image_id] for image_id in ids], ids)
        answers = [system.answers.get(image_id) for image_id, system in pairs]
        return checked(replace(rows, answers=answers) if any(answers) else rows)


def align(
    systems: Iterable[System],
    references: References | None = None,
    objects: Collection[ImageId] | None = None,
) -> Aligned:
    """Return systems and references under one id for each image.

    The references' spelling wins, or else the first system's; `objects` are ids that may tell which
    ids of these mean one image. Systems may lack images: `captioned` and `check_complete`.

    Raises
    ------
    ImageIdError
        If a system has an image that the references do not have, or ids are ambiguous.
    """
    systems, references = in_one_spelling(list(systems), references, objects)
    if references is None:
        images, same_images = _images_of(systems)
    else:
        images, same_images = references, [match(s.captions, references) for s in systems]
    pairs = zip(systems, same_images, strict=True)
    return Aligned(images, [_renamed(system, same, images) for system, same in pairs])


def _renamed(system: System, same_image: Mapping[ImageId, ImageId], images: References) -> System:
    """Return a system with its captions under the ids of images; an error if one is unknown."""
    unknown = [image_id for image_id in system.captions if image_id not in same_image]
    if unknown:
        raise mismatch(unknown, images, f"system {system.name!r}", "the reference side")
    if all(image_id == other for image_id, other in same_image.items()):
        return system
    captions = {same_image[image_id]: caption for image_id, caption in system.captions.items()}
    if len(captions) < len(system.captions):
        raise ImageIdError(
            f"system {system.name!r}: two of its image ids mean the same image; keep one."
        )
    answers = {same_image[i]: answer for i, answer in system.answers.items() if i in same_image}
    return replace(system, captions=captions, answers=answers)


def captioned(aligned: Aligned) -> Aligned:
    """Return the images of which some system has a caption."""
    with_caption = {image_id for system in aligned.systems for image_id in system.captions}
    images = {i: references for i, references in aligned.images.items() if i in with_caption}
    return replace(aligned, images=images, uncaptioned=len(aligned.images) - len(images))


def check_complete(aligned: Aligned) -> None:
    """Raise an `ImageIdError` if a system, or the first sample of one, lacks an image."""
    seen: set[str] = set()
    for system in aligned.systems:
        if system.sample_of in seen:
            continue
        if system.sample_of is not None:
            seen.add(system.sample_of)
        missing = [image_id for image_id in aligned.images if image_id not in system.captions]
        if not missing:
            continue
        raise ImageIdError(
            f"system {system.name!r} has no caption for {len(missing)} of {len(aligned.images)} "
            f"images, such as {samples(missing)}; complete the file, join parts of it under one "
            "name (NAME=PART1 NAME=PART2), or give --allow-subset (allow_subset=True) to score "
            "only the images it has."
        )


def _images_of(
    systems: Sequence[System],
) -> tuple[References, list[dict[ImageId, ImageId]]]:
    """Return the images of all systems, without references, and which of them each id means."""
    images: dict[ImageId, Sequence[str]] = {}
    # The longest spelling of each image, which says most of its path: `a/1.jpg` and `b/1.jpg` stay
    # apart although another system calls one of them `1`.
    spelled: dict[ImageId, ImageId] = {}
    same_images = []
    for system in systems:
        check_distinct(system.captions, f"system {system.name!r}")
        known = match(system.captions, spelled)
        same_image = {}
        for image_id in system.captions:
            other = known.get(image_id)
            same_image[image_id] = image_id if other is None else spelled[other]
            if other is None:
                images[image_id] = []
                spelled[image_id] = image_id
            elif len(str(image_id)) > len(str(other)):
                spelled[image_id] = spelled.pop(other)
        same_images.append(same_image)
    check_distinct(images, "the systems together")
    return images, same_images


def in_one_spelling(
    systems: Sequence[System],
    references: References | None = None,
    objects: Collection[ImageId] | None = None,
) -> tuple[Sequence[System], References | None]:
    """Return systems and references whose ids are spelled in one way where only objects tell."""
    if references is not None:
        check_distinct(references, "the references")
    if objects is None:
        return systems, references
    if references is None:
        spellings: dict[ImageId, ImageId] = {}
        return [_respelled(s, s.captions, objects, spellings) for s in systems], None
    ids_of_systems = _ids_that_find(objects, systems, references)
    references = {ids_of_systems.get(i, i): captions for i, captions in references.items()}
    same_images = [match(system.captions, references) for system in systems]
    unmatched = [
        [image_id for image_id in system.captions if image_id not in same_image]
        for system, same_image in zip(systems, same_images, strict=True)
    ]
    if any(unmatched):
        spellings = {own: image_id for image_id, own in match(references, objects).items()}
        pairs = zip(systems, unmatched, strict=True)
        systems = [_respelled(system, ids, objects, spellings) for system, ids in pairs]
    return systems, references


def _respelled(
    system: System,
    ids: Collection[ImageId],
    objects: Collection[ImageId],
    spellings: dict[ImageId, ImageId],
) -> System:
    """Return a system with some ids in the spelling of each image, which the first of them sets.

    `spellings` are by the objects' ids; those of other images are added.
    """
    same_image = match(ids, objects)
    own = objects.own_ids(ids) if isinstance(objects, ObjectLabels) else same_image
    new = {
        i: spellings.setdefault(image, i if same_image.get(i) == image else image)
        for i, image in own.items()
    }
    captions = {new.get(i, i): caption for i, caption in system.captions.items()}
    if len(captions) < len(system.captions):
        return system
    answers = {new.get(i, i): answer for i, answer in system.answers.items()}
    return replace(system, captions=captions, answers=answers)


def _ids_that_find(
    objects: Collection[ImageId], systems: Iterable[System], references: References
) -> dict[ImageId, ImageId]:
    """Return the systems' ids of those images that the objects have under no id of references."""
    found: dict[ImageId, ImageId] = {}
    for system in systems:
        same_image = match(system.captions, references)
        without_objects = set(same_image.values()) - set(match(same_image.values(), objects))
        finding = match(same_image, objects) if without_objects else {}
        for image_id, reference in same_image.items():
            if reference in without_objects and image_id in finding:
                found.setdefault(reference, image_id)
    return found


def only_images(
    image_ids: Collection[ImageId],
    systems: Sequence[System],
    references: References | None,
    where: str = "the image ids",
) -> tuple[list[System], References | None]:
    """Return systems and references of some images alone; messages call their ids `where`."""
    known = _images_of(systems)[0] if references is None else references
    matched = match(image_ids, known)
    missing = [image_id for image_id in image_ids if image_id not in matched]
    if missing:
        knower = "the run" if references is None else "the reference side"
        raise mismatch(missing, known, where, knower)
    images = set(matched.values())
    subset = {i: captions for i, captions in known.items() if i in images}
    chosen = []
    for system in systems:
        same_image = match(system.captions, subset)
        captions = {i: text for i, text in system.captions.items() if i in same_image}
        chosen.append(replace(system, captions=captions))
    return chosen, None if references is None else subset
