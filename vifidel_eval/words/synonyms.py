"""Lists of classes: what names a caption may give to the things of one class.

The syntax is one for CHAIR's synonyms and for the object vocabulary::

    # A comment.
    couch, sofa, settee, loveseat
    hot dog, hotdog
    bike < bicycle, motorcycle
    desk < table?
    - hot water, dog house
    [stuff]
    sky
    beach, shore

Each line is a class: names separated by commas, of which the first is the class. A line that
begins with ``-`` lists words that are of no class although a part of them is. The classes below
``[stuff]`` are stuff and scenes. Names are compared in lower case.

What follows ``<`` are names of other classes, the *parents*: a bike is a bicycle or a motorcycle.
With a question mark, it only may be one: a desk fits where a table is, but it is not denied where
none is.

The list that was published with CHAIR (Rohrbach et al., EMNLP 2018) is recognised by its content
and read as their program reads it (docs/metrics.md).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..annotations.labels import LONGEST_NAME, nfc
from ..errors import VifidelError
from ..io.caches import Remembered
from ..io.files import read_text
from .terms import end_of, last_of, spelling, spellings_in_number

#: SHA-256 of the published list's lines, stripped and joined by line breaks.
_PUBLISHED = "7dfc27d79057ee0dcdb37144c501c0f1e83e818fef39d730dc859a376a5431a4"

_STUFF = "[stuff]"  # the line above stuff and scenes

_NOT_IN_NAMES = frozenset('{}[]<>":;=\0')  # what tells JSON, XML and YAML from a list of names


class Parent(NamedTuple):
    """What the things of a class are, or may be."""

    category: str
    is_sure: bool  # whether they always are


class Kinds:
    """The parents of classes; without circles, or `circle` has one."""

    def __init__(self, parents: Mapping[str, Iterable[Parent]]) -> None:
        self._parents = {
            category: tuple(dict.fromkeys(above)) for category, above in parents.items()
        }
        self._above: Remembered[str, tuple[tuple[Parent, ...], ...]]
        self._above = Remembered(lambda category: tuple(self._levels(category)))
        self._upward: Remembered[str, frozenset[str]]
        self._upward = Remembered(lambda category: frozenset(self._all_above(category)))

    def above(self, category: str) -> tuple[tuple[Parent, ...], ...]:
        """Return the parents of a class, then what these are kinds of, and so on."""
        return self._above[category] if category in self._parents else ()

    def upward(self, category: str) -> frozenset[str]:
        """Return a class, and all that its things are for sure."""
        return self._upward[category] if category in self._parents else frozenset((category,))

    def circle(self) -> str | None:
        """Return a class that is a kind of itself, or None."""
        above = ((category, self._levels(category)) for category in self._parents)
        circles = (
            c for c, levels in above if any(c == p.category for level in levels for p in level)
        )
        return next(circles, None)

    def _levels(self, category: str) -> Iterator[tuple[Parent, ...]]:
        seen: set[str] = set()
        level = self._parents.get(category, ())
        while level:
            yield level
            seen.update(parent.category for parent in level)
            # What a thing only may be says nothing of what is above.
            above = (self._parents.get(p.category, ()) for p in level if p.is_sure)
            level = tuple(
                dict.fromkeys(p for parents in above for p in parents if p.category not in seen)
            )

    def _all_above(self, category: str) -> Iterator[str]:
        yield category
        for level in self._levels(category):
            yield from (parent.category for parent in level if parent.is_sure)


@dataclass(frozen=True)
class ClassList:
    """Classes of things and the names of each; immutable."""

    name: str  #: what signatures call the list: the file's name without its ending
    classes: tuple[tuple[str, ...], ...]  #: the names of each class; the first is the class
    no_class: tuple[str, ...] = ()  #: words of no class although a part of them is: ``bus stop``
    published: bool = False  #: whether names are looked up as CHAIR's published program does it
    added: tuple[str, ...] = ()  #: classes that the list lacks, known by their name alone
    #: The classes that are stuff or scenes: a list of an image's objects does not deny them.
    stuff: frozenset[str] = frozenset()
    #: What classes are kinds of, as names of other classes.
    parents: tuple[tuple[str, Parent], ...] = ()

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds among the classes."""
        parents: dict[str, list[Parent]] = {}
        for name, parent in self.parents:
            if name in self.class_of and parent.category in self.class_of:
                category = self.class_of[parent.category]
                of_class = parents.setdefault(self.class_of[name], [])
                of_class.append(Parent(category, parent.is_sure))
        return Kinds(parents)

    @cached_property
    def class_of(self) -> dict[str, str]:
        """The class of each name, added classes included."""
        listed = {name: names[0] for names in self.classes for name in names}
        return listed | own_classes(sorted(self.added))

    @cached_property
    def things(self) -> ClassList:
        """The list without its stuff and scenes."""
        if not self.stuff:
            return self
        classes = tuple(names for names in self.classes if names[0] not in self.stuff)
        return replace(self, classes=classes, stuff=frozenset())

    def name_of(self, label: str) -> str | None:
        """Return the list's name that a lower-case label spells in its own way, or None.

        Blanks and hyphens, British forms and plural make no difference (`vifidel_eval.words.
        terms`); among several such names, the one that is spelled the same is meant.
        """
        if label in self.class_of:
            return label
        forms = spellings_in_number(label)
        names = (known.get(form) for known in (self.spelled, self._in_number) for form in forms)
        return next(filter(None, names), None)

    @cached_property
    def spelled(self) -> dict[str, str]:
        """The name of each `spelling`."""
        return _by_spelling(self.class_of, lambda name: [spelling(name)])

    @cached_property
    def _in_number(self) -> dict[str, str]:
        """The name of each of its `spellings_in_number`, if one class alone has it."""
        return _by_spelling(self.class_of, spellings_in_number)

    @cached_property
    def _of_none(self) -> dict[str, str]:
        return {spelling(name): name for name in self.no_class}

    def classes_of_names(self, names: Iterable[str]) -> dict[str, str]:
        """Return the class of each lower-case name: the list's, or one of its own."""
        own = own_classes(name for name in names if self.name_of(name) is None)
        return {x: own.get(x) or self.class_of[self.name_of(x) or ""] for x in names}

    def unknown(self, labels: Iterable[str]) -> list[str]:
        """Return those lower-case labels that spell no name of the list, in alphabetical order."""
        return sorted(x for x in set(labels) if self.name_of(x) is None)

    def with_names(self, labels: Iterable[str]) -> ClassList:
        """Return the list with those lower-case labels that it lacks as classes of their own."""
        new = list(filter(str.strip, self.unknown(labels)))
        if not new:
            return self
        no_class = tuple(name for name in self.no_class if name not in new)
        return replace(self, no_class=no_class, added=(*self.added, *new))

    def with_classes(self, more: ClassList) -> ClassList:
        """Return the list with more classes.

        Names belong to the class in which `more` has them. The other names of a class of ours that
        it names join its class: the one that has the name of our class, else the first one.
        """
        joins: dict[str, str] = {}  # from our class to theirs
        for names in more.classes:
            for ours in filter(None, map(self.name_of, names)):
                joins.setdefault(self.class_of[ours], names[0])
        joins |= {mine: more.class_of[mine] for mine in joins if mine in more.class_of}
        extended = {names[0]: list(names) for names in more.classes}
        stuff = set(more.stuff)
        for names in self.classes:
            remaining = [name for name in names if not more.lists(name)]
            if names[0] in joins:
                extended[joins[names[0]]] += remaining
            elif remaining:
                extended[remaining[0]] = remaining
                stuff |= {remaining[0]} if names[0] in self.stuff else set()
        return replace(
            self,
            name=f"{self.name}+{more.name}",
            classes=tuple(map(tuple, extended.values())),
            no_class=(*more.no_class, *(name for name in self.no_class if not more.lists(name))),
            stuff=frozenset(stuff),
            parents=(*self.parents, *more.parents),
        )

    def lists(self, name: str) -> bool:
        """Return whether the list has a name, of a class or of none, with the same `spelling`."""
        return spelling(name) in self.spelled or spelling(name) in self._of_none

    def term_of(self, label: str) -> str:
        """Return the name that a lower-case label is or, of several words, the one that ends it.

        It is as the list spells it, of a class or of none. Without any, it is the last word in the
        singular, or a single word as it is.
        """
        return self.term(label) or end_of(label, self.term) or last_of(label)

    def term(self, label: str) -> str | None:
        """Return the name, of a class or of none, that a lower-case label spells, or None."""
        if label in self.no_class:
            return label
        return self.name_of(label) or self._of_none.get(spelling(label))

    def __reduce__(self) -> tuple[Any, ...]:
        for file in _OWN:
            if self is _own(file):
                return _own, (file,)
        if self is class_names().things:
            return getattr, (class_names(), "things")
        return ClassList, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that pin the content, whatever its order and comments."""
        lines = sorted(", ".join([names[0], *sorted(names[1:])]) for names in self.classes)
        lines += [f"- {name}" for name in sorted(self.no_class)]
        lines += [f"+ {name}" for name in sorted(self.added)]
        lines += [f"~ {name}" for name in sorted(self.stuff)]
        lines += [
            f"{name} < {parent}{'' if sure else '?'}"
            for name, (parent, sure) in sorted(self.parents)
        ]
        lines.append("published" if self.published else "")
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]

    def signature(self) -> str:
        """Return the name of the list and its digest, as signatures show them."""
        return f"{self.name}#{self.digest}"


_OWN = ("coco_synonyms.txt", "things.txt")


def coco_synonyms() -> ClassList:
    """Return the package's own synonyms of COCO's 80 categories."""
    return _own(_OWN[0])


def class_names() -> ClassList:
    """Return the package's object vocabulary: class names of COCO, VOC, LVIS and Open Images."""
    return _own(_OWN[1])


