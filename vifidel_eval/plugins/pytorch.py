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
from ..io.files import open_file, reason, sha256_of
from ..project import pip_install

if TYPE_CHECKING:
    from typing_extensions import Self


class MadeAgain:
    """A scorer that pickles, and is copied, as the arguments of its constructor.

    For networks, which are read from files: the constructor runs again where it is unpickled.
    """

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
    Errors say `what` it should be ("SCAN checkpoint") and the `remedy`.
    """
    import torch

    damaged = None
    try:
        with open_file(path, VifidelError) as file:
            digest = sha256_of(file)
            file.seek(0)
            try:
                if zipfile.is_zipfile(file):  # PyTorch itself does not look at the checksums
                    with zipfile.ZipFile(file) as archive:
                        damaged = archive.testzip()
                file.seek(0)
                if damaged is None:
                    with torch.serialization.safe_globals(list(safe)):
                        return torch.load(file, map_location="cpu", weights_only=True), digest
            except Exception:  # PyTorch raises nearly anything for foreign files
                raise VifidelError(f"{path}: not a {what}, or damaged; {remedy}.") from None
    except OSError as problem:
        raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None
    raise VifidelError(f"{path}: the file is damaged; {remedy}.")


def load_weights(
    network: Any, weights: Mapping[Any, Any], where: str, remedy: str, device: Any, kind: Any
) -> Any:
    """Fill a network, which is on PyTorch's device "meta" until then, and return it.

    Other weights are ignored; what is wrong with its own is an error about the file `where`.
    """
    import torch

    shapes = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    missing = [name for name in shapes if name not in weights]
    if missing:
        raise VifidelError(
            f"{where}: {len(missing)} of {len(shapes)} weights are missing, such as {missing[0]}; "
            f"{remedy}."
        )
    for name, shape in shapes.items():
        weight = weights[name]
        if not isinstance(weight, torch.Tensor) or not weight.is_floating_point():
            problem = "is not a tensor of numbers"
        elif tuple(weight.shape) != shape:
            problem = f"has shape {tuple(weight.shape)}, expected {shape}"
        elif not bool(torch.isfinite(weight).all()):
            problem = "holds numbers that are not finite"
        else:
            continue
        raise VifidelError(f"{where}: {name} {problem}; {remedy}.")
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
