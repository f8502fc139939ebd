"""Loading of detectors: a folder of transformers, a model on this machine by its id, or ONNX.

An ONNX file holds its class names, as Ultralytics exports it: its metadata has ``names``; ``imgsz``
says the size where the graph leaves it open. The output is (1, 4 + classes, boxes), each box as
centre, width and height in pixels of the square input and a score per class, or (1, boxes, 6), each
as left, top, right, bottom, score and class.
"""

from __future__ import annotations

import ast
import contextlib
import mmap
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...doors.arguments import name_wrong_argument
from ...errors import VifidelError
from ...io.files import first_line, open_file
from ...project import pip_install
from ..pytorch import (
    ModelFiles,
    checked_side,
    digest_of,
    find_device,
    find_files,
    load_libraries,
    read_config,
)
from .detectors import Detector, Found, Prepared, exact

if TYPE_CHECKING:
    from PIL import Image


#: What can run models: its name, and its packages.
BACKENDS = {"transformers": ("torch", "transformers"), "ONNX Runtime": ("onnxruntime",)}

_NEEDED_BY = "detecting objects"

# {key: "location", value: NAME} in Protobuf's encoding: how ONNX files name files of weights. The
# group is the length of the name.
_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]{0,4}[\x00-\x7f])")

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
# What surrounds a picture that is not square, and the usual side, both as Ultralytics has them.
_GREY, _SIDE = 114, 640
# Characters of metadata: the names of 20 000 classes have fewer.
_LONGEST = 1 << 20
_ELEMENTS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@name_wrong_argument
def find_model(
    model: str | os.PathLike[str],
    download: bool = False,
    on_download: Callable[[str], object] | None = None,
) -> ModelFiles:
    """Return the files of a model, which is downloaded only if `download` is true.

    A model is a folder that `save_pretrained` of transformers wrote, an ONNX file, or the id of one
    that is in the local cache of the Hugging Face Hub. `on_download` is called before a download,
    with a sentence that says what is downloaded and from where. If there is no such model here, its
    weights are pickles, or the download fails, that is a `VifidelError`.
    """
    name = os.fspath(model)
    path = Path(name)
    if path.suffix.lower() == ".onnx":
        return ModelFiles(path.name, path, digest_of([path, *_external_data(path)]))
    kinds = "a folder that transformers wrote, an ONNX file,"
    return find_files(name, _NEEDED_BY, kinds, download, on_download)


def _external_data(path: Path) -> list[Path]:
    """Return the files that keep weights of an ONNX file, as its tensors name them."""
    names = set()
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(open_file(path, VifidelError))
        if not os.fstat(file.fileno()).st_size:  # an empty file cannot be mapped
            return []
        content = opened.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        for location in _LOCATION.finditer(content):
            length = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(location[1]))
            names.add(content[location.end() : location.end() + length])
    paths = sorted(os.path.join(path.parent, os.fsdecode(name)) for name in names)
    return [Path(name) for name in paths if os.path.exists(name) and not os.path.isdir(name)]


@name_wrong_argument
def load_detector(files: ModelFiles, device: str | None = None) -> Detector:
    """Return the detector in a model's files.

    The device is a name of PyTorch, by default the CPU; for ONNX, it is ``"cpu"`` or ``"cuda"``. A
    model that is not a detector, is damaged, or cannot run there is a `VifidelError`; a missing
    library is a `MetricUnavailable`.
    """
    if files.path.suffix.lower() == ".onnx":
        return OnnxDetector(files, device)
    libraries = {"PyTorch": "torch", "transformers": "transformers"}
    _, transformers = load_libraries(_NEEDED_BY, libraries)
    from .transformers_detectors import Closed, GroundingDino, Owl, Sam3

    place, config = find_device(device), read_config(files)
    if type(config) in transformers.MODEL_FOR_OBJECT_DETECTION_MAPPING:
        return Closed(files, place)
    for kind in (Owl, GroundingDino, Sam3):
        if config.model_type in kind.types:
            return kind(files, place)
    raise VifidelError(
        f"{files.path}: a model of type {config.model_type!r} is not a detector that can be "
        "used; name one of transformers' models for object detection, OWL, Grounding DINO or "
        "SAM 3."
    )


def backends() -> dict[str, str]:
    """Return the version of what can run models here, or how to install it; import nothing."""
    state = {}
    for name, packages in BACKENDS.items():
        if missing := [package for package in packages if find_spec(package) is None]:
            state[name] = f"not available: {pip_install(*missing)}"
        else:
            state[name] = f"available, {version(packages[-1])}"
    return state


