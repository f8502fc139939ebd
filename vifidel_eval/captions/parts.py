"""Captions in several files, such as one of each process of a job, as those of one system."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import CaptionError
from ..io.image_ids import ImageId, match
from .fields import Wanted
from .layouts import captions_from


def captions_together(
    paths: Sequence[str | os.PathLike[str]], where: str, wanted: Wanted
) -> dict[ImageId, list[str]]:
    """Return the captions of each image in several files; messages call a file `where` it is of.

    References and samples of an image may be in several files. A caption that is wanted alone may
    not: that is a `CaptionError`.
    """
    together: dict[ImageId, list[str]] = {}
    file_of: dict[ImageId, str] = {}
    for path in paths:
        captions = captions_from(path, where, wanted)
        same = match(captions, together)
        if same and not (wanted.samples or wanted.references):
            image_id = next(iter(same))
            raise CaptionError(
                f"{path}: image {image_id!r} has a caption in {file_of[same[image_id]]} too "
                f"({len(same)} image{'s' * (len(same) > 1)} in both); keep one of each."
            )
        for image_id, texts in captions.items():
            known = same.get(image_id, image_id)
            together.setdefault(known, []).extend(texts)
            file_of.setdefault(known, str(path))
    return together
