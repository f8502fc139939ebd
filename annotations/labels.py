"""Labels: their spelling, their scores, and the shapes in which those of one image are listed.

A list has labels (``"dog"``), labels with a score (``["dog", 0.9]``), or detections of Hugging
Face's pipelines or Ultralytics. A mapping of label to count serves too, and so do parallel arrays,
with an entry per detection, of Hugging Face's ``post_process_object_detection`` and torchvision
(``scores``, ``labels``, ``boxes``), Grounding DINO (``text_labels``, the phrases that it found),
and MMDetection's DetInferencer (``preds/*.json``: ``labels``, ``scores``, ``bboxes``). Florence-2
has them under its task, ``<OD>``.
"""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..doors.arguments import as_python, is_listed, name_wrong_argument
from ..errors import AnnotationError
from ..io.caches import Remembered
from ..io.digits import number_of
from .tags import Tag, among_asked, is_name, names_in, read_answer, tags_of

if TYPE_CHECKING:
    from .categories import CategoryNames

#: Detections of COCO's 80 categories count from this score on (VIFIDEL paper, section 4.1, D80).
DETECTION_THRESHOLD = 0.6
#: Open Images detections count from this score on (VIFIDEL paper, section 4.1, D500).
OPEN_IMAGES_THRESHOLD = 0.4
ANSWER_THRESHOLD = 0.5  #: an answer to *is it there?* says so from this score on
HIGHEST_SCORE = 1.001  #: single precision may round a score of 1 up
#: DETR's COCO models give this name to the category ids that COCO does not use.
NO_CATEGORY = "N/A"
#: Labels that name no object: those of blanks and of DETR's ``N/A``, and lists of classes that
#: begin with ``__background__``, as those of torchvision and Detectron do.
NO_NAME = frozenset({"", "n/a", "background"})
#: The longest names of categories, LVIS's with their senses, have about 40 characters.
LONGEST_NAME = 1000
HIGHEST_COUNT = 1 << 53  #: counts up to here are whole numbers in float64 too

#: The keys of parallel arrays: labels, and the numbers beside them.
LABELS, BESIDE = ("text_labels", "labels"), ("scores", "boxes", "bboxes")

# PASCAL VOC writes these categories as one word.
_RUN_TOGETHER = {
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}
_JOINING = str.maketrans("_-", "  ")  # between the words of a name
_SENSE = re.compile(r"(?<=\S) ?\([^()]*\)")
# Prompts of Grounding DINO are phrases such as "a dog".
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\S)", re.IGNORECASE)
# Sorting a run of combining marks takes the square of its length, which does not matter in a text
# shorter than this. Unicode's Stream-Safe Text Format (UAX #15, section 13) allows no longer runs
# of marks: real text has at most three. The combining grapheme joiner ends a run, and changes
# nothing else.
_SHORT, _MOST_MARKS, _JOINER = 1000, 30, "\u034f"


#: The attributes of an image: tags, ``{label: attributes}``, or a graph.
Described: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
#: Everything that `read_objects` takes as attributes.
AttributeSource: TypeAlias = (
    str
    | os.PathLike[str]
    | Mapping[Any, Described]
    | Sequence[str | os.PathLike[str] | Mapping[str, Any]]
    | None
)


class ImageAttributes(NamedTuple):
    """The attributes that are listed of an image."""

    #: Object label to attribute to the number of objects that are listed with it.
    objects: Mapping[str, Mapping[str, int]]
    scene: Mapping[str, int]  #: labels of the whole image
    partly: frozenset[str] = frozenset()  #: labels of which some objects are without attributes

    @property
    def words(self) -> dict[str, int]:
        """All attributes and labels of the scene, with their counts."""
        return dict(sum(map(Counter, (*self.objects.values(), self.scene)), Counter[str]()))

    @property
    def shown(self) -> list[str]:
        """All of them as people write them: *red car*, *sunny*."""
        of_objects = [f"{word} {label}" for label, words in self.objects.items() for word in words]
        return [*of_objects, *self.scene]


