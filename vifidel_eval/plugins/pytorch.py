"""PyTorch, which only extras install: loaded when first used, weights read without running code."""

from __future__ import annotations

import importlib
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import MetricUnavailable, VifidelError
from ..io.files import open_file, sha256_of
from ..project import pip_install

if TYPE_CHECKING:
    from typing_extensions import Self


class MadeAgain:
    """A scorer, of files, that pickles and is copied as the arguments of its constructor."""

    _made_from: partial[Any]

    def __new__(cls, *arguments: Any, **settings: Any) -> Self:
        scorer = super().__new__(cls)
        scorer._made_from = partial(cls, *arguments, **settings)
        return scorer

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made_from, ()


def load_libraries(what: str, libraries: Mapping[str, str]) -> list[ModuleType]:
    """Return the modules of libraries (name to module) that only an extra installs.

    A `MetricUnavailable` says `what` needs them, and names all that cannot be loaded.
    """
    modules, lacking, packages = [], [], []
    for name, module in libraries.items():
        try:
            modules.append(importlib.import_module(module))
        except (ImportError, OSError) as problem:  # OSError: a library that it needs is missing
            lacking.append(f"{name} ({problem})")
            packages.append(module.partition(".")[0])
    if lacking:
        raise MetricUnavailable(f"{what} needs {' and '.join(lacking)}: {pip_install(*packages)}.")
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
    path: str | os.PathLike[str], what: str, remedy: str, safe: Sequence[type] = ()
) -> tuple[Any, str]:
    """Return what a file of ``torch.save`` holds, on the processor, and its SHA-256.

    No code in it can run: it may hold tensors, plain containers, and objects of the classes `safe`.
    """
    import torch

    with open_file(path, VifidelError) as file:
        digest = sha256_of(file)
        file.seek(0)
        try:
            if zipfile.is_zipfile(file):  # PyTorch itself does not look at the checksums
                with zipfile.ZipFile(file) as archive:
                    if archive.testzip() is not None:
                        raise ValueError
            file.seek(0)
            with torch.serialization.safe_globals(list(safe)):
                return torch.load(file, map_location="cpu", weights_only=True), digest
        except Exception:  # PyTorch raises nearly anything for foreign files
            raise VifidelError(f"{path}: not a {what}, or damaged; {remedy}.") from None


def load_weights(
    network: Any, weights: Mapping[Any, Any], where: str, remedy: str, device: Any, kind: Any
) -> Any:
    """Fill a network, which is on PyTorch's device "meta" until then; ignore other weights."""
    import torch

    shapes = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    for name, shape in sorted(shapes.items(), key=lambda own: own[0] in weights):  # missing first
        weight = weights.get(name)
        if name not in weights:
            missing = len(shapes.keys() - weights.keys())
            problem = f"{missing} of {len(shapes)} weights are missing, such as {name}"
        elif not isinstance(weight, torch.Tensor) or not weight.is_floating_point():
            problem = f"{name} is not a tensor of numbers"
        elif tuple(weight.shape) != shape:
            problem = f"{name} has shape {tuple(weight.shape)}, expected {shape}"
        elif not bool(torch.isfinite(weight).all()):
            problem = f"{name} holds numbers that are not finite"
        else:
            continue
        raise VifidelError(f"{where}: {problem}; {remedy}.")
    own = {name: weights[name].to(device, kind) for name in shapes}
    network.load_state_dict(own, assign=True)
    return network


def length_sorted(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield places of sequences in batches of so many tokens with padding, short ones first."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        # The new sequence is the longest: so many tokens, padding included, the batch would have.
        if batch and (len(batch) + 1) * lengths[at] > most:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
