"""The formats of objects: what each is called, how it is recognised, and what reads it.

`FORMATS` is the only place that knows them all: `read` recognises content by it, messages and help
list it, and the table of docs/objects.md is its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ..errors import AnnotationError
from ..files import read_json, read_text
from ..image_ids import from_json_key
from .coco import read_coco_instances, read_coco_results
from .csv_rows import header
from .label_csv import has_label_columns, read_label_csv
from .labels import read_labels
from .look_alikes import NOT_OBJECTS
from .names import CategoryNames
from .nocaps import NocapsImages, read_nocaps
from .objects import ObjectLabels
from .open_images import read_open_images
from .panoptic import read_coco_panoptic
from .shapes import Carrier, first_entry, is_instances, is_nocaps, is_open_images, is_panoptic
from .visual_genome import read_visual_genome
from .voc import read_voc
from .yolo import is_label_line, label_files, read_yolo


@dataclass(frozen=True)
class Source:
    """Where content is from, and what is to be done with it.

    Attributes
    ----------
    where : str
        The file or folder, for messages.
    threshold : float, optional
        The lowest score that counts; None for a format's own.
    names : CategoryNames
        Names of category ids and class indices.
    """

    where: str
    threshold: float | None
    names: CategoryNames


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes.

    Attributes
    ----------
    carrier : Carrier
        What content of this kind is given as.
    recognised : callable
        Tells whether content is of this format; the first format that says so reads it.
    read : callable
        Reads it.
    """

    carrier: Carrier
    recognised: Callable[[Any], bool]
    read: Callable[[Any, Source], ObjectLabels | NocapsImages]


@dataclass(frozen=True)
class Format:
    """A format of objects.

    Attributes
    ----------
    name : str
        What messages and help call it.
    source, scores, notes : str
        Its row in docs/objects.md: what it is, in Markdown; the lowest score that counts; and what
        else to know.
    ways : tuple of Way
        How it comes.
    """

    name: str
    source: str
    scores: str
    notes: str
    ways: tuple[Way, ...]


def _read_coco_results(content: list[Any], source: Source) -> ObjectLabels:
    if source.names.indices and not source.names.ids:
        raise AnnotationError(
            f"{source.where}: COCO results have category ids, and a list of class names does not "
            "say which id each has (Ultralytics counts from 1); give a COCO file with categories "
            "or {id: name}."
        )
    return read_coco_results(content, source.where, source.threshold, source.names.ids or None)


def _read_detections(folder: Path, source: Source) -> ObjectLabels:
    """Read a folder with one JSON file of detections per image, whose stem is the image's id."""
    images: dict[Any, Any] = {}
    for path in sorted(folder.glob("*.json")):
        found = read_json(path, AnnotationError)
        if isinstance(found, dict) and ("images" in found or "predictions" in found):
            raise AnnotationError(
                f"{path}: describes a whole dataset, not the detections in one image; give the "
                "file itself instead of its folder."
            )
        images[from_json_key(path.stem)] = found
    return read_labels(images, source.where, source.threshold, source.names)


def _has_labels(folder: Path) -> bool:
    """Tell whether the first line in the text files of a folder is one of YOLO's."""
    files = label_files(folder)
    for path in files:
        lines = read_text(path, AnnotationError).strip().split("\n")
        if lines[0]:
            return is_label_line(lines[0])
    return bool(files)


def _any(content: object) -> bool:
    return True


_SCORED = ".6"

