"""`Scores` of systems under metrics, estimates beside them, and what they were made from."""

from __future__ import annotations

import difflib
import hashlib
import math
import os
from collections.abc import Callable, Container, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..captions.generated import AROUND, NO_CLAIM, REASONING
from ..errors import MetricUnavailable, UnknownName, VifidelError
from ..evaluation import COUNTS, Column, Evaluation
from ..io.files import open_file, sha256_of
from ..io.text_tables import counted

PEOPLE = "people"  #: what people are called among the systems
#: What a column becomes with several captions per image: ``"CIDEr mean"``, ``"CIDEr best"``, ...
OF_SAMPLES = ("mean", "best", "worst")
_HEADLINE = "VIFIDEL-F"  # the column that tables lead with: it agrees best with people
#: The columns that say what captions claim: without a claim they are undefined.
OF_CLAIMS = (
    *("VIFIDEL-P", "VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn", "VIFIDEL-T"),
    *("CHAIRs", "CHAIRi", "CHAIR-Precision", "CHAIR-Len"),
    "Words",
)
_RATE = "VIFIDEL-Hi"  # the column that is calibrated
_FILE = "file"  # what stands for a path among arguments in JSON

_Value = TypeVar("_Value")
_Shown = Callable[[float, str], str]  # of a score and its column
_FOUR_DECIMALS: _Shown = "{:.4f}".format


@dataclass(frozen=True)
class People:
    """How people's captions were made, and what they get where they are no system of the run."""

    joined: int  # up to so many references of an image are its caption
    words: float  # in a caption, on average
    images: int
    too_few: int = 0  # images with fewer than two references that have a word
    rates: Mapping[str, float] = field(default_factory=dict)  # the floor of systems', by column

    def notes(self, columns: Container[str], shown: _Shown = _FOUR_DECIMALS) -> list[str]:
        """Return what a table with these columns says of people, in sentences."""
        joined = "one reference" if self.joined == 1 else f"{self.joined} references joined"
        captions = f"{joined} of each image ({self.words:.1f} words on average)"
        rates = [f"{name} {shown(r, name)}" for name, r in self.rates.items() if name in columns]
        if self.rates and not rates:
            return []
        notes = [f"{PEOPLE}: {captions}; every system is scored against the other references."]
        if rates:
            notes = [f"People: {', '.join(rates)} for {captions}, judged without these references."]
        if self.too_few:
            notes.append(
                f"{self.too_few} of {self.images + self.too_few} images have fewer than two "
                f"references and are left out{' of these rates' if rates else ''}, as {PEOPLE} "
                "need two."
            )
        return notes


@dataclass(frozen=True)
class Calibrated:
    """A rate of inventions as measured and without the errors of the answers: an estimate.

    `vifidel_eval.asking.calibrated` makes it. Shares are from 0 to 1, and NaN where they are
    undefined. `measured` is the share of the judged mentions that the answers deny; `corrected` the
    estimate without the answers' errors, undefined without controls or things that several
    references name, and where the answers are no better than chance; `interval` is of that, at
    95 %, by bootstrap over images. The answers say *yes* and *no* wrongly in the shares `false_yes`
    and `false_no`, of so many controls and things that are named.
    """

    measured: float
    corrected: float
    interval: tuple[float, float]
    false_yes: float
    false_no: float
    controls: int
    named: int

    def note(self, system: str, shown: _Shown = _FOUR_DECIMALS) -> str:
        """Return what tables and reports say of a system's rate, in a sentence."""
        measured = "undefined" if math.isnan(self.measured) else shown(self.measured, _RATE)
        note = f"Estimate for {system}: {_RATE} by the answers alone is {measured} as measured"
        if math.isnan(self.corrected):
            why = "the answers are no better than chance"
            if not self.controls:
                why = "no control was answered"
            elif not self.named:
                why = "no answer is about a thing that three references name"
            elif math.isnan(self.measured):
                why = "no answer is about what its captions mention"
            return f"{note}, and cannot be corrected: {why}."
        low, high = self.interval
        interval = "no interval"
        if not math.isnan(low):
            interval = f"{shown(low, _RATE)} to {shown(high, _RATE)}"
        return (
            f"{note} and {shown(self.corrected, _RATE)} ({interval}) corrected for wrong answers: "
            f"yes to {self.false_yes:.1%} of controls ({self.controls}), no to "
            f"{self.false_no:.1%} of what three references name ({self.named}); both are "
            "easier than the rest."
        )


