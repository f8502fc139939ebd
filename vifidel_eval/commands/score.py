"""The command ``vifidel-eval score``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .caption_options import CaptionOptions, caption_options
from .metric_options import MetricCommand, MetricOptions, metric_options
from .paths import CAPTIONS, FILE, OUTPUT, RESULTS, SystemFile, Written
from .progress import named_by, progress_bar
from .report_options import ReportOptions, report_options
from .table_options import TableOptions, table_options

if TYPE_CHECKING:
    from ..image_ids import ImageId
    from ..runs.pairing import System


@click.command(cls=MetricCommand)
@click.argument("results", nargs=-1, required=True, type=RESULTS, metavar="[NAME=]PATH...")
@click.option("--references", type=CAPTIONS, help="Reference captions: any caption file.")
@click.option(
    "--no-references",
    is_flag=True,
    help="Score without references, or without their weights.",
)
@caption_options
@metric_options
@click.option("--allow-subset", is_flag=True, help="Accept files that lack some of the images.")
@click.option(
    "--image-ids",
    type=FILE,
    help="Score only these: a JSON list, or an id per line.",
)
@table_options
@click.option("--output", type=OUTPUT, help="Write everything as JSON, image by image.")
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Add intervals, tests between systems, ranks.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of --compare and --report.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of --compare and --report.",
)
@click.option(
    "--leaderboard",
    type=Written(".lock"),
    help="Add the scores to this file of runs over time.",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Date of the run in the leaderboard, such as 2026-11-21.  [default: today]",
)
@report_options
def score(
    results: tuple[SystemFile, ...],
    references: Path | None,
    no_references: bool,
    layout: CaptionOptions,
    options: MetricOptions,
    allow_subset: bool,
    image_ids: Path | None,
    tables: TableOptions,
    output: Path | None,
    comparing: bool,
    seed: int,
    resamples: int,
    leaderboard: Path | None,
    date: datetime | None,
    page: ReportOptions,
) -> None:
    """Score result files against the images' objects, references, or both.

    PATH: JSON as COCO, lmms-eval or LLaVA write it, {"id": "caption"}, JSON Lines, CSV, TSV,
    Parquet, or - (standard input). NAME=PATH names a system.
    """
    if references is None and not no_references:
        raise click.UsageError("give --references CAPTIONS.json, or --no-references.")
    comparing = comparing or tables.compare_output is not None
    tables.check(compared_elsewhere=not comparing or output is not None)
    from ..errors import VifidelError
    from ..files import write_whole
    from ..metrics import build
    from ..report.score_tables import to_json
    from ..runs import leaderboard as leaderboards
    from ..runs.comparison import compare
    from ..runs.harness import column_names, score_systems
    from ..runs.lengths import warn_of_lengths
    from ..runs.pairing import check_releases

    settings = options.settings(references is not None, weighted=not no_references)
    names = options.names(settings)
    page.check()
    if leaderboard is not None:
        leaderboards.read(leaderboard)  # another file is refused before the work
    systems, gold = _read(results, references, layout, image_ids)
    if references is not None and gold is not None and options.objects:
        check_releases(options.objects, settings.labels, references, gold)
    warn_of_lengths(systems)
    paths = [result.path for result in results]
    material = page.material(paths, references, settings, systems, gold)
    scorers, unavailable = build(names, settings)
    if not unavailable:
        tables.check_columns(column_names(scorers))
    captions = sum(len(system.captions) for system in systems)
    with progress_bar(captions * len(scorers)) as bar:
        scores = score_systems(
            systems, scorers, gold, allow_subset, bar.update, unavailable, named_by(bar)
        )
    comparisons = problem = None
    if comparing or page.report is not None:
        try:
            comparisons = compare(scores, seed, resamples)
        except VifidelError as of_comparison:  # the scores are still printed and saved
            problem = of_comparison
    shown = comparisons if comparing else None
    try:
        tables.deliver(scores, shown)
    finally:
        if output is not None:
            write_whole(output, to_json(scores, shown) + "\n")
        tables.write(scores, shown)
        if leaderboard is not None:
            leaderboards.add(leaderboard, scores, systems, gold, (date or datetime.now()).date())
    if problem is not None:
        raise problem
    page.write(scores, comparisons, systems, gold, scorers.values(), material)


def _read(
    results: tuple[SystemFile, ...],
    references: Path | None,
    layout: CaptionOptions,
    image_ids: Path | None,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return the systems and the references of the images that are scored."""
    from ..runs.pairing import only_images, read_image_ids

    systems, gold = layout.read(results, references)
    if image_ids is None:
        return systems, gold
    return only_images(read_image_ids(image_ids), systems, gold, str(image_ids))