class OnnxDetector(Detector):
    """A closed detector in an ONNX file."""

    batch = 1

    def __init__(self, files: ModelFiles, device: str | None) -> None:
        (runtime,) = load_libraries("an ONNX model", {"ONNX Runtime": "onnxruntime"})
        self.files = files
        provider = _PROVIDERS.get(device or "cpu")
        if provider not in runtime.get_available_providers():
            raise VifidelError(
                f"ONNX Runtime cannot compute on device {device!r} here; name cpu"
                + (" or cuda." if _PROVIDERS["cuda"] in runtime.get_available_providers() else ".")
            )
        try:
            self._session = runtime.InferenceSession(str(files.path), providers=[provider])
            settings = dict(self._session.get_modelmeta().custom_metadata_map)
            self._names = _names(settings)
            if settings.get("task", "detect") != "detect":
                raise ValueError(f"its task is {settings['task']!r:.40}, not 'detect'")
            self.classes: tuple[str, ...] | None = tuple(dict.fromkeys(self._names.values()))
            first, *further_inputs = self._session.get_inputs()
            shape, self._input, element = first.shape, first.name, _ELEMENTS.get(first.type)
            # A length that the graph leaves open has a name, or None.
            sides = {length for length in shape[2:] if isinstance(length, int)}
            is_open = len(shape) == 4 and not isinstance(shape[1], int)
            fits = len(shape) == 4 and len(sides) < 2 and (is_open or shape[1] == 3)
            if further_inputs or not fits or element is None:
                raise ValueError(
                    f"its input is {first.type} of shape {shape}; expected one of square pictures, "
                    "(1, 3, side, side)"
                )
            allowed = sides or _literal(settings.get("imgsz", str(_SIDE)))
            allowed = allowed if isinstance(allowed, list | tuple | set) else [allowed]
            self._element = element
            self.enough = max(checked_side(side, files) for side in allowed or [None])
            # Run once, so that a file of another layout is refused before any picture.
            blank: NDArray[Any] = np.zeros((1, 3, self.enough, self.enough), self._element)
            self._rows(self._session.run(None, {self._input: blank})[0])
        except VifidelError:
            raise
        except Exception as problem:  # the library has a class of its own for every reason
            raise VifidelError(
                f"{files.path}: not an ONNX file of a detector that can run "
                f"({first_line(problem)}); export it again, or name another."
            ) from None

    def versions(self) -> dict[str, str]:
        return {package: version(package) for package in ("onnxruntime", "pillow")}

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        from PIL import Image

        width, height, left, top = self._place(size)
        square = Image.new("RGB", (self.enough, self.enough), (_GREY, _GREY, _GREY))
        square.paste(picture.resize((width, height), Image.Resampling.BILINEAR), (left, top))
        pixels = np.asarray(square, np.float32).transpose(2, 0, 1)[np.newaxis] / 255
        return Prepared({self._input: np.ascontiguousarray(pixels, self._element)}, size)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        detections = []
        for picture in pictures:
            (output, *_) = self._session.run(None, dict(picture.inputs))
            boxes, scores, labels = self._rows(output)
            chosen = np.flatnonzero(scores > lowest)
            full = np.array([*picture.size] * 2)
            width, height, left, top = self._place(picture.size)
            placed = (boxes[chosen] - [left, top] * 2) * (full / ([width, height] * 2))
            inside = np.clip(placed, 0, full).astype(np.float32)
            names = [self._names[at] for at in labels[chosen].tolist()]
            boxes_in_full = [tuple(map(exact, box)) for box in inside]
            detections.append(Found(names, list(map(exact, scores[chosen])), boxes_in_full))
        return detections

    def _place(self, size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Return a picture's width and height in the square, and the margins left and above."""
        scale = self.enough / max(size)
        width, height = (max(1, round(length * scale)) for length in size)
        return width, height, (self.enough - width) // 2, (self.enough - height) // 2

    def _rows(
        self, output: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Return boxes (left, top, right, bottom in the square), scores and classes."""
        shape: tuple[int, ...] = getattr(output, "shape", ())
        is_one = len(shape) == 3 and shape[0] == 1
        if is_one and shape[1] == 4 + len(self._names):
            rows = output[0].T.astype(np.float32)
            half = rows[:, 2:4] / 2
            boxes = np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
            scores, labels = rows[:, 4:].max(1), rows[:, 4:].argmax(1)
        elif is_one and shape[2] == 6:
            rows = output[0].astype(np.float32)
            rows = rows[rows[:, 4] > 0]  # the rest is filled with zeros
            boxes, scores = rows[:, :4], rows[:, 4]
            with np.errstate(invalid="ignore"):  # NaN is no class
                labels = rows[:, 5].astype(np.int64)
        else:
            raise ValueError(
                f"its output has the shape {tuple(shape)}; expected (1, {4 + len(self._names)}, "
                f"boxes) for its {len(self._names)} classes, or (1, boxes, 6)"
            )
        if unknown := set(labels.tolist()) - self._names.keys():
            raise ValueError(f"it found class {min(unknown)}, which has no name")
        return boxes, scores, labels


def _names(settings: Mapping[str, str]) -> dict[int, str]:
    names = _literal(settings.get("names", ""))
    if isinstance(names, list):
        names = dict(enumerate(names))
    with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
        by_number = {int(at): name for at, name in names.items()}
        if by_number and all(isinstance(name, str) and name.strip() for name in by_number.values()):
            return by_number
    raise ValueError(
        "its metadata have no class names: add 'names', a mapping of numbers to names, as "
        "Ultralytics writes it"
    )


def _literal(text: str) -> Any:
    """Return the value of a literal of Python; None if it is none, or longer than any metadata."""
    with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return ast.literal_eval(text) if len(text) <= _LONGEST else None
    return None
