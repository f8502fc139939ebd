"""The progress bar of what takes long, in terminals and notebooks."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(
    total: int | None, unit: str = " captions", shown: bool | None = None, **settings: Any
) -> tqdm[NoReturn]:
    """Return a bar of `total` units, if that is known: on standard error, or a notebook's widget.

    None appears in a file or pipe, or if the work is short; `shown` says that it appears at once,
    or not at all, wherever that is.
    """
    notebook = in_notebook()
    # A notebook is not a terminal, and somebody looks at it.
    absent = sys.stderr is None or sys.stderr.closed
    usual = {"disable": False if notebook else absent or None, "delay": 1, "leave": False}
    if shown is not None:
        usual |= {"disable": not shown, "delay": 0}
    with warnings.catch_warnings():
        # A notebook without ipywidgets gets a bar of characters, which is no cause for a warning.
        warnings.filterwarnings("ignore", message="IProgress not found")
        bar = importlib.import_module("tqdm.auto" if notebook else "tqdm").tqdm
        return cast("tqdm[NoReturn]", bar(total=total, unit=unit, **{**usual, **settings}))


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # imported by every kernel before its first cell
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


def named_by(bar: tqdm[NoReturn]) -> Callable[[str], object]:
    """Return what names the step that a bar is at; it shows when the bar next moves."""
    return partial(bar.set_description_str, refresh=False)
