"""PyTorch and models of transformers: loaded when first used, weights read without running code."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..doors.arguments import is_whole
from ..errors import MetricUnavailable, VifidelError
from ..io.files import first_line, open_file, read_json, sha256_of
from ..project import pip_install

if TYPE_CHECKING:
    from typing_extensions import Self

#: For transformers: nothing is fetched, and no code that lies beside the weights is run.
HARMLESS = {"local_files_only": True, "trust_remote_code": False}

_ID = re.compile(r"[a-zA-Z0-9][\w.-]*(/[\w.-]+)?")
# What is read of a model, and no other program's weights.
_READ = ["*.json", "*.safetensors", "*.txt", "*.model"]
# The files that a folder must have, and the errors if one is missing.
_NEEDED = {
    "config.json": "config.json in this folder, so it is not a model of transformers; name another",
    "*.safetensors": ".safetensors file in this folder, and other weights are pickles, which can "
    "run any code; save the model again with transformers",
}
# Any of these sets of files is a tokenizer; without one, transformers makes an empty tokenizer.
_TOKENIZERS = (["tokenizer.json"], ["vocab.json", "merges.txt"], ["vocab.txt"], ["*.model"])
# Twice what any detector reads.
_LONGEST_SIDE = 1 << 13
_FILTERS = 6  # of Pillow, by which pictures are resized, from 0
# What a processor does to every picture, unless its class does not.
_STEPS = ("do_resize", "do_rescale", "do_normalize")
_CONFIGURATION = ("config.json", "preprocessor_config.json", "processor_config.json")


class PickledArguments:
    """A scorer that pickles and is copied as the arguments of its constructor."""

    _construction: partial[Any]

    def __new__(cls, *arguments: Any, **settings: Any) -> Self:
        scorer = super().__new__(cls)
        scorer._construction = partial(cls, *arguments, **settings)
        return scorer

    def __reduce__(self) -> tuple[Any, ...]:
        return self._construction, ()


def load_libraries(purpose: str, libraries: Mapping[str, str]) -> list[ModuleType]:
    """Return the modules of libraries (name to module) that only an extra installs.

    A `MetricUnavailable` says `purpose` needs them, and names all that cannot be loaded.
    """
    modules, lacking, packages = [], [], []
    for name, module in libraries.items():
        try:
            modules.append(importlib.import_module(module))
        except (ImportError, OSError) as problem:  # OSError: a library that it needs is missing
            lacking.append(f"{name} ({problem})")
            packages.append(module.partition(".")[0])
    if lacking:
        raise MetricUnavailable(
            f"{purpose} needs {' and '.join(lacking)}: {pip_install(*packages)}."
        )
    return modules


def find_device(name: str | None, double: bool = False) -> Any:
    """Return PyTorch's device, by default the processor, after a try in single or double."""
    import torch

    try:
        device = torch.device("cpu" if name is None else name)
        dtype = torch.float64 if double else torch.float32
        torch.ones(1, dtype=dtype, device=device).sum().item()
    except Exception as problem:  # PyTorch raises nearly anything here, an AssertionError too
        why = str(problem).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
        raise VifidelError(
            f"PyTorch cannot compute on device {name!r} here ({why}); name another, such as cpu or "
            "cuda."
        ) from None
    return device


def read_checkpoint(
    path: str | os.PathLike[str], kind: str, remedy: str, safe: Sequence[type] = ()
) -> tuple[Any, str]:
    """Return what a file of ``torch.save`` holds, on the processor, and its SHA-256.

    No code in it can run: it may hold tensors, plain containers, and objects of the classes `safe`.
    """
    import torch

    with open_file(path, VifidelError) as file:
        digest = sha256_of(file)
        try:
            if zipfile.is_zipfile(file):  # PyTorch itself does not look at the checksums
                with zipfile.ZipFile(file) as archive:
                    if archive.testzip() is not None:
                        raise ValueError
            file.seek(0)
            with torch.serialization.safe_globals(list(safe)):
                return torch.load(file, map_location="cpu", weights_only=True), digest
        except Exception:  # PyTorch raises nearly anything for foreign files
            raise VifidelError(f"{path}: not a {kind}, or damaged; {remedy}.") from None


def load_weights(
    network: Any, weights: Mapping[Any, Any], where: str, remedy: str, device: Any, kind: Any
) -> Any:
    """Fill a network, which is on PyTorch's device "meta" until then; ignore other weights."""
    import torch

    shapes = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    for name in sorted(shapes, key=weights.__contains__):  # missing first
        weight = weights.get(name)
        if name not in weights:
            missing = len(shapes.keys() - weights.keys())
            problem = f"{missing} of {len(shapes)} weights are missing, such as {name}"
        elif not isinstance(weight, torch.Tensor) or not weight.is_floating_point():
            problem = f"{name} is not a tensor of numbers"
        elif tuple(weight.shape) != shapes[name]:
            problem = f"{name} has shape {tuple(weight.shape)}, expected {shapes[name]}"
        elif not bool(torch.isfinite(weight).all()):
            problem = f"{name} holds numbers that are not finite"
        else:
            continue
        raise VifidelError(f"{where}: {problem}; {remedy}.")
    of_network = {name: weights[name].to(device, kind) for name in shapes}
    network.load_state_dict(of_network, assign=True)
    return network


