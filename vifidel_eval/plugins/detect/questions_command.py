"""The command ``vifidel-eval questions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import Command, field_options
from ...commands.paths import FILE, OUTPUT, RESULTS, SystemFile
from ...commands.paths import named as named_files
from ...commands.printing import show

if TYPE_CHECKING:
    from ...captions.fields import Wanted


@click.command("questions", cls=Command)
@click.argument("captions", nargs=-1, required=True, type=RESULTS)
@click.option(
    "--output",
    type=OUTPUT,
    required=True,
    help="File of the questions, such as q.jsonl, one JSON object per line.",
)
@click.option(
    "--answers",
    type=FILE,
    help="What is answered already and is not asked again: lines with image_id, thing and answer "
    "or score, or what detect --ask wrote.",
)
@click.option(
    "--controls",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Ask about N more things per image that only captions of other images mention: their "
    "answers say how often 'yes' is wrong.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the choice of controls.",
)
@click.option(
    "--things",
    type=FILE,
    help="Object vocabulary: one class per line, its names separated by commas.  [default: our "
    "own list]",
)
@field_options
def questions(
    captions: tuple[SystemFile, ...], wanted: Wanted, output: Path, **settings: Any
) -> None:
    """Write what to ask about images to judge CAPTIONS.

    CAPTIONS are the result files of all systems that will be compared. Each thing that one of them
    mentions is asked about once per image. Any program or model may answer: it adds "answer" (yes,
    no or unsure) or "score" (0 to 1) to the lines.
    """
    from ...io.files import json_line, write_whole
    from .questions import questions as composed

    asked = composed(
        named_files(captions),
        id_field=wanted.id_fields,
        caption_field=wanted.caption_fields,
        **settings,
    )
    write_whole(output, "".join(json_line(question) + "\n" for question in asked))
    images = len({question["image_id"] for question in asked})
    show(f"{output}: {len(asked)} questions about {images} images")
