"""Runs of a detector over pictures: decoding in threads, batches, and what was done before."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...annotations.instances import check_threshold
from ...errors import VifidelError, VifidelWarning
from ...io.arguments import check_whole, named_if_wrong
from ...io.files import first_line, reason, sha256_of
from ...io.image_ids import ImageId, match, mismatch
from ...io.pictures import DamagedPictureError, decode
from ...io.records import progress_bar
from .batches import Batches, Waiting
from .detectors import Detector, Found, Prepared
from .loading import load_detector
from .model_files import find_model
from .objects_file import ObjectsFile
from .picture_sources import FoundPicture, PictureSource

#: Lowest score that is kept: counts are made when the file is read, from a higher one on.
LOWEST = 0.05
_THREADS = 4
_LONGEST_PROBLEM = 200
_DIGITS = 16  # of a picture's digest


@dataclass
class DetectionRun:
    """What a run did."""

    #: Pictures, or rounds of questions, that the detector answered.
    read: int = 0
    #: Pictures about which an earlier run knew all.
    known: int = 0
    #: Pictures that no question is about.
    unasked: int = 0
    #: Image id to why the picture cannot be read.
    problems: dict[str, str] = field(default_factory=dict)


@named_if_wrong
def detect(
    pictures: PictureSource,
    detector: Detector,
    output: str | os.PathLike[str],
    *,
    questions: Mapping[ImageId, Sequence[str]] | None = None,
    lowest: float = LOWEST,
    batch: int | None = None,
    threads: int = _THREADS,
    drafts: bool = True,
    progress: bool | None = None,
) -> DetectionRun:
    """Write what a detector finds in pictures; go on where an earlier run stopped.

    Parameters
    ----------
    pictures : PictureSource
        The pictures.
    detector : Detector
        As `load_detector` returns it.
    output : path
        The file of detections (`objects_file`). What it has already is not computed again, unless
        a picture has other bytes now; a picture that could not be read is tried again.
    questions : mapping, optional
        Image id to the things to ask about: for a detector that looks for what it is asked, and
        only for that. Ids match pictures as ids of captions match files.
    lowest : float
        The lowest score that is kept, from 0 to 1.
    batch : int, optional
        How many pictures of one size the model reads at once; by default the detector's own.
    threads : int
        How many pictures are decoded at once.
    drafts : bool
        Whether a large JPEG may be decoded at a half, a quarter or an eighth of its size, where
        the model reads no more.
    progress : bool, optional
        Whether to show a bar; by default where somebody sees it.

    Returns
    -------
    DetectionRun

    Raises
    ------
    VifidelError
        If questions are missing or not wanted, one is too long, a number is out of range, the file
        is of another run, no picture can be read, the detector's answer is none (a score above 1,
        fewer boxes than labels), or there is not enough memory.
    """
    check_threshold(lowest, "lowest")
    check_whole(1, threads=threads, **({} if batch is None else {"batch": batch}))
    if (questions is None) != (detector.classes is not None):
        raise VifidelError(
            f"{detector.files.name} looks for what it is asked; say which captions name it (--ask)."
            if questions is None
            else f"{detector.files.name} looks for its own {len(detector.classes or ())} classes "
            "and cannot be asked; leave out --ask, or name an open-vocabulary model."
        )
    asked = None
    if questions is not None:
        detector.check(question for of_image in questions.values() for question in of_image)
        asked = _of_pictures(questions, pictures)
    header = {
        "model": detector.files.name,
        "weights": detector.files.digest,
        "versions": detector.versions(),
        "classes": None if detector.classes is None else list(detector.classes),
        "lowest": lowest,
        "drafted": drafts,
    }
    file = ObjectsFile(output, header)
    if file.without_digest:
        warnings.warn(
            f"{output}: an earlier version wrote it without digests of {file.without_digest} "
            "pictures; those that are still there are looked at again.",
            VifidelWarning,
            stacklevel=3,
        )
    run = DetectionRun()
    total = None if pictures.image_ids is None else len(pictures.image_ids)
    order = []
    with (
        _quiet_pillow(),
        file.adding(),
        progress_bar(total, " pictures", progress) as bar,
        ThreadPoolExecutor(threads) as pool,
    ):
        batches = Batches(detector, lowest, detector.batch if batch is None else batch)
        enough = detector.enough if drafts else None
        waiting: deque[Future[_Look]] = deque()
        try:
            for picture in pictures:
                order.append(picture.image_id)
                ask = None if asked is None else asked.get(picture.image_id, ())
                if ask == () and picture.image_id not in file:
                    run.unasked += 1
                    bar.update()
                    continue
                waiting.append(pool.submit(_look, picture, ask, file, detector, enough))
                if len(waiting) > threads + batches.size:
                    _take(waiting.popleft().result(), batches, file, run)
                    bar.update()
            while waiting:
                _take(waiting.popleft().result(), batches, file, run)
                bar.update()
            for answered in batches.rest():
                file.add(_entries(answered, asked is not None, run))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        file.finish(order)
    if run.problems and not run.read and not run.known:
        image_id, why = next(iter(run.problems.items()))
        raise VifidelError(
            f"{pictures.path}: none of its {len(run.problems)} pictures can be read, such as "
            f"{image_id} ({why})."
        )
    return run


@named_if_wrong
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
    """Return the file of what a model finds in pictures; it is beside them, and is kept.

    What it has already is not computed again.

    Parameters
    ----------
    pictures : path
        As `PictureSource` takes it, but not standard input.
    model : str or path
        As `find_model` takes it.
    questions, progress : optional
        As for `detect`.
    mentioned : mapping, optional
        As `questions`, for a detector that looks for what it is asked; one that has its own classes
        is not asked.
    device : str, optional
        As for `load_detector`.
    download : bool
        As for `find_model`.

    Returns
    -------
    path
        ``photos.MODEL.objects.jsonl`` beside the folder ``photos``, with the model's name.

    Raises
    ------
    VifidelError
        As `detect` raises it, or if no picture or model is there.
    """
    source = PictureSource(pictures)
    if source.image_ids is None:
        raise VifidelError("standard input has no place beside it; write the tar to a file.")
    files = find_model(model, download)
    place = source.path.resolve()
    name = files.name.replace("/", "--")
    output = place.with_name(f"{place.name}.{name}.objects.jsonl")
    detector = load_detector(files, device)
    if questions is None and detector.classes is None:
        questions = mentioned
    detect(source, detector, output, questions=questions, progress=progress)
    return output


def _of_pictures(
    questions: Mapping[ImageId, Sequence[str]], pictures: PictureSource
) -> dict[str, Sequence[str]]:
    """Return the questions about each picture; images that are not there are counted."""
    if pictures.image_ids is None:
        raise VifidelError(
            "standard input: which pictures are in it is not known before they are read; write the "
            "tar to a file to ask about them."
        )
    known: dict[ImageId, None] = dict.fromkeys(pictures.image_ids)
    asked_about = {image_id: asked for image_id, asked in questions.items() if asked}
    same = match(asked_about, known)
    if not same:
        raise mismatch(asked_about, known, "the questions", str(pictures.path))
    if len(same) < len(asked_about):
        missing = next(image_id for image_id in asked_about if image_id not in same)
        warnings.warn(
            f"{pictures.path}: {len(asked_about) - len(same)} of {len(asked_about)} images with "
            f"questions are not there, such as {missing!r:.80}.",
            VifidelWarning,
            stacklevel=3,
        )
    return {
        str(picture): list(dict.fromkeys(asked_about[image_id]))
        for image_id, picture in same.items()
    }


@dataclass(frozen=True)
class _Look:
    """What a thread found out about a picture."""

    image_id: str
    #: Of its bytes; None if these cannot be read.
    digest: str | None = None
    #: The questions about it, none for a closed detector.
    wanted: Sequence[str] | None = None
    #: What of these is to be asked; None if an earlier run knew all.
    ask: Sequence[str] | None = ()
    #: The picture as the model reads it, or why it cannot be read.
    prepared: Prepared | str = ""


def _look(
    picture: FoundPicture,
    wanted: Sequence[str] | None,
    file: ObjectsFile,
    detector: Detector,
    enough: int | None,
) -> _Look:
    """Read a picture, and prepare it for the model unless it is the one that was known before."""
    look = _Look(picture.image_id, wanted=wanted)
    no_file = isinstance(picture.content, Path) and not picture.content.is_file()
    if no_file or picture.problem is not None:
        return replace(look, prepared=picture.problem or "there is no such file")
    try:
        with picture.open() as content:
            look = replace(look, digest=sha256_of(content)[:_DIGITS])
            look = replace(look, ask=_still_to_ask(look, file))
            if look.ask is None:
                return look
            content.seek(0)
            decoded = decode(content, enough)
    except DamagedPictureError as problem:
        return replace(look, prepared=str(problem))
    except OSError as problem:
        return replace(look, prepared=f"cannot be read: {reason(problem)}")
    try:
        return replace(look, prepared=detector.prepare(decoded.picture, decoded.size))
    except Exception as problem:  # a picture of one pixel in height, say, has nothing left
        why = f"cannot be prepared for the model: {first_line(problem)}"
        return replace(look, prepared=why)


def _still_to_ask(look: _Look, file: ObjectsFile) -> Sequence[str] | None:
    before = file.asked(look.image_id, look.digest or "")
    if look.wanted is None:
        return () if before is None else None
    return [question for question in look.wanted if question not in (before or ())] or None


def _take(look: _Look, batches: Batches, file: ObjectsFile, run: DetectionRun) -> None:
    if look.digest is not None:
        file.pin(look.image_id, look.digest)
    if look.ask is None:
        run.known += look.wanted != ()
        run.unasked += look.wanted == ()
    elif isinstance(look.prepared, str):
        run.problems[look.image_id] = look.prepared[:_LONGEST_PROBLEM]
        file.add([{"image_id": look.image_id, "problem": run.problems[look.image_id]}])
    else:
        waiting = Waiting(look.image_id, look.ask, look.prepared, look.digest or "")
        file.add(_entries(batches.add(waiting), bool(look.ask), run))


def _entries(
    answered: Sequence[tuple[Waiting, Found]], were_asked: bool, run: DetectionRun
) -> list[dict[str, Any]]:
    """Return the lines of pictures."""
    run.read += len(answered)
    entries = []
    for picture, found in answered:
        width, height = picture.prepared.size
        entry: dict[str, Any] = {
            "image_id": picture.image_id,
            "labels": found.labels,
            "scores": found.scores,
            "boxes": found.boxes,
            "width": width,
            "height": height,
            "digest": picture.digest,
        }
        if were_asked:
            entry["asked"] = list(picture.asked)
        if found.presence is not None:
            entry["presence"] = found.presence
        entries.append(entry)
    return entries


@contextmanager
def _quiet_pillow() -> Iterator[None]:
    """Let Pillow not warn of what is wrong with a picture: its problem is in the file."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="PIL")
        yield
