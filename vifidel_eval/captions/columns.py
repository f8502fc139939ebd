"""Fields of records: which is the image id, and which the caption that is wanted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..errors import CaptionError
from .layout import Wanted

#: The usual names of image ids; of several in a file, the first counts.
IMAGE_IDS = (
    "image_id",
    "img_id",
    "image",
    "image_path",
    "file_name",
    "filename",
    "file_path",
    "id",
    "question_id",
)
_MOST_NAMED = 8


def usual(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the names that are among the known ones, whatever their case and separators.

    >>> usual(["Image ID", "url"], ["image_id"])
    ['Image ID']
    """
    return [name for name in names if _plain(name) in known]


def usual_id(names: Iterable[str]) -> str | None:
    """Return the usual name of image ids that comes first in `IMAGE_IDS`; None if there is none.

    >>> usual_id(["id", "Image", "url"])
    'Image'
    """
    found = usual(names, IMAGE_IDS)
    return min(found, key=lambda name: IMAGE_IDS.index(_plain(name)), default=None)


def id_field(names: Sequence[str], asked: Sequence[str], where: str) -> str:
    """Return the name of the image id's field.

    Raises
    ------
    CaptionError
        If none of the names is asked for or usual.
    """
    if asked:
        return _asked(names, asked, where, "--id-field")
    found = usual_id(names)
    if found is None:
        raise _missing(names, IMAGE_IDS, where, "an image id", "--id-field")
    return found


def caption_field(names: Sequence[str], wanted: Wanted, where: str) -> str:
    """Return the name of the caption's field.

    Parameters
    ----------
    names : sequence of str
        The fields of the file.
    wanted : Wanted
        Results or references, and what the user named.
    where : str
        The file, for messages.

    Raises
    ------
    CaptionError
        If no field can be it, or more than one.
    """
    if wanted.caption_fields:
        return _asked(names, wanted.caption_fields, where, wanted.option)
    found = usual(names, wanted.usual)
    if not found:
        if {"category_id", "bbox"} & set(names):
            raise CaptionError(
                f"{where}: no caption in it, but object annotations; is it the right file?"
            )
        raise _missing(names, wanted.usual, where, "a caption", wanted.option)
    if len(found) > 1:
        raise CaptionError(
            f"{where}: {listed(found, ' and ')} may each be the caption; say which with "
            f"{wanted.option}."
        )
    return found[0]


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _asked(names: Sequence[str], asked: Sequence[str], where: str, option: str) -> str:
    for name in asked:
        if name in names:
            return name
    raise CaptionError(
        f"{where}: no field {listed(asked, ' or ')} ({option}); it has {listed(names)}."
    )


def _missing(
    names: Sequence[str], known: Sequence[str], where: str, what: str, option: str
) -> CaptionError:
    return CaptionError(
        f"{where}: no field for {what} (such as {', '.join(known[:4])}), but only "
        f"{listed(names)}; name it with {option} (in Python "
        f"{option.lstrip('-').replace('-', '_')}=...)."
    )


def listed(names: Sequence[str], between: str = ", ") -> str:
    """Return names as messages quote them: the first few.

    >>> listed(["image", "text"])
    "'image', 'text'"
    """
    shown = [f"{name!r:.40}" for name in names[:_MOST_NAMED]]
    return between.join(shown) + (", ..." if len(names) > _MOST_NAMED else "")
