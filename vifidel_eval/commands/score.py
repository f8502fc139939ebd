"""The command ``vifidel-eval score``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..conditions import Requirement, check_requirements, failures
from ..errors import VifidelError
from .caption_options import CaptionOptions, caption_options
from .metric_options import MetricCommand, chosen_metrics, metric_options
from .options import Stated
from .paths import CAPTIONS, FILE, NAMED, OUTPUT, RESULTS, SystemFile, Written, named
from .printing import tell
from .report_options import ReportOptions, report_options
from .table_options import TableOptions, table_options

if TYPE_CHECKING:
    from ..entry import Run
    from ..entry.plan import Plan
    from ..image_ids import ImageId
    from ..scorers.record import Settings


#: The exit status where a requirement is not met.
_NOT_MET = 3


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
    "--people",
    is_flag=True,
    help="Score people too: references against the others.",
)
@click.option(
    "--samples",
    is_flag=True,
    help="Several captions per image: mean, best, worst.",
)
@click.option(
    "--image-ids",
    type=FILE,
    help="Score only these ids: a JSON list or one per line.",
)
@click.option(
    "--detector",
    type=NAMED,
    metavar="FOLDER_OR_ID",
    help="Detector for a folder of pictures in --objects, as in detect --model; what it finds is "
    "kept beside the folder.",
)
@click.option(
    "--calibrate",
    type=FILE,
    help="Questions with controls (questions --controls): estimate VIFIDEL-Hi without the errors "
    "of the answers in --objects.",
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
    help="Seed of --compare, --report and --calibrate.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples of --compare, --report and --calibrate.",
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
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="CONDITION",
    type=Stated(Requirement.parse),
    help="Exit with status 3 unless this holds: 'VIFIDEL-Hi <= .1', or 'NAME: VIFIDEL-Hi <= .1' "
    "for one system.",
)
@report_options
def score(
    results: tuple[SystemFile, ...],
    references: Path | None,
    no_references: bool,
    layout: CaptionOptions,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    allow_subset: bool,
    people: bool,
    samples: bool,
    image_ids: Path | None,
    detector: str | None,
    calibrate: Path | None,
    tables: TableOptions,
    output: Path | None,
    comparing: bool,
    seed: int,
    resamples: int,
    leaderboard: Path | None,
    date: datetime | None,
    requirements: tuple[Requirement, ...],
    page: ReportOptions,
) -> None:
    """Score result files against the images' objects, references, or both.

    PATH: JSON as COCO, lmms-eval or LLaVA write it, {"id": "caption"}, JSON Lines, CSV, TSV,
    Parquet, or - (standard input). NAME=PATH names a system.
    """
    if references is None and not no_references:
        raise click.UsageError("give --references CAPTIONS.json, or --no-references.")
    if people and references is None:
        raise click.UsageError("--people needs --references, by which people are scored.")
    _check_samples(samples, people, calibrate, leaderboard, page)
    if comparing and tables.baseline is not None:
        raise click.UsageError("--baseline is the short form of --compare: give one of them.")
    comparing = comparing or tables.compare_output is not None or tables.baseline is not None
    tables.check(compared_elsewhere=not comparing or output is not None)
    from ..entry.evaluating import plan
    from ..entry.evaluating import score as scored

    controls = _controls(calibrate, references, settings)
    settings = replace(
        settings,
        references=references is not None,
        weighted=not no_references,
        detector=detector,
    )
    names = chosen_metrics(metrics, settings)
    page.check()
    if leaderboard is not None:
        from ..runs.leaderboard import read

        read(leaderboard)  # another file is refused before the work
    planned = plan(
        named(results),
        references,
        settings,
        names,
        wanted=replace(layout.wanted(), samples=samples),
        image_ids=image_ids,
        allow_subset=allow_subset,
        people=people,
    )
    if not planned.unavailable:
        tables.check_columns(planned.columns)
    tables.check_baseline([system.name for system in planned.systems])
    _check(requirements, planned)
    pictures = {} if page.images is None else planned.pictures(page.images)
    run = _calibrated(scored(planned), controls, seed, resamples)
    comparisons = problem = None
    if comparing or page.report is not None:
        try:
            comparisons = run.compare(seed, resamples)
        except VifidelError as of_comparison:  # the scores are still printed and saved
            problem = of_comparison
    shown = comparisons if comparing else None
    try:
        tables.deliver(run.detail, shown)
    finally:
        if output is not None:
            run.save(output, shown)
        tables.write(run.detail, shown)
        if leaderboard is not None:
            run.add_to_leaderboard(leaderboard, (date or datetime.now()).date())
    if problem is not None:
        raise problem
    if page.report is not None:
        run.report(page.report, pictures, page.title, page.images_mb, seed, resamples)
    _require(requirements, run.scores)


def _check_samples(
    samples: bool,
    people: bool,
    calibrate: Path | None,
    leaderboard: Path | None,
    page: ReportOptions,
) -> None:
    given = {
        "--people": people,
        "--calibrate": calibrate is not None,
        "--leaderboard": leaderboard is not None,
        "--report": page.report is not None,
    }
    for option, is_given in given.items():
        if samples and is_given:
            raise click.UsageError(f"{option} needs one caption per image; leave out --samples.")


def _controls(
    path: Path | None, references: Path | None, settings: Settings
) -> Mapping[ImageId, Collection[str]] | None:
    """Return the controls of ``--calibrate``: a wrong file is refused before the work."""
    if path is None:
        return None
    if references is None or not settings.objects:
        raise click.UsageError(
            "--calibrate needs --objects, the answers, and --references, which name what is there."
        )
    from ..asking import read_controls

    return read_controls(path)


def _calibrated(
    run: Run,
    controls: Mapping[ImageId, Collection[str]] | None,
    seed: int,
    resamples: int,
) -> Run:
    if controls is None:
        return run
    from ..asking import calibrated

    return calibrated(run, controls, seed, resamples)


def _check(requirements: tuple[Requirement, ...], planned: Plan) -> None:
    try:
        check_requirements(requirements, planned.columns, planned.names)
    except VifidelError as problem:
        raise click.BadParameter(str(problem), param_hint="'--require'") from None


def _require(
    requirements: tuple[Requirement, ...], scores: Mapping[str, Mapping[str, float]]
) -> None:
    if failed := failures(requirements, scores):
        tell("\n".join(failed))
        raise SystemExit(_NOT_MET)
