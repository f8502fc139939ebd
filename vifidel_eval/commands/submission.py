"""The commands ``vifidel-eval submission check`` and ``pack``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .help import Group
from .options import format_option
from .paths import FILE, OUTPUT, Command
from .printing import show

if TYPE_CHECKING:
    from ..submission import Submission
    from ..submission.results import ResultFile
    from ..submission.sources import Fault
    from ..text_tables import Table

_SHOWN = 10  # faults of a kind, in a file, before the rest is counted


def _images(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments that both commands have."""
    for option in (
        click.option(
            "--all",
            "everything",
            is_flag=True,
            help="List all faults of a kind, not only the first 10.",
        ),
        click.option(
            "--images-test",
            type=FILE,
            help="COCO's image_info_test2014.json, which lists the images of test2014.",
        ),
        click.option(
            "--images-val",
            type=FILE,
            help="COCO's captions_val2014.json, which lists the images of val2014.",
        ),
        click.argument("files", nargs=-1, required=True, type=FILE),
    ):
        command = option(command)
    return command


@click.group(cls=Group)
def submission() -> None:
    """Check result files before you submit them, and pack them for COCO.

    The results format is a JSON list of {"image_id": ..., "caption": "..."} with one caption for
    every image. The COCO caption evaluation server, for which it was made, takes one results.zip
    with captions_val2014_ALG_results.json and captions_test2014_ALG_results.json. CodaLab closed it
    for new submissions at the end of 2025; the format lives on.
    """


@submission.command(cls=Command)
@_images
@click.option(
    "--images",
    type=FILE,
    help="What lists the images: COCO-style JSON, a JSON list of ids, one id per line, or a table "
    "with a column of ids.",
)
@click.option(
    "--profile",
    type=click.Choice(["results", "coco"]),
    default="results",
    show_default=True,
    help="The rules: the results format against --images, or those of COCO's server, names and zip "
    "included, against --images-val and --images-test.",
)
@format_option("How to print the faults; csv and json always list all.")
def check(
    files: tuple[Path, ...],
    images_val: Path | None,
    images_test: Path | None,
    images: Path | None,
    profile: str,
    everything: bool,
    style: str,
) -> None:
    """List every fault of result FILES.

    With --profile coco, FILES are the two result files of COCO's server, or a results.zip.

    Nothing is changed. The exit status is 1 if there is a fault, else 0.
    """
    from .. import submission as rules

    fixable = profile == "coco"
    if fixable:
        if images is not None:
            raise click.UsageError("--profile coco takes --images-val and --images-test.")
        found = rules.check(files, _read_images(images_val, images_test))
    else:
        if images_val is not None or images_test is not None:
            raise click.UsageError("--images-val and --images-test need --profile coco.")
        if images is None:
            raise click.UsageError(
                "give --images FILE, which lists the images that the captions are checked against; "
                "for COCO's server, --profile coco."
            )
        found = rules.check_results(files, rules.read_image_list(images))
    if style == "json":
        show(_to_json(found))
    elif style == "csv":
        show(_table(found.faults, True, fixable).render(style))
    else:
        if found.faults:
            show(_table(found.faults, everything, fixable).render(style) + "\n")
        show(_summary(found, fixable))
    if found.faults:
        raise click.exceptions.Exit(1)


