"""A run before it runs: systems, references and objects from all that people have, and scorers.

Files, mappings, records and DataFrames are read and checked; nothing is scored yet.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..annotations.read import HasDataset
from ..captions import read_references, read_results, read_samples, system_names
from ..captions.layout import Wanted
from ..captions.layouts import captions_of, only_captions
from ..captions.records import Records
from ..errors import CaptionError, ImageIdError, VifidelError
from ..evaluation import Column
from ..image_ids import ImageId
from ..runs.doubts import WORDS, Words, lengths_matter, warn_of_language, warn_of_tags
from ..runs.harness import column_names
from ..runs.pairing import (
    System,
    all_images,
    check_releases,
    in_one_spelling,
    only_images,
    read_image_ids,
)
from ..runs.people import with_people
from ..runs.remarks import People
from ..runs.samples import gathered_columns, pooled, spread
from ..scorers import Scorer
from ..scorers.record import Settings
from ..scorers.registry import build
from .detecting import with_detected

if TYPE_CHECKING:
    from ..annotations import ImageBoxes

#: A file's path.
PathLike: TypeAlias = str | os.PathLike[str]
#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
#: The references of a run.
References: TypeAlias = Captions

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)


@dataclass(frozen=True)
class Fields:
    """What the fields of caption files are called, where they have other than the usual names.

    Attributes
    ----------
    id_field, caption_field, reference_field : tuple of str
        Image ids, captions of systems, references; of several the first that there is.
    split : tuple of str
        Splits of Karpathy's dataset JSON.
    """

    id_field: tuple[str, ...] = ()
    caption_field: tuple[str, ...] = ()
    reference_field: tuple[str, ...] = ()
    split: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """Systems and scorers of a run.

    Attributes
    ----------
    systems : list of System
        What is scored.
    references : dict, optional
        Image id to references.
    scorers : dict
        Metric name to scorer.
    unavailable : dict
        Metric name to the reason why it cannot be computed here.
    allow_subset : bool
        Whether a system may lack some of the images.
    settings : Settings
        What registered metrics were made from.
    files : dict
        What was read: ``captions``, ``references`` and ``objects`` to their files.
    people : People, optional
        How the captions of people were made, where these are one of the systems.
    samples : dict, optional
        System name to its samples, which are all of `systems` then.
    """

    systems: list[System]
    references: dict[ImageId, list[str]] | None
    scorers: dict[str, Scorer]
    unavailable: dict[str, str]
    allow_subset: bool
    settings: Settings
    files: dict[str, list[Path]]
    people: People | None = None
    samples: dict[str, list[System]] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.samples or (system.name for system in self.systems))

    @property
    def columns(self) -> dict[str, str]:
        """Every column that the scores will have, with its metric."""
        columns = column_names(self.scorers)
        if self.samples is None:
            return columns
        unranked = {c.name for s in self.scorers.values() for c in s.columns if not c.ranked}
        return {
            shown: metric
            for name, metric in columns.items()
            for shown in gathered_columns(Column(name, ranked=name not in unranked))
        }

    @property
    def work(self) -> int:
        """How many captions are scored, each counted once per metric."""
        return sum(len(system.captions) for system in self.systems) * len(self.scorers)

    def pictures(self, folder: PathLike) -> dict[ImageId, Path]:
        """Return the picture of each image that has one in a folder.

        COCO files among the inputs say what the pictures' files are called.

        Raises
        ------
        VifidelError
            As `vifidel_eval.report.html.find_pictures` raises it.
        """
        from ..report.html import file_names, find_pictures

        files = [path for paths in self.files.values() for path in paths]
        images = all_images(self.systems, self.references)
        return find_pictures(Path(folder), images, file_names(files))

    def boxes(self) -> dict[ImageId, ImageBoxes]:
        """Return where the objects are in the images, for those files of objects that say so.

        Raises
        ------
        AnnotationError
            As `vifidel_eval.annotations.read_boxes` raises it.
        """
        from ..annotations import read_boxes

        return read_boxes(self.files["objects"], self.settings.threshold, self.settings.categories)


def plan(
    systems: Mapping[str, Captions],
    references: References | None,
    settings: Settings,
    metrics: Sequence[str],
    scorers: Mapping[str, Scorer] | None = None,
    fields: Fields = Fields(),
    image_ids: PathLike | Collection[ImageId] | None = None,
    allow_subset: bool = False,
    people: bool = False,
    samples: bool = False,
) -> Plan:
    """Read and check what a run needs.

    Parameters
    ----------
    systems : mapping
        Name to captions, as `named` returns them.
    references : optional
        References, in any of the same shapes.
    settings : Settings
        What registered metrics are made from.
    metrics : sequence of str
        Their names, as `vifidel_eval.scorers.registry.parse` returns them.
    scorers : mapping, optional
        Further scorers by name.
    fields, image_ids
        As `read_captions` takes them.
    allow_subset : bool
        Whether a system may lack some of the images.
    people : bool
        Whether people are one of the systems, as `vifidel_eval.runs.people.with_people` makes them.
    samples : bool
        Whether systems may have several captions per image.

    Raises
    ------
    VifidelError
        If something cannot be read, or does not go together.

    Warns
    -----
    VifidelWarning
        If objects and references are of different releases of COCO, captions differ much in length,
        captions are in another language than vectors and stop words, or images have more labels
        than a caption can speak of.
    """
    read, by_image = read_captions(systems, references, fields, image_ids, samples)
    if settings.detector is not None:
        settings = with_detected(settings, paths_in(settings.objects), read)
    of_objects = paths_in(settings.objects)
    if by_image is not None and of_objects and isinstance(references, str | os.PathLike):
        labels = settings.labels
        if labels is not None:
            check_releases(of_objects, labels, references, by_image)
    whole = pooled(read) if samples else read
    made_of = None
    if people and samples:
        raise VifidelError(
            "people are scored by one caption per image, and samples are several; leave one of the "
            "two out."
        )
    if people:
        if by_image is None:
            raise VifidelError("people are scored by references, and there are none: give some.")
        made_of, read, by_image = with_people(read, by_image)
        whole = read
    made, unavailable = build(metrics, settings)
    made |= scorers or {}
    if (lengths_matter(whole) or people) and WORDS not in column_names(made):
        made[WORDS] = Words()
    warn_of_language(whole, by_image, made)
    if "labels" in vars(settings) and settings.labels is not None:  # some metric has read them
        warn_of_tags(settings.labels)
        read, by_image = in_one_spelling(read, settings.labels, by_image)
    sampled = None
    if samples:
        sampled = {
            name: [one for one in read if one.sample_of == name and one.captions]
            for name in systems
        }
    files = {
        "captions": [path for source in systems.values() for path in paths_in(source)],
        "references": paths_in(references),
        "objects": of_objects,
    }
    return Plan(
        read,
        by_image,
        made,
        unavailable,
        allow_subset,
        settings,
        files,
        made_of,
        sampled,
    )


def named(systems: Systems) -> dict[str, Captions]:
    """Return systems by name; those of result files are named as the command names them.

    Raises
    ------
    CaptionError
        If they are something else, or there is none.
    """
    if isinstance(systems, str | os.PathLike):
        systems = [systems]
    if isinstance(systems, Mapping):
        for name, captions in systems.items():
            if not isinstance(name, str) or not name.strip():
                raise CaptionError(
                    f"{_SYSTEMS}; found the name {name!r:.40} with {captions!r:.40}."
                )
        found = dict(systems)
    elif isinstance(systems, list | tuple) and all(
        isinstance(path, str | os.PathLike) for path in systems
    ):
        paths = [Path(path) for path in systems]
        found = dict(zip(system_names(paths), paths, strict=True))
    else:
        raise CaptionError(f"{_SYSTEMS}; found {_kind(systems)}: give each system a name.")
    if not found:
        raise CaptionError(f"{_SYSTEMS}; there is none.")
    return found


def read_captions(
    systems: Mapping[str, Captions],
    references: References | None,
    fields: Fields,
    image_ids: PathLike | Collection[ImageId] | None = None,
    samples: bool = False,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references.

    Parameters
    ----------
    systems : mapping
        Name to captions, as `named` returns them.
    references : optional
        References in any of the same shapes, or None.
    fields : Fields
        How files name their columns.
    image_ids : path or collection, optional
        Only these images; a file is a JSON list, or has an id per line.
    samples : bool
        Whether systems may have several captions per image; each sample is then a system.

    Raises
    ------
    CaptionError
        If something cannot be read, or the references are what a system says.
    ImageIdError
        If an image of `image_ids` is not there.
    """
    captions = {name: _results(name, source, fields, samples) for name, source in systems.items()}
    by_image = None if references is None else _references(references, fields)
    for name, of_system in captions.items():
        if by_image == of_system:
            where = references if isinstance(references, str | os.PathLike) else "references"
            raise CaptionError(
                f"{where}: holds the captions of system {name!r} and no others; "
                "give captions that people wrote as references."
            )
    read = [
        system
        for name, of_system in captions.items()
        for system in (
            spread(name, of_system) if samples else [System(name, only_captions(of_system))]
        )
    ]
    if image_ids is None:
        return read, by_image
    if isinstance(image_ids, str | os.PathLike):
        return only_images(read_image_ids(image_ids), read, by_image, str(image_ids))
    if not isinstance(image_ids, Iterable):
        raise ImageIdError(f"image_ids are a path or a list of ids, not {image_ids!r:.40}.")
    return only_images(list(dict.fromkeys(image_ids)), read, by_image)


