"""Layouts of caption files: their records, the table by which content is recognised, and readers.

The two plain layouts are here: records of an image and a caption each, and
``{"42": ["caption", ...]}``. Any other is a module of this package that ends with its record,
``LAYOUT``, and a name in the table, which `vifidel_eval.captions` completes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import CaptionError
from ..io.arguments import is_listed, named_if_wrong, shows
from ..io.cell_lists import listed_in
from ..io.image_ids import ImageId, check_distinct, from_json_key, from_json_value
from .fields import MISSING, Wanted, caption_field, id_field, steps_of, value_at
from .records import Records, read_content

#: The captions of each image: one for results.
ByImage: TypeAlias = dict[ImageId, list[str]]

_SEVERAL = (
    "several captions per image are samples, of which `vifidel-eval score --samples` or "
    "evaluate(samples=True) gives the mean, best and worst; or rows, by `vifidel-eval score-table` "
    "or the scorers' score(captions, image_ids=...)"
)


@dataclass(frozen=True)
class Layout:
    """A layout of caption files, as results and as references."""

    #: What messages call it.
    name: str
    #: Its row in docs/captions.md: what it is, in Markdown, and what to know of it as results and
    #: as references; where that is empty, it is refused as such.
    source: str
    as_results: str
    as_references: str
    #: The signs (`vifidel_eval.io.arguments.shows`) of a JSON object or mapping of this layout, and
    #: of records by the names of their fields; None where it never comes as such. The first layout
    #: that content has all signs of reads it.
    keys: tuple[str, ...] | None
    fields: tuple[str, ...] | None
    #: Returns the captions of each image from the content, what messages call it, what is wanted.
    read: Callable[[Any, str, Wanted], ByImage]
    #: Whether `Wanted.splits` has an effect.
    has_splits: bool = False

    def serves(self, wanted: Wanted) -> bool:
        """Return whether files of this layout hold what is wanted."""
        return bool(self.as_references if wanted.references else self.as_results)


def image_id_of(value: Any, name: str, at: str, textual: bool = False) -> ImageId:
    """Return the image id that a field holds, `MISSING` for none.

    `name` and `at` are the field and the entry, for messages; in a `textual` table, an id of
    digits is a number.
    """
    if value is MISSING:
        raise CaptionError(f"{at}: {name!r:.40} is missing; every entry needs an image id.")
    if textual:
        value = from_json_key(value.strip())
    image_id = from_json_value(value)
    if image_id is None:
        found = "null" if value is None else "empty" if value == "" else f"{value!r:.40}"
        raise CaptionError(f"{at}: {name!r:.40} is {found}; an image id is an integer or a string.")
    return image_id


def text_of(caption: Any, at: str) -> str:
    """Return a caption, which has to be a string."""
    if caption is MISSING:
        raise CaptionError(f"{at}: the caption is missing.")
    if not isinstance(caption, str):
        found = "null" if caption is None else f"{caption!r:.40}"
        raise CaptionError(f"{at}: the caption is {found}, not a string.")
    return caption


def texts_of(captions: Any, at: str, wanted: Wanted) -> list[str]:
    """Return the captions of an image: one, or a list, of one unless several are wanted.

    Text may spell the list, as cells of tables do.
    """
    if isinstance(captions, str):
        spelled = listed_in(captions, at, CaptionError, whole=wanted.references)
        captions = captions if spelled is None else spelled
    elif is_listed(captions):  # pandas has an array for each list of a Parquet file
        captions = list(captions)
    if not isinstance(captions, list):
        return [text_of(captions, at)]
    if wanted.references or wanted.samples or len(captions) == 1:
        return [text_of(caption, at) for caption in captions]
    if captions and all(isinstance(caption, str) for caption in captions):
        raise CaptionError(f"{at}: {len(captions)} captions for one image; keep one ({_SEVERAL}).")
    raise CaptionError(f"{at}: the caption is {captions!r:.40}, not a string.")


def list_of(value: Any, at: str) -> list[Any]:
    """Return a list; anything else is an error."""
    if not isinstance(value, list | tuple):
        raise CaptionError(f"{at}: expected a list, found {value!r:.40}.")
    return list(value)


def entries(values: Any, at: str, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list, each after what messages call it; they should have `key`."""
    for number, entry in enumerate(list_of(values, at)):
        if not isinstance(entry, dict):
            raise CaptionError(
                f"{at}[{number}]: expected an object with '{key}', found {entry!r:.40}."
            )
        yield f"{at}[{number}]", entry