def length_sorted(lengths: Sequence[int], largest: int) -> Iterator[list[int]]:
    """Yield places of sequences in batches of so many tokens with padding, short ones first."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        # The new sequence is the longest: so many tokens, padding included, the batch would have.
        if batch and (len(batch) + 1) * lengths[at] > largest:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


@dataclass(frozen=True)
class ModelFiles:
    """A model's files on this machine."""

    #: Its id, or the name of its folder or file.
    name: str
    #: A folder with ``config.json``, or an ONNX file.
    path: Path
    #: Sixteen hexadecimal digits that pin all files that the model reads.
    digest: str


def find_files(
    model: str,
    needed_by: str,
    accepted: str = "a folder that transformers wrote,",
    download: bool = False,
    on_download: Callable[[str], object] | None = None,
) -> ModelFiles:
    """Return the files of a model of transformers: a folder, or an id in the Hub's local cache.

    None is fetched unless `download` says so. Errors say what is `accepted`, and that `needed_by`
    needs transformers.
    """
    path, name = Path(model), model
    if os.path.isdir(model):  # unlike Path's methods, for names of any length
        name = path.resolve().name
    elif os.path.exists(model) or not _ID.fullmatch(model):
        raise VifidelError(f"{model}: not a model; name {accepted} or an id such as owner/model.")
    else:
        path = _cached(model, needed_by, download, on_download)
    for needed, why in _NEEDED.items():
        if not any(found.is_file() for found in path.glob(needed)):
            raise VifidelError(f"{model}: there is no {why}.")
    weights = sorted(path.glob("*.safetensors"))
    settings = [path / name for name in _CONFIGURATION if (path / name).is_file()]
    rest = sorted(found for ending in _READ for found in path.glob(ending) if found.is_file())
    names = dict.fromkeys([*settings, *weights, *_shards(path), *rest])
    return ModelFiles(name, path, digest_of(names))


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


def _cached(
    name: str, needed_by: str, download: bool, on_download: Callable[[str], object] | None
) -> Path:
    """Return the folder of a model in the local cache of the Hub."""
    load_libraries(needed_by, {"transformers": "transformers"})
    import huggingface_hub
    from huggingface_hub import constants

    fetch = partial(
        huggingface_hub.snapshot_download, name, allow_patterns=_READ, ignore_patterns=["*/*"]
    )
    with contextlib.suppress(Exception):  # not there: a class of its own for every reason
        folder = Path(fetch(local_files_only=True))
        if (folder / "config.json").is_file() or not download:
            return folder
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


def digest_of(files: Iterable[Path]) -> str:
    """Return sixteen hexadecimal digits that pin the contents of files."""
    digest = hashlib.sha256()
    for path in files:
        with open_file(path, VifidelError) as file:
            digest.update(f"{path.suffix}:{sha256_of(file)}\n".encode())
    return digest.hexdigest()[:16]


def read_config(files: ModelFiles) -> Any:
    """Return what the ``config.json`` of a model's folder says, as transformers reads it."""
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(files.path, **HARMLESS)
        if wrong := next(_impossible(config.to_dict()), None):
            raise ValueError(f"{wrong} cannot be")
        return config
    except Exception as problem:  # a broken file, or a type of model that is not known
        raise VifidelError(
            f"{files.path}: its config.json cannot be read by transformers "
            f"{transformers.__version__} ({first_line(problem):.200})."
        ) from None


