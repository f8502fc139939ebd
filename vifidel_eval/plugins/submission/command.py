"""The commands ``vifidel-eval submission check`` and ``write``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import Command, field_options, format_option
from ...commands.paths import CAPTIONS, FILE, OUTPUT
from ...commands.printing import Group, show

if TYPE_CHECKING:
    from ...captions.fields import Wanted
    from ...io.text_tables import Table
    from .results import Fault, Results

_SHOWN = 10  # faults of a kind, in a file, before the rest is counted

_IMAGES = "COCO-style JSON, a JSON list of ids, one id per line, or a table with a column of ids."
_ALL = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List all faults of a kind, not only the first 10.",
)
_BY_FILE_NAME = click.option(
    "--by-file-name",
    is_flag=True,
    help="The file is {file name: caption}, as CompreCap and CapArena-Auto take it, instead of "
    "COCO's list.",
)


@click.group(cls=Group)
def submission() -> None:
    """Check files in COCO's results format, or write one from any captions.

    The results format is a JSON list of {"image_id": ..., "caption": "..."} with one caption for
    every image. Evaluation servers and pycocotools take it.
    """


@submission.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--images",
    required=True,
    type=FILE,
    help=f"What lists the images that need a caption: {_IMAGES}",
)
@_BY_FILE_NAME
@_ALL
@format_option("How to print the faults; csv and json always list all.")
def check(
    files: tuple[Path, ...], images: Path, by_file_name: bool, everything: bool, style: str
) -> None:
    """List every fault of results FILES.

    Nothing is changed. The exit status is 1 if there is a fault, else 0.
    """
    from .results import check_results, read_image_list

    listed = read_image_list(images)
    found = [check_results(path, listed, by_file_name) for path in files]
    faults = [fault for results in found for fault in results.faults]
    if style == "json":
        read = [{"file": results.file, "entries": results.entries} for results in found]
        document = {"files": read, "faults": [asdict(fault) for fault in faults]}
        show(json.dumps(document, indent=1))
    elif style == "csv":
        show(_table(faults, True).render(style))
    else:
        summary = "No fault:"
        if faults:
            show(_table(faults, everything).render(style) + "\n")
            summary = f"{_counted(len(faults), 'fault')}; entries count from 0. Read:"
        show(f"{summary} {', '.join(map(_contents, found))}")
    if faults:
        raise click.exceptions.Exit(1)


@submission.command(cls=Command)
@click.argument("captions", type=CAPTIONS)
@click.option(
    "--images",
    type=FILE,
    help=f"What lists the images that need a caption: {_IMAGES} The file has their ids, in their "
    "order.  [default: the images of the captions]",
)
@click.option(
    "--output",
    required=True,
    type=OUTPUT,
    help="The results file; COCO's are called captions_SPLIT_ALGORITHM_results.json.",
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
    wanted: Wanted,
) -> None:
    """Write CAPTIONS, a file of any layout that score reads, in COCO's results format.

    White space around captions is dropped, and line breaks in them become blanks. If an image has
    no caption, or there is another fault, the faults are listed and nothing is written.
    """
    from ...captions import read_results
    from .results import read_image_list, write_results

    found = write_results(
        read_results(captions, wanted.id_fields, wanted.caption_fields),
        output,
        None if images is None else read_image_list(images),
        by_file_name,
    )
    if found.faults:  # of what would have been written: their entries are in no file
        of_file = [replace(fault, file=str(captions), entry=None) for fault in found.faults]
        show(_table(of_file, everything).render("table") + "\n")
        read = _contents(replace(found, file=str(captions)))
        show(f"{_counted(len(of_file), 'fault')}. Read: {read}; nothing was written.")
        raise click.exceptions.Exit(1)
    show(f"{output}: {_counted(found.entries, 'caption')}")


def _table(faults: Sequence[Fault], everything: bool) -> Table:
    """Return a row per fault; where a file has many of a kind, the first and how many more."""
    from ...io.text_tables import Table

    many: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        many.setdefault((fault.file, fault.kind), []).append(fault)
    rows: list[list[Any]] = []
    for (file, kind), same in many.items():
        shown = len(same) if everything or len(same) <= _SHOWN + 1 else _SHOWN
        rows += [[file, fault.entry, fault.image_id, fault.what] for fault in same[:shown]]
        if shown < len(same):
            more = f"... and {len(same) - shown} more: {kind} (--all lists them)"
            rows.append([file, None, None, more])
    headers = ["File", "Entry", "Image", "Fault"]
    return Table(headers, rows, texts=len(headers))


def _contents(results: Results) -> str:
    return f"{_counted(results.entries, 'caption')} of {results.file}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