FORMATS = (
    Format(
        "COCO or LVIS instances JSON",
        "COCO `instances_*.json`, LVIS `lvis_v1_*.json`, or a loaded pycocotools `COCO`",
        "",
        "every annotation is an instance, crowd regions included; LVIS's "
        "`bow_(decorative_ribbons)` becomes *bow*",
        (
            Way(
                "object",
                is_instances,
                lambda found, at: read_coco_instances(found, at.where, at.threshold),
            ),
        ),
    ),
    Format(
        "COCO detection results JSON",
        "COCO detection results (Detectron2, MMDetection, Ultralytics `save_json`)",
        _SCORED,
        "`--categories FILE` unless the ids are COCO's 80",
        (
            Way(
                "list",
                lambda found: (
                    "image_id" in first_entry(found) and "objects" not in first_entry(found)
                ),
                _read_coco_results,
            ),
        ),
    ),
    Format(
        "COCO panoptic JSON",
        "COCO `panoptic_*.json`",
        "",
        "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
        (Way("object", is_panoptic, lambda found, at: read_coco_panoptic(found, at.where)),),
    ),
    Format(
        "PASCAL VOC XML (folder or file)",
        "PASCAL VOC XML, a folder or one file",
        "",
        "whole objects, not their parts; `diningtable` becomes *dining table*",
        (
            Way(
                "xml",
                _any,
                lambda raw, at: read_voc([Path(at.where)], at.where, {Path(at.where): raw}),
            ),
            Way(
                "folder",
                lambda folder: any(folder.glob("*.xml")),
                lambda folder, at: read_voc(sorted(folder.glob("*.xml")), at.where),
            ),
        ),
    ),
    Format(
        "Open Images boxes CSV",
        "Open Images boxes CSV",
        ".4",
        "`--categories class-descriptions-boxable.csv`",
        (
            Way(
                "table",
                is_open_images,
                lambda text, at: read_open_images(
                    text, at.where, at.threshold, at.names.machine_ids
                ),
            ),
        ),
    ),
    Format(
        "nocaps JSON beside Open Images boxes",
        "nocaps JSON (its images have `open_images_id`) beside Open Images boxes",
        "",
        "give both: `--objects nocaps.json --objects boxes.csv`; the boxes get nocaps' image ids",
        (Way("object", is_nocaps, lambda found, at: read_nocaps(found, at.where)),),
    ),
    Format(
        "Visual Genome objects JSON",
        "Visual Genome `objects.json` or `scene_graphs.json`",
        "",
        "the first name of each object",
        (
            Way(
                "list",
                lambda found: isinstance(first_entry(found).get("objects"), list),
                lambda found, at: read_visual_genome(found, at.where),
            ),
        ),
    ),
    Format(
        "a folder of YOLO text labels",
        "YOLO text labels, a folder with one file per image",
        f"{_SCORED}, if there are scores",
        "class names from `classes.txt` in the folder, or `--categories` with `data.yaml`, "
        "`obj.names` or another file with one name per line",
        (
            Way(
                "folder",
                lambda folder: not any(folder.glob("*.json")) and _has_labels(folder),
                lambda folder, at: read_yolo(folder, at.threshold, at.names),
            ),
        ),
    ),
    Format(
        "CSV or TSV of images and labels",
        "CSV or TSV with a column of images and one of labels",
        f"{_SCORED}, if there are scores",
        "columns with the usual names: `image_id`, `filename`, ...; `label`, `class`, ...; "
        "`score`; `count`",
        (
            Way(
                "table",
                lambda text: has_label_columns(header(text)[0]),
                lambda text, at: read_label_csv(text, at.where, at.threshold),
            ),
        ),
    ),
    Format(
        "parallel arrays of labels, scores and boxes by image id",
        'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
        'Grounding DINO, MMDetection `preds/*.json`), as `{"id": {...}}` or a folder with one JSON '
        "file per image",
        _SCORED,
        "labels that are numbers need the model's class names, counted from 0: `--categories` with "
        "one name per line, or Hugging Face's `config.json`; *a dog* becomes *dog*",
        (),  # an image's detections come in two shapes, and both where the next two formats do
    ),
    Format(
        "a folder of detections with one JSON file per image",
        'detections `[{"label", "score", "box"}]` (Hugging Face) or `[{"name", "confidence", '
        '"box"}]` (Ultralytics), as `{"id": [...]}` or a folder with one JSON file per image',
        _SCORED,
        "",
        (Way("folder", lambda folder: any(folder.glob("*.json")), _read_detections),),
    ),
    Format(
        "{image id: [label, ...]} JSON",
        '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}` or `{"id": {"dog": 2}}` '
        "JSON, or a Python mapping",
        f"{_SCORED}, if there are scores",
        "the plain format for everything else",
        (
            Way(
                "object",
                _any,
                lambda found, at: read_labels(found, at.where, at.threshold, at.names),
            ),
        ),
    ),
)


def read_content(carrier: Carrier, content: Any, source: Source) -> ObjectLabels | NocapsImages:
    """Read content by the first format that recognises it.

    Raises
    ------
    AnnotationError
        If none does, or the content is something else that is known.
    """
    for look in NOT_OBJECTS:
        if look.carrier == carrier and look.recognised(content):
            raise AnnotationError(f"{source.where}: {look.said(content)}")
    for way in ways(carrier):
        if way.recognised(content):
            return way.read(content, source)
    if carrier == "folder":
        _refuse_folder(content)
    raise not_a_source(source.where)


def ways(carrier: Carrier) -> list[Way]:
    """Return how formats come in a carrier, in the order in which they are tried."""
    return [way for known in FORMATS for way in known.ways if way.carrier == carrier]


def not_a_source(where: str) -> AnnotationError:
    """Return the error for content of no known format."""
    return AnnotationError(f"{where}: not a source of objects; accepted: {accepted()}.")


def accepted() -> str:
    """Return the names of all formats, as messages list them."""
    return ", ".join(known.name for known in FORMATS)


def table_rows() -> list[str]:
    """Return the lines of the table of docs/objects.md."""
    return [f"| {known.source} | {known.scores} | {known.notes} |" for known in FORMATS]


def _refuse_folder(folder: Path) -> NoReturn:
    """Raise the error for a folder in which no format is recognised.

    Raises
    ------
    AnnotationError
        Always; it says what was looked for.
    """
    files = label_files(folder)
    if files:
        raise AnnotationError(
            f"{folder}: no XML or JSON file in this folder, and {files[0].name} is not YOLO labels "
            "('class x y w h' in each line); give a folder with one file of objects per image."
        )
    inside = " (folders in it are not read)" if any(map(Path.is_dir, folder.iterdir())) else ""
    raise AnnotationError(
        f"{folder}: no XML or JSON file in this folder, nor a text file of YOLO labels{inside}; "
        "give a folder with one file of objects per image."
    )