def _impossible(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings of a model that no model has, such as a size below 0."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in _impossible(value))
        elif isinstance(value, int | float) and (
            not math.isfinite(value)
            or (value < 0 and name.endswith(("_size", "_heads", "_layers", "_dim", "_model")))
            or (name.endswith("_eps") and not 0 < value < 1)
            or (name == "rescale_factor" and not 0 < value <= 1)
        ):
            yield f"{name} {value!r:.40}"


def load_images(files: ModelFiles, loader: str = "AutoImageProcessor") -> Any:
    """Return what makes of pictures what a model reads, by a class of transformers."""
    import transformers
    from PIL import Image

    settings = {"backend": "pil"} if loader.startswith("Auto") else {}
    images = from_folder(files, "image processor", getattr(transformers, loader), **settings)
    for sizes in map(dict, (images.size or {}, getattr(images, "crop_size", None) or {})):
        for side in sizes.values():
            if side is not None:
                checked_side(side, files)
    try:  # settings of other kinds are read, and fail later
        for step in _STEPS:
            if getattr(type(images), step, False) and not getattr(images, step):
                raise ValueError(f"{step} is off")
        images(images=[Image.new("RGB", (32, 32))], return_tensors="pt")
        if wrong := next(_impossible({"rescale_factor": images.rescale_factor}), None):
            raise ValueError(f"{wrong} cannot be")
        if images.do_resize and images.resample not in range(_FILTERS):
            raise ValueError(f"resample {images.resample!r:.40} cannot be")
    except Exception as problem:
        raise VifidelError(
            f"{files.path}: its image processor fails ({first_line(problem):.200}); get a fresh "
            "copy."
        ) from None
    return images


def checked_side(side: Any, files: ModelFiles) -> int:
    """Return the side of the pictures that a model reads, as its files say it, if it can be."""
    if is_whole(side, 1, _LONGEST_SIDE):
        return int(side)
    raise VifidelError(
        f"{files.path}: it declares pictures of {side!r:.40} pixels; the side must be a whole "
        f"number from 1 to {_LONGEST_SIDE}: get a fresh copy, or save it again."
    )


def from_folder(files: ModelFiles, part: str, loader: Any, **settings: Any) -> Any:
    """Return what a class of transformers loads; an error calls it `part`."""
    try:
        return loader.from_pretrained(files.path, **HARMLESS, **settings)
    except Exception as problem:  # the library raises nearly anything
        raise VifidelError(
            f"{files.path}: its {part} cannot be loaded ({first_line(problem):.200}); save the "
            "model again with its processor, or name another."
        ) from None


def load_tokenizer(files: ModelFiles, vocabulary: int, pads: bool = False) -> Any:
    """Return the tokenizer of a model that knows so many tokens, and whether it pads."""
    import transformers

    settings = (files.path / "tokenizer_config.json").is_file()
    has_files = (all(any(files.path.glob(name)) for name in names) for names in _TOKENIZERS)
    if not settings or not any(has_files):
        raise VifidelError(
            f"{files.path}: there is no tokenizer in this folder (tokenizer_config.json, with "
            "tokenizer.json, or with vocab.json and merges.txt); save the model again with its "
            "processor, or name another."
        )
    tokenizer = from_folder(files, "tokenizer", transformers.AutoTokenizer)
    try:
        tokenizer(["a", "a b"], padding=pads, verbose=False)
    except Exception as problem:  # settings of other kinds are read, and fail later
        raise VifidelError(
            f"{files.path}: its tokenizer fails ({first_line(problem):.200}); get a fresh copy."
        ) from None
    if len(tokenizer) > vocabulary:
        raise VifidelError(
            f"{files.path}: its tokenizer has {len(tokenizer)} tokens, and the model knows "
            f"{vocabulary}; save the model again with its own processor, or name another."
        )
    return tokenizer


def load_model(files: ModelFiles, loader: str, trained_to: str) -> Any:
    """Return a model with all its weights, as the class `loader` of transformers reads it."""
    import transformers

    logging: Any = transformers.utils.logging
    with contextlib.ExitStack() as restored:
        restored.callback(logging.set_verbosity, logging.get_verbosity())
        if logging.is_progress_bar_enabled():
            restored.callback(logging.enable_progress_bar)
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        model, report = from_folder(
            files,
            "model",
            getattr(transformers, loader),
            use_safetensors=True,
            dtype="float32",  # as pictures are prepared; weights may be kept in half
            output_loading_info=True,
        )
    parameters = {name for name, _ in model.named_parameters()}
    absent = parameters.intersection(report["missing_keys"])
    if missing := sorted(map(str, [*absent, *report["mismatched_keys"]])):
        # transformers gives them random values
        raise VifidelError(
            f"{files.path}: {len(missing)} of the model's weights are missing or of "
            f"another shape, such as {missing[0]:.60}; get a fresh copy, or name a model that "
            f"was trained to {trained_to}."
        )
    if unused := sorted(filter(partial(_is_weight, files.path), report["unexpected_keys"])):
        raise VifidelError(
            f"{files.path}: config.json has no place for {len(unused)} of the weights, such as "
            f"{unused[0]:.60}; get a fresh copy, whose config.json belongs to its weights."
        )
    return model


def _is_weight(folder: Path, name: str) -> bool:
    """Return whether files hold numbers under a name, which counters and positions are not."""
    from safetensors import safe_open

    for path in folder.glob("*.safetensors"):
        with safe_open(path, "numpy") as held:
            if name in held.keys():  # noqa: SIM118 - not a dict
                tensor = held.get_slice(name)
                return bool(tensor.get_shape()) and "F" in tensor.get_dtype()
    return False
