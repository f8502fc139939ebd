"""The commands ``vifidel-eval convert-features`` and ``train-lm``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...commands.options import Command, record, reference_options
from ...commands.paths import CAPTIONS, FILE, Written, WrittenFolder
from ...commands.printing import continued_by_the_same_command, harmless, show
from ...errors import VifidelError
from ...io.files import beside, first_line, reason
from ...io.progress import progress_bar
from ...io.text_tables import counted

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from .lm import Training

# Where an image is, its id if its content does not say it, and its content.
_Image = tuple[str, Any, Any]

# What the extraction script of vilbert-multi-task calls our arrays.
_PUBLISHED = {
    "features": "features",
    "boxes": "bbox",
    "width": "image_width",
    "height": "image_height",
}


@click.command(
    "convert-features",
    cls=Command,
    examples=(
        "convert-features features.lmdb FEATURES",
        "convert-features features.tsv FEATURES",
        "convert-features EXTRACTED FEATURES --trust-pickles",
    ),
)
@click.argument("source", type=FILE)
@click.argument("output_folder", type=WrittenFolder())
@click.option(
    "--trust-pickles",
    is_flag=True,
    help="Allow SOURCE to be unpickled. Loading a pickle can run any code.",
)
def convert_features(source: Path, output_folder: Path, trust_pickles: bool) -> None:
    """Convert ViLBERT's published image features.

    They become one plain .npz file per image.

    SOURCE is a .npy file, or a folder of them, from the extraction script of vilbert-multi-task,
    or the imgs_rcnn.pkl of the ViLBERTScore repository, which must fit into memory. Both are
    pickles, and loading a pickle can run any code: convert only files from a source you trust.
    Scoring never unpickles features.
    """
    if not trust_pickles:
        raise click.UsageError(
            "SOURCE is unpickled, and a pickle can run any code when it is read; add "
            "--trust-pickles if you trust its source."
        )
    from .regions import regions_of, write_regions

    files = sorted(source.glob("*.npy")) if source.is_dir() else [source]
    if not files:
        raise VifidelError(
            f"{source}: there is no .npy file in this folder; give another folder, or a .pkl file."
        )
    is_list = source.suffix == ".pkl"
    of_files = ((str(path), path.stem, _unpickled(path)) for path in files)
    images: Iterable[_Image] = _listed(source) if is_list else of_files
    try:
        output_folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise VifidelError(f"{output_folder}: {reason(problem)}; name another folder.") from None
    digests: dict[str, str] = {}
    with progress_bar(None if is_list else len(files), " images") as bar:
        for where, image_id, content in images:
            entry = _dictionary(content, where)
            name = str(entry.get("image_id", image_id))
            regions = regions_of(
                {ours: entry[theirs] for ours, theirs in _PUBLISHED.items()}, where
            )
            if name not in digests:
                write_regions(output_folder, name, regions)
            if digests.setdefault(name, regions.digest()) != regions.digest():
                raise VifidelError(
                    f"{where}: image {name!r} appeared before, with other features; keep one."
                )
            bar.update()
    show(f"{output_folder}: features of {counted(len(digests), 'image')}")


def _listed(path: Path) -> list[_Image]:
    """Return the images of an ``imgs_rcnn.pkl``, if need be with the ids of the list beside it."""
    entries = _unpickled(path)
    if not isinstance(entries, list):
        raise VifidelError(
            f"{path}: holds {type(entries).__name__}; expected imgs_rcnn.pkl: a list with a "
            f"dictionary of {', '.join(_PUBLISHED.values())} for each image."
        )
    places = [f"{path}, entry {at}" for at in range(len(entries))]
    names = [
        _dictionary(entry, place).get("image_id")
        for entry, place in zip(entries, places, strict=True)
    ]
    if None in names:
        listed = path.with_name("img_names.pkl")
        names = _unpickled(listed) if listed.exists() else []
        if not isinstance(names, list) or len(names) != len(entries):
            raise VifidelError(
                f"{path}: its images have no image_id; put img_names.pkl, the list of their "
                f"{len(entries)} ids, beside it."
            )
    return list(zip(places, names, entries, strict=True))


def _unpickled(path: Path) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=True, encoding="latin1")  # of Python 2 too
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
    content = ", ".join(map(str, entry)) if isinstance(entry, Mapping) else type(entry).__name__
    raise VifidelError(
        f"{where}: not features of vilbert-multi-task (a dictionary of "
        f"{', '.join(_PUBLISHED.values())}); found {content or 'nothing'}."
    )


@click.command(
    "train-lm",
    cls=Command,
    examples=(
        "train-lm captions_train2014.json --output lm.pt",
        "train-lm dataset_flickr8k.json --split train --output lm.pt",
        "train-lm captions_train2014.json --epochs 3 --hidden 256 --output lm.pt",
    ),
)
@click.argument("captions", type=CAPTIONS)
@reference_options
@click.option(
    "--output",
    type=Written(".unfinished"),
    required=True,
    help="File for the trained model, such as lm.pt.",
)
@record(f"{__package__}.lm:Training", "training", only=("epochs", "seed", "hidden"))
def train_lm(captions: Path, fields: CaptionFields, output: Path, training: Training) -> None:
    """Train the language model of the metric LM.

    CAPTIONS is a COCO caption file, or another file of references. If interrupted, run the
    same command again to continue from the last complete epoch.
    """
    from tqdm import tqdm

    from ...captions import read_references
    from .lm import Epoch, train

    texts = read_references(captions, fields.splits, fields.id_fields, fields.reference_fields)
    unfinished = beside(output, ".unfinished")
    with progress_bar(
        training.epochs, bar_format="{l_bar}{bar}| {elapsed}<{remaining}", delay=0
    ) as bar:

        def report(epoch: Epoch) -> None:
            if epoch.resumed and epoch.number == 1:
                going_on = f"{unfinished}: continuing the unfinished training in this file."
                tqdm.write(harmless(going_on), file=sys.stderr)
            line = f"epoch {epoch.number}: validation perplexity {epoch.perplexity:.2f}"
            notes = ["the best so far"] * epoch.best + ["computed before"] * epoch.resumed
            tqdm.write(", ".join([line, *notes]), file=sys.stdout)

        with continued_by_the_same_command(unfinished, "after the last complete epoch"):
            done = train(texts, output, bar.update, report, **vars(training))
    best = min(done, key=lambda epoch: epoch.perplexity)
    show(f"{output}: epoch {best.number}, validation perplexity {best.perplexity:.2f}")
