"""Names of categories, by id, Open Images machine id or class index; those that were looked for.

A class index is a place in a model's list of classes, from 0 on; read as a category id, it would
give wrong names without an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

from ..doors.arguments import name_wrong_argument
from ..doors.entry_points import service
from ..errors import AnnotationError
from ..io.entries import Entries, Entry, Source
from ..io.files import check_path, read_text
from ..io.image_ids import from_json_key
from .labels import clean_label
from .tags import names_in

#: Everything that `read_categories` takes.
CategorySource: TypeAlias = (
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[Any, str] | None
)

#: COCO's 80 detection categories; the ids have gaps.
COCO_CATEGORIES: dict[Any, str] = dict(
    zip(
        [i for i in range(1, 91) if i not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)],
        (
            "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, "
            "fire hydrant, stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, "
            "elephant, bear, zebra, giraffe, backpack, umbrella, handbag, tie, suitcase, frisbee, "
            "skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, "
            "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, "
            "apple, sandwich, orange, broccoli, carrot, hot dog, pizza, donut, cake, chair, "
            "couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard, "
            "cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, "
            "scissors, teddy bear, hair drier, toothbrush"
        ).split(", "),
        strict=True,
    )
)

_GIVE = (
    "give the model's class names (categories=..., --categories): a text file with one name per "
    "line, YOLO's data.yaml or Hugging Face's config.json"
)


@dataclass(frozen=True)
class CategoryNames:
    """Names of classes, by what sources call them."""

    ids: Mapping[Any, str] = field(default_factory=dict)  #: by category id
    machine_ids: Mapping[str, str] = field(default_factory=dict)  #: by Open Images machine id
    indices: Mapping[int, str] = field(default_factory=dict)  #: from 0 on without a gap
    parents: Mapping[str, str] = field(default_factory=dict)  #: supercategory of each label

    def by_index(self) -> Mapping[int, str]:
        """Return the names of class indices; category ids serve if they count from 0."""
        if self.indices:
            return self.indices
        return self.ids if set(self.ids) == set(range(len(self.ids))) else {}

    def of_index(self, index: int, at: str) -> str:
        """Return the name of a class index; messages begin with `at`, the file and the entry."""
        names = self.by_index()
        if index in names:
            return names[index]
        if names:
            raise AnnotationError(
                f"{at}: class {index!r:.20} is not one of the {len(names)} given classes (0 to "
                f"{len(names) - 1}); give the class names of the model that wrote it."
            )
        raise AnnotationError(
            f"{at}: class {index!r:.20} is an index, counted from 0, into the model's list of "
            f"classes, whose names are not given; {_GIVE}."
        )


NO_NAMES = CategoryNames()  #: where nobody gives names


@name_wrong_argument
def read_categories(source: CategorySource) -> CategoryNames:
    """Return the names from what `read_objects` accepts as `categories`.

    Files are a COCO file with ``categories`` or its list alone, Open Images class descriptions,
    ``{id: name}`` JSON; and for class indices a text file with one name per line (``classes.txt``,
    ``obj.names``), a list of names in JSON, the ``names`` of a ``data.yaml`` of YOLO, or the
    ``id2label`` of a ``config.json`` of Hugging Face. A mapping has ids or, if they count from 0,
    class indices: ``dict(enumerate(classes))``.

    An `AnnotationError` says that a file lists no categories, or two name one differently.
    """
    if source is None:
        return NO_NAMES
    if isinstance(source, Mapping):
        return named_by_id(source, Source("categories", AnnotationError))
    names = CategoryNames({}, {}, {}, {})
    paths: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
    for path in paths:
        check_path(path, AnnotationError, "a path of categories")
        of_file = service("class_names")(path)
        if not any(vars(of_file).values()):
            raise AnnotationError(f"{path}: has no categories; give a file that lists them.")
        for kind, united in vars(names).items():
            for key, name in vars(of_file)[kind].items():
                add_name(united, key, name, path)
    return names


def add_name(names: dict[Any, str], key: Any, name: str, at: object) -> None:
    """Add the name of a category, which must not have another one."""
    if names.setdefault(key, name) != name:
        raise AnnotationError(
            f"{at}: category {key!r:.40} is called {names[key]!r:.40} and {name!r:.40}; keep one."
        )


def names_by_id(categories: Entries) -> dict[Any, str]:
    """Return ``{category id: name}`` from the ``categories`` of a COCO file."""
    names: dict[Any, str] = {}
    for category in categories:
        category_id, name = category.get("id"), category.get("name")
        is_id = isinstance(category_id, Integral | str) and not isinstance(category_id, bool)
        if not is_id or not isinstance(name, str) or not clean_label(name):
            raise AnnotationError(
                f"{category} needs an 'id' and a 'name'; found {category_id!r:.40} and "
                f"{name!r:.40}."
            )
        add_name(names, category_id, name, category)
    return names


def supercategories(categories: Entries) -> dict[str, str]:
    """Return the label of the supercategory of each label, from ``categories`` of a COCO file."""
    pairs = ((category.get("name"), category.get("supercategory")) for category in categories)
    return {
        clean_label(name): clean_label(parent) for name, parent in pairs if isinstance(parent, str)
    }


def category_name(category_id: Any, names: Mapping[Any, str], entry: Entry, whose: str) -> str:
    """Return the name of a category that an entry has; `whose` says who lists the categories."""
    spellings = [category_id]  # pandas and other tools write 18 as "18", or the other way round
    if isinstance(category_id, str):
        spellings.append(from_json_key(category_id.strip()))
    elif isinstance(category_id, Integral) and not isinstance(category_id, bool):
        spellings.append(str(category_id))
    for spelling in spellings:
        if isinstance(spelling, Hashable) and not isinstance(spelling, bool) and spelling in names:
            return names[spelling]
    raise AnnotationError(
        f"{entry}: category_id {category_id!r:.40} is not one of {whose} {len(names)} "
        "categories; give the file that lists the categories."
    )


def named_by_id(names: Mapping[Any, str], source: Source) -> CategoryNames:
    """Return the names of category ids and of Open Images' machine ids, such as /m/01g317."""
    listed = [
        {"id": from_json_key(key) if isinstance(key, str) else key, "name": name}
        for key, name in names.items()
    ]
    by_id = names_by_id(Entries(listed, source))
    machine_ids = {i: name for i, name in by_id.items() if isinstance(i, str) and i[:1] == "/"}
    return CategoryNames({i: n for i, n in by_id.items() if i not in machine_ids}, machine_ids)