@name_wrong_argument
def clean_label(name: str) -> str:
    """Return a category name in lower case with blanks between its words.

    Underscores (LVIS) and hyphens (DOTA) become blanks, a sense in parentheses is dropped (LVIS,
    Open Images), the names that PASCAL VOC writes as one word are split, and characters that only
    look different, such as ligatures, become plain ones (Unicode's NFKC).

    >>> clean_label("bow_(decorative_ribbons)"), clean_label("tvmonitor"), clean_label("Hot-dog")
    ('bow', 'tv monitor', 'hot dog')
    """
    return CLEAN[name]


def _cleaned(name: str) -> str:
    name = name.encode(errors="replace").decode()  # JSON can spell a lone surrogate
    if not name.isascii():
        name = "".join(
            " " if category == "Pd" else character
            for character in composed(name, "NFKC")
            for category in [unicodedata.category(character)]
            if category != "Cf"  # soft hyphens and other characters without a shape
        )
    name = _SENSE.sub("", " ".join(name.lower().translate(_JOINING).split()))
    return _RUN_TOGETHER.get(name, name)


CLEAN = Remembered(_cleaned)  #: what `clean_label` returns, for loops over many labels
#: The label of an entry that is a name alone; empty if `listed` must read the entry.
PLAIN: Remembered[str, str] = Remembered(lambda name: CLEAN[name] if is_name(name) else "")


def nfc(text: str) -> str:
    """Return a text in Unicode's composed form, in a time that grows with its length alone."""
    return composed(text, "NFC")


def composed(text: str, form: Literal["NFC", "NFKC"]) -> str:
    """Return a text in a composed form of Unicode, in a time that grows with its length alone."""
    if len(text) > _SHORT and not text.isascii():
        divided: list[str] = []
        marks = 0
        for character in text:
            marks = marks + 1 if unicodedata.combining(character) else 0
            if marks > _MOST_MARKS:
                divided.append(_JOINER)
                marks = 1
            divided.append(character)
        text = "".join(divided)
    return unicodedata.normalize(form, text)


def checked_label(name: str, at: object = "") -> str:
    """Return the label of a category, none for one of `NO_NAME`; messages begin with `at`."""
    if len(name) <= LONGEST_NAME:
        if label := CLEAN[name]:
            return "" if label in NO_NAME else label
        fault = "has no word in it; name the object, or leave it out."
    else:
        fault = f"has {len(name)} characters, and at most {LONGEST_NAME} are read: is it a label?"
    raise AnnotationError(f"{f'{at}: ' if at else ''}the label {name!r:.40} {fault}")


@contextmanager
def located(at: object) -> Iterator[None]:
    """Let the sentence of an error begin with a place: a file and its entry, or an item."""
    try:
        yield
    except AnnotationError as problem:
        raise AnnotationError(f"{at}: {problem}") from None