@dataclass(frozen=True)
class Inputs:
    """The arguments of a run, where paths are files that it read; `digests` are of a loaded run."""

    arguments: Mapping[str, Any]
    digests: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any] | None:
        """Return arguments and SHA-256 of files; None if a pipe or an object was given."""
        try:
            arguments = _with_paths(self.arguments, lambda path: {_FILE: str(path)})
            digests = self.digests
            if digests is None:
                digests = {str(path): _digest(path) for path in self._paths()}
        except (TypeError, VifidelError):
            return None
        return {"arguments": arguments, "files": dict(digests)}

    def found(self, scores: str) -> Mapping[str, Any]:
        """Return the arguments, with paths also looked up beside the file of scores."""
        moved: dict[Path, Path] = {}
        problems = []
        for path in self._paths():
            places = [
                place for place in (path, Path(scores).parent / path) if os.path.exists(place)
            ]
            digest = (self.digests or {}).get(str(path))
            alike = [place for place in places if _digest(place) == digest]
            if alike:
                moved[path] = alike[0]
            else:
                problems.append(f"{path} {'has changed' if places else 'is not there'}")
        if problems:
            raise VifidelError(", ".join(problems))
        arguments: Mapping[str, Any] = _with_paths(self.arguments, moved.__getitem__)
        return arguments

    def _paths(self) -> list[Path]:
        paths: list[Path] = []
        _with_paths(self.arguments, paths.append)
        return paths