@submission.command(cls=Command)
@_images
@click.option(
    "--output",
    type=OUTPUT,
    default="results.zip",
    show_default=True,
    help="The zip; the server wants it to be called results.zip, in any folder.",
)
@click.option(
    "--algorithm",
    help="Name for the files in the zip: captions_val2014_NAME_results.json.  [default: the one "
    "in the names of FILES]",
    metavar="NAME",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Make the repairs that check offers, in the zip only, and list them: image ids that are "
    "strings of digits or 42.0, white space around captions, line breaks in them, extra keys, "
    "byte order marks, misplaced files in a zip.",
)
def pack(
    files: tuple[Path, ...],
    images_val: Path | None,
    images_test: Path | None,
    everything: bool,
    output: Path,
    algorithm: str | None,
    fix: bool,
) -> None:
    """Check the two result FILES and write the zip that the server takes.

    If there are faults, they are listed as by check, and no zip is written. FILES stay as they
    are.
    """
    from .. import submission as rules
    from ..files import write_whole
    from ..submission.results import SPLITS
    from ..submission.sources import ZIP_NAME

    if output.name != ZIP_NAME:
        raise click.UsageError(
            f"--output {output}: the server wants a zip called {ZIP_NAME}; choose only its folder."
        )
    found = rules.check(files, _read_images(images_val, images_test), algorithm)
    if found.faults:
        show(_table(found.faults, everything).render("table") + "\n")
    write_whole(output, rules.pack(found, fix))
    if found.faults:
        show(f"{rules.counted(len(found.faults), 'repair')} made in the zip, as listed.")
    names = [rules.name_in_zip(split, found.algorithm) for split in SPLITS]
    show(f"{output}: {' and '.join(names)}")


def _read_images(val: Path | None, test: Path | None) -> dict[str, dict[int, None]]:
    from ..submission import read_images

    if val is None and test is None:
        raise click.UsageError(
            "give --images-val captions_val2014.json and --images-test image_info_test2014.json: "
            "the image ids are checked against them."
        )
    given = {"val2014": val, "test2014": test}
    return {split: read_images(path, split) for split, path in given.items() if path is not None}


def _table(faults: Sequence[Fault], everything: bool, fixable: bool = True) -> Table:
    from ..text_tables import Table

    headers = ["File", "Entry", "Image", "Fault", "pack --fix" if fixable else "Repair"]
    rows = list(_rows(faults, everything))
    if not fixable and all(row[-1] is None for row in rows):
        headers, rows = headers[:-1], [row[:-1] for row in rows]
    return Table(headers, rows, texts=len(headers))


def _rows(faults: Sequence[Fault], everything: bool) -> Iterator[list[str | int | None]]:
    """Yield a row per fault; where a file has many of a kind, the first and how many more."""
    from ..submission import counted

    many: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        many.setdefault((fault.file, fault.kind), []).append(fault)
    for (file, kind), same in many.items():
        shown = len(same) if everything or len(same) <= _SHOWN + 1 else _SHOWN
        for fault in same[:shown]:
            yield [file, fault.entry, fault.image_id, fault.what, fault.repair]
        if shown < len(same):
            rest = same[shown:]
            repairs = sum(fault.repair is not None for fault in rest)
            more = f"... and {len(rest)} more: {kind} (--all lists them)"
            yield [file, None, None, more, counted(repairs, "repair") if repairs else None]


def _summary(found: Submission, fixable: bool) -> str:
    from ..submission import counted

    if not found.faults:
        return f"No fault: {_contents(found, fixable)}"
    repairable = sum(fault.repair is not None for fault in found.faults)
    repairs = f", of which pack --fix repairs {repairable}" if fixable and repairable else ""
    return (
        f"{counted(len(found.faults), 'fault')}{repairs}; entries count from 0. "
        f"Read: {_contents(found, fixable) or 'nothing'}"
    )


def _contents(found: Submission, of_splits: bool) -> str:
    from ..submission import counted

    return ", ".join(
        f"{counted(file.entries, 'caption')} of {_whole(file, of_splits)}" for file in found.files
    )


def _whole(file: ResultFile, of_splits: bool) -> str:
    return (file.split or "an unknown split") if of_splits else file.file


def _to_json(found: Submission) -> str:
    return json.dumps(
        {
            "files": [
                {"file": file.file, "split": file.split, "entries": file.entries}
                for file in found.files
            ],
            "faults": [asdict(fault) for fault in found.faults],
        },
        indent=1,
    )
