"""PyTorch, which only the extras install: loaded when first used, files read without code."""

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


def load_torch(what: str) -> ModuleType:
    """Return the module ``torch``; `what` needs it, as in `load_libraries`."""
    return load_libraries(what, {"PyTorch": "torch"})[0]


def load_libraries(what: str, libraries: Mapping[str, str]) -> list[ModuleType]:
    """Return modules of libraries that only an extra installs.

    Parameters
    ----------
    what : str
        What needs them, as the error calls it: ``"the language model"``.
    libraries : mapping
        A library's name to its module, which begins with the name of its package.

    Raises
    ------
    MetricUnavailable
        If one is not installed or cannot be loaded; all of these are named.
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


def find_device(torch: ModuleType, name: str | None, double: bool = False) -> Any:
    """Return the device to compute on, the processor where none is named.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    name : str, optional
        As PyTorch calls it: ``"cpu"``, ``"cuda"``, ``"cuda:1"``.
    double : bool
        Whether it must compute in double precision (Apple's cannot).

    Raises
    ------
    VifidelError
        If there is no such device here.
    """
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
    torch: ModuleType,
    path: str | os.PathLike[str],
    what: str,
    remedy: str,
    safe: Sequence[type] = (),
) -> tuple[Any, str]:
    """Return what a file of ``torch.save`` holds, on the processor; no code in it can run.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    path : path
        In PyTorch's present (zip) or earlier container.
    what : str
        What the file should be, as the error calls it: ``"SCAN checkpoint"``.
    remedy : str
        What the error advises: ``"get a fresh copy"``.
    safe : sequence of type
        Harmless classes beside tensors and plain containers whose objects it may hold.

    Returns
    -------
    content : object
    digest : str
        SHA-256 of the file, hexadecimal.

    Raises
    ------
    VifidelError
        If the file cannot be read, is damaged, or was not written by ``torch.save``.
    """
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
                        content = torch.load(file, map_location="cpu", weights_only=True)
            except Exception:  # PyTorch raises nearly anything for foreign files
                raise VifidelError(f"{path}: not a {what}, or damaged; {remedy}.") from None
    except VifidelError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None
    if damaged is not None:
        raise VifidelError(f"{path}: the file is damaged; {remedy}.")
    return content, digest


def check_weights(
    torch: ModuleType, weights: Any, shapes: Mapping[str, tuple[int, ...]], where: str, remedy: str
) -> None:
    """Check that a state dict holds all that a network needs, so that nothing stays random.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    weights : mapping
        Name to tensor; names that `shapes` does not have are ignored.
    shapes : mapping
        Name to the shape that the network needs.
    where, remedy : str
        The file, and what the error advises.

    Raises
    ------
    VifidelError
        If a tensor is missing, has another shape, or holds something other than finite numbers.
    """
    missing = [name for name in shapes if name not in weights]
    if missing:
        raise VifidelError(
            f"{where}: {len(missing)} of {len(shapes)} weights are missing, such as {missing[0]}; "
            f"{remedy}."
        )
    for name, shape in shapes.items():
        weight = weights[name]
        if (
            not isinstance(weight, torch.Tensor)
            or weight.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
            or weight.layout != torch.strided
            or weight.is_meta
        ):
            raise VifidelError(f"{where}: {name} is not a tensor of numbers; {remedy}.")
        if tuple(weight.shape) != shape:
            raise VifidelError(
                f"{where}: {name} has shape {tuple(weight.shape)}, expected {shape}; {remedy}."
            )
        if not bool(torch.isfinite(weight).all()):
            raise VifidelError(f"{where}: {name} holds numbers that are not finite; {remedy}.")


def length_sorted(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the places of sequences in batches of similar length, short ones first.

    Parameters
    ----------
    lengths : sequence of int
        Tokens of each sequence.
    most : int
        How many tokens a batch may have, padding included; a longer sequence is a batch alone.
    """
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        # The new sequence is the longest: so many tokens, padding included, the batch would have.
        if batch and (len(batch) + 1) * lengths[at] > most:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
