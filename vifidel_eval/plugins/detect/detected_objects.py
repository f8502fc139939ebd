"""What a detector finds in pictures: decoding in threads, batches, what was done before."""

from __future__ import annotations

import os
import re
import warnings
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from ...doors.arguments import check_threshold, check_whole, name_wrong_argument
from ...errors import AnnotationError, VifidelError, warn
from ...io.files import beside, first_line, reason, sha256_of
from ...io.image_ids import ImageId, match, mismatch
from ...io.outputs import alone
from ...io.pictures import DamagedPictureError, decode
from ...io.progress import progress_bar
from ...io.text_tables import counted
from ...scores.alignment import System
from ...words.settings import Settings
from .detectors import Detector, Found, ObjectsFile, Prepared
from .loading import find_model, load_detector
from .picture_sources import FoundPicture, PictureSource, may_be_pictures
from .questions import mentioned_in

#: Lowest score that is kept: counts are made when the file is read, from a higher one on.
LOWEST = 0.05
_LONGEST_PROBLEM = 200
_DIGITS = 16  # of a picture's digest; detections with another digest are stale
_NO_MEMORY = re.compile("memoryerror|out of memory|alloc.*memory|memory.*alloc", re.I | re.S)


@dataclass
class DetectionRun:
    """What a run did."""

    read: int = 0  #: pictures, or rounds of questions, that the detector answered
    #: Pictures that an earlier run finished, and pictures without a question.
    known: int = 0
    unasked: int = 0
    problems: dict[str, str] = field(default_factory=dict)  #: image id to why it cannot be read


@name_wrong_argument
def detect(
    pictures: PictureSource,
    detector: Detector,
    output: str | os.PathLike[str],
    *,
    questions: Mapping[ImageId, Sequence[str]] | None = None,
    lowest: float = LOWEST,
    batch: int | None = None,
    threads: int = 4,
    drafts: bool = True,
    progress: bool | None = None,
) -> DetectionRun:
    """Write what a detector finds in pictures; continue an earlier run.

    Pictures that the file `output` already has are not computed again, unless their bytes have
    changed; a picture that could not be read is tried again.

    Parameters
    ----------
    questions : mapping, optional
        Image id to the things to ask about, for an open-vocabulary detector. Ids match pictures as
        ids of captions match files.
    lowest : float
        The lowest score that is saved, from 0 to 1.
    batch, threads : int, optional
        How many pictures of the same size the model reads at once, and how many are decoded at
        once.
    drafts : bool
        Whether a large JPEG may be decoded at reduced size if the model needs no more.
    progress : bool, optional
        Whether to show a bar; by default, in terminals and notebooks.

    If questions are missing, not wanted or too long, a number is out of range, the file is of
    another run, no picture can be read, the detector fails, or there is not enough memory, that is
    a `VifidelError`.
    """
    check_threshold(lowest, "lowest")
    check_whole(1, threads=threads, **({} if batch is None else {"batch": batch}))
    _check_asked(detector, questions)
    by_picture = None if questions is None else _of_pictures(questions, pictures)
    header = {
        "model": detector.files.name,
        "weights": detector.files.digest,
        "versions": detector.versions(),
        "classes": None if detector.classes is None else list(detector.classes),
        "lowest": lowest,
        "drafted": drafts,
    }
    total = None if pictures.image_ids is None else len(pictures.image_ids)
    with (
        warnings.catch_warnings(),
        alone(beside(output, ".lock"), Path(output)),
        progress_bar(total, " pictures", progress) as bar,
    ):
        # What is wrong with a picture is in the file.
        warnings.filterwarnings("ignore", module="PIL")
        batches = _Batches(
            detector,
            ObjectsFile(output, header),
            lowest=lowest,
            size=detector.batch if batch is None else batch,
            shorter_side=detector.enough if drafts else None,
        )
        with closing(batches.prepared(pictures, by_picture, threads)) as prepared:
            for picture in prepared:
                bar.update()
                batches.add(picture)
        batches.finish()
    run = batches.run
    if run.problems and not run.read and not run.known:
        image_id, why = next(iter(run.problems.items()))
        raise VifidelError(
            f"{pictures.path}: none of its {len(run.problems)} pictures can be read, such as "
            f"{image_id} ({why})."
        )
    return run


def _check_asked(detector: Detector, questions: Mapping[ImageId, Sequence[str]] | None) -> None:
    """Raise a VifidelError unless a detector gets questions that it takes, or needs none."""
    name, classes = detector.files.name, detector.classes
    if questions is None and classes is None:
        raise VifidelError(
            f"{name} looks only for what it is asked about; give captions to take the questions "
            "from (--ask)."
        )
    if questions is not None and classes is not None:
        raise VifidelError(
            f"{name} looks for its own {len(classes)} classes and cannot be asked; leave out "
            "--ask, or name an open-vocabulary model."
        )
    if questions is not None:
        detector.check(question for of_image in questions.values() for question in of_image)


