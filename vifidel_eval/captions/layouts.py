"""Layouts of caption files: their records, the table by which content is recognised, and readers.

The two plain layouts are here: records of an image and a caption each, and
``{"42": ["caption", ...]}``; the others are in `.datasets`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from ..doors.arguments import is_listed, name_wrong_argument
from ..errors import CaptionError
from ..io.containers import Content, CsvTable, content_of, listed_in
from ..io.entries import (
    Entries,
    Entry,
    LeftOut,
    Source,
    is_frame,
    keyed_by_image,
    root,
    shows,
    unknown,
)
from ..io.files import STANDARD_INPUT, read_bytes, read_standard_input, reason
from ..io.image_ids import ImageId, check_distinct, names_image
from .fields import (
    CAPTIONS,
    IMAGE_IDS,
    MISSING,
    REFERENCES,
    CaptionFields,
    caption_field,
    id_field,
    steps_of,
    usual,
    usual_id,
    value_at,
    with_paths,
)

ByImage: TypeAlias = dict[ImageId, list[str]]  #: the captions of each image: one for results

CAPTION_NUMBER = re.compile(r"#\d+$")  #: after the image id: beach.jpg#0, as Flickr8k has it
_SEVERAL = (
    "if the image is meant to have several captions, give --samples or "
    "evaluate(samples=True), or use `vifidel-eval score-table`, or the scorers' score(captions, "
    "image_ids=...)"
)


@dataclass(frozen=True)
class Layout:
    """A layout of caption files, as results and as references."""

    name: str  # what messages call it
    #: Its entry in docs/formats.md: what it is, in Markdown, and what to know of it as results and
    #: as references; where that is empty, it is refused as such.
    source: str
    as_results: str
    as_references: str
    #: The signs (`vifidel_eval.io.entries.shows`) of a JSON object of this layout, and of records
    #: by the names of their fields; None where it never comes as such. The first layout whose signs
    #: are all there reads it.
    keys: tuple[str, ...] | None
    fields: tuple[str, ...] | None
    #: Returns the captions of each image from an `Entry`, the JSON object, or `Entries`, the
    #: records (`vifidel_eval.io.entries`), and what is wanted.
    read: Callable[[Any, CaptionFields], ByImage]
    has_splits: bool = False  # whether `CaptionFields.splits` has an effect
    example: str = ""  # a whole small file

    def serves(self, wanted: CaptionFields) -> bool:
        """Return whether files of this layout hold what is wanted."""
        return bool(self.as_references if wanted.references else self.as_results)


def text_of(caption: Any, at: object) -> str:
    """Return a caption, which has to be a string."""
    if caption is MISSING:
        raise CaptionError(f"{at}: the caption is missing.")
    if not isinstance(caption, str):
        found = "null" if caption is None else f"{caption!r:.40}"
        raise CaptionError(f"{at}: the caption is {found}, not a string.")
    return caption


def texts_of(captions: Any, at: object, wanted: CaptionFields) -> list[str]:
    """Return the captions of an image: one, or a list, which text may spell."""
    if isinstance(captions, str):
        spelled = listed_in(captions, at, CaptionError, whole=wanted.references)
        captions = captions if spelled is None else spelled
    elif is_listed(captions):  # pandas has an array for each list of a Parquet file
        captions = list(captions)
    if not isinstance(captions, list):
        return [text_of(captions, at)]
    if wanted.samples and not captions:
        raise CaptionError(f"{at}: a list without a caption; leave it out.")
    if wanted.references or wanted.samples or len(captions) == 1:
        return [text_of(caption, at) for caption in captions]
    if captions and all(isinstance(caption, str) for caption in captions):
        raise CaptionError(f"{at}: {len(captions)} captions for one image; keep one ({_SEVERAL}).")
    raise CaptionError(f"{at}: the caption is {captions!r:.40}, not a string.")


def read_records(records: Entries, wanted: CaptionFields) -> ByImage:
    """Return the captions of each image, in the order of the file."""
    if not records:
        return {}
    where = records.source.where
    id_name = id_field(records.names, wanted.id_fields, where)
    return captions_in(records, id_name, caption_field(records.names, wanted, where), wanted)


def captions_in(
    records: Entries, id_name: str, caption_name: str, wanted: CaptionFields
) -> ByImage:
    """Return the captions of each image from the fields of those names."""
    several = wanted.references or wanted.samples
    by_image: ByImage = {}
    left_out = LeftOut()
    for record in records:
        image_id = record.image_id(id_name)
        if wanted.references and left_out.flagged(record):
            by_image.setdefault(image_id, [])
            continue
        if image_id in by_image and not several:
            # Where a file has several captions per image, the second entry shows it.
            first = records[list(by_image).index(image_id)]
            raise CaptionError(
                f"{records.source.where}: two captions for image {image_id!r:.60} "
                f"({'' if records.unit else 'entries '}{first.place} and {record.place}); keep one "
                f"({_SEVERAL})."
            )
        caption = record.get(caption_name, MISSING)
        caption = left_out.cell(caption) if records.textual else caption
        if records.textual and wanted.references and caption == "":
            left_out["empty"] += 1
            by_image.setdefault(image_id, [])
            continue
        by_image.setdefault(image_id, []).extend(texts_of(caption, record, wanted))
    if wanted.references:
        left_out.warn(records.source.where, "reference", by_image)
    else:
        left_out.warn(records.source.where, "caption", {})
    return by_image


def _read_by_image(content: Entry, wanted: CaptionFields) -> ByImage:
    by_image: ByImage = {}
    for image_id, captions in content.content.items():
        at = f"{content}: image {image_id!r:.60}"
        if wanted.references and not isinstance(captions, list | tuple):
            raise CaptionError(f"{at}: expected a list, found {captions!r:.40}.")
        by_image[image_id] = texts_of(captions, at, wanted)
    return by_image


#: Tried in this order: the first layout that recognises content reads it. Messages list them, and
#: docs/formats.md shows them all.
LAYOUTS: list[Layout] = [
    Layout(
        'records {"image_id": ..., "caption": ...} (a JSON list, JSON Lines, CSV or TSV with a '
        "header, Parquet)",
        'records: JSON `[{"image_id": 42, "caption": "..."}]`, the format of COCO\'s server; '
        "JSON Lines, one object per line; CSV or TSV with a header; Parquet (`pip install "
        "pyarrow`)",
        "one per image; the caption may be in a list of one",
        "any number per image, each with a caption or a list of captions ([in CSV and TSV, as "
        "text](captions.md#lists-in-cells))",
        None,
        (),
        read_records,
        example='{"image_id": 1, "caption": "a dog"}',
    ),
    Layout(
        '{"id": "caption"}',
        '`{"id": "caption"}`, `{"id": ["caption"]}`, which `compute_score` takes',
        "yes",
        "lists of any length",
        (),
        None,
        _read_by_image,
        example='{"1": ["a dog"]}',
    ),
]


def captions_from(source: Any, where: str, wanted: CaptionFields) -> ByImage:
    """Return the captions of each image from a file, or from an object that is called `where`."""
    if isinstance(source, str | os.PathLike):
        return captions_of(read_content(source), wanted)
    memory = Source(where, CaptionError)
    dataset = getattr(source, "dataset", None)
    content = dataset if isinstance(dataset, Mapping) else source  # a pycocotools COCO
    if isinstance(content, Mapping):
        annotations = content.get("annotations")
        if isinstance(annotations, list) and not wanted.references:  # of pycocotools' loadRes
            return captions_of(Entries(annotations, memory), wanted)
        return captions_of(root(content, memory), wanted)
    if is_frame(content):
        return captions_of(Entries.of_frame(content, memory), wanted)
    if isinstance(content, list | tuple):
        return captions_of(Entries(content, memory), wanted)
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
            named = usual(table.header, {*IMAGE_IDS, *CAPTIONS, *REFERENCES})
            if named or not table.header or source.where.lower().endswith((".csv", ".tsv")):
                raise  # else it is text with commas in it
    hint = "; if its lines are captions, write the image id and a tab before each"
    raise _unknown(table.text, source, True, hint)


def _unknown(seen: Any, source: Source, records: bool, hint: str = "") -> CaptionError:
    known = [x for x in reversed(LAYOUTS) if (x.fields if records else x.keys) is not None]
    return CaptionError(
        f"{source.where}: {unknown(seen, {x.name: x.source for x in known})}{hint}."
    )


def captions_of(content: Entry | Entries, wanted: CaptionFields) -> ByImage:
    """Return the captions of each image from a JSON object or records, in whatever layout."""
    if isinstance(content, Entry):
        paths = [steps for name in wanted.id_fields if len(steps := steps_of(name)) > 1]
        leads = any(value_at(content.content, steps) is not MISSING for steps in paths)
        if leads or any(known.fields and shows(content.content, known.fields) for known in LAYOUTS):
            content = Entries([content.content], content.source)  # a file of one line
        elif _are_described(content.content, wanted):
            records = [{"image_id": i, **fields} for i, fields in content.content.items()]
            content = Entries(records, content.source)
    where = content.source.where
    if isinstance(content, Entries):
        content = with_paths(content, wanted)
        fields = dict.fromkeys(content.names)
        layout = next(x for x in LAYOUTS if x.fields is not None and shows(fields, x.fields))
        named = wanted.id_fields or wanted.fields or usual_id(fields) or usual(fields, wanted.usual)
        if fields and not named and layout.read is read_records:
            hint = f"; name its fields with --id-field and {wanted.option}"
            raise _unknown(fields, content.source, True, hint)
    else:
        keys = content.content
        layout = next(x for x in LAYOUTS if x.keys is not None and shows(keys, x.keys))
        if (
            keys
            and layout.read is _read_by_image
            and not keyed_by_image(keys, lambda value: isinstance(value, str | list))
        ):
            raise _unknown(keys, content.source, False)
    if not layout.serves(wanted):
        names = ", ".join(known.name for known in LAYOUTS if known.serves(wanted))
        kind = "references" if wanted.references else "results"
        raise CaptionError(f"{where}: holds {layout.name}; accepted as {kind}: {names}.")
    if wanted.references and wanted.splits and not layout.has_splits:
        raise CaptionError(f"{where}: has no splits, so --split has no effect; leave it out.")
    with content.source.net(layout.name):
        captions = layout.read(content, wanted)
    if not captions:
        nothing = "no image and no caption" if wanted.references else "no caption"
        raise CaptionError(f"{where}: there is {nothing} in it.")
    check_distinct(captions, where)
    return captions


def _are_described(images: Mapping[Any, Any], wanted: CaptionFields) -> bool:
    """Return whether an object has a record for each image: ``{"42": {"caption": "a dog"}}``."""
    if not images or not all(isinstance(value, Mapping) for value in images.values()):
        return False
    fields = dict.fromkeys(chain.from_iterable(images.values()))
    has_captions = bool(usual(fields, wanted.usual)) or not fields.keys().isdisjoint(wanted.fields)
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
    wanted = CaptionFields(id_fields, caption_fields, samples=True)
    return captions_of(read_content(path), wanted)


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
    wanted = CaptionFields(id_fields, (), reference_fields, splits, references=True)
    return captions_of(read_content(path), wanted)


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
    for path, same in zip(paths, resolved, strict=True):
        if resolved.count(same) > 1:
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