def read_records(records: Records, where: str, wanted: Wanted) -> ByImage:
    """Return the captions of each image, in the order of the file."""
    if not records.entries:
        return {}
    id_name = id_field(records.names, wanted.id_fields, where)
    return captions_in(records, id_name, caption_field(records.names, wanted, where), wanted)


def captions_in(records: Records, id_name: str, caption_name: str, wanted: Wanted) -> ByImage:
    """Return the captions of each image from the fields of those names."""
    several = wanted.references or wanted.samples
    found: ByImage = {}
    for number, entry in enumerate(records.entries):
        at = records.at(number)
        image_id = image_id_of(entry.get(id_name, MISSING), id_name, at, records.textual)
        if image_id in found and not several:
            # Where a file has several captions per image, the second entry shows it.
            what = "entries " if records.lines is None else ""
            first = records.place(list(found).index(image_id))
            raise CaptionError(
                f"{records.where}: two captions for image {image_id!r:.60} "
                f"({what}{first} and {records.place(number)}); keep one ({_SEVERAL})."
            )
        caption = entry.get(caption_name, MISSING)
        found.setdefault(image_id, []).extend(
            texts_of(caption, f"{at} (image {image_id!r:.60})", wanted)
        )
    return found


def _read_by_image(content: Mapping[Any, Any], where: str, wanted: Wanted) -> ByImage:
    found: ByImage = {}
    for image_id, captions in content.items():
        at = f"{where}: image {image_id!r:.60}"
        listed = list_of(captions, at) if wanted.references else captions
        found[image_id] = texts_of(listed, at, wanted)
    return found


#: Tried in this order: the first layout that recognises content reads it. Messages list them, and
#: the table of docs/captions.md is their rows.
LAYOUTS: list[Layout] = [
    Layout(
        'records {"image_id": ..., "caption": ...} (a JSON list, JSON Lines, CSV or TSV with a '
        "header, Parquet)",
        'records: JSON `[{"image_id": 42, "caption": "..."}]`, as COCO\'s server takes them; JSON '
        "Lines, one object per line; CSV or TSV with a header; Parquet "
        "(`pip install pyarrow`)",
        "one per image; the caption may be in a list of one",
        "any number per image, each with a caption or a list of captions, which a cell of CSV or "
        "TSV [spells](#lists-in-cells)",
        None,
        (),
        read_records,
    ),
    Layout(
        '{"id": "caption"}',
        '`{"id": "caption"}`, `{"id": ["caption"]}`, which `compute_score` takes',
        "yes",
        "lists of any length",
        (),
        None,
        _read_by_image,
    ),
]


def captions_from(source: Any, where: str, wanted: Wanted) -> ByImage:
    """Return the captions of each image from a file or from what programs have in memory.

    That is a mapping, whose keys are image ids as they are unless it is a dataset, a list, a
    pycocotools COCO or a DataFrame; messages call it `where`.
    """
    if isinstance(source, str | os.PathLike):
        return _from_file(source, wanted)
    content = _in_memory(source, where)
    if not wanted.references and isinstance(content, Mapping):
        annotations = content.get("annotations")
        if isinstance(annotations, list):  # of pycocotools' loadRes
            content = Records(where, annotations)
    return _captions_of(content, where, wanted)


def _from_file(path: str | os.PathLike[str], wanted: Wanted) -> ByImage:
    content, where = read_content(path)
    if isinstance(content, Records):
        return _captions_of(content, where, wanted)
    by_image = {from_json_key(key): value for key, value in content.items()}
    return _captions_of(by_image, where, wanted)


