"""Objects of the rows of a table from a source of their own, by a column of image ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ..annotations import ObjectLabels
from ..errors import VifidelError
from ..image_ids import ImageId, from_json_key, from_json_value, match
from .columns import is_text, texts
from .nested import field_of


class ObjectsById:
    """The labels of rows whose image ids are in a column.

    An id that the source does not know makes bad labels where the source lists every image, and
    else an image without objects, as detections have them.

    Parameters
    ----------
    objects : ObjectLabels
        The source.
    column : str
        The column of image ids: text or whole numbers. They mean images as those of caption files
        do: text of digits is a number, and ``val2017/000000000042.jpg`` is image 42.
    """

    def __init__(self, objects: ObjectLabels, column: str) -> None:
        self.objects = objects
        self.column = column

    @property
    def field(self) -> Any:
        """The pyarrow.Field of the labels that `labels` returns."""
        return pa.field("labels", pa.map_(pa.string(), pa.int64()))

    def check(self, schema: Any) -> None:
        """Check the column of a table before its first row.

        Raises
        ------
        VifidelError
            If it is missing, is there twice, or holds no ids.
        """
        types = pa.types
        kind = field_of(schema, self.column).type
        if not (is_text(kind) or types.is_integer(kind) or types.is_floating(kind)):
            raise VifidelError(
                f"the column {self.column!r} is of type {kind}; image ids are text or whole "
                "numbers."
            )

    def labels(self, ids: Any) -> Any:
        """Return the labels of rows as a column of maps of label to count.

        What was looked for and is not there has a count of 0.

        Parameters
        ----------
        ids : pyarrow.Array or pyarrow.ChunkedArray
            Of a type that `check` knows.

        Raises
        ------
        ImageIdError
            If an id could mean two images.
        """
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        if is_text(ids.type) and not pa.types.is_null(ids.type):
            ids = texts(ids)
        given = ids.to_pylist()
        known = self._known({value for value in given if value is not None})
        maps = {image_id: self._map(image_id) for image_id in set(known.values())}
        unknown = [("", None)] if self.objects.lists_every_image else []
        rows = [maps[known[value]] if value in known else unknown for value in given]
        return pa.array(rows, self.field.type)

    def _known(self, given: Iterable[Any]) -> dict[Any, ImageId]:
        """Return the source's id of each value that means one."""
        read = {value: _image_id(value) for value in given}
        found = match([i for i in dict.fromkeys(read.values()) if i is not None], self.objects)
        known = {value: found[i] for value, i in read.items() if i in found}
        # Text of digits may be text in the source as well.
        known |= {value: value for value in read if value not in known and value in self.objects}
        return known

    def _map(self, image_id: ImageId) -> Sequence[tuple[str, int]]:
        counts = self.objects[image_id]
        asked = self.objects.asked_of([image_id])[0] or ()
        return [*counts.items(), *((label, 0) for label in sorted(asked) if label not in counts)]


def _image_id(value: Any) -> ImageId | None:
    return from_json_key(value.strip()) if isinstance(value, str) else from_json_value(value)
