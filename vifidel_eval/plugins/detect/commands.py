"""The commands ``vifidel-eval detect`` and ``questions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import Command, field_options
from ...commands.paths import FILE, NAMED, OUTPUT, RESULTS, Between, Read, SystemFile, Written
from ...commands.paths import named as named_files
from ...commands.printing import continued_by_the_same_command, show, tell
from ...io.files import beside
from ...io.text_tables import counted
from ...words.settings import ONLY_THINGS, THINGS

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields

_THINGS = click.option(f"--{THINGS.name}", type=FILE, help=THINGS.help)
_ONLY_THINGS = click.option("--only-things", type=FILE, help=ONLY_THINGS.help)


@click.command(
    "detect",
    cls=Command,
    examples=(
        "detect photos --model FOLDER --output objects.jsonl",
        "detect photos --model FOLDER --ask mine.json --output objects.jsonl",
        "detect photos --model FOLDER --ask mine.json --things things.txt --output objects.jsonl",
    ),
)
@click.argument("pictures", type=Read(standard_input=True))
@click.option(
    "--model",
    type=NAMED,
    metavar="FOLDER_OR_ID",
    help="Detector: a transformers folder, an ONNX file, or the id of a model on the Hugging "
    "Face Hub.",
)
@click.option(
    "--output",
    type=Written(".unfinished", ".lock"),
    required=True,
    help="File for the objects, such as objects.jsonl. Pictures already in it are skipped.",
)
@click.option(
    "--ask",
    multiple=True,
    type=FILE,
    help="Captions, or questions written by the questions command. An open-vocabulary model is "
    "asked about the things they mention. Repeat for all systems you will compare.",
)
@_THINGS
@_ONLY_THINGS
@click.option(
    "--lowest",
    type=Between(0, 1),
    default=0.05,
    show_default=True,
    help="Lowest score to save. score --threshold decides later which detections count.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Batch size, for pictures of the same size.  [default: 1 on a CPU, else 8]",
)
@click.option("--device", help="Device for PyTorch: cpu, cuda, cuda:1, mps.  [default: cpu]")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Number of pictures to decode at once.",
)
@click.option(
    "--drafts/--no-drafts",
    default=True,
    show_default=True,
    help="Decode large JPEGs at reduced size if that is enough for the model.",
)
@click.option(
    "--download",
    is_flag=True,
    help="Download --model from the Hugging Face Hub if it is not on this machine yet.",
)
@field_options
def detect(
    pictures: Path,
    model: str | None,
    output: Path,
    ask: tuple[Path, ...],
    things: Path | None,
    only_things: Path | None,
    device: str | None,
    download: bool,
    fields: CaptionFields,
    **settings: Any,
) -> None:
    """Write the objects that a detector finds in PICTURES.

    PICTURES is a folder (with subfolders), a tar file, - for a tar file on standard input, a text
    file with one path per line, or a single picture. If interrupted, run the same command again to
    continue.
    """
    if not model:
        raise click.UsageError(
            "no --model is given, and there is no default: name the folder of a detector, or an id "
            "such as PekingU/rtdetr_v2_r18vd with --download."
        )
    for name, path in (("--things", things), ("--only-things", only_things)):
        if path is not None and not ask:
            raise click.UsageError(f"{name} is only for --ask; give both.")
    from .detected_objects import detect as run_detector
    from .loading import find_model, load_detector
    from .picture_sources import PictureSource

    source = PictureSource(pictures)
    questions = None
    if ask:
        from .questions import read_asked

        questions = read_asked(
            ask,
            things=things,
            only_things=only_things,
            id_field=fields.id_fields,
            caption_field=fields.caption_fields,
        )
    detector = load_detector(find_model(model, download, tell), device)
    unfinished = beside(output, ".unfinished")
    with continued_by_the_same_command(unfinished, "with the pictures that are left"):
        run = run_detector(source, detector, output, questions=questions, **settings)
    also = {"known from before": run.known, "without a question": run.unasked}
    parts = [f"{counted(run.read, 'picture')} read"]
    parts += [f"{number} {noun}" for noun, number in also.items() if number]
    show(f"{output}: {', '.join(parts)}")
    if run.problems:
        image_id, why = next(iter(run.problems.items()))
        tell(
            f"Warning: {counted(len(run.problems), 'picture')} cannot be read, such as {image_id} "
            f"({why}); the same command tries again."
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
    help="File for the questions, such as q.jsonl: one JSON object per line.",
)
@click.option(
    "--answers",
    type=FILE,
    help="Earlier answers, so that their questions are skipped: lines with image_id, thing, and "
    "answer or score, or the output of detect --ask.",
)
@click.option(
    "--controls",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Also ask about N things per image that only other images' captions mention. The "
    "answers show how often 'yes' is wrong.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed for the choice of controls.",
)
@_THINGS
@_ONLY_THINGS
@field_options
def questions(
    captions: tuple[SystemFile, ...], fields: CaptionFields, output: Path, **settings: Any
) -> None:
    """Write questions about images; their answers judge CAPTIONS.

    CAPTIONS are the result files of all systems you will compare. There is one question for each
    thing that a caption of the image mentions. To answer, any program or model adds "answer" (yes,
    no or unsure) or "score" (0 to 1) to each line.
    """
    from ...io.files import json_line, write_whole
    from .questions import questions as composed

    asked = composed(
        named_files(captions),
        id_field=fields.id_fields,
        caption_field=fields.caption_fields,
        **settings,
    )
    write_whole(output, "".join(json_line(question) + "\n" for question in asked))
    images = len({question["image_id"] for question in asked})
    show(f"{output}: {counted(len(asked), 'question')} about {counted(images, 'image')}")
