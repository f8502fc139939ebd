"""A file that collects runs over time, of the same images, references and signatures.

There is a row for a system and date: later scores of the same captions join it, others replace it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from ...errors import VifidelError, warn
from ...evaluation import Column
from ...io.digits import deciding, for_json, rounded, value_of
from ...io.files import beside, json_text, read_json, write_whole
from ...io.image_ids import ImageId, in_order, to_json_value
from ...io.outputs import check_output, locked
from ...io.text_tables import Table, direction_notes
from ...scores.alignment import Aligned, System
from ...scores.scores import Scores, leading

_FORM = 1  # the form of the file; another one would get another number
_SECONDS_TO_WAIT = 60
# Which files the scores of another tool are from: every run has its own.
_FILES = re.compile(r"(?<=\|scores:given)\|files:[0-9a-f,]+")


@dataclass(frozen=True)
class DatedScores:
    """A row: the scores of a system on a date such as ``2026-11-21``; None where undefined."""

    system: str
    date: str
    captions: str
    scores: dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """What a leaderboard file holds; ids, references and the captions of a run are digests."""

    images: int
    image_ids: str
    references: str
    signatures: dict[str, str]
    lower_is_better: tuple[str, ...] = ()
    unranked: tuple[str, ...] = ()
    runs: tuple[DatedScores, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        fields = {"leaderboard": _FORM, **for_json(self)}
        optional = ("lower_is_better", "unranked")
        return {key: value for key, value in fields.items() if value or key not in optional}

    @property
    def columns(self) -> list[Column]:
        """The metrics with their directions."""
        return [
            Column(metric, metric in self.lower_is_better, metric not in self.unranked)
            for metric in self.signatures
        ]

    def ranked(self, metric: str | None = None, history: bool = False) -> Leaderboard:
        """Return the runs, best first; without `history`, the last of each with the metric."""
        names = {name.lower(): name for name in self.signatures}
        if metric is not None and metric.lower() not in names:
            raise VifidelError(
                f"the leaderboard has no metric {metric!r}; it has {', '.join(self.signatures)}."
            )
        by = next(iter(leading(self.signatures)), "") if metric is None else names[metric.lower()]
        runs = sorted(self.runs, key=lambda run: (run.system, by in run.scores, run.date))
        if not history:
            runs = list({run.system: run for run in runs}.values())

        def worse(run: DatedScores) -> tuple[bool, float]:
            score = run.scores.get(by)
            sign = 1 if by in self.lower_is_better else -1
            return score is None, sign * deciding(score or 0.0)

        return replace(self, runs=tuple(sorted(runs, key=worse)))

    def table(self) -> Table:
        """Return a row per run, in the order of `runs`; none is in bold, as none was tested."""
        rows: list[list[Any]] = [
            [run.system, run.date, *(run.scores.get(metric) for metric in self.signatures)]
            for run in self.runs
        ]
        return Table(
            ["System", "Date", *self.signatures],
            rows,
            [
                f"{self.images} images",
                *direction_notes(self.columns),
                "Differences between runs are not tested: score --compare does that.",
            ],
            texts=2,
        )

    def with_system(
        self, scores: Scores, system: System, images: Mapping[ImageId, Sequence[str]], day: date
    ) -> Leaderboard:
        """Return the leaderboard with a system's run; an error lacks the name of the file."""
        evaluations = scores.evaluations[system.name]
        ids = sorted(next(iter(evaluations.values())).ids, key=in_order)
        image_ids = _digest([to_json_value(image_id) for image_id in ids])
        references = ""
        if any(images.values()):
            references = _digest([sorted(images[image_id]) for image_id in ids])
        signatures = {name: _FILES.sub("", text) for name, text in scores.signatures.items()}
        of_run = replace(
            self,
            images=len(ids),
            image_ids=image_ids,
            references=references,
            signatures=self.signatures | signatures,
        )
        self._check_same(of_run, signatures)
        rows = Aligned(images, [system]).rows_of(system)
        caption_of = dict(zip(rows.ids, rows.captions, strict=True))
        run = DatedScores(
            system.name,
            day.isoformat(),
            _digest([[caption_of[image_id]] for image_id in ids]),
            {metric: rounded(evaluation.score) for metric, evaluation in evaluations.items()},
        )
        runs = []
        for old in self.runs:
            if (old.system, old.date) != (run.system, run.date):
                runs.append(old)
            elif old.captions == run.captions:
                run = replace(run, scores=old.scores | run.scores)
        directions = {column.name: column for column in (*self.columns, *scores.columns())}
        return replace(
            of_run,
            lower_is_better=tuple(name for name, c in directions.items() if c.lower_is_better),
            unranked=tuple(name for name, c in directions.items() if not c.ranked),
            runs=(*runs, run),
        )

    def _check_same(self, new: Leaderboard, signatures: Mapping[str, str]) -> None:
        """Raise a VifidelError unless a new run is of the images and settings of those there."""
        # Before the signatures, which may be of the images: this says why they differ.
        if self.runs and (new.images, new.image_ids) != (self.images, self.image_ids):
            other_images = "others" if new.images == self.images else f"{self.images}"
            raise VifidelError(
                f"it was scored on {new.images} images, and the runs there on {other_images}; "
                "score it on the same images or start another file."
            )
        for metric, signature in signatures.items():
            if "|scaled:run|" in signature:
                raise VifidelError(
                    f"{metric} is scaled over the systems of a run, so its scores cannot be "
                    "compared between runs; leave it out of --metrics."
                )
            signature_there = self.signatures.get(metric, signature)
            if signature_there != signature:
                raise VifidelError(
                    f"{metric} has another signature there, "
                    f"{_difference(signature_there, signature)}; score with the same settings or "
                    "start another file."
                )
        if self.runs and new.references != self.references:
            raise VifidelError(
                "the runs there have other references; use the same references or start another "
                "file."
            )


