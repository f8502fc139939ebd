"""COCO's results format: the commands that find what is wrong with a file, and write one.

The format (https://cocodataset.org/#format-results) is a JSON list of ``{"image_id", "caption"}``
with one caption for every image of a split. Evaluation servers and ``COCO.loadRes`` of pycocotools
take it; COCO's own server wanted it to be called ``captions_[split]_[algorithm]_results.json``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

import click

from ...captions import read_results
from ...captions.fields import IMAGE_IDS, NamedImages, id_field, usual
from ...captions.read import records_of
from ...commands.options import Command, field_options, format_option
from ...commands.paths import CAPTIONS, FILE, OUTPUT
from ...commands.printing import Group, show
from ...errors import CaptionError
from ...io.containers import content_of
from ...io.entries import Entries, Entry, shows
from ...io.files import as_text, no_text, parse_json, read_bytes, write_whole
from ...io.image_ids import (
    ImageId,
    check_distinct,
    from_json_value,
    match,
    parse_image_ids,
    to_json_value,
)
from ...io.text_tables import Table, counted
from ...words.tokenization import LINE_BREAKS

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields

# Categories of Unicode: separators, control and format characters such as U+200B.
_INVISIBLE = ("Zs", "Zl", "Zp", "Cc", "Cf")
_DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")
_SHOWN = 10  # faults of a kind, in a file, before the rest is counted

_IMAGES = "COCO-style JSON, a JSON list of ids, one id per line, or a table with a column of ids."
_ALL = click.option(
    "--all", "everything", is_flag=True, help="List all faults of each kind, not only the first 10."
)
_BY_FILE_NAME = click.option(
    "--by-file-name",
    is_flag=True,
    help="Use {file name: caption}, as CompreCap and CapArena-Auto do, instead of COCO's list.",
)


@click.group(
    cls=Group,
    examples=(
        "submission check results.json --images captions_val2017.json",
        "submission write mine.jsonl --images captions_val2017.json --output results.json",
        "submission check results.json --images names.json --by-file-name",
    ),
)
def submission() -> None:
    """Check files in COCO's results format, or write one from any captions.

    The results format is a JSON list of {"image_id": ..., "caption": "..."} with one caption for
    every image. Evaluation servers and pycocotools take it.
    """


@submission.command(
    cls=Command,
    examples=(
        "submission check results.json --images captions_val2017.json",
        "submission check a.json b.json --images captions_val2017.json --all",
        "submission check results.json --images captions_val2017.json --format csv",
    ),
)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--images", required=True, type=FILE, help=f"Images that need a caption: {_IMAGES}")
@_BY_FILE_NAME
@_ALL
@format_option("Output style; csv and json always list all faults.")
def check(
    files: tuple[Path, ...], images: Path, by_file_name: bool, everything: bool, style: str
) -> None:
    """List every fault of results FILES.

    Nothing is changed. The exit status is 1 if there are faults, and 0 otherwise.
    """
    listed = read_image_list(images)
    checked = [check_results(path, listed, by_file_name) for path in files]
    faults = [fault for results in checked for fault in results.faults]
    if style == "json":
        files_read = [{"file": results.file, "entries": results.entries} for results in checked]
        document = {"files": files_read, "faults": list(map(asdict, faults))}
        show(json.dumps(document, indent=1))
    elif style == "csv":
        show(_table(faults, True).render(style))
    else:
        summary = "No fault:"
        if faults:
            show(_table(faults, everything).render(style) + "\n")
            summary = f"{counted(len(faults), 'fault')}; entries are counted from 0. Read:"
        counts = [f"{counted(results.entries, 'caption')} of {results.file}" for results in checked]
        show(f"{summary} {', '.join(counts)}")
    if faults:
        raise click.exceptions.Exit(1)


@submission.command(
    cls=Command,
    examples=(
        "submission write mine.jsonl --images captions_val2017.json --output results.json",
        "submission write mine.csv --images captions_val2017.json --output results.json",
        "submission write mine.json --images nocaps.json --output results.json",
    ),
)
@click.argument("captions", type=CAPTIONS)
@click.option(
    "--images",
    type=FILE,
    help=f"Images that need a caption: {_IMAGES} The output keeps their ids and order.  "
    "[default: the images of the captions]",
)
@click.option(
    "--output",
    required=True,
    type=OUTPUT,
    help="Results file. COCO names it captions_SPLIT_ALGORITHM_results.json.",
)
@_BY_FILE_NAME
@_ALL
@field_options
def write(
    captions: Path,
    images: Path | None,
    output: Path,
    by_file_name: bool,
    everything: bool,
    fields: CaptionFields,
) -> None:
    """Write CAPTIONS in COCO's results format.

    CAPTIONS is any file that score reads. Captions are stripped of surrounding white space, and
    line breaks become blanks. If there is a fault, such as an image without a caption, all faults
    are listed and nothing is written.
    """
    results = write_results(
        read_results(captions, fields.id_fields, fields.caption_fields),
        output,
        None if images is None else read_image_list(images),
        by_file_name,
    )
    if results.faults:  # the entries were never written, so they are in no file
        of_file = [replace(fault, file=str(captions), entry=None) for fault in results.faults]
        show(_table(of_file, everything).render("table") + "\n")
        source = f"{counted(results.entries, 'caption')} of {captions}"
        show(f"{counted(len(of_file), 'fault')}. Read: {source}; nothing was written.")
        raise click.exceptions.Exit(1)
    show(f"{output}: {counted(results.entries, 'caption')}")


def _table(faults: Sequence[Fault], everything: bool) -> Table:
    """Return a row per fault; where a file has many of a kind, the first and how many more."""
    by_kind: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        by_kind.setdefault((fault.file, fault.kind), []).append(fault)
    rows: list[list[Any]] = []
    for (file, kind), of_kind in by_kind.items():
        shown = len(of_kind) if everything or len(of_kind) <= _SHOWN + 1 else _SHOWN
        rows += [[file, fault.entry, fault.image_id, fault.what] for fault in of_kind[:shown]]
        if shown < len(of_kind):
            left_out = f"... and {len(of_kind) - shown} more: {kind} (--all lists them)"
            rows.append([file, None, None, left_out])
    headers = ["File", "Entry", "Image", "Fault"]
    return Table(headers, rows, texts=len(headers))


@dataclass(frozen=True)
class Fault:
    """Something that is not in the results format, or that an evaluation counts as nothing."""

    file: str  # as the user called it
    kind: str  # in a few words, the same for all faults of this kind
    what: str  # what is wrong
    entry: int | None = None  # the place in the file's list, from 0; None if no entry is at fault
    image_id: ImageId | None = None


@dataclass(frozen=True)
class Results:
    """A results file that was read to its end."""

    file: str  # as the user called it
    entries: int  # the length of its list
    faults: Sequence[Fault]  # kind by kind


def read_image_list(path: Path) -> NamedImages[None]:
    """Return the image ids of any file that lists images, of a kind in `_IMAGES`, in its order."""
    where, raw = str(path), read_bytes(path, CaptionError)
    content = content_of(raw, where, CaptionError)
    ids: Iterable[ImageId]
    entries: list[Entry] = []
    if content.kind == "table" and not usual(content.value.header, IMAGE_IDS):
        ids = parse_image_ids(content.value.text, where)
    elif content.kind == "table" and not content.value.delimiter:
        rows = content.value.text.partition("\n")[2]
        ids = parse_image_ids(f"\n{rows}", where)  # the lines keep their numbers
    elif content.kind == "list" and content.value and not isinstance(content.value.values[0], dict):
        ids = parse_image_ids(as_text(raw, where, CaptionError), where)
    else:
        records = records_of(content)
        lists = (("images", "id"), ("annotations", "image_id"))
        if isinstance(records, Entries):
            name = id_field(records.names, (), where) if records else ""
            ids = [record.image_id(name) for record in records]
        elif shows(records.content, ["images[].sentences", "!annotations"]):
            raise CaptionError(
                f"{where}: has Karpathy's splits; write the ids of your split, one per line."
            )
        elif keys := [(key, name) for key, name in lists if isinstance(records.get(key), list)]:
            key, name = keys[0]
            entries = list(records.entries(key))
            ids = [entry.image_id(name) for entry in entries]
        else:
            ids = list(records.content)
    images = dict.fromkeys(ids)
    if not images:
        raise CaptionError(f"{where}: has no image ids.")
    check_distinct(images, where)
    return NamedImages(images, {entry.image: entry for entry in entries})


def check_results(path: Path, images: Collection[ImageId], by_file_name: bool = False) -> Results:
    """Look for every fault of a results file; that it cannot be read is one."""
    file = str(path)
    faults: list[Fault] = []
    entries: Any = []
    try:
        text = read_bytes(path, CaptionError).decode("utf-8")
        if text.startswith("\ufeff"):
            fault = "starts with a byte order mark, which is not JSON"
            faults.append(Fault(file, "byte order mark", fault))
        entries = parse_json(text.lstrip("\ufeff"), file, CaptionError, _Object)
    except (UnicodeDecodeError, CaptionError) as problem:
        fault = str(problem).removeprefix(f"{file}: ").rstrip(".")
        if isinstance(problem, UnicodeDecodeError):
            fault = no_text(problem.object) or f"not a UTF-8 text file (byte {problem.start})"
        return Results(file, 0, [*faults, Fault(file, "unreadable", fault)])
    if by_file_name and isinstance(entries, _Object):
        images = _file_names(images).values()
        if entries.repeated is not None:
            fault = f"the key {_json(entries.repeated)} appears twice"
            faults.append(Fault(file, "repeated key", fault))
        entries = [{"image_id": name, "caption": text} for name, text in entries.items()]
    elif by_file_name or not isinstance(entries, list):
        expected = "an object {file name: caption}" if by_file_name else "a list of entries"
        kind = "not an object" if by_file_name else "not a list"
        fault = f"expected {expected}, found {_json(entries)}"
        return Results(file, 0, [*faults, Fault(file, kind, fault)])
    return _checked(file, entries, images, faults)


def write_results(
    captions: Mapping[ImageId, str],
    path: Path,
    images: Collection[ImageId] | None = None,
    by_file_name: bool = False,
) -> Results:
    """Write captions with the ids of images, in their order, unless the file would have a fault."""
    listed = captions if images is None else images
    captions = images.in_ids(captions) if isinstance(images, NamedImages) else captions
    same_image = match(captions, listed)
    of_image = {same_image.get(image_id, image_id): text for image_id, text in captions.items()}
    unknown = [image_id for image_id in of_image if image_id not in listed]
    entries = [
        {
            "image_id": to_json_value(image_id),
            "caption": of_image[image_id].strip().translate(LINE_BREAKS),
        }
        for image_id in [*listed, *unknown]
        if image_id in of_image
    ]
    results = _checked(str(path), entries, listed)
    if not results.faults:
        names = _file_names(listed)
        by_name = {str(names[entry["image_id"]]): entry["caption"] for entry in entries}
        write_whole(path, json.dumps(by_name if by_file_name else entries).encode("ascii"))
    return results


def _file_names(images: Collection[ImageId]) -> dict[ImageId, ImageId]:
    """Return the file name of each image, or its id where that is not known."""
    listed = images.other_ids["file_name"] if isinstance(images, NamedImages) else {}
    return {image_id: image_id for image_id in images} | {i: name for name, i in listed.items()}


class _Object(dict[str, Any]):
    """A JSON object with its first key that appears twice; of that it holds the last value."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(key for key, _ in pairs) if len(pairs) > len(self) else {}
        self.repeated = next((key for key, n in times.items() if n > 1), None)