def _of_pictures(
    questions: Mapping[ImageId, Sequence[str]], pictures: PictureSource
) -> dict[str, Sequence[str]]:
    """Return the questions about each picture."""
    if pictures.image_ids is None:
        raise VifidelError(
            "standard input: its pictures are not known before they are read; write the tar to "
            "a file to ask about them."
        )
    image_ids: dict[ImageId, None] = dict.fromkeys(pictures.image_ids)
    asked_about = {image_id: asked for image_id, asked in questions.items() if asked}
    image_of_question = match(asked_about, image_ids)
    if not image_of_question:
        raise mismatch(asked_about, image_ids, "the questions", str(pictures.path))
    missing = [image_id for image_id in asked_about if image_id not in image_of_question]
    if missing:
        warn(
            f"{pictures.path}: {len(missing)} of {len(asked_about)} images with questions are "
            f"missing, such as {missing[0]!r:.80}."
        )
    return {
        str(picture): list(dict.fromkeys(asked_about[image_id]))
        for image_id, picture in image_of_question.items()
    }


@dataclass
class _Picture:
    """A picture on its way through a run."""

    image_id: str
    questions: Sequence[str] | None  #: about it; None if the detector is not asked
    digest: str = ""  #: of its bytes; empty if these cannot be read
    #: The questions that are open; None if an earlier run knew all.
    open_questions: Sequence[str] | None = ()
    #: The picture as the model reads it, or why it cannot be read.
    prepared: Prepared | None = None
    problem: str = ""


