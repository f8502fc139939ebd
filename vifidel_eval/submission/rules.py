"""Result files checked against the rules, and packed into the zip that the server takes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..arguments import named_if_wrong
from ..errors import CaptionError
from ..image_ids import ImageId
from .results import ALGORITHM, SPLITS, ResultFile, ResultReader
from .sources import ZIP_NAME, Fault, read_sources, zipped


@dataclass(frozen=True)
class Submission:
    """Result files that were checked together.

    Attributes
    ----------
    files : sequence of ResultFile
        In the order given.
    faults : sequence of Fault
        All of them, file by file, kind by kind; what concerns no single file comes last.
    algorithm : str or None
        The algorithm's name in the zip; None if it is not known.
    """

    files: Sequence[ResultFile]
    faults: Sequence[Fault]
    algorithm: str | None


@named_if_wrong
def check(
    paths: Sequence[Path],
    images: Mapping[str, Collection[int]],
    algorithm: str | None = None,
) -> Submission:
    """Look for every fault of a submission.

    Parameters
    ----------
    paths : sequence of Path
        Result files, or a zip of them.
    images : mapping
        The image ids of the splits, as `read_images` returns them.
    algorithm : str, optional
        The algorithm's name in the zip, if it does not come from the files' names, which are
        then free.

    Raises
    ------
    CaptionError
        If there is no list of images for the split of a file, or the algorithm's name has other
        characters than ASCII letters, digits, '.', '-' and '_'.
    """
    if algorithm is not None and not ALGORITHM.fullmatch(algorithm):
        raise CaptionError(
            f"the algorithm's name {algorithm!r}: use ASCII letters, digits, '.', '-' and '_' only."
        )
    files: list[ResultFile] = []
    faults: list[Fault] = []
    for source in read_sources(paths):
        if isinstance(source, Fault):
            faults.append(source)
        else:
            reader = ResultReader(source.label)
            files.append(reader.read(source, images, named=algorithm is None))
            faults += by_kind(reader.faults)
    faults += _together(files)
    if algorithm is None:
        names = list(dict.fromkeys(file.algorithm for file in files if file.algorithm))
        algorithm = names[0] if names else None
        if len(names) > 1:
            faults.append(
                Fault(
                    ZIP_NAME,
                    "algorithm name",
                    f"the files name {' and '.join(names)}: use one, or let pack --algorithm name "
                    "both",
                )
            )
    return Submission(files, faults, algorithm)


@named_if_wrong
def check_results(paths: Sequence[Path], images: Collection[ImageId]) -> Submission:
    """Look for every fault of result files, each of which should describe all images.

    Parameters
    ----------
    paths : sequence of Path
        Lists of ``{"image_id": ..., "caption": "..."}``, under any names.
    images : collection
        The image ids, as `read_image_list` returns them.
    """
    files: list[ResultFile] = []
    faults: list[Fault] = []
    for source in read_sources(paths, zips=False):
        if isinstance(source, Fault):
            faults.append(source)
        else:
            reader = ResultReader(source.label)
            files.append(reader.read_plain(source, images))
            faults += by_kind(reader.faults)
    return Submission(files, faults, None)


def by_kind(faults: Sequence[Fault]) -> list[Fault]:
    """Return faults kind by kind, in the order in which the kinds appear."""
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    return sorted(faults, key=lambda fault: kinds.index(fault.kind))


@named_if_wrong
def pack(submission: Submission, fix: bool = False) -> bytes:
    """Return the zip that the server expects, the same bytes for the same captions.

    Its JSON is ASCII: the server's Python 2 reads it under any locale.

    Parameters
    ----------
    submission : Submission
        What `check` returned.
    fix : bool
        Whether to make the repairs that the faults name.

    Raises
    ------
    CaptionError
        If there are faults, with `fix` such as have no repair.
    """
    faults = [fault for fault in submission.faults if not (fix and fault.repair)]
    if faults:
        repairable = sum(fault.repair is not None for fault in faults)
        advice = f"; --fix repairs {repairable} of them" if repairable else ""
        raise CaptionError(f"{counted(len(faults), 'fault')}, so there is no zip{advice}.")
    file_of = {file.split: file for file in submission.files}
    return zipped(
        {
            name_in_zip(split, submission.algorithm): json.dumps(
                [
                    {"image_id": image_id, "caption": caption}
                    for image_id, caption in file_of[split].captions.items()
                ]
            ).encode("ascii")
            for split in SPLITS
        }
    )


@named_if_wrong
def name_in_zip(split: str, algorithm: str | None) -> str:
    """Return the name that the server expects of the result file of a split.

    >>> name_in_zip("val2014", "att2in")
    'captions_val2014_att2in_results.json'
    """
    return f"captions_{split}_{algorithm}_results.json"


def counted(number: int, what: str) -> str:
    """Return a number of things in words: ``1 fault``, ``2 faults``."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def _together(files: Iterable[ResultFile]) -> Iterator[Fault]:
    """Yield what is wrong with the files as one submission."""
    first: dict[str, str] = {}
    for file in files:
        if file.split is None:
            continue
        if file.split in first:
            other = first[file.split]
            yield Fault(file.file, "second file", f"{other} is for {file.split} too; keep one")
        first.setdefault(file.split, file.file)
    for split in SPLITS:
        if split not in first:
            yield Fault(
                ZIP_NAME, "missing file", f"no result file for {split}; the server wants both"
            )
