"""Karpathy's splits: ``dataset_coco.json``, ``dataset_flickr8k.json``, ``dataset_flickr30k.json``.

``{"images": [{"split", "filename", "imgid", "sentences": [{"raw", "tokens", "imgid", "sentid"}],
"sentids"}], "dataset"}``, read by its author's ``imagernn/data_provider.py``
(https://github.com/karpathy/neuraltalk); COCO's images have their id in ``cocoid``. The splits are
train, val, test, and for COCO restval, which is added to train as a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..io.arguments import shows
from .fields import MISSING, Wanted
from .layouts import ByImage, Layout, entries, image_id_of, text_of


def has_splits(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object that lists images has their captions there too."""
    return shows(content, ["images[].sentences"]) and "annotations" not in content


def _read_splits(content: Mapping[str, Any], where: str, wanted: Wanted) -> ByImage:
    """Return the captions of the images of some splits, as people wrote them (``raw``).

    An image id is the ``cocoid`` where every image has one, else the file name.
    """
    if not has_splits(content):
        raise CaptionError(
            f"{where}: lists images, but has neither 'annotations' nor 'sentences': there is no "
            "caption in it."
        )
    images = list(entries(content["images"], f"{where}: images", "sentences"))
    sizes = Counter(str(image.get("split", "")) for _, image in images)
    held = ", ".join(f"{split or '(none)'} ({size})" for split, size in sizes.items())
    for split in wanted.splits:
        if split not in sizes:
            raise CaptionError(f"{where}: no split {split!r:.40}; it has {held:.200}.")
    if not wanted.splits and len(sizes) > 1:
        raise CaptionError(
            f"{where}: has the splits {held:.200}; say which with --split, such as --split test."
        )
    key = "cocoid" if all("cocoid" in image for _, image in images) else "filename"
    references: ByImage = {}
    for at, image in images:
        if wanted.splits and str(image.get("split", "")) not in wanted.splits:
            continue
        image_id = image_id_of(image.get(key, MISSING), key, at)
        if image_id in references:
            raise CaptionError(f"{at}: image {image_id!r:.60} is listed twice; keep one entry.")
        references[image_id] = [
            text_of(sentence.get("raw", MISSING), of_sentence)
            for of_sentence, sentence in entries(image.get("sentences"), f"{at}: sentences", "raw")
        ]
    return references


LAYOUT = Layout(
    "a dataset's annotations in splits",
    "Karpathy's `dataset_coco.json`, `dataset_flickr8k.json`, `dataset_flickr30k.json`",
    "",
    "`--split test`, repeated for several splits; the image id is `cocoid` if there is one, "
    "otherwise the file name",
    ("images[]",),
    None,
    _read_splits,
    has_splits=True,
)
