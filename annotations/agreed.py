"""Agreement of several sources of objects: what all of them found, and what all of them denied."""

from __future__ import annotations

from collections.abc import Iterable

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..image_ids import ImageId, match, mismatch
from .objects import ObjectLabels


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
    )
