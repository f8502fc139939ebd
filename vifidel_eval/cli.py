"""The command ``vifidel-eval``."""

from __future__ import annotations

import errno
import warnings
from pathlib import Path
from typing import Any

import click

from .errors import VifidelError, VifidelWarning
from .report import FORMATS, render, to_json

_FILE = click.Path(path_type=Path)
# The metrics that --metrics knows.
_METRICS = ("VIFIDEL",)


class _Group(click.Group):
    """Shows errors of the package as one sentence and its warnings as one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `VifidelError` ends it with status 1."""
        shown = set()

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in shown:  # the gold side is the same for every system
                shown.add(str(message))
                click.echo(f"Warning: {message}", err=True)

        with warnings.catch_warnings():
            warnings.simplefilter("always", VifidelWarning)
            warnings.showwarning = show
            try:
                return super().invoke(ctx)
            except VifidelError as problem:
                raise click.ClickException(str(problem)) from None
            except OSError as problem:
                if problem.errno == errno.EPIPE:  # the reader has seen enough: click ends quietly
                    raise
                raise click.ClickException(f"the output cannot be printed: {problem}.") from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="vifidel-eval")
def main() -> None:
    """Score image captions against what their images show."""


@main.command()
@click.argument("results", nargs=-1, required=True, type=_FILE)
@click.option(
    "--objects",
    multiple=True,
    required=True,
    type=_FILE,
    help="What the images show: COCO or LVIS instances, COCO detection results, PASCAL VOC XML "
    "(folder or file), Open Images boxes, labels by image id. Several: their union.",
)
@click.option("--references", type=_FILE, help="Reference captions: COCO captions JSON.")
@click.option(
    "--no-references", is_flag=True, help="Score without weighting words by the references."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Lowest detection score that counts.  [default: 0.6; Open Images 0.4]",
)
@click.option(
    "--categories",
    multiple=True,
    type=_FILE,
    help="Names of category ids where --objects has only ids: a COCO file with categories, or "
    "Open Images class descriptions.",
)
@click.option(
    "--vectors",
    help="Word vectors: a gensim, word2vec, GloVe or fastText file, or a gensim-downloader name.  "
    "[default: embedded]",
)
@click.option("--metrics", default="VIFIDEL", show_default=True, help="Comma-separated names.")
@click.option(
    "--stop-words",
    type=_FILE,
    help="Text file of the words to leave out of captions.  [default: English]",
)
@click.option(
    "--p",
    type=click.Choice(["1", "2"]),
    default="2",
    show_default=True,
    help="Exponent of the travel cost.",
)
@click.option("--presence", is_flag=True, help="Count each object label once an image.")
@click.option("--raw-vectors", is_flag=True, help="Do not scale word vectors to length 1.")
@click.option(
    "--allow-subset", is_flag=True, help="Accept result files that lack some of the images."
)
@click.option("--output", type=_FILE, help="Write all scores, image by image, to this JSON file.")
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the scores.",
)
def score(
    results: tuple[Path, ...],
    objects: tuple[Path, ...],
    references: Path | None,
    no_references: bool,
    threshold: float | None,
    categories: tuple[Path, ...],
    vectors: str | None,
    metrics: str,
    stop_words: Path | None,
    p: str,
    presence: bool,
    raw_vectors: bool,
    allow_subset: bool,
    output: Path | None,
    style: str,
) -> None:
    """Score result files against the objects of their images."""
    if references is None and not no_references:
        raise click.UsageError("give --references CAPTIONS.json, or --no-references.")
    from tqdm import tqdm

    from .annotations import read_objects
    from .captions import read_references, read_results, system_names
    from .files import check_output, read_text, write_whole
    from .harness import System, score_systems
    from .scorers import Vifidel
    from .words import STOP_WORDS

    names = [name.strip().upper() for name in metrics.split(",")]
    unknown = [name for name in names if name not in _METRICS]
    if unknown:
        raise click.UsageError(f"no metric {unknown[0]!r}; there is {', '.join(_METRICS)}.")
    if output is not None:
        check_output(output, [*results, *objects, *categories, references, stop_words])
    systems = [
        System(name, read_results(path))
        for name, path in zip(system_names(list(results)), results, strict=True)
    ]
    gold = None if references is None else read_references(references)
    scorer = Vifidel(
        [read_objects(path, threshold, categories) for path in objects],
        vectors=vectors,
        references=not no_references,
        p=int(p),
        counts=not presence,
        normalize=not raw_vectors,
        stop_words=STOP_WORDS
        if stop_words is None
        else read_text(stop_words, VifidelError).lower().split(),
    )
    with tqdm(
        total=sum(len(system.captions) for system in systems),
        unit=" captions",
        disable=None,  # no bar where nobody watches
        delay=1,
        leave=False,
    ) as bar:
        scores = score_systems(systems, {"VIFIDEL": scorer}, gold, allow_subset, bar.update)
    try:
        click.echo(render(scores, style))
    finally:
        if output is not None:
            write_whole(output, to_json(scores) + "\n")


@main.command()
def info() -> None:
    """Print versions and what is available, for bug reports."""
    from .info import environment

    for name, value in environment().items():
        click.echo(f"{name}: {value}")


@main.command("clear-cache")
def clear_cache_command() -> None:
    """Remove the word vectors that were converted for fast loading."""
    from .vector_store import cache_folder, clear_cache

    click.echo(f"{clear_cache() / 1e6:.1f} MB removed from {cache_folder()}")
