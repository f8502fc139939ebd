"""Several sources of objects in one: their union, or what all of them agree on."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import AnnotationError
from ..io.arguments import named_if_wrong
from ..io.image_ids import ImageId, match, mismatch
from .objects import ObjectLabels


@named_if_wrong
def union(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Unite several sources as the VIFIDEL paper does (section 4.1): each label once per image.

    A single source stays as it is, with its counts. Ids of later sources that are COCO file
    stems join the numbers of the first. What one of them found is there, whatever others say; what
    none found and one looked for is not.

    Raises
    ------
    AnnotationError
        If there is no source.
    ImageIdError
        If a source shares no image with those before it.
    """
    sources = list(sources)
    if not sources:
        raise AnnotationError("a union needs at least one source of objects.")
    first = sources[0]
    if len(sources) == 1:
        return first
    united: dict[ImageId, dict[str, int]] = {}
    asked: dict[ImageId, frozenset[str]] = {}
    by_image = any(source.says_what_was_asked for source in sources)
    for source in sources:
        same_image = match(source, united)
        if source and united and not same_image:
            raise mismatch(source, united, source.where, first.where)
        for image_id, labels in source.items():
            same = same_image.get(image_id, image_id)
            united.setdefault(same, {}).update(dict.fromkeys(labels, 1))
            looked_for = source.looked_for(image_id) if by_image else None
            if looked_for is not None:
                asked[same] = asked[same] | looked_for if same in asked else looked_for
    return ObjectLabels(
        united,
        kind=f"union({'+'.join(source.source() for source in sources)})",
        where=" + ".join(source.where for source in sources),
        lists_every_image=any(source.lists_every_image for source in sources),
        # What one source looked for in all its images was not looked for in another's.
        categories=(
            () if by_image else frozenset().union(*(source.categories for source in sources))
        ),
        asked=asked if by_image else None,
        unsure=sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
    )


@named_if_wrong
def agreed(sources: Iterable[ObjectLabels]) -> ObjectLabels:
    """Return what several sources agree on: each label once per image, as in a union.

    What all of them found is there, what all of them looked for and none found is not. Where they
    differ, or one of them did not look, nothing is said; the first is counted as unsure.

    Parameters
    ----------
    sources : iterable of ObjectLabels
        Two or more, each of which says what it looked for. Images that one of them lacks are left
        out.

    Raises
    ------
    AnnotationError
        If there are fewer than two, or one does not say what it looked for.
    ImageIdError
        If a source shares no image with the first.

    Examples
    --------
    >>> from vifidel_eval.annotations import read_objects
    >>> first = read_objects({7: {"dog": 1, "lamp": 1, "nut": 0}})
    >>> both = agreed([first, read_objects({7: {"dog": 2, "lamp": 0, "nut": 0}})])
    >>> dict(both[7]), sorted(both.asked_of([7])[0]), both.unsure
    ({'dog': 1}, ['dog', 'nut'], 1)
    """
    sources = list(sources)
    if len(sources) < 2:
        raise AnnotationError("agreement needs two sources of objects; give another one.")
    for source in sources:
        if not (source.says_what_was_asked or source.categories):
            raise AnnotationError(
                f"{source.where}: does not say what was looked for, so that it cannot agree with "
                "another source that something is not there; give labels that were looked for and "
                "are not there a count of 0."
            )
    first = sources[0]
    asked = {image_id: first.looked_for(image_id) or frozenset() for image_id in first}
    found = {image_id: frozenset(labels) for image_id, labels in first.items()}
    differing: dict[ImageId, set[str]] = {image_id: set() for image_id in first}
    for source in sources[1:]:
        theirs = match(asked, source)
        if not theirs:
            raise mismatch(source, asked, source.where, first.where)
        asked = {
            image_id: asked[image_id] & (source.looked_for(other) or frozenset())
            for image_id, other in theirs.items()
        }
        for image_id, other in theirs.items():
            differing[image_id] |= found[image_id] ^ source[other].keys()
    judged = {image_id: of_image - differing[image_id] for image_id, of_image in asked.items()}
    return ObjectLabels(
        {i: dict.fromkeys(sorted(found[i] & of_image), 1) for i, of_image in judged.items()},
        f"agreed({'+'.join(source.source() for source in sources)})",
        " and ".join(source.where for source in sources),
        lists_every_image=all(source.lists_every_image for source in sources),
        asked=judged,
        unsure=sum(len(of_image & differing[i]) for i, of_image in asked.items())
        + sum(source.unsure for source in sources),
        leaves_out=any(source.leaves_out for source in sources),
    )
