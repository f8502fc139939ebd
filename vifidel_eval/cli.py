"""The command ``vifidel-eval``."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import VifidelError, VifidelWarning
from .report import FORMATS, render, to_json
from .train_lm import train_lm

if TYPE_CHECKING:
    from .scorers import Scorer

_FILE = click.Path(path_type=Path)


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
@click.option(
    "--metrics",
    help="Comma-separated: VIFIDEL, WMD, WMD-worst, WMD-mean, BLEU, ROUGE_L, CIDEr, METEOR, SPICE, "
    "LM, or combinations such as VIFIDEL+CIDEr.  [default: all that run without Java or downloads]",
)
@click.option("--language-model", type=_FILE, help="What train-lm wrote, for LM.")
@click.option(
    "--stop-words",
    type=_FILE,
    help="Text file of the words to leave out of captions.  [default: English]",
)
@click.option(
    "--p",
    type=click.Choice(["1", "2"]),
    help="Exponent of the travel cost.  [default: 2; WMD 1]",
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
    metrics: str | None,
    language_model: Path | None,
    stop_words: Path | None,
    p: str | None,
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

    from .captions import read_references, read_results, system_names
    from .files import check_output, read_text, write_whole
    from .harness import System, score_systems
    from .metrics import build, left_out
    from .words import STOP_WORDS

    names = _chosen(metrics, references, objects, language_model)
    if output is not None:
        inputs = [*results, *objects, *categories, references, stop_words, language_model]
        check_output(output, inputs)
    systems = [
        System(name, read_results(path))
        for name, path in zip(system_names(list(results)), results, strict=True)
    ]
    gold = None if references is None else read_references(references)
    words = STOP_WORDS
    if stop_words is not None:
        words = frozenset(read_text(stop_words, VifidelError).split())
    makers = _makers(
        objects=objects,
        threshold=threshold,
        categories=categories,
        references=not no_references,
        counts=not presence,
        language_model=language_model,
        shared={"vectors": vectors, "normalize": not raw_vectors, "stop_words": words}
        | ({"p": int(p)} if p else {}),
    )
    scorers, unavailable = build(names, makers)
    with tqdm(
        total=sum(len(system.captions) for system in systems) * len(scorers),
        unit=" captions",
        disable=None,  # no bar where nobody watches
        delay=1,
        leave=False,
    ) as bar:
        scores = score_systems(systems, scorers, gold, allow_subset, bar.update, unavailable)
    if style in ("csv", "json"):  # the tables say it themselves
        for name, why in scores.unavailable.items():
            click.echo(f"Warning: {name} not available: {why}", err=True)
    try:
        click.echo(render(scores, style))
    finally:
        if output is not None:
            write_whole(output, to_json(scores) + "\n")
    if metrics is None:
        click.echo(left_out(names), err=True)


def _chosen(
    metrics: str | None,
    references: Path | None,
    objects: tuple[Path, ...],
    language_model: Path | None,
) -> list[str]:
    """Return the names of the metrics to compute; what they need must be given."""
    from .metrics import DEFAULT, NEEDS_REFERENCES, parse

    if metrics is None:
        if references is None:
            metrics = "VIFIDEL"
        else:  # VIFIDEL is the first
            return [*(DEFAULT if objects else DEFAULT[1:])]
    names = parse(metrics)
    parts = {part for name in names for part in name.split("+")}
    if references is None and parts & NEEDS_REFERENCES:
        raise click.UsageError(f"{min(parts & NEEDS_REFERENCES)} needs --references.")
    if not objects and "VIFIDEL" in parts:
        raise click.UsageError("VIFIDEL needs --objects, or name other --metrics.")
    if language_model is None and "LM" in parts:
        raise click.UsageError("LM needs --language-model FILE; train-lm writes one.")
    return names


def _makers(
    objects: tuple[Path, ...],
    threshold: float | None,
    categories: tuple[Path, ...],
    references: bool,
    counts: bool,
    language_model: Path | None,
    shared: dict[str, Any],
) -> dict[str, Callable[[], Scorer]]:
    """Return what makes each metric's scorer; nothing is read before it is needed."""
    from . import scorers
    from .annotations import read_objects
    from .tokenization import Tokenization
    from .vectors import load_vectors

    @cache
    def word_settings() -> dict[str, Any]:
        return shared | {"vectors": load_vectors(shared["vectors"])}

    def vifidel() -> Scorer:
        sides = [read_objects(path, threshold, categories) for path in objects]
        return scorers.Vifidel(sides, references=references, counts=counts, **word_settings())

    tokens = cache(Tokenization)
    return {
        "VIFIDEL": vifidel,
        "WMD": lambda: scorers.Wmd("best", **word_settings()),
        "WMD-worst": lambda: scorers.Wmd("worst", **word_settings()),
        "WMD-mean": lambda: scorers.Wmd("mean", **word_settings()),
        "BLEU": lambda: scorers.Bleu(tokens()),
        "ROUGE_L": lambda: scorers.RougeL(tokens()),
        "CIDEr": lambda: scorers.Cider(tokens()),
        "METEOR": lambda: scorers.Meteor(tokens()),
        "SPICE": lambda: scorers.Spice(tokens()),
        "LM": lambda: scorers.LanguageModel(str(language_model)),
    }


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


main.add_command(train_lm)