def read(path: str | os.PathLike[str]) -> Leaderboard:
    """Return the content of a leaderboard file; an empty leaderboard if there is none."""
    if not Path(path).exists():
        return Leaderboard(images=0, image_ids="", references="", signatures={}, runs=())
    if not Path(path).is_file():  # reading a pipe might never end
        raise VifidelError(
            f"{path}: is a folder, pipe or device; a leaderboard is an ordinary file."
        )
    content = read_json(path, VifidelError)
    form = content.get("leaderboard") if isinstance(content, dict) else None
    if type(form) is not int or form < 1:
        raise VifidelError(f"{path}: not a leaderboard that score --leaderboard has written.")
    if form > _FORM:
        raise VifidelError(
            f"{path}: was written by a newer version of vifidel-eval; update this one."
        )
    try:
        board: Leaderboard = value_of(Leaderboard, content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise VifidelError(
            f"{path}: the leaderboard is damaged ({type(problem).__name__}: {problem}); restore it "
            "or start another file."
        ) from None
    return board


def add(
    path: str | os.PathLike[str],
    scores: Scores,
    systems: Iterable[System],
    images: Mapping[ImageId, Sequence[str]],
    day: date,
) -> None:
    """Add the systems of a run to a leaderboard file, all or none; images have their references."""
    from filelock import Timeout

    check_output(path, ())
    try:
        with locked(beside(os.path.realpath(path), ".lock"), _SECONDS_TO_WAIT, kept=True):
            before = board = read(path)
            for system in systems:
                try:
                    board = board.with_system(scores, system, images, day)
                except VifidelError as problem:
                    raise VifidelError(
                        f"{path}: system {system.name!r} cannot be added: {problem}"
                    ) from None
            write_whole(path, json_text(board.to_json()) + "\n")
    except Timeout:
        raise VifidelError(
            f"{path}: another process has held {path}.lock for {_SECONDS_TO_WAIT} seconds; try "
            "again when it has finished."
        ) from None
    except OSError as problem:
        raise VifidelError(f"{path}: cannot be locked ({problem.strerror}).") from None
    captions = {(run.system, run.date): run.captions for run in board.runs}
    for run in before.runs:
        if captions[run.system, run.date] != run.captions:
            warn(
                f"{path}: the run of system {run.system!r} of {run.date} had other captions and "
                "was replaced; give another --date to keep both."
            )


def _difference(there: str, here: str) -> str:
    """Return the parts in which two signatures differ."""
    parts_there, parts_here = there.split("|"), here.split("|")
    only_there = " ".join(part for part in parts_there if part not in parts_here)
    only_here = " ".join(part for part in parts_here if part not in parts_there)
    return f"{only_there or 'nothing'} instead of {only_here or 'nothing'}"


def _digest(content: list[Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
