"""Loading of detectors: a folder of transformers, a model on this machine by its id, or ONNX."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ...errors import VifidelError
from ...io.files import open_file
from ...io.options import named_if_wrong
from ...project import pip_install
from ..pytorch import ModelFiles, digest_of, find_device, find_files, load_libraries, read_config
from .detectors import Detector
from .onnx_detectors import OnnxDetector

#: What can run models: its name, and its packages.
BACKENDS = {"transformers": ("torch", "transformers"), "ONNX Runtime": ("onnxruntime",)}

_NEEDED_BY = "detecting objects"

# How ONNX files name files of weights: `_external_data`. The group is the length of the name.
_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]{0,4}[\x00-\x7f])")


@named_if_wrong
def find_model(
    model: str | os.PathLike[str],
    download: bool = False,
    on_download: Callable[[str], object] | None = None,
) -> ModelFiles:
    """Return the files of a model; none is fetched unless `download` says so.

    A model is a folder that `save_pretrained` of transformers wrote, an ONNX file, or the id of one
    that is in the local cache of the Hugging Face Hub. `on_download` is called before anything is
    fetched, with a sentence that says what comes from where. If there is no such model here, its
    weights are pickles, or fetching fails, that is a `VifidelError`.
    """
    name = os.fspath(model)
    path = Path(name)
    if path.suffix.lower() == ".onnx":
        return ModelFiles(path.name, path, digest_of([path, *_external_data(path)]))
    what = "a folder that transformers wrote, an ONNX file,"
    return find_files(name, _NEEDED_BY, what, download, on_download)


def _external_data(path: Path) -> list[Path]:
    """Return the files that keep weights of an ONNX file, as its tensors name them.

    Nothing is parsed: `_LOCATION` is ``{key: "location", value: NAME}`` in Protobuf's encoding.
    """
    names = set()
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(open_file(path, VifidelError))
        if not os.fstat(file.fileno()).st_size:  # what is empty cannot be mapped
            return []
        content = opened.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        for found in _LOCATION.finditer(content):
            length = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(found[1]))
            names.add(content[found.end() : found.end() + length])
    paths = sorted(os.path.join(path.parent, os.fsdecode(name)) for name in names)
    return [Path(found) for found in paths if os.path.exists(found) and not os.path.isdir(found)]


@named_if_wrong
def load_detector(files: ModelFiles, device: str | None = None) -> Detector:
    """Return the detector in a model's files.

    The device is as PyTorch calls it, by default the processor; for ONNX ``"cpu"`` or ``"cuda"``.
    What is no detector, damaged, or cannot run there is a `VifidelError`, a library that is not
    installed a `MetricUnavailable`.
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
