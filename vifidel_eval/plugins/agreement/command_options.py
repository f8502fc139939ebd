"""The options that all experiments of ``vifidel-eval agreement`` share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import record, style_of
from ...commands.paths import OUTPUT as OUTPUT_FILE
from ...commands.paths import ReadByName, Stated, Written
from ...errors import VifidelError
from ...io.options import OUTPUT, option

if TYPE_CHECKING:
    from ...scorers import Scorer
    from ...scorers.record import Settings
    from .judgements import References

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


_own = partial(option, section="")
_output = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class Experiment:
    """What a user chose for an experiment; each field is an option."""

    references: tuple[References, ...] = _own(
        "all",
        "Numbers of references, separated by commas; 'all' takes all there are.",
        Stated(_numbers),
        metavar="TEXT",
    )
    draws: int = _own(
        5,
        "How many times to draw references if an image has more than that number.",
        click.IntRange(min=1),
        rare=True,
    )
    seed: int = _output(0, "Seed of draws and intervals.", click.IntRange(min=0), rare=True)
    scores: tuple[tuple[str, str], ...] = _own(
        (),
        "Scores of another tool: the file of --write-candidates with a score per entry.",
        NamedFiles(),
        several=True,
        metavar="NAME=FILE",
    )
    ablation: tuple[tuple[str, str], ...] = _own(
        (),
        "Score VIFIDEL with these objects, by presence and, if the labels have counts, with "
        "counts. Files separated by commas are united. Repeat for other objects.",
        NamedFiles(),
        several=True,
        rare=True,
        metavar="NAME=OBJECTS",
    )
    ablation_vectors: tuple[str, ...] = _own(
        (),
        "Word vectors of the ablation. Repeat for others.  [default: --vectors]",
        (Path, str),
        several=True,
        rare=True,
    )
    write_candidates: Path | None = _output(
        None,
        "Write the captions to this JSON file for another tool to score, and stop.",
        OUTPUT_FILE,
    )
    figure: tuple[Path, ...] = _output(
        (), "Draw the result into this .png, .svg or .pdf file.", OUTPUT_FILE, several=True
    )
    output: Path | None = _output(
        None,
        "Write the result to this JSON file. What an interrupted run has finished is kept beside "
        "it, and the same command continues from there.",
        Written(".unfinished"),
    )
    style: str = style_of("")

    def __post_init__(self) -> None:
        for hint, named in (("'--scores'", self.scores), ("'--ablation'", self.ablation)):
            if len(dict(named)) < len(named):
                raise click.BadParameter("a name is given twice.", param_hint=hint)

    def ablations(self, settings: Settings) -> dict[str, Scorer]:
        """Return VIFIDEL with each side of objects, with counts and by presence, and each vectors.

        They are called ``"VIFIDEL gold counts"`` and the like; the vectors are named if there are
        several. A side on which no label counts twice, such as a union, has presence only.
        """
        from ...annotations import read_objects
        from ...scorers import Vifidel
        from ...words.word_vectors import load_vectors

        if not self.ablation:
            return {}
        if not settings.counts:
            raise click.UsageError(
                "--ablation scores with counts and by presence; leave --presence out."
            )
        read = settings.threshold, settings.categories, settings.uncertain
        sides = {name: read_objects(paths.split(","), *read) for name, paths in self.ablation}
        sources = self.ablation_vectors or (settings.vectors,)
        vectors = [load_vectors(source, settings.trust_pickles) for source in sources]
        signatures = [known.signature() for known in vectors]
        names = [signature.partition("#")[0] for signature in signatures]
        if len(set(names)) < len(names):  # different files of the same name
            names = signatures
        named = dict(zip(names, vectors, strict=True))
        words = settings.words
        scorers: dict[str, Scorer] = {}
        for (side, objects), counts, (vector, known) in product(
            sides.items(), (True, False), named.items()
        ):
            if counts and all(number == 1 for of in objects.values() for number in of.values()):
                continue
            name = f"VIFIDEL {side} {'counts' if counts else 'presence'}"
            name += f" {vector}" if len(named) > 1 else ""
            scorers[name] = Vifidel(objects, **{**words, "vectors": known, "counts": counts})
        return scorers


def experiment_options(references: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of the options that all experiments share."""
    return record(Experiment, "experiment", defaults={"references": references})