def _checked(
    file: str, entries: list[Any], listed: Collection[ImageId], faults: Iterable[Fault] = ()
) -> Results:
    """Return the faults kind by kind, in the order in which the kinds appear."""
    faults = [*faults, *_faults(file, entries, listed)]
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    return Results(file, len(entries), sorted(faults, key=lambda fault: kinds.index(fault.kind)))


def _faults(file: str, entries: list[Any], listed: Collection[ImageId]) -> Iterator[Fault]:
    """Yield the faults of entries that should describe the known images."""
    first_at: dict[ImageId, int] = {}
    of_text = {str(image_id): image_id for image_id in listed}
    only_numbers = set(map(type, listed)) <= {int}

    def image_of(value: Any) -> ImageId | None:
        """Return the image that a value stands for, known or not; None of what is no id."""
        if only_numbers and isinstance(value, str):  # text of digits is a number, too
            return int(value) if _DIGITS.fullmatch(value) else None
        image_id = from_json_value(value)
        if image_id is None or image_id in listed:
            return image_id
        return of_text.get(str(image_id), image_id)

    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            sentence = f'expected {{"image_id": ..., "caption": ...}}, found {_json(entry)}'
            yield Fault(file, "no entry", sentence, number)
            continue
        image_id = image_of(entry.get("image_id"))
        for kind, sentence in _faults_of_entry(entry, image_id):
            yield Fault(file, kind, sentence, number, image_id)
        if image_id in first_at:
            sentence = f"the image already has a caption in entry {first_at[image_id]}; keep one"
            yield Fault(file, "second caption", sentence, number, image_id)
        elif image_id is not None:
            first_at[image_id] = number
            if image_id not in listed:
                sentence = "no image of the list has this id"
                yield Fault(file, "unknown image", sentence, number, image_id)
    for image_id in listed:
        if image_id not in first_at:
            yield Fault(file, "missing image", "no caption for this image", None, image_id)


