"""The command ``vifidel-eval score``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .metric_options import MetricCommand, MetricOptions, metric_options
from .options import format_option
from .paths import FILE, OUTPUT, Written
from .printing import show, tell
from .progress import progress_bar
from .report_options import ReportOptions, report_options

if TYPE_CHECKING:
    from ..image_ids import ImageId
    from ..runs.pairing import System


@click.command(cls=MetricCommand)
@click.argument("results", nargs=-1, required=True, type=FILE)
@click.option("--references", type=FILE, help="Reference captions: COCO captions JSON.")
@click.option(
    "--no-references",
    is_flag=True,
    help="Score without references, or do not weight words by them.",
)
@metric_options
@click.option(
    "--allow-subset", is_flag=True, help="Accept result files that lack some of the images."
)
@click.option(
    "--image-ids",
    type=FILE,
    help="Score only these images: a JSON list of image ids, or one per line.",
)
@click.option("--output", type=OUTPUT, help="Write all scores, image by image, to this JSON file.")
@format_option("How to print the scores.")
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Add bootstrap intervals, significance tests between every two systems, and ranks.",
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
    help="Add the scores to this file, which collects runs of equal signatures over time.",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Date of the run in the leaderboard, such as 2026-11-21.  [default: today]",
)
@report_options
def score(
    results: tuple[Path, ...],
    references: Path | None,
    no_references: bool,
    options: MetricOptions,
    allow_subset: bool,
    image_ids: Path | None,
    output: Path | None,
    style: str,
    comparing: bool,
    seed: int,
    resamples: int,
    leaderboard: Path | None,
    date: datetime | None,
    page: ReportOptions,
) -> None:
    """Score result files: against the objects in the images, the references, or both."""
    if references is None and not no_references:
        raise click.UsageError("give --references CAPTIONS.json, or --no-references.")
    from ..errors import VifidelError
    from ..files import write_whole
    from ..metrics import build
    from ..report.score_tables import beside, render, to_json
    from ..runs import leaderboard as leaderboards
    from ..runs.comparison import compare
    from ..runs.harness import score_systems
    from ..runs.lengths import warn_of_lengths
    from ..runs.pairing import check_releases

    settings = options.settings(references is not None, weighted=not no_references)
    names = options.names(settings)
    page.check()
    if leaderboard is not None:
        leaderboards.read(leaderboard)  # another file is refused before the work
    systems, gold = _read(results, references, image_ids)
    if references is not None and gold is not None and options.objects:
        check_releases(options.objects, settings.labels, references, gold)
    warn_of_lengths(systems)
    material = page.material(results, references, settings, systems, gold)
    scorers, unavailable = build(names, settings)
    captions = sum(len(system.captions) for system in systems)
    with progress_bar(captions * len(scorers)) as bar:
        scores = score_systems(systems, scorers, gold, allow_subset, bar.update, unavailable)
    comparisons = problem = None
    if comparing or page.report is not None:
        try:
            comparisons = compare(scores, seed, resamples)
        except VifidelError as of_comparison:  # the scores are still printed and saved
            problem = of_comparison
    shown = comparisons if comparing else None
    try:
        show(render(scores, style, shown))
        for line in beside(scores, style, shown):
            tell(line)
    finally:
        if output is not None:
            write_whole(output, to_json(scores, shown) + "\n")
        if leaderboard is not None:
            leaderboards.add(leaderboard, scores, systems, gold, (date or datetime.now()).date())
    if problem is not None:
        raise problem
    page.write(scores, comparisons, systems, gold, scorers.values(), material)


def _read(
    results: tuple[Path, ...], references: Path | None, image_ids: Path | None
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return the systems and the references of the images that are scored."""
    from ..captions import read_references, read_results, system_names
    from ..runs.pairing import System, only_images, read_image_ids

    systems = [
        System(name, read_results(path))
        for name, path in zip(system_names(list(results)), results, strict=True)
    ]
    gold = None if references is None else read_references(references)
    if image_ids is None:
        return systems, gold
    return only_images(read_image_ids(image_ids), systems, gold, str(image_ids))
