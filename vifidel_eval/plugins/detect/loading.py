"""Loading of detectors: a folder of transformers, a model on this machine by its id, or ONNX."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ...errors import VifidelError
from ...io.files import first_line, open_file, read_json, sha256_of
from ...io.options import named_if_wrong
from ...project import pip_install
from ..pytorch import find_device, load_libraries
from .detectors import HARMLESS, Detector, ModelFiles
from .onnx_detectors import OnnxDetector

#: What can run models: its name, and its packages.
BACKENDS = {"transformers": ("torch", "transformers"), "ONNX Runtime": ("onnxruntime",)}

_NEEDED_BY = "detecting objects"

_ID = re.compile(r"[a-zA-Z0-9][\w.-]*(/[\w.-]+)?")
# What is read of a model, and no other program's weights.
_READ = ["*.json", "*.safetensors", "*.txt", "*.model"]
# What a folder must have, and what to say if it has not.
_NEEDED = {
    "config.json": "config.json in this folder, so it is not a model of transformers; name another",
    "*.safetensors": ".safetensors file in this folder, and other weights are pickles, which can "
    "run any code; save the model again with transformers",
}
# How ONNX files name files of weights: `_external_data`. The group is the length of the name.
_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]{0,4}[\x00-\x7f])")
_CONFIGURATION = ("config.json", "preprocessor_config.json", "processor_config.json")


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
        return ModelFiles(path.name, path, _digest([path, *_external_data(path)]))
    if not path.is_dir():
        if path.exists() or not _ID.fullmatch(name):
            raise VifidelError(
                f"{name}: not a model; name a folder that transformers wrote, an ONNX file, or an "
                "id such as owner/model."
            )
        path = _cached(name, download, on_download)
    else:
        name = path.resolve().name
    for needed, why in _NEEDED.items():
        if not any(found.is_file() for found in path.glob(needed)):
            raise VifidelError(f"{model}: there is no {why}.")
    weights = sorted(path.glob("*.safetensors"))
    settings = [path / name for name in _CONFIGURATION if (path / name).is_file()]
    others = sorted(found for ending in _READ for found in path.glob(ending) if found.is_file())
    read = dict.fromkeys([*settings, *weights, *_shards(path), *others])
    return ModelFiles(name, path, _digest(read))


def _shards(folder: Path) -> Iterator[Path]:
    """Yield the weights that the index of a large model names, wherever they are."""
    for index in sorted(folder.glob("*.safetensors.index.json")):
        content = read_json(index, VifidelError)
        shards = content.get("weight_map") if isinstance(content, dict) else None
        if not isinstance(shards, dict) or not all(
            str(name).endswith(".safetensors") for name in shards.values()
        ):
            raise VifidelError(
                f"{index}: its weight_map is not a mapping of weights to .safetensors files; save "
                "the model again with transformers."
            )
        yield from sorted({folder / shard for shard in shards.values()})


def _cached(name: str, download: bool, on_download: Callable[[str], object] | None) -> Path:
    """Return the folder of a model in the local cache of the Hub."""
    load_libraries(_NEEDED_BY, {"transformers": "transformers"})
    import huggingface_hub
    from huggingface_hub import constants

    fetch = partial(
        huggingface_hub.snapshot_download, name, allow_patterns=_READ, ignore_patterns=["*/*"]
    )
    with contextlib.suppress(Exception):  # not there: a class of its own for every reason
        found = Path(fetch(local_files_only=True))
        if (found / "config.json").is_file() or not download:
            return found
    if not download:
        raise VifidelError(
            f"{name}: no such folder, and no such model in {constants.HF_HUB_CACHE}; add "
            f"--download to download it from {constants.ENDPOINT}."
        )
    if on_download is not None:
        on_download(f"{name}: downloaded from {constants.ENDPOINT} into {constants.HF_HUB_CACHE}.")
    try:
        return Path(fetch())
    except Exception as problem:  # of networks, permissions, licences to accept, names
        raise VifidelError(
            f"{name}: cannot be downloaded from {constants.ENDPOINT} ({first_line(problem)}); "
            "check the id, or download it yourself and name its folder."
        ) from None


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


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with open_file(path, VifidelError) as file:
            digest.update(f"{path.suffix}:{sha256_of(file)}\n".encode())
    return digest.hexdigest()[:16]


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

    place = find_device(device)
    try:
        config = transformers.AutoConfig.from_pretrained(files.path, **HARMLESS)
    except Exception as problem:  # a broken file, or a type of model that is not known
        raise VifidelError(
            f"{files.path}: its config.json cannot be read by transformers "
            f"{transformers.__version__} ({first_line(problem)})."
        ) from None
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
