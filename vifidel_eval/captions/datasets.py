"""Captions of datasets: COCO's (https://cocodataset.org/#format-data), and Karpathy's splits.

``dataset_coco.json``, ``dataset_flickr8k.json`` and ``dataset_flickr30k.json`` are ``{"images":
[{"split", "filename", "sentences": [{"raw", ...}], ...}]}``, read by their author's
``imagernn/data_provider.py`` (https://github.com/karpathy/neuraltalk); COCO's images have their id
in ``cocoid``. The splits are train, val, test, and for COCO restval, added to train as a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..io.entries import Entry, listed_image, listed_images, shows
from .fields import MISSING, Wanted
from .layouts import ByImage, Layout, text_of


def _read_captions(content: Entry, wanted: Wanted) -> ByImage:
    """Return the captions of each image, in the order of ``images``."""
    listed = listed_images(content)
    references: ByImage = {image_id: [] for image_id in listed}
    for annotation in content.entries("annotations"):
        image_id = listed_image(annotation, listed, "captions")
        references.setdefault(image_id, []).append(_caption(annotation))
    return references


def _caption(annotation: Entry) -> str:
    if "caption" not in annotation:
        keys = ", ".join(map(repr, annotation.content))
        holds = "object annotations" if "category_id" in annotation else f"only {keys:.60}"
        raise CaptionError(f"{annotation}: no 'caption', but {holds}; is it a caption file?")
    return text_of(annotation["caption"], annotation)


COCO = Layout(
    "a dataset's annotations",
    "COCO `captions_*.json`",
    "",
    "yes",
    ("annotations",),
    None,
    _read_captions,
)


def has_splits(content: Mapping[Any, Any]) -> bool:
    """Whether a JSON object that lists images has their captions there too."""
    return shows(content, ["images[].sentences", "!annotations"])


def _read_splits(content: Entry, wanted: Wanted) -> ByImage:
    """Return the captions of the images of some splits, as people wrote them (``raw``).

    An image id is the ``cocoid`` where every image has one, else the file name.
    """
    if not has_splits(content.content):
        raise CaptionError(
            f"{content}: lists images, but has neither 'annotations' nor 'sentences': there is no "
            "caption in it."
        )
    images = list(content.entries("images"))
    sizes = Counter(str(image.get("split", "")) for image in images)
    held = ", ".join(f"{split or '(none)'} ({size})" for split, size in sizes.items())
    for split in wanted.splits:
        if split not in sizes:
            raise CaptionError(f"{content}: no split {split!r:.40}; it has {held:.200}.")
    if not wanted.splits and len(sizes) > 1:
        raise CaptionError(
            f"{content}: has the splits {held:.200}; say which with --split, such as --split test."
        )
    key = "cocoid" if all("cocoid" in image for image in images) else "filename"
    references: ByImage = {}
    for image in images:
        if wanted.splits and str(image.get("split", "")) not in wanted.splits:
            continue
        image_id = image.image_id(key)
        if image_id in references:
            raise image.listed_twice()
        references[image_id] = [
            text_of(sentence.get("raw", MISSING), sentence)
            for sentence in image.entries("sentences")
        ]
    return references


KARPATHY = Layout(
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