def _with_paths(value: Any, of_path: Callable[[Path], Any]) -> Any:
    """Return arguments for JSON with something for each path; a TypeError is for all others."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, Path):
        return of_path(value)
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        if value.keys() == {_FILE} and isinstance(value[_FILE], str):  # of a run that was loaded
            return of_path(Path(value[_FILE]))
        return {key: _with_paths(member, of_path) for key, member in value.items()}
    if isinstance(value, Set):
        return sorted(_with_paths(member, of_path) for member in value)
    if isinstance(value, list | tuple):
        return [_with_paths(member, of_path) for member in value]
    raise TypeError(type(value).__name__)


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents in a folder."""
    if path.is_dir():
        digest = hashlib.sha256()
        files = (Path(at, name) for at, _, names in os.walk(path) for name in names)
        for name, file in sorted((file.relative_to(path).as_posix(), file) for file in files):
            digest.update(f"{name}\n{_digest(file)}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
    with open_file(path, VifidelError) as opened:
        return sha256_of(opened)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of systems under metrics."""

    signatures: dict[str, str]  # by column
    evaluations: dict[str, dict[str, Evaluation]]  # by system and column
    #: The reason for each metric without scores.
    unavailable: dict[str, MetricUnavailable] = field(default_factory=dict)
    people: People | None = None
    #: Systems' rates of inventions without the errors of the answers.
    calibrated: dict[str, Calibrated] = field(default_factory=dict)
    uncaptioned: int = 0  # images of which no system has a caption
    inputs: Inputs | None = None

    @property
    def with_people(self) -> bool:
        """Whether people are scored beside the systems: as the baseline, not as a competitor."""
        return self.people is not None and not self.people.rates and PEOPLE in self.evaluations

    def columns(self) -> list[Column]:
        """Return the columns with their directions."""
        some_system = next(iter(self.evaluations.values()), {})
        evaluated = [(name, some_system[name]) for name in self.signatures if name in some_system]
        return [Column(name, e.lower_is_better, e.ranked) for name, e in evaluated]

    def metric_of_columns(self) -> dict[str, str]:
        """Return every column with the name of its metric, as its signature says it."""
        return {column: text.partition("|")[0] for column, text in self.signatures.items()}

    def notes(self, shown: _Shown = _FOUR_DECIMALS) -> list[str]:
        """Return what has to be said of images, people and estimates; `shown` writes scores."""
        notes = []
        if self.uncaptioned:
            images = counted(self.uncaptioned, "image")
            notes.append(f"Left out: {images} for which no system has a caption (--allow-subset).")
        notes += self._notes_on_answers()
        if self.people is not None:
            notes += self.people.notes(self.signatures, shown)
        return notes + [rate.note(system, shown) for system, rate in self.calibrated.items()]

    def _notes_on_answers(self) -> list[str]:
        """Return what of the systems' answers was not scored, in sentences."""
        notes = []
        counted = {name: self.counts(name) for name in self.evaluations}
        for key, kind in ((REASONING, "reasoning"), (AROUND, "other text around the caption")):
            numbers = {name: counts[key] for name, counts in counted.items() if counts.get(key)}
            if numbers:
                listed = ", ".join(f"{number} of {name}" for name, number in numbers.items())
                notes.append(f"Answers with {kind}, which is not scored: {listed}.")
        silent = {
            name: counts[NO_CLAIM] for name, counts in counted.items() if counts.get(NO_CLAIM)
        }
        if silent:
            claim_nothing = ", ".join(
                f"{number} of {counted[name].get('samples') or self._images(name)} of {name}"
                for name, number in silent.items()
            )
            undefined = [name for name in plain_names(self.signatures) if name in OF_CLAIMS]
            notes.append(
                f"Captions that claim nothing (refusals, empty, only reasoning): {claim_nothing}."
            )
            if undefined:
                notes[-1] += (
                    f" They have no score in {', '.join(undefined)}, whose tests take the images "
                    "where every system claims something."
                )
        return notes

    def _images(self, system: str) -> int:
        return len(next(iter(self.evaluations[system].values())).ids)

    def only(self, columns: Iterable[str]) -> Scores:
        """Return these scores with some of the columns, in the order given."""
        some = replace(self, signatures={name: self.signatures[name] for name in columns})
        return some.changed(lambda _, __, e: e)

    def ordered(self, systems: Iterable[str]) -> Scores:
        """Return these scores with the systems in the order given."""
        return replace(self, evaluations={name: self.evaluations[name] for name in systems})

    def changed(self, change: Callable[[str, str, Evaluation], Evaluation]) -> Scores:
        """Return these scores with what `change` makes of each system's column."""
        evaluations = {
            system: {name: change(system, name, of_column[name]) for name in self.signatures}
            for system, of_column in self.evaluations.items()
        }
        return replace(self, evaluations=evaluations)

    def counts(self, system: str) -> dict[str, int]:
        """Return the largest counts of any metric; scored are rows in all corpus scores."""
        evaluations = list(self.evaluations[system].values())
        undefined = int(np.any([e.missing for e in evaluations], axis=0).sum())
        of_metrics = [counts_of(evaluation) for evaluation in evaluations]
        keys = [c.key for c in COUNTS if any(c.key in counts for counts in of_metrics)]
        largest = {key: max(counts.get(key, 0) for counts in of_metrics) for key in keys}
        scored = {"scored": len(evaluations[0].ids) - undefined}
        return scored | largest | {"undefined": max(undefined, largest["undefined"])}


def leading(columns: Iterable[str]) -> list[str]:
    """Return the names of columns in the order of tables for people: the one that leads first."""
    return sorted(columns, key=lambda name: plain_name(name)[0] != _HEADLINE)


def plain_name(column: str) -> tuple[str, str]:
    """Return the name of a column without `OF_SAMPLES`, and which of these it has, or ``""``."""
    plain, _, ending = column.rpartition(" ")
    return (plain, ending) if plain and ending in OF_SAMPLES else (column, "")


def plain_names(columns: Iterable[str]) -> list[str]:
    """Return the names of columns without `OF_SAMPLES`, each once."""
    return list(dict.fromkeys(plain_name(column)[0] for column in columns))


def by_plain_name(columns: Iterable[Column]) -> list[Column]:
    """Return columns under their names without `OF_SAMPLES`, each once."""
    return list(dict.fromkeys(replace(c, name=plain_name(c.name)[0]) for c in columns))


def means_by_plain_name(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns that are means of samples, by their names without that."""
    names = {column: plain_name(column) for column in columns}
    return {plain: column for column, (plain, ending) in names.items() if ending == OF_SAMPLES[0]}


def counts_of(evaluation: Evaluation) -> dict[str, int]:
    """Return how many rows were scored, and what was counted in the order of `COUNTS`."""
    counts = {"undefined": evaluation.undefined, **evaluation.counts}
    return {
        "scored": len(evaluation.ids) - evaluation.undefined,
        **{count.key: counts[count.key] for count in COUNTS if count.key in counts},
    }


def chosen_samples(of_column: Mapping[str, Evaluation]) -> dict[str, list[int | None]]:
    """Return the chosen sample of each image, from 0, by names such as ``CIDEr best sample``."""
    chosen = {}
    for column, evaluation in of_column.items():
        samples = evaluation.details.get(f"{column} sample")
        if samples is not None:
            chosen[f"{column} sample"] = list(samples)
    return chosen


class ByName(dict[str, _Value]):
    """Values by the names of a ``"system"`` or ``"column"``; others raise an `UnknownName`."""

    def __init__(self, noun: str, values: Mapping[str, _Value]) -> None:
        super().__init__(values)
        self._what = noun

    def __missing__(self, name: object) -> _Value:
        raise unknown(self._what, name, self)


def unknown(
    noun: str, name: object, names: Iterable[str], others: Iterable[str] = ()
) -> UnknownName:
    """Return the error of a name that is not among those; it may also mean one of the `others`."""
    names = list(names)
    written = {known.lower(): known for known in (*others, *names)}
    close = difflib.get_close_matches(str(name).lower(), written, n=1)
    meant = f" Did you mean {written[close[0]]!r}?" if close else ""
    choices = f"The {noun}s are {', '.join(names)}." if names else f"There is no {noun} at all."
    return UnknownName(f"there is no {noun} {name!r}.{meant} {choices}")


def chosen_columns(names: Iterable[str], metric_of: Mapping[str, str]) -> list[str]:
    """Return the columns that a user named in any case, by their own or their metrics' names.

    With several captions per image, the plain name of a column is that of their mean.
    """
    columns_of: dict[str, list[str]] = {}
    for column, metric in metric_of.items():
        columns_of.setdefault(metric.lower(), []).append(column)
    means = means_by_plain_name(metric_of)
    columns_of |= {name.lower(): [column] for name, column in means.items()}
    columns_of |= {column.lower(): [column] for column in metric_of}
    chosen: dict[str, None] = {}
    for name in names:
        if name.lower() not in columns_of:
            raise unknown("column", name, metric_of, metric_of.values())
        chosen |= dict.fromkeys(columns_of[name.lower()])
    return list(chosen)
