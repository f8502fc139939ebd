"""Layouts of caption files: their records, what their readers share, and the usual layouts.

The usual ones are records of an image and a caption each, ``{"42": ["caption", ...]}``, COCO's
annotations (https://cocodataset.org/#format-data), and TSV without a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..doors.arguments import is_listed
from ..errors import CaptionError
from ..io.containers import listed_in
from ..io.entries import Entries, Entry, LeftOut, listed_image, listed_images
from ..io.files import parse_json
from ..io.image_ids import ImageId
from .fields import MISSING, CaptionFields, NamedImages, caption_field, id_field

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
    #: records (`vifidel_eval.io.entries`), and the fields to read.
    read: Callable[[Any, CaptionFields], ByImage]
    has_splits: bool = False  # whether `CaptionFields.splits` has an effect
    example: str = ""  # a whole small file

    def serves(self, fields: CaptionFields) -> bool:
        """Return whether files of this layout hold references, or results, as the fields ask."""
        return bool(self.as_references if fields.references else self.as_results)


def text_of(caption: Any, at: object) -> str:
    """Return a caption, which has to be a string."""
    if caption is MISSING:
        raise CaptionError(f"{at}: the caption is missing.")
    if not isinstance(caption, str):
        shown = "null" if caption is None else f"{caption!r:.40}"
        raise CaptionError(f"{at}: the caption is {shown}, not a string.")
    return caption


def texts_of(captions: Any, at: object, fields: CaptionFields) -> list[str]:
    """Return the captions of an image: one, or a list, which text may spell."""
    if isinstance(captions, str):
        spelled = listed_in(captions, at, CaptionError, whole=fields.references)
        captions = captions if spelled is None else spelled
    elif is_listed(captions):  # pandas has an array for each list of a Parquet file
        captions = list(captions)
    if not isinstance(captions, list):
        return [text_of(captions, at)]
    if fields.samples and not captions:
        raise CaptionError(f"{at}: a list without a caption; leave it out.")
    if fields.references or fields.samples or len(captions) == 1:
        return [text_of(caption, at) for caption in captions]
    if captions and all(isinstance(caption, str) for caption in captions):
        raise CaptionError(f"{at}: {len(captions)} captions for one image; keep one ({_SEVERAL}).")
    raise CaptionError(f"{at}: the caption is {captions!r:.40}, not a string.")


def read_records(records: Entries, fields: CaptionFields) -> ByImage:
    """Return the captions of each image, in the order of the file."""
    if not records:
        return {}
    where = records.source.where
    id_name = id_field(records.names, fields.id_fields, where)
    return captions_in(records, id_name, caption_field(records.names, fields, where), fields)


def captions_in(
    records: Entries, id_name: str, caption_name: str, fields: CaptionFields
) -> ByImage:
    """Return the captions of each image from the fields of those names."""
    several = fields.references or fields.samples
    by_image: ByImage = {}
    left_out = LeftOut()
    for record in records:
        image_id = record.image_id(id_name)
        if fields.references and left_out.flagged(record):
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
        if records.textual and fields.references and caption == "":
            left_out["empty"] += 1
            by_image.setdefault(image_id, [])
            continue
        by_image.setdefault(image_id, []).extend(texts_of(caption, record, fields))
    if fields.references:
        left_out.warn(records.source.where, "reference", by_image)
    else:
        left_out.warn(records.source.where, "caption", {})
    return by_image


RECORDS = Layout(
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
)


def _read_by_image(content: Entry, fields: CaptionFields) -> ByImage:
    by_image: ByImage = {}
    for image_id, captions in content.content.items():
        at = f"{content}: image {image_id!r:.60}"
        if fields.references and not isinstance(captions, list | tuple):
            raise CaptionError(f"{at}: expected a list, found {captions!r:.40}.")
        by_image[image_id] = texts_of(captions, at, fields)
    return by_image


BY_IMAGE = Layout(
    '{"id": "caption"}',
    '`{"id": "caption"}`, `{"id": ["caption"]}`, which `compute_score` takes',
    "yes",
    "lists of any length",
    (),
    None,
    _read_by_image,
    example='{"1": ["a dog"]}',
)


def _read_captions(content: Entry, fields: CaptionFields) -> ByImage:
    """Return the captions of each image, in the order of ``images``."""
    images = listed_images(content)
    references = NamedImages({image_id: list[str]() for image_id in images}, images)
    left_out = LeftOut()
    for annotation in content.entries("annotations"):
        image_id = listed_image(annotation, images, "captions")
        if left_out.flagged(annotation):
            references.setdefault(image_id, [])
            continue
        if "caption" not in annotation:
            holds = "object annotations" if "category_id" in annotation else "other things"
            raise CaptionError(f"{annotation}: no 'caption', but {holds}; is it a caption file?")
        references.setdefault(image_id, []).append(text_of(annotation["caption"], annotation))
    left_out.warn(content.source.where, "reference", references)
    return references


COCO = Layout(
    "a dataset's annotations",
    "COCO `captions_*.json`",
    "",
    "yes",
    ("annotations",),
    None,
    _read_captions,
    example='{"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog"}]}',
)


def _read_without_header(lines: Entries, fields: CaptionFields) -> ByImage:
    """Read lines of an id and a caption, or JSON's ``[{"caption": ...}]``."""
    records = []
    for line in lines:
        image, caption = line["column_1"], line["column_2"]
        if caption.startswith("[{"):
            described = parse_json(caption, str(line), CaptionError)
            caption = [region.get("caption") for region in described]
        records.append({"image_id": CAPTION_NUMBER.sub("", image), "caption": caption})
    return captions_in(lines.with_values(records), "image_id", "caption", fields)


WITHOUT_HEADER = Layout(
    "TSV without a header",
    "TSV without a header: image id or file name, a tab, and the caption, or "
    '`[{"caption": "..."}]` as Oscar and GIT write it',
    "yes",
    "several lines per image; Flickr's `beach.jpg#0` is a caption of `beach.jpg`",
    None,
    ("column_1", "column_2"),
    _read_without_header,
    example="1.jpg\ta dog",
)
