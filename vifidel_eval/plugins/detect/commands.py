"""The commands ``vifidel-eval detect`` and ``questions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import Command, field_options
from ...commands.paths import FILE, NAMED, OUTPUT, RESULTS, Between, Read, SystemFile, Written
from ...commands.paths import named as named_files
from ...commands.printing import show, tell
from ...io.files import beside

if TYPE_CHECKING:
    from ...captions.fields import Wanted


@click.command(
    "detect",
    cls=Command,
    examples=(
        "detect photos --model FOLDER --output objects.jsonl",
        "detect photos --model FOLDER --ask mine.json --output objects.jsonl",
        "detect photos --model FOLDER --things things.txt --output objects.jsonl",
    ),
)
@click.argument("pictures", type=Read(standard_input=True))
@click.option(
    "--model",
    type=NAMED,
    metavar="FOLDER_OR_ID",
    help="Folder of a detector of transformers, an ONNX file, or the id of a model of the Hugging "
    "Face Hub. There is no default.",
)
@click.option(
    "--output",
    type=Written(".unfinished", ".lock"),
    required=True,
    help="File of the objects, such as objects.jsonl. What it has already is not computed again.",
)
@click.option(
    "--ask",
    multiple=True,
    type=FILE,
    help="Captions, or questions that the command questions wrote: ask an open-vocabulary model "
    "about what they mention. Repeat for all systems that will be compared.",
)
@click.option(
    "--things",
    type=FILE,
    help="Object vocabulary of --ask: one class per line, its names separated by commas.  "
    "[default: our own list]",
)
@click.option(
    "--lowest",
    type=Between(0, 1),
    default=0.05,
    show_default=True,
    help="Lowest score that is kept; score --threshold decides later which ones count.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Pictures of one size that the model reads at once.  [default: 1 on the processor, else "
    "8]",
)
@click.option(
    "--device",
    help="Where to compute, as PyTorch calls it: cpu, cuda, cuda:1, mps.  [default: cpu]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Pictures that are decoded at once.",
)
@click.option(
    "--drafts/--no-drafts",
    default=True,
    show_default=True,
    help="Decode a large JPEG at part of its size where the model reads no more.",
)
@click.option(
    "--download",
    is_flag=True,
    help="Fetch --model from the Hugging Face Hub if it is not on this machine.",
)
@field_options
def detect(
    pictures: Path,
    model: str | None,
    output: Path,
    ask: tuple[Path, ...],
    things: Path | None,
    device: str | None,
    download: bool,
    wanted: Wanted,
    **settings: Any,
) -> None:
    """Write which objects a detector finds in PICTURES.

    PICTURES are a folder, which is read with its subfolders, a tar file (- for one on standard
    input), a text file with the path of a picture per line, or a picture. After an interruption,
    the same command continues.
    """
    if not model:
        raise click.UsageError(
            "no --model is given, and there is no default: name the folder of a detector, or an id "
            "such as PekingU/rtdetr_v2_r18vd with --download."
        )
    from .detected_objects import detect as run_detector
    from .loading import find_model, load_detector
    from .picture_sources import PictureSource

    source = PictureSource(pictures)
    questions = None
    if ask:
        from .questions import read_asked

        questions = read_asked(
            ask, things, id_field=wanted.id_fields, caption_field=wanted.caption_fields
        )
    detector = load_detector(find_model(model, download, tell), device)
    try:
        run = run_detector(source, detector, output, questions=questions, **settings)
    except KeyboardInterrupt:
        if beside(output, ".unfinished").exists():
            tell("Interrupted; the same command continues with the pictures that are left.")
        raise
    also = {"known from before": run.known, "without a question": run.unasked}
    parts = [f"{number} {what}" for what, number in also.items() if number]
    show(f"{output}: {', '.join([f'{run.read} pictures read', *parts])}")
    if run.problems:
        image_id, why = next(iter(run.problems.items()))
        unreadable = f"{len(run.problems)} picture{'s' * (len(run.problems) > 1)}"
        tell(
            f"Warning: {unreadable} cannot be read, such as {image_id} ({why}); the same command "
            "tries again."
        )


@click.command(
    "questions",
    cls=Command,
    examples=(
        "questions mine.json --output questions.jsonl",
        "questions mine.json base.json --output questions.jsonl",
        "questions mine.json --controls 1 --output questions.jsonl",
    ),
)
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
