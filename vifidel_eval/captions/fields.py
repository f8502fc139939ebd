"""What users choose in caption files: fields, by usual names or by paths; and images.

A path such as ``doc.image_id`` or ``filtered_resps[0]`` leads into a record.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ..doors.arguments import INPUT, option
from ..errors import CaptionError
from ..io.entries import Entries, Entry
from ..io.image_ids import ImageId, match

#: The usual names of captions in result files.
CAPTIONS = tuple(
    "caption prediction pred text answer response output generated_caption candidate".split()
)
#: The usual names of references.
REFERENCES = ("caption", "captions", "reference", "references", "sentence", "sentences", "text")
#: The usual names of image ids; of several in a file, the first counts.
IMAGE_IDS = tuple(
    "image_id img_id imgid image image_path file_name filename file_path id question_id".split()
)

# Where chats have an answer.
_CHATS = {"messages": "messages[-1].content", "choices": "choices[0].message.content"}

MISSING: Any = object()  #: the value of a field that an entry lacks

_MOST_NAMED = 8
# Keys with dots between them, each with places in lists behind it.
_PATH = re.compile(r"[^.\[\]]+(?:\[-?\d{1,9}\])*(?:\.[^.\[\]]+(?:\[-?\d{1,9}\])*)*")
_STEP = re.compile(r"\[(-?\d+)\]|[^.\[\]]+")

T = TypeVar("T")
U = TypeVar("U")

Names: TypeAlias = str | Sequence[str]  #: one name, or several
#: A file of image ids, or the ids; None for all.
Ids: TypeAlias = str | os.PathLike[str] | Collection[ImageId] | None

_names = partial(option, (), kind=str, section=INPUT, rare=True, several=True, metavar="NAME")


@dataclass(frozen=True)
class CaptionFields:
    """What is read from caption files; of several names for a field, a file's first one counts."""

    id_fields: Names = _names(
        "Column, key or path of image ids in caption files, such as doc.image_id.  [default: "
        "image_id, image, file_name, ...]",
        name="id_field",
    )
    caption_fields: Names = _names(
        "Column, key or path of captions in result files, such as 'filtered_resps[0]'.  [default: "
        "caption, prediction, text, ...]",
        name="caption_field",
    )
    reference_fields: Names = _names(
        "Column, key or path of captions in references.  [default: caption, reference, ...]",
        name="reference_field",
    )
    splits: Names = _names(
        "Split of Karpathy's dataset JSON, such as test (repeatable).", name="split"
    )
    #: Whether it is references, any number for each image, or results, one caption for each.
    references: bool = False
    samples: bool = option(
        False, "Several captions per image: mean, best and worst scores.", bool, section=INPUT
    )

    @property
    def text_fields(self) -> Sequence[str]:
        """What the user calls the field of captions in results, or in references."""
        return self.reference_fields if self.references else self.caption_fields

    @property
    def usual(self) -> tuple[str, ...]:
        """The usual names of that field."""
        return REFERENCES if self.references else CAPTIONS

    @property
    def option(self) -> str:
        """The option that names that field."""
        return "--reference-field" if self.references else "--caption-field"


@dataclass(frozen=True)
class Selection:
    """Which images are scored, and whether people are scored beside the systems."""

    image_ids: Ids = option(
        None, "Use only these images: a JSON list of ids, or one id per line.", section=INPUT
    )
    allow_subset: bool = option(
        False, "Accept files that do not cover all images.", bool, section=INPUT
    )
    people: bool = option(
        False, "Also score people: some of the references against the rest.", bool, section=INPUT
    )


def usual(names: Iterable[str], usual_names: Collection[str]) -> list[str]:
    """Return the names that are among the known ones, whatever their case and separators."""
    return [name for name in names if _plain(name) in usual_names]


def usual_id(names: Iterable[str]) -> str | None:
    """Return the usual name of image ids that comes first in `IMAGE_IDS`; None if there is none."""
    ids = usual(names, IMAGE_IDS)
    return min(ids, key=lambda name: IMAGE_IDS.index(_plain(name)), default=None)


def id_field(names: Sequence[str], asked: Sequence[str], where: str) -> str:
    """Return the image id's field: the first that is asked for, else the usual one."""
    if asked:
        return _asked(names, asked, where, "--id-field")
    name = usual_id(names)
    if name is None:
        raise _missing(names, IMAGE_IDS, where, "an image id", "--id-field")
    return name


def caption_field(names: Sequence[str], fields: CaptionFields, where: str) -> str:
    """Return the caption's field; an error if no field can be it, or more than one."""
    if fields.text_fields:
        return _asked(names, fields.text_fields, where, fields.option)
    matches = usual(names, fields.usual)
    if not matches:
        if {"category_id", "bbox"} & set(names):
            raise CaptionError(
                f"{where}: no caption in it, but object annotations; is it the right file?"
            )
        raise _missing(names, fields.usual, where, "a caption", fields.option)
    if len(matches) > 1:
        raise CaptionError(
            f"{where}: {listed(matches, ' and ')} could each be the caption; choose one with "
            f"{fields.option}."
        )
    return matches[0]