def paths_in(source: Any) -> list[Path]:
    """Return the paths that a source is or, if it is a list, holds."""
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    members = source if isinstance(source, list | tuple) else ()
    return [path for member in members for path in paths_in(member)]


def _results(
    name: str, source: Captions, fields: Fields, samples: bool
) -> dict[ImageId, list[str]]:
    if isinstance(source, str | os.PathLike):
        if samples:
            return read_samples(source, fields.id_field, fields.caption_field)
        results = read_results(source, fields.id_field, fields.caption_field)
        return {image_id: [caption] for image_id, caption in results.items()}
    where = f"system {name!r}"
    content = _in_memory(source, where)
    if isinstance(content, Mapping) and isinstance(content.get("annotations"), list):
        content = Records(where, content["annotations"])  # of pycocotools' loadRes
    wanted = Wanted(False, fields.id_field, fields.caption_field, samples=samples)
    return captions_of(content, where, wanted)


def _references(source: References, fields: Fields) -> dict[ImageId, list[str]]:
    if isinstance(source, str | os.PathLike):
        return read_references(source, fields.split, fields.id_field, fields.reference_field)
    wanted = Wanted(True, fields.id_field, fields.reference_field, fields.split)
    return captions_of(_in_memory(source, "references"), "references", wanted)


def _in_memory(source: Any, where: str) -> Records | Mapping[Any, Any]:
    """Return what is not a file as what is read from files."""
    dataset = getattr(source, "dataset", None)
    if isinstance(dataset, Mapping):  # a pycocotools COCO
        return dataset
    if isinstance(source, Mapping):
        return source
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a DataFrame
        rows = source.to_dict("records")
        return Records(where, rows, range(len(rows)), "row")
    if isinstance(source, list | tuple):
        return Records(where, source)
    raise CaptionError(
        f"{where}: captions are a path, a mapping of image id to caption, a list of "
        f'{{"image_id": ..., "caption": ...}}, a pycocotools COCO or a DataFrame, not '
        f"{_kind(source)}."
    )


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.40}".replace("\n", " ")