def _captions_of(content: Records | Mapping[Any, Any], where: str, wanted: Wanted) -> ByImage:
    if isinstance(content, Mapping) and _is_record(content, wanted):
        content = Records(where, [content])
    if isinstance(content, Records):
        content = content.with_paths(wanted)
        fields = dict.fromkeys(content.names)
        layout = next(x for x in LAYOUTS if x.fields is not None and shows(fields, x.fields))
    else:
        layout = next(x for x in LAYOUTS if x.keys is not None and shows(content, x.keys))
    if not layout.serves(wanted):
        raise CaptionError(f"{where}: holds {layout.name}; accepted {accepted(wanted)}.")
    if wanted.references and wanted.splits and not layout.has_splits:
        raise CaptionError(f"{where}: has no splits, so that --split has no effect; leave it out.")
    captions = layout.read(content, where, wanted)
    if not captions:
        nothing = "no image and no caption" if wanted.references else "no caption"
        raise CaptionError(f"{where}: there is {nothing} in it.")
    if wanted.samples:
        for image_id, of_image in captions.items():
            if not of_image:
                raise CaptionError(f"{where}: image {image_id!r:.60} has a list without a caption.")
    check_distinct(captions, where)
    return captions


def _in_memory(source: Any, where: str) -> Records | Mapping[Any, Any]:
    dataset = getattr(source, "dataset", None)
    if isinstance(dataset, Mapping):  # a pycocotools COCO
        return dataset
    if isinstance(source, Mapping):
        return source
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a DataFrame
        rows = source.to_dict("records")
        return Records(where, rows, range(len(rows)), "row")
    if isinstance(source, list | tuple):
        return Records(where, source)
    raise CaptionError(
        f"{where}: captions are a path, a mapping of image id to caption, a list of "
        f'{{"image_id": ..., "caption": ...}}, a pycocotools COCO or a DataFrame, not '
        f"{kind_of(source)}."
    )


def kind_of(value: Any) -> str:
    """Return a value and its type, as messages show them."""
    return f"{type(value).__name__} {value!r:.40}".replace("\n", " ")


def _is_record(content: Mapping[Any, Any], wanted: Wanted) -> bool:
    """Return whether a JSON object is a record, the only line of a file.

    One with usual names is known by them; others by a layout's fields, or a path to the image id.
    """
    paths = [steps for name in wanted.id_fields if len(steps := steps_of(name)) > 1]
    return any(value_at(content, steps) is not MISSING for steps in paths) or any(
        layout.fields and shows(content, layout.fields) for layout in LAYOUTS
    )


def accepted(wanted: Wanted) -> str:
    """Return the names of the layouts that are accepted, as messages list them."""
    names = [layout.name for layout in LAYOUTS if layout.serves(wanted)]
    return f"as {'references' if wanted.references else 'results'}: {', '.join(names)}"


@named_if_wrong
def read_results(
    path: str | os.PathLike[str],
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, str]:
    """Read a result file: one caption per image, of one system.

    Parameters
    ----------
    path : path
        A file in any layout of docs/captions.md that holds results; ``-`` for standard input.
    id_fields, caption_fields : sequence of str
        What the fields of records are called, instead of the usual names, or paths to them, such as
        ``doc.image_id`` and ``filtered_resps[0]``; of several, the first that the file has.

    Returns
    -------
    dict
        Image id to its caption, in the order of the file.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has two captions for one image, or a
        caption is not a string.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    captions = _from_file(path, Wanted(id_fields, caption_fields))
    return {image_id: caption for image_id, (caption,) in captions.items()}


@named_if_wrong
def read_samples(
    path: str | os.PathLike[str],
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Read a result file with any number of captions per image: an entry for each, or lists.

    Parameters
    ----------
    path, id_fields, caption_fields
        As for `read_results`.

    Returns
    -------
    dict
        Image id to its captions, in the order of the file.

    Raises
    ------
    CaptionError, ImageIdError
        As `read_results` raises them, or if an image has no caption.
    """
    return _from_file(path, Wanted(id_fields, caption_fields, samples=True))


@named_if_wrong
def read_references(
    path: str | os.PathLike[str],
    splits: Sequence[str] = (),
    id_fields: Sequence[str] = (),
    reference_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Read references: any number of captions per image.

    Parameters
    ----------
    path : path
        A file in any layout of docs/captions.md that holds references; ``-`` for standard input.
    splits : sequence of str
        The splits that count, where the file has splits.
    id_fields, reference_fields : sequence of str
        What the fields of records are called, or paths to them, as in `read_results`.

    Returns
    -------
    dict
        Image id to its captions, in the order of the file's images; images without a caption have
        an empty list.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has splits of which none is named, a
        caption is not a string or is of an image that ``images`` does not list, or an image is
        listed twice in different ways.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    return _from_file(path, Wanted(id_fields, (), reference_fields, splits, references=True))
