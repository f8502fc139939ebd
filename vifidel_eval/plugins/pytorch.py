"""PyTorch and other libraries that only extras install, loaded when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ..errors import MetricUnavailable, VifidelError
from ..project import pip_install


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
    """Return the device of PyTorch to compute on, the processor where none is named.

    A device must compute in single precision, or in `double` (Apple's cannot); if there is no such
    device here, that is a `VifidelError`.
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
