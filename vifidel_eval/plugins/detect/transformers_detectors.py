"""Detectors of transformers: which class reads which model, and the closed ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...errors import VifidelError
from ...io.files import first_line
from ..pytorch import find_device, load_libraries
from .detectors import Detector, Found, Prepared
from .model_files import NEEDED_BY, ModelFiles
from .transformers_asked import GroundingDino, Owl, Sam3
from .transformers_models import HARMLESS, TransformersDetector, floats

# What DETR and its like call what is no class.
_NO_CLASSES = frozenset({"N/A", "no-object", "background", ""})
# What transformers calls classes that a configuration does not name.
_UNNAMED = re.compile(r"LABEL_\d+")

_OWL = ("owlvit", "owlv2")
_GROUNDING = ("grounding-dino", "mm-grounding-dino")
# The published files of SAM 3 hold a tracker for videos too.
_SAM = ("sam3", "sam3_video")


def load_transformers(files: ModelFiles, device: str | None) -> Detector:
    """Return the detector in a folder of transformers; see `loading.load_detector`."""
    torch, transformers = load_libraries(
        NEEDED_BY, {"PyTorch": "torch", "transformers": "transformers"}
    )
    place = find_device(torch, device)
    try:
        config = transformers.AutoConfig.from_pretrained(files.path, **HARMLESS)
    except Exception as problem:  # a broken file, or a type of model that is not known
        raise VifidelError(
            f"{files.path}: its config.json cannot be read by transformers "
            f"{transformers.__version__} ({first_line(problem)})."
        ) from None
    kinds: dict[str, tuple[type[Owl | GroundingDino | Sam3], str]] = {
        **dict.fromkeys(_OWL, (Owl, "AutoModelForZeroShotObjectDetection")),
        **dict.fromkeys(_GROUNDING, (GroundingDino, "AutoModelForZeroShotObjectDetection")),
        **dict.fromkeys(_SAM, (Sam3, "Sam3Model")),
    }
    if type(config) in transformers.MODEL_FOR_OBJECT_DETECTION_MAPPING:
        return _Closed(files, torch, transformers, "AutoModelForObjectDetection", place)
    if config.model_type not in kinds:
        raise VifidelError(
            f"{files.path}: a model of type {config.model_type!r} is no detector that can be used; "
            "name one of transformers' models for object detection, OWL, Grounding DINO or SAM 3."
        )
    kind, loader = kinds[config.model_type]
    return kind(files, torch, transformers, loader, place)


class _Closed(TransformersDetector):
    """A model for object detection: it looks for its own classes in every picture."""

    def __init__(self, files: ModelFiles, *others: Any) -> None:
        super().__init__(files, *others)
        if not hasattr(self._images, "post_process_object_detection"):
            raise VifidelError(
                f"{files.path}: a model of type {self._model.config.model_type!r} finds text or "
                "layout, not objects; name another."
            )
        self._names = {int(at): name for at, name in self._model.config.id2label.items()}
        names = dict.fromkeys(name for _, name in sorted(self._names.items()))
        if not all(isinstance(name, str) for name in names):
            raise VifidelError(
                f"{files.path}: the id2label of its config.json has a class without a name; give "
                "each class a text."
            )
        if all(map(_UNNAMED.fullmatch, names)):
            raise VifidelError(
                f"{files.path}: its config.json has no class names; add them as id2label."
            )
        self.classes = tuple(name for name in names if name not in _NO_CLASSES)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        with self._torch.inference_mode():
            outputs = self._model(**self._together(pictures))
            results = self._images.post_process_object_detection(
                outputs, threshold=lowest, target_sizes=self._sizes(pictures)
            )
        return [
            Found([self._names[at] for at in found["labels"].tolist()], *floats(found))
            for found in results
        ]