@cache
def _own(file: str) -> ClassList:
    return _parse(files(__package__).joinpath(file).read_text(encoding="utf-8"), file)


def own_classes(names: Iterable[str]) -> dict[str, str]:
    """Return a class for each name that no list has; spellings of one name share a class."""
    first: dict[str, str] = {}
    classes: dict[str, str] = {}
    for name in names:
        forms = spellings_in_number(name)
        classes[name] = next((first[form] for form in forms if form in first), name)
        for form in forms:
            first.setdefault(form, classes[name])
    return classes


def _by_spelling(
    class_of: Mapping[str, str], spellings: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Return the name that has each spelling, unless two classes have such names."""
    names: dict[str, str] = {}
    for name, of_class in class_of.items():
        for key in spellings(name):
            if class_of.get(names.setdefault(key, name), of_class) != of_class:
                names[key] = ""
    return {key: name for key, name in names.items() if name}


#: A list of classes, or its file.
ListSource: TypeAlias = ClassList | str | os.PathLike[str]


def read_things(
    things: ListSource | None = None, only_things: ListSource | None = None
) -> ClassList:
    """Return an object vocabulary: `class_names`, or `only_things` instead, with more `things`."""
    default = class_names() if only_things is None else _given(only_things=only_things)
    together = default if things is None else default.with_classes(_given(things=things))
    return together if together is class_names() else _checked(together)


def _given(**argument: ListSource) -> ClassList:
    """Return the list that an argument is, which errors name."""
    ((name, source),) = argument.items()
    try:
        return read_list(source)
    except VifidelError as problem:
        raise VifidelError(f"{name}: {problem}") from None


def _checked(things: ClassList) -> ClassList:
    """Return a list whose kinds are those of its own classes; else a VifidelError."""
    for name, parent in things.parents:
        if parent.category not in things.class_of:
            raise VifidelError(
                f"{things.name}: {name!r} is listed as a kind of {parent.category!r}, which is no "
                "name of the list; add a line for it."
            )
    circle = things.kinds.circle()
    if circle is not None:
        raise VifidelError(f"{things.name}: {circle!r} is listed as a kind of itself.")
    return things


def read_list(source: ListSource) -> ClassList:
    """Return a list of classes, from a file or as it was read."""
    return source if isinstance(source, ClassList) else read_classes(source)


def read_classes(path: str | os.PathLike[str]) -> ClassList:
    """Read a list of classes from a UTF-8 text file in the syntax above; else a VifidelError."""
    return _parse(read_text(path, VifidelError), str(path))


def _parse(text: str, where: str) -> ClassList:
    lines = [line.strip() for line in text.splitlines()]
    content = "\n".join(line for line in lines if line)
    published = hashlib.sha256(content.encode()).hexdigest() == _PUBLISHED
    classes: list[tuple[str, ...]] = []
    parents: list[tuple[str, Parent]] = []
    no_class: dict[str, None] = {}
    stuff_from = None
    first_seen: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        if line == _STUFF and not published:
            stuff_from = len(classes) if stuff_from is None else stuff_from
            continue
        at, of_none = f"{where}, line {number}", line.startswith("-")
        listed = line[1:].strip() if of_none else line
        is_kind = "<" in listed and not (of_none or published)
        listed, _, above = listed.partition("<") if is_kind else (listed, "", "")
        names = tuple(dict.fromkeys(listed.split(", ") if published else _names(listed, at)))
        one_class = "" if of_none else names[0]
        for name in names:
            if len(name) > LONGEST_NAME:
                raise VifidelError(
                    f"{at}: {name!r:.40} is {len(name)} characters long, and at most "
                    f"{LONGEST_NAME} are read: is it a name?"
                )
            other, earlier = first_seen.setdefault(name, (one_class, number))
            if earlier != number and (other or one_class):
                place = f"a name of {other!r}" if other else "listed as belonging to no class"
                raise VifidelError(
                    f"{at}: {name!r} is already {place} (line {earlier}); keep it on one line."
                )
        if of_none:
            no_class |= dict.fromkeys(names)
        else:
            classes.append(names)
        if is_kind:
            parents += [
                (names[0], Parent(parent.removesuffix("?").rstrip(), not parent.endswith("?")))
                for parent in _names(above, at)
            ]
    if not classes:
        raise VifidelError(
            f"{where}: no class found; write one class per line, its names separated by commas."
        )
    name = "rohrbach2018" if published else Path(where).stem
    stuff = frozenset(() if stuff_from is None else (names[0] for names in classes[stuff_from:]))
    return ClassList(
        name, tuple(classes), tuple(no_class), published, stuff=stuff, parents=tuple(parents)
    )


def _names(line: str, at: str) -> Iterator[str]:
    for part in nfc(line).lower().split(","):
        name = " ".join(part.split())
        if not name or not _NOT_IN_NAMES.isdisjoint(name):
            raise VifidelError(
                f"{at}: {name[:40]!r} is not a name; write one class per line, its names "
                "separated by commas."
            )
        yield name
