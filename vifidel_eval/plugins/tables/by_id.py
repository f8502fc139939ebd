"""Objects of the rows of a table from a source of their own, by a column of image ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from ...annotations import ObjectLabels
from ...errors import AnnotationError, VifidelError
from ...io.image_ids import ImageId, from_json_key, from_json_value, match
from .arrow_columns import field_of, is_text, texts
from .label_columns import ImageLabels


class ObjectsById:
    """The labels of rows whose image ids are in a column.

    An id that the source does not know makes bad labels where the source lists every image, and
    else an image without objects, as detections have them.

    The column holds text or whole numbers. They mean images as those of caption files do: text of
    digits is a number, and ``val2017/000000000042.jpg`` is image 42.
    """

    def __init__(self, objects: ObjectLabels, column: str) -> None:
        self.objects = objects
        self.column = column

    def check(self, schema: Any) -> None:
        """Raise a VifidelError if the column is missing, is there twice, or holds no ids."""
        types = pa.types
        kind = field_of(schema, self.column).type
        if not (is_text(kind) or types.is_integer(kind) or types.is_floating(kind)):
            raise VifidelError(
                f"the column {self.column!r} is of type {kind}; image ids are text or whole "
                "numbers."
            )

    def labels(self, ids: Any) -> list[ImageLabels | AnnotationError]:
        """Return the labels of rows, whose ids are a column of a type that `check` knows.

        It raises an ImageIdError if an id could mean two images.
        """
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        given = (texts(ids) if is_text(ids.type) else ids).to_pylist()
        known = self._known({value for value in given if value is not None})
        return [self._of_image(known.get(value), value) for value in given]

    def _of_image(self, image_id: ImageId | None, value: Any) -> ImageLabels | AnnotationError:
        if image_id is not None:
            return ImageLabels(self.objects[image_id], self.objects.asked_of([image_id])[0])
        if not self.objects.lists_every_image:
            return ImageLabels({})
        return AnnotationError(
            f"the objects have no image {value!r:.60} ({self.column}, {self.objects.where})."
        )

    def _known(self, given: Iterable[Any]) -> dict[Any, ImageId]:
        """Return the source's id of each value that means one."""
        read = {value: _image_id(value) for value in given}
        found = match([i for i in dict.fromkeys(read.values()) if i is not None], self.objects)
        known = {value: found[i] for value, i in read.items() if i in found}
        # Text of digits may be text in the source as well.
        known |= {value: value for value in read if value not in known and value in self.objects}
        return known


def _image_id(value: Any) -> ImageId | None:
    return from_json_key(value.strip()) if isinstance(value, str) else from_json_value(value)
