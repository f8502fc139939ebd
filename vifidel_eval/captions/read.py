"""Reading of caption files: the table of layouts recognises content, never a file's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..doors.arguments import name_wrong_argument
from ..doors.entry_points import LAYOUTS, of_plugins
from ..errors import CaptionError
from ..io.containers import Content, CsvTable, content_of
from ..io.entries import Entries, Entry, Source, is_frame, keyed_by_image, root, shows, unknown
from ..io.files import STANDARD_INPUT, read_bytes, read_standard_input, reason
from ..io.image_ids import ImageId, check_distinct, from_json_key, names_image
from .fields import (
    CAPTIONS,
    IMAGE_IDS,
    MISSING,
    REFERENCES,
    CaptionFields,
    steps_of,
    usual,
    usual_id,
    value_at,
    with_paths,
)
from .layouts import BY_IMAGE, CAPTION_NUMBER, COCO, RECORDS, WITHOUT_HEADER, ByImage, Layout

# Keys that hold the captions of a file beside other things.
_HOLDERS = ("results", "predictions", "captions", "imgToEval")


def _held(key: str) -> str:
    return " ".join([f"{key}{{}}", *(f"{key}[].{name}" for name in IMAGE_IDS)])


def _read_held(content: Entry, fields: CaptionFields) -> ByImage:
    """Read what a key holds: records, or an object whose values are captions or records."""
    key = next(key for key in _HOLDERS if shows(content.content, [_held(key)]))
    held = content[key]
    if not isinstance(held, Mapping):
        return captions_of(content.entries(key), fields)
    by_id = {from_json_key(name): value for name, value in held.items()}
    return captions_of(root(by_id, content.source), fields)


HELD = Layout(
    '{"results": [...]}',
    '`{"results": [...]}`, `{"predictions": ...}`, `{"captions": ...}`, or `{"overall": ..., '
    '"imgToEval": ...}` of coco-caption\'s forks, around any of the layouts below',
    "if it contains the captions",
    "likewise",
    (" ".join(map(_held, _HOLDERS)),),
    None,
    _read_held,
    example='{"results": [{"image_id": 1, "caption": "a dog"}]}',
)


def layouts() -> Iterator[Layout]:
    """Yield all layouts: the first that recognises content reads it."""
    yield COCO
    yield from of_plugins(LAYOUTS)
    yield from (HELD, WITHOUT_HEADER, RECORDS, BY_IMAGE)


def captions_from(source: Any, where: str, fields: CaptionFields) -> ByImage:
    """Return the captions of each image from a file, or from an object that is called `where`."""
    if isinstance(source, str | os.PathLike):
        return captions_of(read_content(source), fields)
    memory = Source(where, CaptionError)
    dataset = getattr(source, "dataset", None)
    content = dataset if isinstance(dataset, Mapping) else source  # a pycocotools COCO
    if isinstance(content, Mapping):
        annotations = content.get("annotations")
        if isinstance(annotations, list) and not fields.references:  # of pycocotools' loadRes
            return captions_of(Entries(annotations, memory), fields)
        return captions_of(root(content, memory), fields)
    if is_frame(content):
        return captions_of(Entries.of_frame(content, memory), fields)
    if isinstance(content, list | tuple):
        return captions_of(Entries(content, memory), fields)
    raise CaptionError(
        f"{where}: captions are a path, a mapping of image id to caption, a list of "
        f'{{"image_id": ..., "caption": ...}}, a pycocotools COCO or a DataFrame, not '
        f"{kind_of(content)}."
    )


def read_content(path: str | os.PathLike[str]) -> Entry | Entries:
    """Return the content of a file, or of standard input for ``-``, as `records_of` does."""
    if os.fspath(path) == STANDARD_INPUT:
        where, raw = "standard input", read_standard_input(CaptionError)
    else:
        where, raw = str(path), read_bytes(path, CaptionError)
    return records_of(content_of(raw, where, CaptionError))


def records_of(content: Content) -> Entry | Entries:
    """Return the records of a container, or a JSON object that is not a record."""
    kind, value, source = content
    if kind == "table":
        return _rows_of(value, source)
    if isinstance(value, Entries) or (isinstance(value, Entry) and "annotations" in value):
        return value
    if not isinstance(value, Entry):
        raise CaptionError(
            f"{source.where}: {value!r:.40} is not a caption file; accepted: COCO's JSON, JSON "
            "Lines, CSV or TSV with a header, Excel, Parquet."
        )
    ids, captions = usual(value.content, IMAGE_IDS), usual(value.content, {*CAPTIONS, *REFERENCES})
    if not ids or not captions:
        return value
    if any(isinstance(value[name], dict | list) for name in ids):
        raise CaptionError(
            f"{source.where}: looks like a table written column by column; write one record per "
            "image, in JSON Lines or CSV."
        )
    return Entries([value.content], source)  # a file of one line


def _rows_of(table: CsvTable, source: Source) -> Entries:
    first = table.first_line.split("\t")
    image = CAPTION_NUMBER.sub("", first[0])
    if len(first) == 2 and (names_image(image) or first[1].startswith('[{"caption"')):
        return table.pairs()
    if table.delimiter:
        try:
            return table.entries()
        except CaptionError:
            names = usual(table.header, {*IMAGE_IDS, *CAPTIONS, *REFERENCES})
            if names or not table.header or source.where.lower().endswith((".csv", ".tsv")):
                raise  # else it is text with commas in it
    hint = "; if its lines are captions, write the image id and a tab before each"
    raise _unknown(table.text, source, True, hint)


def captions_of(content: Entry | Entries, fields: CaptionFields) -> ByImage:
    """Return the captions of each image from a JSON object or records, in whatever layout."""
    if isinstance(content, Entry):
        content = _as_records(content, fields)
    if isinstance(content, Entries):
        content = with_paths(content, fields)
    where, layout = content.source.where, _layout_of(content, fields)
    if not layout.serves(fields):
        names = ", ".join(candidate.name for candidate in layouts() if candidate.serves(fields))
        kind = "references" if fields.references else "results"
        raise CaptionError(f"{where}: holds {layout.name}; accepted as {kind}: {names}.")
    if fields.references and fields.splits and not layout.has_splits:
        raise CaptionError(f"{where}: has no splits, so --split has no effect; leave it out.")
    with content.source.reading_as(layout.name):
        captions = layout.read(content, fields)
    if not captions:
        nothing = "no image and no caption" if fields.references else "no caption"
        raise CaptionError(f"{where}: there is {nothing} in it.")
    check_distinct(captions, where)
    return captions


def _as_records(content: Entry, fields: CaptionFields) -> Entry | Entries:
    """Return the records that a JSON object is or holds by image id; others as they are."""
    keys = content.content
    paths = [steps for name in fields.id_fields if len(steps := steps_of(name)) > 1]
    leads = any(value_at(keys, steps) is not MISSING for steps in paths)
    if leads or any(known.fields and shows(keys, known.fields) for known in layouts()):
        return Entries([keys], content.source)  # a file of one line
    if _are_described(keys, fields):
        return Entries([{"image_id": i, **record} for i, record in keys.items()], content.source)
    return content


def _layout_of(content: Entry | Entries, fields: CaptionFields) -> Layout:
    """Return the layout of content; a `CaptionError` if it is of none."""
    if isinstance(content, Entries):
        names = dict.fromkeys(content.names)
        layout = next(x for x in layouts() if x.fields is not None and shows(names, x.fields))
        named = (
            fields.id_fields or fields.text_fields or usual_id(names) or usual(names, fields.usual)
        )
        if names and not named and layout is RECORDS:
            hint = f"; name its fields with --id-field and {fields.option}"
            raise _unknown(names, content.source, True, hint)
        return layout
    keys = content.content
    layout = next(x for x in layouts() if x.keys is not None and shows(keys, x.keys))
    by_image = keyed_by_image(keys, lambda value: isinstance(value, str | list))
    if keys and layout is BY_IMAGE and not by_image:
        raise _unknown(keys, content.source, False)
    return layout


def _unknown(seen: Any, source: Source, records: bool, hint: str = "") -> CaptionError:
    known = [x for x in reversed([*layouts()]) if (x.fields if records else x.keys) is not None]
    return CaptionError(
        f"{source.where}: {unknown(seen, {x.name: x.source for x in known})}{hint}."
    )


def _are_described(images: Mapping[Any, Any], fields: CaptionFields) -> bool:
    """Return whether an object has a record for each image: ``{"42": {"caption": "a dog"}}``."""
    if not images or not all(isinstance(value, Mapping) for value in images.values()):
        return False
    names = dict.fromkeys(chain.from_iterable(images.values()))
    has_captions = bool(usual(names, fields.usual)) or not names.keys().isdisjoint(
        fields.text_fields
    )
    return has_captions or any(names_image(str(key)) for key in images)


def kind_of(value: Any) -> str:
    """Return a value and its type, as messages show them."""
    return f"{type(value).__name__} {value!r:.40}".replace("\n", " ")


@name_wrong_argument
def read_results(
    path: str | os.PathLike[str], id_fields: Sequence[str] = (), caption_fields: Sequence[str] = ()
) -> dict[ImageId, str]:
    """Return the one caption of each image in a result file, in its order.

    Parameters
    ----------
    path : path
        A file in any layout of docs/formats.md that holds results; ``-`` for standard input.
    id_fields, caption_fields : sequence of str
        What the fields of records are called, instead of the usual names, or paths to them, such as
        ``doc.image_id`` and ``filtered_resps[0]``; of several, the first that the file has.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has two captions for one image, or a
        caption is not a string.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    captions = captions_of(read_content(path), CaptionFields(id_fields, caption_fields))
    return {image_id: caption for image_id, (caption,) in captions.items()}


