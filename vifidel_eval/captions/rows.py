"""Rows: what is evaluated, any number per image; and what the metrics of a run share."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..errors import CaptionError, ImageIdError, VifidelError
from ..io.image_ids import ImageId, check_ids, samples
from .generated import Answer, captions_in, read_answers

V = TypeVar("V")

_SEQUENCES = (list, tuple)
_PLAIN, _STRINGS = frozenset(_SEQUENCES), frozenset({str})  # what nearly everybody gives

MOST_CHARACTERS = 100_000  #: how long a caption may be, in characters: about forty pages

# Of how many rows a scorer keeps the objects and references for the next system, and how many
# characters its references may have: of more, it would keep too much.
_MOST_ROWS_KEPT, _MOST_CHARACTERS_KEPT = 1 << 16, 1 << 27

LabelCounts = Mapping[str, int]  #: object labels of an image with their counts

#: Labels that were looked for in an image, there or not; None where that is not said.
Asked = frozenset[str] | None


@dataclass(frozen=True, eq=False)
class Rows:
    """Captions to be scored, and what is known of the image of each; nothing is checked here."""

    captions: Sequence[str]  #: the candidates, one per row
    references: Sequence[Sequence[str]]  #: of each row's image, possibly none
    image_ids: Sequence[ImageId] | None = None  #: of each row; they may repeat
    #: The object labels of each row's image, where they do not come from a scorer's own source.
    objects: Sequence[LabelCounts] | None = None
    objects_signature: str = ""  #: what stands for `objects` in signatures
    #: The labels that were looked for in each row's image, there or not; None for a row that does
    #: not say it, and as a whole if no row does.
    asked: Sequence[Asked] | None = None
    #: For each row, what its caption was read from, or None if it is as written; None as a whole if
    #: all are.
    answers: Sequence[Answer | None] | None = None

    def __len__(self) -> int:
        return len(self.captions)

    @property
    def are_kept(self) -> bool:
        """Whether a scorer keeps what they are scored against for the next system."""
        references = itertools.chain.from_iterable(self.references)
        return len(self) <= _MOST_ROWS_KEPT and sum(map(len, references)) <= _MOST_CHARACTERS_KEPT

    @property
    def ids(self) -> Sequence[ImageId]:
        """The image id of each row, or the number of the row where there are no ids."""
        return range(len(self)) if self.image_ids is None else self.image_ids

    @property
    def keys(self) -> Sequence[ImageId]:
        """A different key for each row: its image id if every image has one row, else a number."""
        if self.image_ids is None or len(set(self.image_ids)) < len(self.image_ids):
            return range(len(self))
        return self.image_ids

    @property
    def claims_nothing(self) -> list[bool]:
        """Whether each caption claims nothing: it is a refusal, only reasoning, or empty."""
        if self.answers is None:
            return [False] * len(self)
        return [answer is not None and answer.why_nothing != "" for answer in self.answers]

    @property
    def shown(self) -> list[str]:
        """What people are shown of each row: its caption, or the text that claims nothing."""
        answers = self.answers or [None] * len(self)
        pairs = zip(self.captions, answers, strict=True)
        return [answer.shown if answer else caption for caption, answer in pairs]

    @property
    def counted(self) -> dict[str, int]:
        """How many answers had something that is not scored, by key of `COUNTS`."""
        return Counter(key for answer in self.answers or () if answer for key in answer.counted)

    def part(self, start: int, stop: int) -> Rows:
        """Return the rows from `start` up to `stop`; without image ids, they are numbered anew."""
        if start == 0 and stop >= len(self):
            return self
        return self._each(lambda values: values[start:stop])

    def take(self, rows: Sequence[int]) -> Rows:
        """Return some of the rows, in the order asked for."""
        return self._each(lambda values: [values[row] for row in rows])

    def _each(self, chosen: Callable[[Sequence[Any]], Sequence[Any]]) -> Rows:
        """Return the rows that are chosen of each sequence."""
        parts: dict[str, Any] = {
            name: chosen(values)
            for name, values in vars(self).items()
            if name != "objects_signature" and values is not None
        }
        return replace(self, **parts)

    def name(self, row: int) -> str:
        """Return what messages call a row."""
        return f"row {row}" if self.image_ids is None else f"image {self.image_ids[row]!r}"


def make_rows(
    captions: Sequence[str],
    image_ids: Sequence[ImageId] | None = None,
    references: Sequence[Sequence[str]] | None = None,
    objects: Sequence[LabelCounts] | None = None,
    objects_signature: str = "",
    asked: Sequence[Asked] | None = None,
    as_written: bool = False,
) -> Rows:
    """Return rows from sequences of equal length, as the fields of `Rows` describe them.

    With `as_written`, captions are texts as they stand; else what `read_answer` takes of them.
    """
    captions = _listed(captions, "captions", "strings")
    per_row = {"image_ids": image_ids, "references": references, "objects": objects}
    listed = {
        name: _listed(values, name, "one entry per caption")
        for name, values in per_row.items()
        if values is not None
    }
    if image_ids is not None:
        try:
            set(listed["image_ids"])
        except TypeError as problem:
            raise ImageIdError(
                f"image_ids: not all of them can be image ids ({problem})."
            ) from None
        check_ids(listed["image_ids"], "image_ids")
    for name, values in listed.items():
        if len(values) != len(captions):
            raise VifidelError(
                f"there are {len(captions)} captions and {len(values)} {name}; give one entry of "
                f"{name} per caption."
            )
    rows = Rows(
        captions,
        listed.get("references", [()] * len(captions)),
        listed.get("image_ids"),
        listed.get("objects"),
        objects_signature,
        asked,
    )
    return checked(rows if as_written else answered(rows))


def _listed(values: Any, name: str, kind: str) -> Any:
    if isinstance(values, _SEQUENCES):
        return values
    wrong = isinstance(values, str | bytes | bytearray | memoryview | Mapping)
    # An array without dimensions can be iterated over, as it says.
    if wrong or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0:
        raise VifidelError(f"{name} must be a sequence of {kind}, not {values!r:.40}.")
    return values.tolist() if hasattr(values, "tolist") else list(values)


def coco_rows(
    gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]], as_written: bool = False
) -> Rows:
    """Return the rows of pycocoevalcap's two dictionaries: one per image, in the order of `gts`.

    `as_written` is that of `make_rows`.
    """
    if not isinstance(gts, Mapping) or not isinstance(res, Mapping):
        raise CaptionError(
            "gts and res map image ids to lists of captions; found "
            f"{type(gts).__name__} and {type(res).__name__}."
        )
    if gts.keys() != res.keys():
        only_gts = [image_id for image_id in gts if image_id not in res]
        only_res = [image_id for image_id in res if image_id not in gts]
        raise ImageIdError(
            f"gts and res must have the same image ids: {len(only_gts)} are only in gts "
            f"({samples(only_gts)}), {len(only_res)} only in res ({samples(only_res)})."
        )
    ids = list(gts)
    check_ids(ids, "gts and res")
    for image_id, captions in ((i, res[i]) for i in ids):
        is_listed = isinstance(captions, _SEQUENCES)
        if not (is_listed and len(captions) == 1 and isinstance(captions[0], str)):
            several = is_listed and len(captions) != 1
            shown = f"{len(captions)} captions" if several else f"{captions!r:.60}"
            raise CaptionError(
                f"image {image_id!r}: expected a list of one candidate caption, found {shown}."
            )
    rows = Rows([res[i][0] for i in ids], [gts[i] for i in ids], ids)
    return checked(rows if as_written else answered(rows))


def answered(rows: Rows) -> Rows:
    """Return rows with the captions in what was written."""
    if not _STRINGS.issuperset(map(type, rows.captions)):
        return rows  # which are refused
    answers = read_answers(rows.captions)
    if answers is None:
        return rows
    return replace(rows, captions=captions_in(rows.captions, answers), answers=answers)


def captions_by_image(source: Any, are_references: bool) -> dict[ImageId, list[str]] | None:
    """Return the captions of a mapping with ids that are no text and plain texts; else None."""
    if not isinstance(source, Mapping) or not source or any(isinstance(i, str) for i in source):
        return None
    values = list(source.values())
    listed = _PLAIN.issuperset(map(type, values))
    texts = list(itertools.chain.from_iterable(values)) if listed else values
    if listed != are_references or not _STRINGS.issuperset(map(type, texts)):
        return None
    if listed:
        return {image_id: list(of_image) for image_id, of_image in source.items()}
    if any(text.lstrip().startswith(("[", "(", "{")) for text in texts):
        return None
    return {image_id: [text] for image_id, text in source.items()}


def checked(rows: Rows) -> Rows:
    """Return rows whose texts are all strings of at most `MOST_CHARACTERS`, else `CaptionError`."""

    def texts() -> Iterator[str]:
        return itertools.chain(rows.captions, itertools.chain.from_iterable(rows.references))

    if (
        _PLAIN.issuperset(map(type, rows.references))
        and _STRINGS.issuperset(map(type, texts()))
        and max(map(len, texts()), default=0) <= MOST_CHARACTERS
    ):
        return rows
    for row, (caption, references) in enumerate(zip(rows.captions, rows.references, strict=True)):
        if not isinstance(caption, str):
            raise CaptionError(f"{rows.name(row)}: the caption is {caption!r:.60}, not a string.")
        if not (
            isinstance(references, _SEQUENCES)
            and all(isinstance(reference, str) for reference in references)
        ):
            raise CaptionError(
                f"{rows.name(row)}: expected a list of references, found {references!r:.60}."
            )
        for text in (caption, *references):
            if len(text) > MOST_CHARACTERS:
                kind = "caption" if text is caption else "reference"
                raise CaptionError(
                    f"{rows.name(row)}: the {kind} is {len(text)} characters long, and at most "
                    f"{MOST_CHARACTERS} are read; shorten it."
                )
    return rows


def image_ids_of(rows: Rows, metric: object) -> Sequence[ImageId]:
    """Return the image ids of rows, for a metric that looks images up; without them, an error."""
    if rows.image_ids is None:
        raise VifidelError(f"{metric} looks images up by their ids: give image_ids.")
    return rows.image_ids


# What was made in the run of this thread, by what made it.
_KEPT: ContextVar[dict[Callable[[], Any], Any] | None] = ContextVar("run", default=None)


@contextmanager
def run_scope() -> Iterator[None]:
    """Have `make_once` keep things in this thread; a run within a run is a part of that."""
    if _KEPT.get() is not None:
        yield
        return
    before = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(before)


def make_once(make: Callable[[], V]) -> V | None:
    """Return what `make` returned when this run first asked for it; None outside of a run."""
    values = _KEPT.get()
    if values is None:
        return None
    if make not in values:
        values[make] = make()
    value: V = values[make]
    return value
