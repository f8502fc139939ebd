"""The command ``vifidel-eval preference-pairs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...commands.options import Command, file_options, settings_options
from ...commands.paths import CAPTIONS, OUTPUT
from ...commands.printing import tell
from ...doors.arguments import options_of
from ...io.text_tables import counted

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from ...words.settings import Settings


@click.command(
    "preference-pairs",
    cls=Command,
    examples=(
        "preference-pairs samples.jsonl --objects instances.json --output pairs.jsonl",
        "preference-pairs scored.parquet --equal-length .1 --output pairs.parquet",
        "preference-pairs rows.csv --column judge --least-difference 2 --output pairs.jsonl",
    ),
)
@click.argument("samples", type=CAPTIONS)
@click.option("--output", type=OUTPUT, required=True, help="JSON Lines, or Parquet (.parquet).")
@click.option("--column", default="VIFIDEL-F", show_default=True, help="Column to compare.")
@click.option("--references", type=CAPTIONS, help="Reference captions: any caption file.")
@click.option(
    "--prompt", default="Describe the image.", show_default=True, help="Prompt of all pairs."
)
@click.option(
    "--least-difference",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Minimum difference between the scores of a pair.",
)
@click.option(
    "--equal-length",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Maximum difference in words, as a share of the longer caption, such as .1.",
)
@click.option("--lower-is-better", is_flag=True, help="Lower is better in the column from SAMPLES.")
@file_options
@settings_options((), omit=("detector", "images", "agree", "weighted"))
def preference_pairs(
    samples: Path,
    output: Path,
    column: str,
    references: Path | None,
    prompt: str,
    least_difference: float,
    equal_length: float | None,
    lower_is_better: bool,
    fields: CaptionFields,
    settings: Settings,
) -> None:
    """Write the best and worst caption of each image as TRL's prompt, chosen and rejected.

    SAMPLES has several captions per image, as in score --samples, or rows with an image id, a
    caption and a score in --column. The output also lists what the captions make up.
    """
    from . import preferences

    pairs = preferences.preference_pairs(
        samples,
        column,
        references=references,
        prompt=prompt,
        least_difference=least_difference,
        equal_length=equal_length,
        lower_is_better=lower_is_better,
        id_field=fields.id_fields,
        caption_field=fields.caption_fields,
        reference_field=fields.reference_fields,
        split=fields.splits,
        **{name: getattr(settings, name) for name in options_of(type(settings))},
    )
    preferences.write_pairs(output, pairs)
    tell(f"{counted(len(pairs), 'pair')} written to {output}")
