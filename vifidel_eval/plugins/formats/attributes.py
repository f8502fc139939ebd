"""Attributes of objects and labels of scenes: graphs, tables, tags, and answers of models.

Of an image they are a list of tags, ``["red car", "sunny"]``, or ``{"car": ["red"], "scene":
["sunny"]}``. Graphs list objects with a name and attributes: Visual Genome's ``attributes.json``
and ``scene_graphs.json``, GQA's scene graphs, with ``weather`` and ``location``, and CompreCap's,
whose descriptions say *a red car*. Of Open Images' relationships, those of the kind ``is`` count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...annotations.categories import NO_NAMES, CategoryNames, CategorySource, read_categories
from ...annotations.labels import CLEAN, AttributeSource, ImageAttributes, checked_label, located
from ...annotations.objects import ObjectLabels
from ...annotations.tags import Tag, read_answer
from ...doors.arguments import is_listed
from ...errors import AnnotationError
from ...io.containers import Content, CsvTable, content_of_file
from ...io.entries import Entries, Source, root
from ...io.files import check_path
from ...io.image_ids import ImageId, from_json_key
from .tables import class_name

SCENE = "scene"  #: the name of the image itself among its objects
_IMAGE = ("image_id", "image", "file_name", "filename", "id")
_DESCRIBED = ("objects", "info", "attributes", "tags", "labels", "answer", "text")
_NAMES = ("names", "object_names", "name", "category", "label", "object")
_OF_THE_SCENE = ("weather", "location", "scene")
_MOST_SHOWN = 5  # labels in a message
_LEFT_OUT = frozenset("a an and the".split())
_EXPECTED = (
    'expected tags such as ["red car", "sunny"], or {"car": ["red"], "scene": ["sunny"]}, or a '
    "list of objects with a name and attributes"
)


class _Image:
    """What a source says of an image, before its object labels are known."""

    def __init__(self) -> None:
        self.objects: dict[str, Counter[str]] = {}
        self.scene: Counter[str] = Counter()
        self.partly: set[str] = set()
        self.tags: list[str] = []
        self.descriptions: list[tuple[str, str]] = []  # of an object, behind its label

    def add(self, value: Any, at: object) -> None:
        """Add what is listed for an image, in a shape of `Described`."""
        if isinstance(value, str):
            with located(at):
                value = read_answer(value)
        if isinstance(value, Mapping) and isinstance(value.get("objects"), list | Mapping):
            graph = value["objects"]
            self.add(list(graph.values()) if isinstance(graph, Mapping) else graph, at)
            for key in _OF_THE_SCENE:
                self.scene.update(_labels(value.get(key, ()), at))
        elif isinstance(value, Mapping):
            for name, attributes in value.items():
                self._object(name, attributes, at)
        elif is_listed(value):
            for item in value:
                if isinstance(item, Mapping):
                    self._of_graph(item, at)
                elif not isinstance(item, Tag) or item.number:
                    self.tags.append(_text(item.name if isinstance(item, Tag) else item, at))
        else:
            raise AnnotationError(f"{at}: found {value!r:.60}; {_EXPECTED}.")

    def _of_graph(self, item: Mapping[str, Any], at: object) -> None:
        """Add an object of a graph."""
        name = next((item[key] for key in _NAMES if item.get(key)), None)
        name = name[0] if isinstance(name, list) else name
        if "short_description" in item:
            label = checked_label(_text(name, at), at)
            self.descriptions.append((label, _text(item["short_description"], at)))
        else:
            self._object(name, item.get("attributes") or (), at)

    def _object(self, name: Any, attributes: Any, at: object) -> None:
        """Add the attributes of an object, which may have none, or labels of the scene."""
        label, words = checked_label(_text(name, at), at), Counter(_labels(attributes, at))
        if label == SCENE:
            self.scene.update(words)
            return
        if not words:
            self.partly.add(label)
        self.objects.setdefault(label, Counter()).update(words)

    def bound(self, labels: Collection[str], at: str) -> ImageAttributes:
        """Return the attributes, each with its object; a tag without one is of the scene."""
        objects = {label: Counter(words) for label, words in self.objects.items()}
        scene = Counter(self.scene)
        for label, text in self.descriptions:
            before, _ = _split(text, [label], at)
            objects.setdefault(label, Counter()).update(before)
        for tag in self.tags:
            words, label_of_tag = _split(tag, labels, at, ends=True)
            if label_of_tag:
                objects.setdefault(label_of_tag, Counter()).update(words)
            elif words:
                scene[" ".join(words)] += 1
        objects = {label: words for label, words in objects.items() if words}
        for label in objects.keys() - set(labels):
            shown = ", ".join(sorted(labels)[:_MOST_SHOWN]) or "none"
            raise AnnotationError(
                f"{at}: has attributes of {label!r:.40}, which is not among its object labels "
                f"({shown}); add it to the objects, or name one of them."
            )
        return ImageAttributes(objects, scene, frozenset(self.partly & objects.keys()))


def _split(text: str, labels: Iterable[str], at: str, ends: bool = False) -> tuple[list[str], str]:
    """Return the words before the longest label in a text, or that `ends` it, and the label.

    Without a label, these are all words.
    """
    words = [word.strip(".,") for word in checked_label(text, at).split()]
    words = [word for word in words if word not in _LEFT_OUT]
    for label in sorted(labels, key=len, reverse=True):
        *first, last = label.split()
        forms = (last, f"{last}s", f"{last}es")
        for end in [len(words)] if ends else range(len(label.split()), len(words) + 1):
            start = end - len(first) - 1
            if start >= 0 and words[start : end - 1] == first and words[end - 1] in forms:
                return words[:start], label
    return words, ""


def _text(value: Any, at: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(value, at)
    return value


def _wrong(value: Any, at: object) -> AnnotationError:
    return AnnotationError(f"{at}: found {value!r:.60} where text is expected; {_EXPECTED}.")


def _labels(value: Any, at: object) -> list[str]:
    """Return one label or several, without blank ones; *black and white* are two."""
    texts = value if is_listed(value) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise _wrong(text, at)
    return [label for text in texts for part in text.split(" and ") if (label := CLEAN[part])]


def with_attributes(
    labels: ObjectLabels, source: AttributeSource, categories: CategorySource = None
) -> ObjectLabels:
    """Return object labels with what a source says of the objects and scenes of their images.

    `categories` names the machine ids of Open Images. An `AnnotationError` says that the source
    cannot be read, or that an image or an object is not among the labels.
    """
    where, images = "attributes", dict[ImageId, _Image]()
    memory = Source(where, AnnotationError)
    if isinstance(source, Mapping):
        _read(Content("object", root(source, memory), memory), images, NO_NAMES)
    elif isinstance(source, list) and source and isinstance(source[0], Mapping):
        _read(Content("list", Entries(source, memory), memory), images, NO_NAMES)
    else:
        paths: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
        where = " + ".join(map(str, paths))
        for path in paths:
            check_path(path, AnnotationError, "a path of attributes, or {image id: attributes}")
            content = content_of_file(path, AnnotationError)
            _read(content, images, read_categories(categories))
    if not images:
        raise AnnotationError(f"{where}: there is no image and no attribute in it.")
    ids = labels.own_ids(images)
    unknown = [image_id for image_id in images if image_id not in ids]
    if unknown:
        raise AnnotationError(
            f"{where}: {len(unknown)} of {len(images)} images with attributes, such as "
            f"{unknown[0]!r:.40}, are not among the objects ({labels.where}); give their objects "
            "too, or leave them out."
        )
    return labels.described(
        {
            ids[image_id]: image.bound(labels[ids[image_id]], f"{where}: image {image_id!r:.40}")
            for image_id, image in images.items()
        }
    )


def _read(content: Content, images: dict[ImageId, _Image], names: CategoryNames) -> None:
    """Add what a file or a mapping says of each image."""
    value, source = content.value, content.source
    with source.reading_as("attributes"):
        if content.kind == "table":
            _read_table(value, images, names)
        elif content.kind == "list" or (
            content.kind == "object" and any(map(value.__contains__, _IMAGE))
        ):
            entries = value if content.kind == "list" else Entries([value.content], source)
            key = entries.first_key(_IMAGE)
            for entry in entries:
                image = images.setdefault(entry.image_id(key), _Image())
                field = next((name for name in _DESCRIBED if name in entry), "attributes")
                graph = field == "objects" and not isinstance(entry[field], str)
                image.add(entry.content if graph else entry[field], entry)
        elif content.kind == "object":
            for name, described in value.content.items():
                image_id = from_json_key(name) if isinstance(name, str) else name
                at = f"{source.where}: image {image_id!r:.40}"
                images.setdefault(image_id, _Image()).add(described, at)
        else:
            raise AnnotationError(f"{source.where}: is no source of attributes; {_EXPECTED}.")


def _read_table(table: CsvTable, images: dict[ImageId, _Image], names: CategoryNames) -> None:
    """Read Open Images' relationships, or a table of images, objects and attributes."""
    columns = table.columns
    if "LabelName2" in columns:
        for row in table.rows():
            if "is" in (row.get("RelationLabel"), row.get("RelationshipLabel")):
                label, attribute = (
                    class_name(row, names, column) for column in ("LabelName1", "LabelName2")
                )
                image = images.setdefault(row.text("ImageID"), _Image())
                image.add({label: [attribute]}, row)
        return
    image_column = next((name for name in _IMAGE if name in columns), "image_id")
    key = next((name for name in ("attributes", "attribute", "tags", "tag") if name in columns), "")
    for row in table.rows(line_breaks=True):
        image = images.setdefault(row.image_id(image_column), _Image())
        label = next((row[name] for name in ("object", "label") if name in columns), "")
        listed = [tag.name for tag in read_answer(row.text(key or "attribute"))]
        image.add({label: listed} if label.strip() else listed, row)
