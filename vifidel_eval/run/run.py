"""`Run`: the scores of a run, and what can be made of them."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..doors.arguments import check_whole, name_wrong_argument
from ..doors.entry_points import service
from ..errors import VifidelError, VifidelWarning
from ..explain.sentences import Invention, JudgedSentence
from ..io.files import printable, write_whole
from ..io.image_ids import ImageId, to_json_value
from ..io.progress import phase, progress_bar
from ..project import pip_install
from ..scores.comparison import Comparisons, against, compare
from ..scores.scores import ByName, Scores, chosen_samples
from ..scores.scores_file import comparable, scores_text
from ..scores.systems import WORDS
from ..scores.verdict import chosen_column
from ..show.first_screen import first_screen
from ..show.layout import line_width
from ..show.score_tables import in_html
from .plan import Plan
from .reading import PathLike

if TYPE_CHECKING:
    from pandas import DataFrame

_MOST_SHOWN = 12  # systems of a run at a prompt
_FEW = 5  # systems of which a table of scores tests every two

_Resampling: TypeAlias = tuple[int, int | None, float]  # seed, resamples and level
_BY_DEFAULT: _Resampling = 0, None, 0.95


@dataclass(eq=False, repr=False)
class Run:
    """Scores of systems under metrics, as `vifidel_eval.evaluate` and `load` return them.

    Immutable; compared by identity. A pickle has everything that the run was made from.

    Attributes
    ----------
    detail : Scores
        All results of the metrics: counts, tallies and words, by system and column.
    plan : Plan or None
        What was scored; None for a loaded run.
    """

    detail: Scores
    plan: Plan | None = None
    #: The comparison in the file of a loaded run, if it has one.
    saved_comparison: Comparisons | None = None
    _where: str = "a loaded run"  #: the file of a loaded run
    #: From the arguments in the file of a loaded run to its plan, and that plan once it was made.
    _plan_again: Callable[[Mapping[str, Any]], Plan] | None = None
    _planned_again: Plan | None = None
    #: The last comparison under all columns, and the last under the deciding column alone, each
    #: with its seed, resamples and level.
    _compared: tuple[_Resampling, Comparisons] | None = None
    _decided: tuple[_Resampling, Comparisons] | None = None

    @property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return list(self.detail.evaluations)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of scores."""
        return list(self.detail.signatures)

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """System to column to score of the corpus; `math.nan` where it is undefined.

        `load` gives the same numbers, bit for bit. The two compare equal, including undefined
        scores, which are all the object `math.nan`.
        """
        scores = {}
        for name, of_column in self.detail.evaluations.items():
            numbers = {column: float(e.score) for column, e in of_column.items()}
            shown = {column: math.nan if math.isnan(n) else n for column, n in numbers.items()}
            scores[name] = ByName("column", shown)
        return ByName("system", scores)

    @property
    def signatures(self) -> dict[str, str]:
        """Column to the line that pins everything that changes its scores."""
        return ByName("column", self.detail.signatures)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """System to what was counted: ``scored``, ``undefined``, ``missing``, ``no_words``, ..."""
        return ByName(
            "system", {name: self.detail.counts(name) for name in self.detail.evaluations}
        )

    @property
    def unavailable(self) -> dict[str, str]:
        """Metric to the reason why it could not be computed here."""
        return {name: str(why) for name, why in self.detail.unavailable.items()}

    @name_wrong_argument
    def per_image(self, system: str) -> dict[ImageId, dict[str, float | None]]:
        """Return the scores of a system's images: ``{image id: {column: score}}``.

        They are in the order of the references; an undefined score is None. With samples, ``"CIDEr
        best sample"`` is the number of the image's caption, counted from 0. An unknown system is a
        VifidelError.
        """
        of_column = ByName("system", self.detail.evaluations)[system]
        images: dict[ImageId, dict[str, float | None]] = {}
        for column, evaluation in of_column.items():
            for image_id, score in zip(evaluation.ids, evaluation.scores.tolist(), strict=True):
                images.setdefault(image_id, {})[column] = None if math.isnan(score) else score
        for name, samples in chosen_samples(of_column).items():
            for of_image, sample in zip(images.values(), samples, strict=True):
                of_image[name] = sample
        return images

    @name_wrong_argument
    def captions(self, system: str) -> dict[ImageId, str]:
        """Return the captions of a system, without what is not scored; errors as of `sentences`."""
        plan = self._planned("captions are in the files")
        return dict(plan.system(system).captions)

    @name_wrong_argument
    def sentences(self, system: str) -> dict[ImageId, list[JudgedSentence]]:
        """Return the sentences of a system's captions, each judged separately.

        `JudgedSentence.start` and `end` are positions in the caption, and so are those of
        mentions. An image has its sentences in order, whatever metrics the run has. It is a
        VifidelError if there is no such system, if the inputs of a loaded run are missing or have
        changed, or if there are neither objects nor references.
        """
        return self._planned("sentences need captions", of_samples=True).sentences(system)

    def inventions(self) -> list[Invention]:
        """Return every word that the captions of all systems make up, with its place.

        An invention is a mention of a thing that is probably not in the image, or a wrong denial.
        They are ordered by system, image and position, whatever metrics the run has. ``explain
        --inventions`` writes the same rows under the same names, and `pandas.DataFrame` takes them
        as they are. Of samples, the system is ``"mine, sample 1"``, and a thing is ``said_in`` so
        many of the ``answers`` about its image. Errors are those of `sentences`.

        Examples
        --------
        >>> import vifidel_eval
        >>> run = vifidel_eval.evaluate(
        ...     {"mine": {1: "A dog. A zebra runs."}}, objects={1: {"dog": 1, "zebra": 0}},
        ...     metrics="VIFIDEL",
        ... )
        >>> [(row.image_id, row.sentence, row.word, row.start) for row in run.inventions()]
        [(1, 1, 'zebra', 9)]
        """
        plan = self._planned("inventions need captions", of_samples=True)
        return list(plan.inventions())

    @name_wrong_argument
    def to_dataframe(self, per_image: bool = False, words: bool = False) -> DataFrame:
        """Return the scores as a pandas DataFrame; undefined ones are NaN.

        Parameters
        ----------
        per_image : bool
            By default, there is a row per system, which is the index, and a column per column of
            scores. With True, there is a row per system and image, with the columns ``system`` and
            ``image_id`` before the scores and, for samples, their numbers after the scores:
            ``CIDEr best sample``, counted from 0.
        words : bool
            With True, a row per content word of the captions instead: ``system``, ``image_id``,
            the number of its ``sentence``, ``start`` and ``end`` in the caption (of what stands
            between blanks), ``word``, whether it names a ``thing``, its ``support`` in [0, 1] and
            ``weight`` in VIFIDEL-P, what supports it (``by``), and whether it is
            ``invented``.

        Returns
        -------
        DataFrame
            ``attrs["signatures"]`` has the signatures, ``attrs["counts"]`` the counts. A
            VifidelError is raised if pandas is not installed; for words, also for the reasons of
            `inventions`.
        """
        try:
            import pandas
        except ImportError:
            raise VifidelError(
                f"a DataFrame needs pandas, which is not installed: {pip_install('pandas')}."
            ) from None
        if words:
            plan = self._planned("words need captions", of_samples=True)
            frame = pandas.DataFrame(list(plan.words()))
        elif per_image:
            parts = []
            for name, of_column in self.detail.evaluations.items():
                ids = [to_json_value(image_id) for image_id in next(iter(of_column.values())).ids]
                numbers = {column: of_column[column].scores for column in self.columns}
                samples = {
                    column: pandas.array(of_images, dtype="Int64")
                    for column, of_images in chosen_samples(of_column).items()
                }
                parts.append(
                    pandas.DataFrame({"system": name, "image_id": ids, **numbers, **samples})
                )
            frame = pandas.concat(parts, ignore_index=True)
        else:
            index = pandas.Index(self.systems, name="system")
            rows = list(self.scores.values())
            frame = pandas.DataFrame(rows, index=index, columns=self.columns, dtype="float64")
        frame.attrs["signatures"] = self.signatures
        frame.attrs["counts"] = self.counts
        return frame

    @name_wrong_argument
    def compare(
        self,
        seed: int = 0,
        resamples: int | None = None,
        level: float = 0.95,
        baseline: str | None = None,
    ) -> Comparisons:
        """Return what ``--compare`` prints: intervals, tests between every two systems, ranks.

        A loaded run returns the comparison in its file if the arguments are the same; otherwise it
        compares the scores of images in the file, which gives the same numbers. Columns whose
        corpus scores cannot be computed from these are left out with a warning: in a file of
        version 0.2.0, those of BLEU, CHAIR and VIFIDEL-H.

        Parameters
        ----------
        seed, resamples, level
            As `vifidel_eval.scores.comparison.compare` takes them.
        baseline : str, optional
            The system to compare all others with, instead of every two: ``--baseline``. At a
            prompt, the result then prints a line per metric and system.

        Raises
        ------
        VifidelError
            If an argument is out of range, the baseline is not a system, the systems share no
            image (an `ImageIdError`), or there is nothing to compare.

        Warns
        -----
        VifidelWarning
            If resamples or images are too few, or columns are left out.
        """
        comparisons = self.saved_comparison
        if comparisons is None or not comparisons.follow_from(seed, resamples, level, baseline):
            comparisons = self._compare(seed, resamples, level)
        return comparisons if baseline is None else against(comparisons, baseline)

    def _compare(self, seed: int, resamples: int | None, level: float) -> Comparisons:
        """Return the comparison of every two systems, which is kept for the next call."""
        resampling = seed, resamples, level
        if self._compared is None or self._compared[0] != resampling:
            with phase("Comparing systems"):
                self._compared = resampling, compare(self._comparable(), seed, resamples, level)
        return self._compared[1]

    def intervals(
        self, seed: int = 0, resamples: int | None = None, every_column: bool = True
    ) -> Comparisons | None:
        """Return what tables show beside scores, without warnings.

        All systems are tested under the column that decides, few under all columns, and only by
        randomisation: nothing beside scores shows the bootstrap's p, and both under all columns
        take nine tenths of the time.
        """
        resampling = seed, resamples, 0.95
        if self.saved_comparison is not None and resampling == _BY_DEFAULT:  # however it was made
            return self.saved_comparison
        if self._compared is not None and self._compared[0] == resampling:
            return self._compared[1]
        with warnings.catch_warnings(), phase("Comparing systems"), suppress(VifidelError):
            warnings.simplefilter("ignore", VifidelWarning)
            scores, column = self._comparable(), chosen_column(self.detail)
            few = len(self.systems) <= _FEW
            wanted = {column, *([WORDS] if few else [])}  # words: for what remains at equal length
            decides = [name for name in scores.signatures if name in wanted]
            if self._decided is None or self._decided[0] != resampling:
                decided = compare(scores.only(decides), seed, resamples, by_bootstrap=False)
                self._decided = resampling, decided
            tested = self._decided[1]
            if column in tested.metrics and not every_column:
                return tested
            untested = compare(scores, seed, resamples, tests=few, lengths=few, by_bootstrap=False)
            return replace(tested, metrics={**untested.metrics, **tested.metrics})
        return None

    @name_wrong_argument
    def report(
        self,
        path: PathLike,
        images: PathLike | Mapping[ImageId, Path] | None = None,
        title: str | None = None,
        images_mb: int | None = None,
        seed: int = 0,
        resamples: int | None = None,
        progress: bool | None = None,
    ) -> None:
        """Write the HTML page: ranks, scores, comparison, every image with its captions.

        Of samples, cards show the best, the worst or all under the metric that is chosen.

        Parameters
        ----------
        path : path
            The file to write; if that fails, it is a VifidelError.
        images : path or mapping, optional
            Folder of the images, or the file of each image's picture, by default those of the run.
            If the objects came from files with boxes, these are drawn.
        title, images_mb : optional
            The title of the page; the megabytes that pictures may take in it, by default 32.
        seed, resamples, progress : optional
            As for `compare` and `evaluate`.
        """
        if images_mb is not None:
            check_whole(1, images_mb=images_mb)
        plan = self._planned("a report needs captions, references and objects", of_samples=True)
        images = plan.settings.images if images is None else images
        if isinstance(images, str | os.PathLike):
            images = plan.pictures(images)
        from ..show.report import Content, gather, render_page

        captions = sum(len(system.captions) for system in plan.systems)
        comparisons = self.intervals(seed, resamples) or self.compare(seed, resamples)
        with progress_bar(captions, shown=progress, desc="report") as bar:
            scorers = plan.scorers.values()
            content = gather(
                self.detail, comparisons, plan.aligned, scorers, plan.settings, bar.update
            )
        content = replace(
            content,
            title=title or Content.title,
            files={kind: [p.name for p in paths] for kind, paths in plan.files.items() if paths},
            pictures=images or {},
            boxes=plan.boxes() if images else {},
            picture_bytes=Content.picture_bytes if images_mb is None else 10**6 * images_mb,
        )
        with phase(f"Writing {path}", progress):
            write_whole(Path(path), printable(render_page(content)))

    @name_wrong_argument
    def save(self, path: PathLike, comparisons: Comparisons | None = None) -> None:
        """Write what ``score --output`` writes, image by image; `load` reads it.

        It is a JSON file; if it cannot be written, that is a VifidelError. The result of `compare`
        is saved with it if it is given; a loaded run keeps its comparison by default.
        """
        with phase(f"Writing {path}"):
            text = scores_text(self.detail, comparisons or self.saved_comparison)
            write_whole(Path(path), text + "\n")

    @name_wrong_argument
    def add_to_leaderboard(self, path: PathLike, day: date | None = None) -> None:
        """Add the scores to a file of runs over time, as ``score --leaderboard`` does.

        The file is created if there is none; the day of the run is today by default. It is a
        VifidelError if the file has other images, references or settings, or cannot be written.
        """
        plan = self._planned("a leaderboard needs captions and references")
        board = service("leaderboard")
        board.add(path, self.detail, plan.systems, plan.images, day or date.today())

    def _planned(self, why: str, of_samples: bool = False) -> Plan:
        plan = self.plan or self._planned_again
        if plan is None:
            if self.detail.inputs is None or self._plan_again is None:
                raise VifidelError(f"{why}, and {self._where} holds only scores: evaluate again.")
            try:
                arguments = self.detail.inputs.found(self._where)
            except VifidelError as problem:
                raise VifidelError(
                    f"{why}, and {self._where} holds only scores; of the files they were made "
                    f"from, {problem}: restore it, or evaluate again."
                ) from None
            plan = self._planned_again = self._plan_again(arguments)
        if plan.aligned.has_samples and not of_samples:
            raise VifidelError(
                f"{why}, one per image, and this run has samples: evaluate one caption per "
                "image, without samples=True."
            )
        return plan

    def _comparable(self) -> Scores:
        return self.detail if self.plan is not None else comparable(self.detail, self._where)

    def __repr__(self) -> str:
        intervals = self.intervals(every_column=False)
        return first_screen(self.detail, intervals, line_width(), limit=_MOST_SHOWN)

    def _repr_html_(self) -> str:
        return in_html(self.detail, self.intervals())