def _faults_of_entry(entry: dict[str, Any], image_id: ImageId | None) -> Iterator[tuple[str, str]]:
    """Yield the kind of each fault that has nothing to do with other entries, and what is wrong."""
    if isinstance(entry, _Object) and entry.repeated is not None:
        yield "repeated key", f"the key {_json(entry.repeated)} appears twice"
    if "image_id" not in entry:
        yield "no image id", "no key image_id"
    elif image_id is None or type(entry["image_id"]) is not type(image_id):
        expected = "a string" if isinstance(image_id, str) else "a whole number"
        yield "image id type", f"the image id is {_json(entry['image_id'])}, not {expected}"
    for key in [key for key in entry if key not in ("image_id", "caption")]:
        yield "extra key", f"the key {_json(key)}, which the format does not have"
    if "caption" not in entry:
        yield "no caption", "no key caption"
        return
    caption = entry["caption"]
    if not isinstance(caption, str):
        yield "caption type", f"the caption is {_json(caption)}, not a string"
        return
    text = caption.strip()
    if all(category(character) in _INVISIBLE for character in text):
        yield "empty caption", "the caption has no words"
    elif text != caption:
        yield "white space", "white space around the caption"
    if breaks := [character for character in text if ord(character) in LINE_BREAKS]:
        yield "line break", f"the line break {_json(breaks[0])} inside the caption"
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield "lone surrogate", "a lone surrogate, which UTF-8 cannot encode"


def _json(value: Any) -> str:
    """Return a value as it is in the file, cut short; ASCII, whatever the terminal."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