class _Batches:
    """Pictures on their way through a detector into a file, `size` of a shape at a time."""

    def __init__(
        self,
        detector: Detector,
        file: ObjectsFile,
        *,
        lowest: float,
        size: int,
        shorter_side: int | None,
    ) -> None:
        self.run = DetectionRun()
        self._detector, self._file, self._lowest, self._size = detector, file, lowest, size
        self._shorter_side = shorter_side  # at which pictures may be decoded
        self._was_halved = False
        self._order: list[str] = []
        self._by_shape: dict[tuple[int, ...], list[_Picture]] = {}

    def prepared(
        self, pictures: PictureSource, questions: Mapping[str, Sequence[str]] | None, threads: int
    ) -> Generator[_Picture, None, None]:
        """Yield all pictures in order, as the model reads them."""
        waiting: deque[Future[_Picture]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            try:
                for source in pictures:
                    about = None if questions is None else questions.get(source.image_id, ())
                    waiting.append(pool.submit(self._prepare, source, about))
                    if len(waiting) > threads + self._size:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _prepare(self, source: FoundPicture, questions: Sequence[str] | None) -> _Picture:
        """Read a picture; prepare it for the model unless it is the one that was known before."""
        picture = _Picture(source.image_id, questions)
        if questions == () and source.image_id not in self._file:
            picture.open_questions = None
            return picture
        try:
            with source.open() as content:
                picture.digest = sha256_of(content)[:_DIGITS]
                before = self._file.asked(picture.image_id, picture.digest)
                if questions is not None:
                    still_open = [name for name in questions if name not in (before or ())]
                    picture.open_questions = still_open or None
                elif before is not None:
                    picture.open_questions = None
                if picture.open_questions is None:
                    return picture
                content.seek(0)
                image, size = decode(content, self._shorter_side)
            try:
                picture.prepared = self._detector.prepare(image, size)
            except Exception as problem:  # a picture of one pixel in height, say, has nothing left
                picture.problem = f"cannot be prepared for the model: {first_line(problem)}"
        except DamagedPictureError as problem:
            picture.problem = str(problem)
        except OSError as problem:
            picture.problem = f"cannot be read: {reason(problem)}"
        return picture

    def add(self, picture: _Picture) -> None:
        """Take a picture; once there are enough of a shape, they are answered."""
        self._order.append(picture.image_id)
        if picture.digest:
            self._file.pin(picture.image_id, picture.digest)
        if picture.open_questions is None:
            self.run.known += picture.questions != ()
            self.run.unasked += picture.questions == ()
            return
        if picture.prepared is None:
            problem = picture.problem[:_LONGEST_PROBLEM]
            self.run.problems[picture.image_id] = problem
            self._file.add([{"image_id": picture.image_id, "problem": problem}])
            return
        shape = picture.prepared.shape
        self._by_shape.setdefault(shape, []).append(picture)
        if len(self._by_shape[shape]) >= self._size:
            self._answer(shape)
        # Photographs of many shapes: none waits for long, and memory stays bounded.
        elif sum(map(len, self._by_shape.values())) > 4 * self._size:
            self._answer(next(iter(self._by_shape)))

    def finish(self) -> None:
        """Answer the pictures that still wait, and put the file into their order."""
        while self._by_shape:
            self._answer(next(iter(self._by_shape)))
        self._file.finish(self._order)

    def _answer(self, shape: tuple[int, ...]) -> None:
        """Write what is in the pictures of a shape."""
        pictures = self._by_shape.pop(shape)
        while pictures:
            batch = pictures[: self._size]
            prepared = [picture.prepared for picture in batch if picture.prepared]
            questions = [picture.open_questions or () for picture in batch]
            try:
                detected = self._detector.detect(prepared, questions, self._lowest)
                entries = [
                    self._entry(picture, detections)
                    for picture, detections in zip(batch, detected, strict=True)
                ]
            except VifidelError:
                raise
            except Exception as problem:  # libraries raise nearly anything
                self._halve(batch, problem)
            else:
                pictures = pictures[len(batch) :]
                self.run.read += len(batch)
                self._file.add(entries)

    def _entry(self, picture: _Picture, detections: Found) -> dict[str, Any]:
        """Return the line of what was found; what no reader of the file would take is refused."""
        assert picture.prepared is not None
        labels, scores, boxes, presence = detections
        if not len(labels) == len(scores) == len(boxes):
            raise ValueError(f"{len(labels)} labels, {len(scores)} scores and {len(boxes)} boxes")
        if not all(len(box) == 4 and all(map(isfinite, box)) for box in boxes):
            raise ValueError("a box is not four numbers")
        for score in chain(scores, presence or ()):
            if not 0 <= score <= 1:
                raise VifidelError(
                    f"{self._detector.files.name}: it gave the score {score:g}, and scores are "
                    "from 0 to 1; export it again with outputs that are probabilities, or name "
                    "another model."
                )
        width, height = picture.prepared.size
        about: dict[str, Any] = {"width": width, "height": height, "digest": picture.digest}
        if picture.open_questions:
            about["asked"] = list(picture.open_questions)
        if presence is not None:
            about["presence"] = presence
        found_in_it = {"labels": labels, "scores": scores, "boxes": boxes}
        return {"image_id": picture.image_id, **found_in_it, **about}

    def _halve(self, pictures: Sequence[_Picture], problem: Exception) -> None:
        """Go on with half a batch, once, if memory was short; else say what failed."""
        name = pictures[0].image_id
        if not _NO_MEMORY.search(f"{type(problem).__name__} {problem}"):
            raise VifidelError(
                f"{name}: {self._detector.files.name} failed on this picture "
                f"({first_line(problem)}); remove the picture, or name another model."
            ) from None
        if len(pictures) == 1 or self._was_halved:
            raise VifidelError(
                f"{name}: there is not enough memory for {counted(len(pictures), 'picture')} at "
                "once; give a smaller --batch, or a smaller model."
            ) from None
        self._was_halved = True
        self._size = len(pictures) // 2
        warn(
            f"there was not enough memory for {len(pictures)} pictures at once; continuing with "
            f"{self._size}."
        )


def with_detected(settings: Settings, paths: Sequence[Path], systems: Sequence[System]) -> Settings:
    """Return settings with what their detector, asked of mentions, finds in place of pictures."""
    assert settings.detector is not None
    download = bool(settings.options.get("download"))
    mentioned = mentioned_in(systems, settings.vocabulary)
    objects = [
        detect_objects(path, settings.detector, mentioned=mentioned, download=download)
        if may_be_pictures(path)
        else path
        for path in paths
    ]
    if objects == list(paths):
        raise AnnotationError(
            "a detector needs pictures, and none of the objects is a folder of pictures: give "
            "the folder as objects."
        )
    return replace(settings, objects=objects, detector=None)


@name_wrong_argument
def detect_objects(
    pictures: str | os.PathLike[str],
    model: str | os.PathLike[str],
    *,
    questions: Mapping[ImageId, Sequence[str]] | None = None,
    mentioned: Mapping[ImageId, Sequence[str]] | None = None,
    device: str | None = None,
    download: bool = False,
    progress: bool | None = None,
) -> Path:
    """Return the file with what a model finds in pictures, which is saved beside them.

    It is ``photos.MODEL.objects.jsonl`` beside the folder ``photos``. The parameters are those of
    `PictureSource` (but not standard input), `find_model`, `load_detector` and `detect`, which
    raise the errors; `mentioned` are `questions` for an open-vocabulary detector.
    """
    source = PictureSource(pictures)
    if source.image_ids is None:
        raise VifidelError(
            "detections are saved beside their pictures, which standard input "
            "does not allow; write the tar to a file."
        )
    files = find_model(model, download)
    place = source.path.resolve()
    name = files.name.replace("/", "--")
    output = place.with_name(f"{place.name}.{name}.objects.jsonl")
    detector = load_detector(files, device)
    if questions is None and detector.classes is None:
        questions = mentioned
    detect(source, detector, output, questions=questions, progress=progress)
    return output
