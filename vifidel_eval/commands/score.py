"""The command ``vifidel-eval score``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..doors.arguments import INPUT, OUTPUT, option
from ..doors.entry_points import service
from ..errors import VifidelError
from .options import MetricCommand, chosen_metrics, flag, param, record, settings_options
from .paths import (
    CAPTIONS,
    RESULTS,
    SCORES,
    Condition,
    Stated,
    SystemFile,
    Written,
    check_requirements,
    failures,
    named,
    requirement,
)
from .paths import OUTPUT as OUTPUT_FILE
from .printing import tell
from .tables import TableOptions

if TYPE_CHECKING:
    from ..captions.fields import CaptionFields, Selection
    from ..io.image_ids import ImageId
    from ..run.plan import Plan
    from ..run.run import Run
    from ..words.settings import Settings

#: The exit status where a requirement is not met.
_NOT_MET = 3

_option = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class Products:
    """What a run makes of scores beside tables; each field is an option."""

    calibrate: Path | None = option(
        None,
        "Questions with controls (see questions --controls), to correct VIFIDEL-Hi for wrong "
        "answers in --objects.",
        section=INPUT,
        rare=True,
    )
    output: Path | None = _option(None, "Write everything as JSON, image by image.", OUTPUT_FILE)
    requirements: tuple[Condition, ...] = _option(
        (),
        "Exit with status 3 unless this holds: 'VIFIDEL-Hi <= .1' for all systems, or 'NAME: "
        "VIFIDEL-Hi <= .1' for one.",
        Stated(requirement),
        name="require",
        several=True,
        metavar="CONDITION",
        rare=True,
    )
    seed: int = _option(
        0, "Random seed for --compare, --report and --calibrate.", click.IntRange(min=0), rare=True
    )
    resamples: int | None = _option(
        None,
        "Resamples of --compare, --report and --calibrate.  [default: 1000; for tests, 100 per "
        "pair of systems if that is more]",
        click.IntRange(1, 1_000_000),
        rare=True,
    )
    leaderboard: Path | None = _option(
        None, "Add the scores to this leaderboard file.", Written(".lock")
    )
    date: datetime | None = _option(
        None,
        "Date of the run in the leaderboard.  [default: today]",
        click.DateTime(["%Y-%m-%d"]),
        metavar="YYYY-MM-DD",
        rare=True,
    )
    report: Path | None = _option(
        None, "Write an HTML page: scores, comparison, all captions.", OUTPUT_FILE
    )
    title: str | None = _option(
        None, "Title of the report.  [default: Caption evaluation]", str, rare=True
    )
    images_mb: int | None = _option(
        None,
        "Maximum size of the images in the report, in megabytes. Images with the worst scores "
        "are included first.  [default: 32]",
        click.IntRange(min=1),
        rare=True,
    )


@click.command(
    cls=MetricCommand,
    examples=(
        "score mine.json --references captions.json --objects instances.json",
        "score mine.json base.json --objects instances.json --metrics VIFIDEL-H,CHAIR --compare",
        "score mine.json --references captions.json --objects instances.json --report report.html",
    ),
)
@click.argument("results", nargs=-1, required=True, type=RESULTS, metavar="[NAME=]PATH...")
@param("--references", type=CAPTIONS, help="Reference captions: any caption file.", section=INPUT)
@record("vifidel_eval.captions.fields:CaptionFields", "fields")
@settings_options(None)
@param(
    "--scores",
    "scores",
    type=SCORES,
    multiple=True,
    metavar="SYSTEM=FILE",
    help="Scores from another tool, by image id (repeatable).",
    section=INPUT,
)
@param(
    "--lower-is-better",
    multiple=True,
    metavar="NAME",
    help="A --scores column where lower is better (repeatable).",
    section=INPUT,
    rare=True,
)
@record("vifidel_eval.captions.fields:Selection", "selection")
@record(TableOptions, "tables")
@record(Products, "products")
@click.pass_context
def score(
    ctx: click.Context,
    results: tuple[SystemFile, ...],
    references: Path | None,
    fields: CaptionFields,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    scores: tuple[SystemFile, ...],
    lower_is_better: tuple[str, ...],
    selection: Selection,
    tables: TableOptions,
    products: Products,
) -> None:
    """Score result files against the images' objects, references, or both.

    PATH is JSON of COCO, lmms-eval or LLaVA, {"id": "caption"}, JSON Lines, CSV, TSV,
    Parquet, or - (standard input). NAME=PATH names a system.
    """
    _check_usage(
        results, references is not None, fields, metrics, settings, selection, tables, products
    )
    from ..io.progress import phase
    from ..run import score as scored
    from ..run.plan import plan
    from ..run.reading import READING, Request
    from ..scores.systems import raise_failures

    if products.leaderboard is not None:
        # One that is wrong is refused before the work.
        service("leaderboard").read(products.leaderboard)
    controls = None if products.calibrate is None else service("controls")(products.calibrate)
    weights_missing = references is None and settings.weighted
    settings = settings.with_references(references is not None)
    tool_scores: dict[str, list[Path]] = {}
    for file in scores:
        tool_scores.setdefault(file.name or "", []).append(file.path)
    names = chosen_metrics(metrics, settings, beside=tool_scores)
    request = Request(
        named(results),
        references,
        settings,
        names,
        fields,
        selection,
        scores=tool_scores,
        lower_is_better=lower_is_better,
    )
    with phase(READING):
        planned = plan(request)
    tables.check(None if planned.unavailable else planned.columns, planned.names)
    required = _required(products, planned)
    pictures = {}
    if products.report is not None and settings.images is not None:
        pictures = planned.pictures(settings.images)
    if weights_missing:
        tell("No --references given: scoring without them.")
    run = scored(planned)
    if controls is not None:
        run = service("calibrated")(run, controls, products.seed, products.resamples or 1000)
    tables = tables.without({*run.unavailable, *planned.columns} - {*run.columns})
    _deliver(run, tables, products, pictures)
    raise_failures(run.detail.unavailable)
    if failed := failures(required, run.scores):
        tell("\n".join(failed))
        ctx.exit(_NOT_MET)


def _required(products: Products, planned: Plan) -> list[Condition]:
    """Return the conditions of ``--require`` with the columns and systems that they are about."""
    try:
        return check_requirements(products.requirements, planned.columns, planned.names)
    except VifidelError as problem:
        raise click.BadParameter(str(problem), param_hint="'--require'") from None


def _deliver(
    run: Run, tables: TableOptions, products: Products, pictures: Mapping[ImageId, Path]
) -> None:
    """Print and write scores; what cannot be compared is said after that."""
    seed, resamples = products.seed, products.resamples
    comparisons = problem = None
    if tables.wants_comparison:
        try:
            comparisons = run.compare(seed, resamples)
        except VifidelError as of_comparison:  # the scores are still printed and saved
            problem = of_comparison
    try:
        tables.deliver(run, comparisons, seed, resamples)
    finally:
        if products.output is not None:
            run.save(products.output, comparisons)
        tables.write(run.detail, comparisons)
        if products.leaderboard is not None:
            day = products.date or datetime.now()
            run.add_to_leaderboard(products.leaderboard, day.date())
    if problem is not None:
        raise problem
    if products.report is not None:
        run.report(products.report, pictures, products.title, products.images_mb, seed, resamples)


def _check_usage(
    results: tuple[SystemFile, ...],
    has_references: bool,
    fields: CaptionFields,
    metrics: tuple[str, ...] | None,
    settings: Settings,
    selection: Selection,
    tables: TableOptions,
    products: Products,
) -> None:
    """Check that no option contradicts another one, or lacks what it needs."""
    from ..scorers.registry import METRICS, expanded, parts_of

    for name in (str(result.path) for result in results):  # --metrics VIFIDEL CIDEr
        if os.path.lexists(name):
            continue
        if METRICS.knows(name):
            raise click.UsageError(
                f"{name} is a metric, and there is no such file; put commas between metrics: "
                f"--metrics {','.join([*(metrics or ()), name])}."
            )
    if selection.people and not has_references:
        raise click.UsageError("--people needs --references.")
    chosen = {"people": selection.people, "images": settings.images, **vars(products)}
    for name in ("people", "calibrate", "leaderboard") if fields.samples else ():
        if chosen[name]:
            raise click.UsageError(f"--{name} needs one caption per image; leave out --samples.")
    elsewhere = tables.compare_output or products.output
    if tables.style == "csv" and tables.comparing and elsewhere is None:
        raise click.UsageError(
            "--format csv prints only the scores; write the comparison with --compare-output "
            "FILE.csv."
        )
    if products.calibrate is not None and not (has_references and settings.objects):
        raise click.UsageError(
            "--calibrate needs --objects (the answers) and --references, which name what is there."
        )
    computed = (metric for name in expanded(metrics or (), ()) for metric in parts_of(name))
    looked_at = products.report is not None or any(metric.images for metric in computed)
    if settings.images is not None and not looked_at:
        raise click.UsageError("--images needs --report, or a metric that looks at the images.")
    pairs = ("title", "report"), ("images_mb", "images"), ("images_mb", "report")
    for name, needed in (*pairs, ("date", "leaderboard")):
        if chosen[name] is not None and chosen[needed] is None:
            raise click.UsageError(f"{flag(name)} needs {flag(needed)}.")
