"""The command ``vifidel-eval convert-features``."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ...commands.options import Command
from ...commands.paths import FILE, WrittenFolder
from ...commands.printing import show
from ...errors import VifidelError
from ...io.files import first_line, reason
from ...io.records import progress_bar

# What the extraction script of vilbert-multi-task calls our arrays.
_PUBLISHED = {
    "features": "features",
    "boxes": "bbox",
    "width": "image_width",
    "height": "image_height",
}


@click.command("convert-features", cls=Command)
@click.argument("source", type=FILE)
@click.argument("output_folder", type=WrittenFolder())
@click.option(
    "--trust-pickles",
    is_flag=True,
    help="Unpickle SOURCE, although a pickle can run any code when it is read.",
)
def convert_features(source: Path, output_folder: Path, trust_pickles: bool) -> None:
    """Convert ViLBERT's published image features.

    They become one plain .npz file per image.

    SOURCE is a folder of .npy files (or one of them) that the extraction script of
    vilbert-multi-task wrote, or an imgs_rcnn.pkl as the ViLBERTScore repository has it, which is
    read into memory whole. Both are pickles, which can run any code when they are read: convert
    only what comes from someone you trust. Scoring itself never unpickles features.
    """
    if not trust_pickles:
        raise click.UsageError(
            "SOURCE is unpickled, and a pickle can run any code when it is read; add "
            "--trust-pickles if you trust where it comes from."
        )
    from .vilbert_features import regions_of, write_regions

    list_of_images = source.suffix == ".pkl"
    files = [source] if not source.is_dir() else sorted(source.glob("*.npy"))
    if not files:
        raise VifidelError(
            f"{source}: there is no .npy file in this folder; give another, or a .pkl file."
        )
    try:
        output_folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise VifidelError(f"{output_folder}: {reason(problem)}; name another folder.") from None
    digests: dict[str, str] = {}
    images = _listed(source) if list_of_images else map(_single, files)
    with progress_bar(None if list_of_images else len(files), " images") as bar:
        for where, image_id, entry in images:
            regions = regions_of(
                {ours: entry[theirs] for ours, theirs in _PUBLISHED.items()}, where
            )
            digest = regions.digest()
            if image_id not in digests:
                write_regions(output_folder, image_id, regions)
            elif digests[image_id] != digest:
                raise VifidelError(
                    f"{where}: image {image_id!r} appeared before, with other features; keep one."
                )
            digests[image_id] = digest
            bar.update()
    show(f"{output_folder}: features of {len(digests)} images")


def _single(path: Path) -> tuple[str, str, Mapping[str, Any]]:
    """Return place, image id and content of a ``.npy`` file."""
    entry = _dictionary(_unpickled(path), str(path))
    return str(path), str(entry.get("image_id", path.stem)), entry


def _listed(path: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield place, image id and content of each image of an ``imgs_rcnn.pkl``."""
    entries = _unpickled(path)
    if not isinstance(entries, list):
        raise VifidelError(
            f"{path}: holds {type(entries).__name__}; expected imgs_rcnn.pkl, a list with a "
            f"dictionary of {', '.join(_PUBLISHED.values())} for each image."
        )
    names = None
    for at, packed in enumerate(entries):
        where = f"{path}, entry {at}"
        entry = _dictionary(packed, where)
        if "image_id" in entry:
            image_id = entry["image_id"]
        else:
            if names is None:
                names = _names(path, len(entries))
            image_id = names[at]
        yield where, str(image_id), entry


def _names(path: Path, images: int) -> list[Any]:
    """Return the image ids in the list that the repository keeps beside ``imgs_rcnn.pkl``."""
    beside = path.with_name("img_names.pkl")
    if not beside.exists():
        raise VifidelError(
            f"{path}: its images have no image_id; put img_names.pkl, the list of them, beside it."
        )
    names = _unpickled(beside)
    if not isinstance(names, list) or len(names) != images:
        raise VifidelError(
            f"{beside}: not a list of {images} image ids, one for each image of {path}."
        )
    return names


def _unpickled(path: Path) -> Any:
    import numpy as np

    try:
        if path.suffix == ".pkl":
            with open(path, "rb") as file:
                return pickle.load(file, encoding="latin1")  # of Python 2 too
        return np.load(path, allow_pickle=True, encoding="latin1")
    except OSError as problem:
        raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None
    except Exception as problem:  # pickles raise nearly anything
        raise VifidelError(
            f"{path}: cannot be unpickled ({first_line(problem)}); expected a .npy file of "
            "vilbert-multi-task's extraction script, or imgs_rcnn.pkl."
        ) from None


def _dictionary(packed: Any, where: str) -> Mapping[str, Any]:
    """Return the dictionary that the script packs into an array without dimensions."""
    import numpy as np

    entry = packed.item() if isinstance(packed, np.ndarray) and packed.ndim == 0 else packed
    if isinstance(entry, Mapping) and entry.keys() >= set(_PUBLISHED.values()):
        return entry
    found = ", ".join(map(str, entry)) if isinstance(entry, Mapping) else type(entry).__name__
    raise VifidelError(
        f"{where}: not features of vilbert-multi-task, which are a dictionary of "
        f"{', '.join(_PUBLISHED.values())}; found {found or 'nothing'}."
    )