@name_wrong_argument
def read_samples(
    path: str | os.PathLike[str], id_fields: Sequence[str] = (), caption_fields: Sequence[str] = ()
) -> dict[ImageId, list[str]]:
    """Return one caption or more of each image in a result file, as `read_results` does."""
    fields = CaptionFields(id_fields, caption_fields, samples=True)
    return captions_of(read_content(path), fields)


@name_wrong_argument
def read_references(
    path: str | os.PathLike[str],
    splits: Sequence[str] = (),
    id_fields: Sequence[str] = (),
    reference_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Return the references of each image in a file, in its order, as `read_results` does.

    An image may have none; `splits` are those that count, where the file has splits.
    """
    fields = CaptionFields(id_fields, (), reference_fields, splits, references=True)
    return captions_of(read_content(path), fields)


@name_wrong_argument
def system_names(paths: list[Path]) -> list[str]:
    """Return a name for the system of each result file.

    COCO names result files like ``captions_val2017_human_results.json``: that one's system is
    ``human``. Where two files would get the same name, all are named by their stems, or else by
    their paths. Standard input is called ``stdin``.

    >>> system_names([Path("captions_val2014_att2in_results.json"), Path("beam.json")])
    ['att2in', 'beam']
    """
    resolved = []
    for path in paths:
        try:
            resolved.append(os.path.realpath(path))
        except ValueError as problem:  # such as a null character
            raise CaptionError(f"{path}: {reason(problem)}; check the path.") from None
    for path, place in zip(paths, resolved, strict=True):
        if resolved.count(place) > 1:
            raise CaptionError(f"{path}: given twice; give each result file once.")

    def algorithm(path: Path) -> str:
        stem = path.stem.removesuffix("_results")
        parts = stem.split("_", 2)
        return parts[2] if len(parts) == 3 and parts[0] == "captions" and parts[2] else stem

    for name_of in (algorithm, lambda path: path.stem, str):
        names = ["stdin" if os.fspath(path) == STANDARD_INPUT else name_of(path) for path in paths]
        if len(set(names)) == len(names):
            break
    return names
