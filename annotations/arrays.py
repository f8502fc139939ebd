"""Parallel arrays: labels, scores and boxes of the detections in one image.

They are read by `.listed`; here is what people give of them without the image.
"""

from __future__ import annotations

from .format import Format, Way
from .listed import BESIDE, LABELS

# One of these is a list in parallel arrays.
_LISTED = " ".join(f"%s{key}[]" for key in LABELS + BESIDE)


FORMAT = Format(
    "parallel arrays",
    'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
    'Grounding DINO, MMDetection `preds/*.json`), as `{"id": {...}}` or a folder with one JSON '
    "file per image",
    ".6",
    '`"asked": [...]` beside them says what was looked for; labels that are numbers need the '
    "model's class names, counted from 0: `--categories` with one name per line, or Hugging Face's "
    "`config.json`; *a dog* becomes *dog*",
    (  # an image's detections come in several shapes, which `.listed` reads side by side
        Way(
            "object",
            (" ".join(LABELS), " ".join(BESIDE), _LISTED.replace("%s", "")),
            "the detections in one image as parallel arrays, and nothing says which image; give "
            "the folder with one such file per image, or {image id: detections}.",
        ),
        Way(
            "object",
            (_LISTED.replace("%s", "predictions[]."),),
            "what MMDetection's DetInferencer returns, where nothing says which image each "
            "prediction is of; give the folder preds/ that it writes, or {image id: prediction}.",
        ),
        Way(
            "list",
            (_LISTED.replace("%s", "[]."),),
            "a list of detections as parallel arrays (Hugging Face's post_process_... or "
            "torchvision), where nothing says which image each is of; write {image id: "
            "detections}.",
        ),
    ),
)
