"""The options that all experiments of ``vifidel-eval agreement`` share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import fields_of, format_option, gathered
from ...commands.paths import NAMED, OUTPUT, Written
from ...commands.printing import show, tell

if TYPE_CHECKING:
    from ...io.records import Parts
    from ...scorers import Scorer
    from ...scorers.record import Settings
    from .draws import References
    from .judgements import Judged

_NUMBER = re.compile(r"[0-9]{1,6}")


def _numbers(_: click.Context, __: click.Parameter, value: str) -> tuple[References, ...]:
    """Return numbers of references, each once."""
    words = [word.strip() for word in value.split(",")]
    if not all(word == "all" or _NUMBER.fullmatch(word) for word in words):
        raise click.BadParameter(f"{value!r} is neither a list of numbers such as 0,1,5 nor 'all'.")
    return tuple(dict.fromkeys(word if word == "all" else int(word) for word in words))


def _named(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return the names and values of ``NAME=VALUE``."""
    named = []
    for value in values:
        name, _equals, content = value.partition("=")
        if not (name and content):
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}.")
        named.append((name, content))
    if len(dict(named)) < len(named):
        raise click.BadParameter("a name is given twice.")
    return tuple(named)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; one field per option of `experiment_options`."""

    references: tuple[References, ...]
    draws: int
    seed: int
    scores: tuple[tuple[str, str], ...]
    ablation: tuple[tuple[str, str], ...]
    ablation_vectors: tuple[str, ...]
    write_candidates: Path | None
    figure: tuple[Path, ...]
    output: Path | None
    style: str

    def check(self) -> None:
        """Raise before long work what would make an output fail.

        Raises
        ------
        VifidelError
            If a figure's suffix is unknown.
        """
        from .figures import check_figure

        for path in self.figure:
            check_figure(path)

    def wrote_candidates(self, judged: Sequence[Judged]) -> bool:
        """Write the captions for another tool, if that is all that is asked for."""
        from .other_tools import write_candidates

        if self.write_candidates is None:
            return False
        write_candidates(self.write_candidates, judged)
        captions = sum(len(one.captions) for one in judged)
        show(f"{captions} captions written to {self.write_candidates}")
        return True

    @contextmanager
    def parts(self) -> Iterator[Parts]:
        """Keep the finished parts of an interrupted run beside its output, forget complete ones."""
        from ...io.records import Parts

        parts = Parts(self.output)
        try:
            yield parts
        except KeyboardInterrupt:
            if parts.path is not None and parts.path.exists():
                tell("Interrupted; the same command continues where it stopped.")
            raise
        parts.clear()

    def ablations(self, settings: Settings) -> dict[str, Scorer]:
        """Return the scorers of the ablation, by name."""
        from ...annotations import read_objects
        from ...words.word_vectors import load_vectors
        from .ablation import ablations

        if not self.ablation:
            return {}
        if not settings.counts:
            raise click.UsageError(
                "--ablation scores with counts and by presence; leave --presence out."
            )
        sides = {
            name: read_objects(
                paths.split(","), settings.threshold, settings.categories, settings.uncertain
            )
            for name, paths in self.ablation
        }
        vectors = [
            load_vectors(source, settings.trust_pickles)
            for source in self.ablation_vectors or (settings.vectors,)
        ]
        return ablations(sides, vectors, settings.words)


def experiment_options(references: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of the options that all experiments share."""
    options = (
        click.option(
            "--references",
            callback=_numbers,
            default=references,
            show_default=True,
            help="Numbers of references, separated by commas; 'all' takes all there are.",
        ),
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            default=5,
            show_default=True,
            help="How many times to draw references if an image has more than that number.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of draws and intervals.",
        ),
        click.option(
            "--scores",
            type=NAMED,
            callback=_named,
            multiple=True,
            metavar="NAME=FILE",
            help="Scores of another tool: the file of --write-candidates with a score per entry.",
        ),
        click.option(
            "--ablation",
            type=NAMED,
            callback=_named,
            multiple=True,
            metavar="NAME=OBJECTS",
            help="Score VIFIDEL with these objects, by presence and, if the labels have counts, "
            "with counts. Files separated by commas are united. Repeat for other objects.",
        ),
        click.option(
            "--ablation-vectors",
            type=NAMED,
            multiple=True,
            help="Word vectors of the ablation. Repeat for others.  [default: --vectors]",
        ),
        click.option(
            "--write-candidates",
            type=OUTPUT,
            help="Write the captions to this JSON file for another tool to score, and stop.",
        ),
        click.option(
            "--figure",
            type=OUTPUT,
            multiple=True,
            help="Draw the result into this .png, .svg or .pdf file.",
        ),
        click.option(
            "--output",
            type=Written(".unfinished"),
            help="Write the result to this JSON file. What an interrupted run has finished is kept "
            "beside it, and the same command continues from there.",
        ),
        format_option("How to print the result."),
    )
    return gathered("experiment", partial(fields_of, Experiment), options)