def _plain(name: str) -> str:
    return str(name).strip().casefold().replace(" ", "_").replace("-", "_")


def _asked(names: Sequence[str], asked: Sequence[str], where: str, option: str) -> str:
    for name in asked:
        if name in names:
            return name
    raise CaptionError(
        f"{where}: no field {listed(asked, ' or ')} ({option}); it has {listed(names)}."
    )


def _missing(
    names: Sequence[str], usual_names: Sequence[str], where: str, noun: str, option: str
) -> CaptionError:
    chats = [] if option == "--id-field" else [_CHATS[name] for name in names if name in _CHATS]
    path = f" {chats[0]!r}" if chats else ""
    return CaptionError(
        f"{where}: no field for {noun} (such as {', '.join(usual_names[:4])}), but only "
        f"{listed(names)}; name it with {option}{path} (in Python "
        f"{option.lstrip('-').replace('-', '_')}=...)."
    )


def listed(names: Sequence[str], between: str = ", ") -> str:
    """Return names as messages quote them: the first few."""
    shown = [f"{name!r:.40}" for name in names[:_MOST_NAMED]]
    return between.join(shown) + (", ..." if len(names) > _MOST_NAMED else "")


def steps_of(name: str) -> list[str | int]:
    """Return the keys, and places in lists, of a path; a name that is no path is its only key."""
    if not _PATH.fullmatch(name):
        return [name]
    return [int(step[1]) if step[1] else step[0] for step in _STEP.finditer(name)]


def value_at(entry: Any, steps: Iterable[str | int]) -> Any:
    """Return what a path leads to in an entry; `MISSING` if it leads nowhere."""
    for step in steps:
        if isinstance(step, str):
            if not isinstance(entry, Mapping) or step not in entry:
                return MISSING
            entry = entry[step]
        elif isinstance(entry, list | tuple) and -len(entry) <= step < len(entry):
            entry = entry[step]
        else:
            return MISSING
    return entry


def spelled(steps: Iterable[str | int]) -> str:
    """Return a path as it is typed: ``resps[0].text``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def with_paths(records: Entries, fields: CaptionFields) -> Entries:
    """Return records in which the paths that a user names are fields of those names."""
    original = records
    for asked, flag in ((fields.id_fields, "--id-field"), (fields.text_fields, fields.option)):
        for name in asked:
            # A field of that very name goes first; of paths, the first that leads somewhere counts.
            if name in original.names:
                break
            steps = steps_of(name)
            if len(steps) == 1:
                continue
            values = [value_at(record, steps) for record in original.values]
            if len(asked) > 1 and all(value is MISSING for value in values):
                continue
            for record, value in zip(original, values, strict=True):
                if value is MISSING:
                    raise _missing_part(record, steps, f"{flag} {name}")
            filled = zip(records.values, values, strict=True)
            records = records.with_values([{**record, name: value} for record, value in filled])
            break
    return records


def _missing_part(record: Entry, steps: Sequence[str | int], option: str) -> CaptionError:
    """Return the error for a record in which a path ends too early."""
    content = record.content
    ends = next(at for at in range(len(steps)) if value_at(content, steps[: at + 1]) is MISSING)
    step, holder = steps[ends], value_at(content, steps[:ends])
    missing = f"{step!r:.60}" if isinstance(step, str) else f"[{step}]"
    within = f" in {spelled(steps[:ends])!r:.60}" if ends else ""
    keys = f"{holder!r:.60}"
    if isinstance(holder, Mapping):
        keys = listed([str(key) for key in holder]) or "nothing"
    return CaptionError(f"{record}: no {missing}{within} ({option}), but {keys}.")


class NamedImages(dict[ImageId, T]):
    """What is known of images that have other ids too, which result files may use."""

    #: By the key that has them in the list of images, such as ``file_name``: id to the image's.
    other_ids: dict[str, dict[ImageId, ImageId]]

    def __init__(self, of_images: Mapping[ImageId, T], listed: Mapping[ImageId, Entry]) -> None:
        super().__init__(of_images)
        self.other_ids = {}
        for key in ("file_name", "open_images_id"):  # the latter in nocaps' files
            names = {
                i: image[key] for i, image in listed.items() if isinstance(image.get(key), str)
            }
            ids = {name: image_id for image_id, name in names.items()}
            self.other_ids[key] = ids if len(ids) == len(names) else {}  # names of one image each

    def in_ids(self, captions: Mapping[ImageId, U]) -> dict[ImageId, U]:
        """Return captions of a result file under the images' ids, as far as these are known."""
        own_ids = match(captions, self)
        new: dict[ImageId, ImageId] = {}
        for ids in self.other_ids.values():
            lost = [i for i in captions if i not in own_ids and i not in new]
            new |= {image_id: ids[name] for image_id, name in match(lost, ids).items()}
        renamed = {new.get(image_id, image_id): value for image_id, value in captions.items()}
        return renamed if len(renamed) == len(captions) else dict(captions)
