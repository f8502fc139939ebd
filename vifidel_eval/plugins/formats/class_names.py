"""Names of classes in files: Open Images' descriptions, YOLO's, Hugging Face's, one per line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ...annotations.categories import (
    CategoryNames,
    add_name,
    named_by_id,
    names_by_id,
    supercategories,
)
from ...annotations.labels import clean_label
from ...errors import AnnotationError
from ...io.containers import csv_rows
from ...io.entries import Entries, Source, root
from ...io.files import first_line, parse_json, read_text
from ...io.image_ids import from_json_key

# PyYAML takes some seconds for this much; the names of ImageNet's 1 000 classes have 44 kB.
_MOST_YAML = 1 << 18
_YAML_NAMES = re.compile(r"^names\s*:", re.MULTILINE)
_DARKNET_DATA = re.compile(r"^names\s*=", re.MULTILINE)


def read_names(path: str | os.PathLike[str]) -> CategoryNames:
    """Return the names that one file lists."""
    text, where = read_text(path, AnnotationError), str(path)
    first = text.lstrip().partition("\n")[0]
    if not first or first[0] in "{[":  # parsing refuses an empty file
        return _from_json(parse_json(text, where, AnnotationError), Source(where, AnnotationError))
    if _YAML_NAMES.search(text):
        return CategoryNames(indices=_yaml_names(text, where))
    if _DARKNET_DATA.search(text):
        raise AnnotationError(
            f"{where}: a data file of Darknet, which only points to the names; give the file in "
            "its line 'names = ...'."
        )
    if "," in first or first.startswith("/"):
        return CategoryNames(machine_ids=read_class_descriptions(text, where))
    # One name per line; blank lines are allowed only at the end.
    lines = enumerate(text.rstrip().split("\n"))
    return CategoryNames(indices=_from_zero(lines, where, first=1))


def read_class_descriptions(text: str, where: str) -> dict[Any, str]:
    """Return ``{machine id: name}`` from the text of Open Images' class descriptions, a CSV.

    Some releases have a header line, and some have none. What is wrong is an `AnnotationError`.
    """
    names: dict[Any, str] = {}
    for number, (line, row) in enumerate(csv_rows(text, where, ",", AnnotationError)):
        if len(row) != 2:
            raise AnnotationError(
                f"{where}: line {line} has {len(row)} fields; class descriptions have two, the "
                "machine id and the name, and other lists of classes have one name per line."
            )
        machine_id, name = row
        if not machine_id.startswith("/"):
            if number == 0:
                continue  # the header
            raise AnnotationError(
                f"{where}: line {line}: {machine_id!r:.40} is not a machine id such as /m/01g317."
            )
        if not clean_label(name):
            raise AnnotationError(f"{where}: line {line}: class {machine_id!r:.40} has no name.")
        add_name(names, machine_id, name, f"{where}: line {line}")
    return names


def _from_json(content: Any, source: Source) -> CategoryNames:
    if isinstance(content, dict):
        labels = content.get("id2label")
        if isinstance(labels, dict):
            pairs = ((from_json_key(key), name) for key, name in labels.items())
            return CategoryNames(indices=_from_zero(pairs, f"{source.where}: id2label"))
        if content and all(isinstance(name, str) for name in content.values()):
            return named_by_id(content, source)
        return _from_coco(root(content, source).entries("categories"))
    if content and all(isinstance(name, str) for name in content):
        return CategoryNames(indices=_from_zero(enumerate(content), source.where))
    return _from_coco(Entries(content, source))


def _from_coco(categories: Entries) -> CategoryNames:
    return CategoryNames(ids=names_by_id(categories), parents=supercategories(categories))


def _yaml_names(text: str, where: str) -> dict[int, str]:
    """Return the ``names`` of a YAML file: a list, or a mapping of class index to name."""
    import yaml

    if len(text) > _MOST_YAML:
        raise AnnotationError(
            f"{where}: has more than {_MOST_YAML >> 10} KiB, the limit for YAML; is it the right "
            "file?"
        )
    try:  # the tree alone: *yes* stays what it is, and aliases cannot grow
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        why = " ".join(first_line(problem).split())
        raise AnnotationError(f"{where}: not YAML ({why}); write it again.") from None
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    values = [value for key, value in entries if key.value == "names"]
    if len(values) != 1 or isinstance(values[0], yaml.ScalarNode):
        raise AnnotationError(
            f"{where}: 'names' must appear once, as a list of names; write it as YOLO does."
        )
    nodes = values[0].value
    if isinstance(values[0], yaml.SequenceNode):
        return _from_zero(enumerate(map(_scalar, nodes)), where)
    return _from_zero(((from_json_key(_scalar(k) or ""), _scalar(n)) for k, n in nodes), where)


def _scalar(node: Any) -> str | None:
    """Return the text of a YAML node, or None if it is a list, a mapping or nothing."""
    is_text = isinstance(node.value, str) and not node.tag.endswith(":null")
    return node.value if is_text else None


def _from_zero(pairs: Iterable[tuple[Any, Any]], where: str, first: int = 0) -> dict[int, str]:
    """Return names by class index, which must run from 0 on; messages count from `first`."""
    pairs = list(pairs)
    names = dict(pairs)
    if names.keys() != set(range(len(pairs))):
        raise AnnotationError(
            f"{where}: the class indices are not 0 to {len(pairs) - 1}, each once; count from 0 "
            "without gaps."
        )
    for index, name in pairs:
        if not isinstance(name, str) or not any(c.isalpha() for c in clean_label(name[:2000])):
            raise AnnotationError(
                f"{where}: {'line' if first else 'class'} {index + first} is {name!r:.40} instead "
                "of the name of a class."
            )
        names[index] = name.strip()
    return names