#: COCO's 80 and PASCAL VOC's 20 categories, which are annotated in every image of theirs.
CLOSED_SETS = {
    "coco": frozenset(COCO_CATEGORIES.values()),
    "voc": frozenset(
        "aeroplane bicycle bird boat bottle bus car cat chair cow dog horse motorbike person sheep "
        "sofa train".split()
    ).union(("dining table", "potted plant", "tv monitor")),
}

EVERYTHING = "all"  #: declares that whatever is not listed is not there


@dataclass(frozen=True)
class LookedFor:
    """Labels that were looked for in every image, None for all; ``"coco"``, or a file's name."""

    name: str
    labels: frozenset[str] | None

    def signature(self) -> str:
        """Return the name, and a digest of labels that the name does not pin."""
        if self.name in CLOSED_SETS or self.labels is None:
            return self.name
        lines = "\n".join(sorted(self.labels))
        return f"{self.name}#{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


#: How users declare it: a name, a file, labels, or a record.
Declared: TypeAlias = str | os.PathLike[str] | Collection[str] | LookedFor | None


def read_declared(source: Declared) -> LookedFor | None:
    """Return what was looked for in every image; a file has one label per line."""
    if source is None or isinstance(source, LookedFor):
        return source
    sets = {**CLOSED_SETS, EVERYTHING: None}
    if isinstance(source, str) and source in sets:
        return LookedFor(source, sets[source])
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if isinstance(source, str) and not os.path.exists(source):
            raise AnnotationError(
                f"looked for: {source!r:.60} is neither coco, voc nor all, and there is no such "
                "file; give a file with one label per line."
            )
        name, listed = path.stem, read_text(path, AnnotationError).splitlines()
    else:
        name, listed = "labels", list(source)
        wrong = next((label for label in listed if not isinstance(label, str)), None)
        if wrong is not None:
            raise AnnotationError(f"looked for: {wrong!r:.40} is not a label; give text.")
    labels = frozenset(clean_label(part) for label in listed for part in names_in(label)) - {""}
    if not labels:
        raise AnnotationError(f"looked for: there is no label in {source!r:.60}; list some.")
    return LookedFor(name, labels)
