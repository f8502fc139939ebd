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

from ...commands.options import record, style_of
from ...commands.paths import OUTPUT as OUTPUT_FILE
from ...commands.paths import ReadByName, Stated, Written
from ...commands.printing import show, tell
from ...errors import VifidelError
from ...io.options import OUTPUT, option

if TYPE_CHECKING:
    from ...io.records import Parts
    from ...scorers import Scorer
    from ...scorers.record import Settings
    from .judgements import Judged, References

_NUMBER = re.compile(r"[0-9]{1,6}")


def _numbers(text: str) -> tuple[References, ...]:
    """Return numbers of references, each once."""
    words = [word.strip() for word in text.split(",")]
    if not all(word == "all" or _NUMBER.fullmatch(word) for word in words):
        raise VifidelError(f"{text!r} is neither a list of numbers such as 0,1,5 nor 'all'.")
    return tuple(dict.fromkeys(word if word == "all" else int(word) for word in words))


class NamedFiles(ReadByName):
    """``NAME=FILE``, as a pair."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name and the text behind it."""
        if isinstance(value, tuple):
            return value
        name, _, content = super().convert(value, param, ctx).partition("=")
        if not (name and content):
            self.fail(f"{value!r} is not {param.metavar if param else 'NAME=FILE'}.", param, ctx)
        return name, content


_option = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; each field is an option."""

    references: tuple[References, ...] = option(
        "all",
        "Numbers of references, separated by commas; 'all' takes all there are.",
        Stated(_numbers),
        section="",
        metavar="TEXT",
    )
    draws: int = option(
        5,
        "How many times to draw references if an image has more than that number.",
        click.IntRange(min=1),
        section="",
        rare=True,
    )
    seed: int = _option(0, "Seed of draws and intervals.", click.IntRange(min=0), rare=True)
    scores: tuple[tuple[str, str], ...] = option(
        (),
        "Scores of another tool: the file of --write-candidates with a score per entry.",
        NamedFiles(),
        section="",
        several=True,
        metavar="NAME=FILE",
    )
    ablation: tuple[tuple[str, str], ...] = option(
        (),
        "Score VIFIDEL with these objects, by presence and, if the labels have counts, with "
        "counts. Files separated by commas are united. Repeat for other objects.",
        NamedFiles(),
        section="",
        several=True,
        rare=True,
        metavar="NAME=OBJECTS",
    )
    ablation_vectors: tuple[str, ...] = option(
        (),
        "Word vectors of the ablation. Repeat for others.  [default: --vectors]",
        (Path, str),
        section="",
        several=True,
        rare=True,
    )
    write_candidates: Path | None = _option(
        None,
        "Write the captions to this JSON file for another tool to score, and stop.",
        OUTPUT_FILE,
    )
    figure: tuple[Path, ...] = _option(
        (), "Draw the result into this .png, .svg or .pdf file.", OUTPUT_FILE, several=True
    )
    output: Path | None = _option(
        None,
        "Write the result to this JSON file. What an interrupted run has finished is kept beside "
        "it, and the same command continues from there.",
        Written(".unfinished"),
    )
    style: str = style_of("How to print the result.")

    def __post_init__(self) -> None:
        for hint, named in (("'--scores'", self.scores), ("'--ablation'", self.ablation)):
            if len(dict(named)) < len(named):
                raise click.BadParameter("a name is given twice.", param_hint=hint)

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
        from .trials import ablations

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
    return record(Experiment, "experiment", defaults={"references": references})
