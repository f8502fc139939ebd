"""The command ``vifidel-eval score``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..entry_points import service
from ..errors import VifidelError
from ..scores.conditions import Requirement, check_requirements, failures
from .metric_options import MetricCommand, chosen_metrics, flag, metric_options
from .options import Stated, caption_options
from .paths import CAPTIONS, FILE, NAMED, OUTPUT, RESULTS, SystemFile, Written, named
from .printing import tell
from .table_options import TableOptions, table_options

if TYPE_CHECKING:
    from ..captions.fields import Wanted
    from ..run.plan import Plan
    from ..run.run import Run
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
    type=click.IntRange(1, 1_000_000),
    help="Resamples of --compare, --report and --calibrate.  [default: 1000, and for tests 100 for "
    "each pair of systems if that is more]",
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
@click.option(
    "--report",
    type=OUTPUT,
    help="Write an HTML page: scores, comparison, all captions.",
)
@click.option("--title", help="Title of the report.  [default: Caption evaluation]")
@click.option(
    "--images",
    type=FILE,
    help="Folder of the images, for the report.",
)
@click.option(
    "--images-mb",
    type=click.IntRange(min=1),
    help="Megabytes that the images may take in the report; those on which systems disagree most "
    "come first.  [default: 32]",
)
@click.pass_context
def score(
    ctx: click.Context,
    results: tuple[SystemFile, ...],
    references: Path | None,
    no_references: bool,
    wanted: Wanted,
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
    resamples: int | None,
    leaderboard: Path | None,
    date: datetime | None,
    requirements: tuple[Requirement, ...],
    report: Path | None,
    title: str | None,
    images: Path | None,
    images_mb: int | None,
) -> None:
    """Score result files against the images' objects, references, or both.

    PATH: JSON as COCO, lmms-eval or LLaVA write it, {"id": "caption"}, JSON Lines, CSV, TSV,
    Parquet, or - (standard input). NAME=PATH names a system.
    """
    _check_usage(ctx.params)
    tables.check()
    comparing = comparing or tables.compare_output is not None or tables.baseline is not None
    from ..run.evaluating import plan
    from ..run.evaluating import score as scored

    controls = _files_of_earlier_runs(calibrate, leaderboard)
    settings = replace(
        settings,
        references=references is not None,
        weighted=references is not None and not no_references,
        detector=detector,
    )
    names = chosen_metrics(metrics, settings)
    planned = plan(
        named(results),
        references,
        settings,
        names,
        wanted=replace(wanted, samples=samples),
        image_ids=image_ids,
        allow_subset=allow_subset,
        people=people,
    )
    if not planned.unavailable:
        tables.check_columns(planned.columns)
    tables.check_baseline(planned.names)
    _check_conditions(requirements, planned)
    pictures = {} if images is None else planned.pictures(images)
    _say_without_references(ctx.params)
    run = scored(planned)
    if controls is not None:
        run = service("calibrated")(run, controls, seed, resamples or 1000)
    tables = tables.without({*run.unavailable, *planned.columns} - {*run.columns})
    comparisons = problem = None
    if comparing or report is not None:
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
    if report is not None:
        run.report(report, pictures, title, images_mb, seed, resamples)
    _end(ctx, run, requirements)


def _files_of_earlier_runs(calibrate: Path | None, leaderboard: Path | None) -> Any:
    """Return the controls of a file of questions; refuse wrong files before the work."""
    if leaderboard is not None:
        from ..scores.leaderboard import read

        read(leaderboard)
    if calibrate is None:
        return None
    return service("controls")(calibrate)


def _say_without_references(given: Mapping[str, Any]) -> None:
    if given["references"] is None and not given["no_references"]:
        tell("No --references given: scoring without them.")


def _end(ctx: click.Context, run: Run, requirements: tuple[Requirement, ...]) -> None:
    """Say what broke, or which requirements are not met, by the exit status too."""
    from ..scores.harness import raise_failures

    raise_failures(run.detail.unavailable)
    if failed := failures(requirements, run.scores):
        tell("\n".join(failed))
        ctx.exit(_NOT_MET)


def _check_usage(given: Mapping[str, Any]) -> None:
    """Check that no option contradicts another one, or lacks what it needs."""
    _check_results(given["results"])
    if given["references"] is None and given["people"]:
        raise click.UsageError("--people needs --references, by which people are scored.")
    for name in ("people", "calibrate", "leaderboard", "report") if given["samples"] else ():
        if given[name]:
            raise click.UsageError(f"--{name} needs one caption per image; leave out --samples.")
    if given["comparing"] and given["baseline"] is not None:
        raise click.UsageError("--baseline is the short form of --compare: give one of them.")
    elsewhere = given["compare_output"] or given["output"]
    if given["style"] == "csv" and given["comparing"] and elsewhere is None:
        raise click.UsageError(
            "--format csv prints one table, the scores; write what --compare finds with "
            "--compare-output FILE.csv."
        )
    answers_are_known = given["references"] is not None and given["objects"]
    if given["calibrate"] is not None and not answers_are_known:
        raise click.UsageError(
            "--calibrate needs --objects, the answers, and --references, which name what is there."
        )
    for name, needed in (("images", "report"), ("title", "report"), ("images_mb", "images")):
        if given[name] is not None and given[needed] is None:
            raise click.UsageError(f"{flag(name)} needs {flag(needed)}.")


def _check_results(results: tuple[SystemFile, ...]) -> None:
    """Check that no result file is a metric behind a blank: ``--metrics VIFIDEL CIDEr``."""
    from ..scorers.registry import METRICS

    for name in (str(result.path) for result in results):
        if name.lower() in METRICS.spellings and not os.path.lexists(name):
            raise click.UsageError(
                f"{name} is a metric, and there is no such file; put commas between metrics: "
                f"--metrics VIFIDEL,{name}."
            )


def _check_conditions(requirements: tuple[Requirement, ...], planned: Plan) -> None:
    try:
        check_requirements(requirements, planned.columns, planned.names)
    except VifidelError as problem:
        raise click.BadParameter(str(problem), param_hint="'--require'") from None