def check_score(score: Any, at: object) -> float:
    """Return a detection's score as a float; messages begin with `at`, the file and the entry."""
    try:
        # NumPy's and PyTorch's scalars say what they are; float() drops an imaginary part.
        value = score.item() if hasattr(score, "item") else score
        real = isinstance(value, Real) and not isinstance(value, bool)
        number = float(value) if real else math.nan
    except (TypeError, ValueError, OverflowError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise AnnotationError(f"{at}: score {score!r:.40} is not a number; write a number.")
    if number < 0:
        raise AnnotationError(f"{at}: score {score!r:.40} is negative; scores are from 0 to 1.")
    if number > HIGHEST_SCORE:
        raise AnnotationError(f"{at}: score {score!r:.40} is above 1; divide percentages by 100.")
    return number


def check_count(count: int, shown: str) -> int:
    """Return a count that float64 holds; messages call it what is `shown`."""
    if not 0 <= count <= HIGHEST_COUNT:
        fault = "negative" if count < 0 else "above 2**53"
        raise AnnotationError(f"{shown} is {fault}; give the number of objects.")
    return count


def listed(
    items: Any, lowest: float, uncertain: float | None, names: CategoryNames
) -> Iterator[Tag]:
    """Yield what is listed, also what has too low a score to count, and what was ``asked``."""
    open_from = lowest if uncertain is None else min(lowest, uncertain)
    asked = None
    tags: Iterable[Tag]
    items = read_answer(items) if isinstance(items, str) else items
    if not isinstance(items, Mapping):
        tags = _entries(items)
    elif "objects" in items and _are_names(items.get("asked")):
        asked, tags = items["asked"], listed(items["objects"], lowest, uncertain, names)
    elif (boxes := _florence_detections(items)) is not None:
        tags = listed(boxes, lowest, uncertain, names)
    elif (only := _only_names(items)) is not None:
        asked, tags = items.get("asked"), _read_by_kind(only)
    elif is_arrays(items):
        asked, tags = items.get("asked"), detections(items, open_from, names)
    else:
        tags = _counts(items)
    left_open: set[str] = set()  # neither there nor absent for sure
    asked_names = None if asked is None else asked_labels(asked)
    for tag in tags:
        if asked_names and tag.number and CLEAN[tag.name] not in asked_names:
            meant, open_names = among_asked(CLEAN[tag.name], asked_names)
            left_open |= open_names
        else:
            meant = [tag.name]
        if tag.score is not None and open_from <= tag.score < lowest:
            left_open.update(map(CLEAN.__getitem__, meant))
        yield from (tag if name is tag.name else tag._replace(name=name) for name in meant)
    if asked_names is not None:
        yield Tag(NO_CATEGORY, 0)  # something was looked for, even if all of it is there
        yield from (Tag(label, 0) for label in asked_names if label not in left_open)


def asked_labels(names: Any) -> list[str]:
    """Return the labels that a list of what was looked for names; *a dog* becomes *dog*."""
    names = read_answer(names) if isinstance(names, str) else names
    names = [name.name if isinstance(name, Tag) else name for name in _as_list(names)]
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise AnnotationError(f"'asked' has {name!r:.40} in it; list the labels looked for.")
    apart = (alternative for name in names for alternative in names_in(name))
    labels = dict.fromkeys(checked_label(_without_article(name)) for name in apart)
    return list(filter(None, labels))


def _are_names(names: Any) -> bool:
    return is_listed(names) or isinstance(names, str)


def _only_names(items: Mapping[Any, Any]) -> Any:
    """Return the labels of an image that have nothing beside them; None if there is more."""
    labels = [items[key] for key in LABELS if items.get(key) is not None]
    if len(labels) != 1 or any(items.get(key) is not None for key in BESIDE):
        return None
    if isinstance(labels[0], str):
        return read_answer(labels[0])
    are_names = is_listed(labels[0]) and not has_indices(items)
    return labels[0] if are_names else None


def _entries(items: Any) -> list[Tag]:
    """Return what the entries of a list say; a text among them may name several things."""
    entries: list[Tag] = []
    for number, item in enumerate(_as_list(items)):
        if isinstance(item, Tag):
            entries.append(item)
        elif isinstance(item, str) and item.strip():
            with located(f"item {number}"):
                entries += _read_by_kind(tags_of(item))
        else:
            entries.append(_item(item, number))
    _check_contradiction(entries)
    return entries


def _read_by_kind(labels: Any) -> list[Tag]:
    """Return what a list or a mapping of label to count says."""
    return _counts(labels) if isinstance(labels, Mapping) else _entries(labels)


def _item(item: Any, number: int) -> Tag:
    item = as_python(item)
    name = score = box = None
    if isinstance(item, Mapping):
        name, box = item.get("label", item.get("name")), item.get("box")
        score = item.get("score", item.get("confidence"))
    elif isinstance(item, list | tuple) and len(item) == 2:
        name, score = item
    if not isinstance(name, str) or not name.strip():
        raise AnnotationError(
            f"item {number}: found {item!r:.60}; expected a label, [label, score], or a detection "
            "with 'label' and 'score' or 'name' and 'confidence'."
        )
    content = box if isinstance(box, Mapping) else None  # a list could be anything
    return Tag(name, 1, check_score(score, f"item {number}"), content)


def _as_list(items: Any) -> Iterable[Any]:
    if isinstance(items, set | frozenset):
        return sorted(items, key=repr)  # the order of strings in a set changes with every run
    if not is_listed(items):
        raise AnnotationError(f"expected a list of labels, found {items!r:.40}.")
    as_list: Iterable[Any] = as_python(items)
    return as_list


def _counts(counts: Mapping[Any, Any]) -> list[Tag]:
    tags: list[Tag] = []
    for name, number in counts.items():
        if number is None:  # a table of counts by label has such cells for other images
            continue
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise AnnotationError(
                f"the count of {name!r:.40} is {number!r:.40}, not a whole number; give a list of "
                "labels, or a count for each label."
            )
        if not isinstance(name, str) or not name.strip():
            raise AnnotationError(f"found {name!r:.60} with a count; expected a label.")
        tags.append(Tag(name, check_count(int(number), f"the count of {name!r:.40}")))
    _check_contradiction(tags)
    return tags


def _check_contradiction(tags: Iterable[Tag]) -> None:
    denied = {CLEAN[tag.name] for tag in tags if not tag.number}
    for tag in tags:
        if tag.number and CLEAN[tag.name] in denied:
            raise AnnotationError(
                f"{CLEAN[tag.name]!r:.40} is both there and not there, with a count above 0 and "
                "with 0; keep one of them."
            )


def is_arrays(items: Mapping[Any, Any]) -> bool:
    """Tell parallel arrays from a mapping of label to count, whose values are numbers."""
    return any(is_listed(items.get(key)) for key in LABELS + BESIDE)


def _florence_detections(items: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """Return what Florence-2 found, ``{"<OD>": {"bboxes", "labels"}}``; None for anything else."""
    tasks = (content for task, content in items.items() if str(task)[:1] == "<")
    return next((x for x in tasks if isinstance(x, Mapping) and is_arrays(x)), None)


def lists_labels(items: Mapping[Any, Any]) -> bool:
    """Return whether a mapping may be of an image: of a known shape, or of what may be counts."""
    is_usual = is_arrays(items) or "objects" in items or _florence_detections(items) is not None
    return is_usual or not any(
        isinstance(x, Mapping) or is_listed(x) or (isinstance(x, str) and number_of(x) is None)
        for x in items.values()
    )


def has_indices(items: Mapping[Any, Any]) -> bool:
    """Tell whether the labels of parallel arrays are class indices."""
    columns = [_array(items, key) for key in LABELS if is_listed(items.get(key))]
    return not isinstance(next((labels[0] for labels in columns if labels), ""), str)


def detections(items: Mapping[Any, Any], lowest: float, names: CategoryNames) -> Iterator[Tag]:
    """Yield the detections of parallel arrays; those with a score below `lowest` have no name."""
    key = next((key for key in LABELS if items.get(key) is not None), "labels")
    labels = _array(items, key)
    beside = {other: _array(items, other) for other in BESIDE if items.get(other) is not None}
    for other, values in beside.items():
        if len(values) != len(labels):
            raise AnnotationError(
                f"{key!r} has {len(labels)} entries and {other!r} has {len(values)}; every "
                "detection needs one of each."
            )
    scores = beside.get("scores")
    boxes = beside.get("bboxes", beside.get("boxes", [None] * len(labels)))
    for number, label in enumerate(labels):
        at = f"detection {number}"
        score = None if scores is None else check_score(scores[number], at)
        counts = score is None or score >= lowest
        name = _name(label, at, names) if counts or not isinstance(label, str) else ""
        yield Tag(name if counts else "", 1, score, boxes[number])


def _name(label: Any, at: str, names: CategoryNames) -> str:
    if isinstance(label, str):
        return _without_article(label)
    if isinstance(label, Integral) and not isinstance(label, bool):
        return names.of_index(int(label), at)
    raise AnnotationError(f"{at}: label {label!r:.40} is neither a name nor a class index.")


def _without_article(label: str) -> str:
    return _ARTICLE.sub("", label.strip(), count=1) if _ARTICLE.match(label.strip()) else label


def _array(items: Mapping[Any, Any], key: str) -> list[Any]:
    values = items.get(key)
    if not is_listed(values):
        raise AnnotationError(f"{key!r} is {values!r:.40}, not a list.")
    return list(as_python(values))
