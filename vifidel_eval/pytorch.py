"""PyTorch, which only the extras install: loaded when first used, files read without code."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import MetricUnavailable


def load_torch(what: str, extra: str) -> ModuleType:
    """Return the module ``torch``.

    Parameters
    ----------
    what : str
        What needs it, as the error calls it: ``"the language model"``.
    extra : str
        The extra of this package that installs it.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed or cannot be loaded.
    """
    try:
        return importlib.import_module("torch")
    except (ImportError, OSError) as problem:  # OSError: a library that PyTorch needs is missing
        raise MetricUnavailable(
            f"{what} needs PyTorch ({problem}): pip install 'vifidel-eval[{extra}]'."
        ) from None
