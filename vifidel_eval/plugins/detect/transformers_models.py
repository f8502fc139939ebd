"""Models of transformers: how they are loaded, and how pictures are prepared for them.

Pictures are prepared by transformers' own image processors, those of Pillow: they need no
torchvision, and an answer does not depend on whether it is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...errors import VifidelError
from ...io.files import first_line
from .detectors import Prepared, checked_side, exact, installed_versions
from .model_files import ModelFiles

if TYPE_CHECKING:
    from PIL import Image

_BATCH_ON_DEVICE = 8

#: Nothing is fetched, and no code that lies beside the weights is run.
HARMLESS = {"local_files_only": True, "trust_remote_code": False}


class TransformersDetector:
    """What all models of transformers have in common."""

    batch: int
    classes: tuple[str, ...] | None = None

    def __init__(
        self,
        files: ModelFiles,
        torch: ModuleType,
        transformers: ModuleType,
        loader: str,
        device: Any,
    ) -> None:
        self.files = files
        self._torch = torch
        self._device = device
        # Alone, a picture's digits do not depend on others; a graphics processor is worth it.
        self.batch = 1 if device.type == "cpu" else _BATCH_ON_DEVICE
        self._model = _loaded(files, transformers, loader).eval().to(device)
        self._images = self._load_images(transformers)
        self.enough = _shorter_side(self._images.size, files)

    def _load_images(self, transformers: ModuleType) -> Any:
        return from_folder(
            self.files, "image processor", transformers.AutoImageProcessor, backend="pil"
        )

    def versions(self) -> dict[str, str]:
        return installed_versions("transformers", "torch", "pillow")

    def check(self, questions: Iterable[str]) -> None:
        pass

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        inputs = self._images(images=[picture], return_tensors="pt")
        wanted = ("pixel_values", "pixel_mask")
        return Prepared({name: inputs[name] for name in wanted if name in inputs}, size)

    def _together(self, pictures: Sequence[Prepared]) -> dict[str, Any]:
        """Return the inputs of pictures of one shape as a batch on the device."""
        return {
            name: self._torch.cat([picture.inputs[name] for picture in pictures]).to(self._device)
            for name in pictures[0].inputs
        }

    def _on_device(self, texts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values.to(self._device) for name, values in texts.items()}

    def _sizes(self, pictures: Sequence[Prepared]) -> Any:
        """Return height and width of each picture, as post-processing takes them."""
        return self._torch.tensor([picture.size[::-1] for picture in pictures]).to(self._device)


def from_folder(files: ModelFiles, what: str, loader: Any, **settings: Any) -> Any:
    """Return what a class of transformers loads from a model's folder.

    Raises
    ------
    VifidelError
        If it cannot be loaded; the message calls it `what`.
    """
    try:
        return loader.from_pretrained(files.path, **HARMLESS, **settings)
    except Exception as problem:  # the library raises nearly anything
        raise VifidelError(
            f"{files.path}: its {what} cannot be loaded ({first_line(problem)}); save the model "
            "again with its processor, or name another."
        ) from None


def _loaded(files: ModelFiles, transformers: ModuleType, loader: str) -> Any:
    """Return a model with all its weights."""
    logging = transformers.utils.logging
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = from_folder(
            files,
            "model",
            getattr(transformers, loader),
            use_safetensors=True,
            dtype="float32",  # as pictures are prepared; weights may be kept in half
            output_loading_info=True,
        )
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
    parameters = {name for name, _ in model.named_parameters()}
    missing = sorted(
        map(str, [*parameters.intersection(report["missing_keys"]), *report["mismatched_keys"]])
    )
    if missing:  # transformers gives them random values
        raise VifidelError(
            f"{files.path}: {len(missing)} of the model's weights are missing or of another shape, "
            f"such as {missing[0]:.60}; get a fresh copy, or name a model that was trained to "
            "detect."
        )
    return model


def _shorter_side(size: Any, files: ModelFiles) -> int:
    """Return the shorter side that an image processor makes of a picture, in pixels."""
    sides = {
        name: checked_side(side, files)
        for name, side in dict(size or {}).items()
        if side is not None
    }
    return sides.get("shortest_edge") or checked_side(max(sides.values(), default=None), files)


def floats(found: Mapping[str, Any]) -> tuple[list[float], list[tuple[float, ...]]]:
    """Return scores and boxes of one picture, as lists."""
    scores = [exact(score) for score in found["scores"].tolist()]
    return scores, [tuple(map(exact, box)) for box in found["boxes"].tolist()]
