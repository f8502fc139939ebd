"""The progress bar of what takes long, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(total: int | None, unit: str = " captions", **settings: Any) -> tqdm[NoReturn]:
    """Return a bar: on standard error, or as a widget in a notebook.

    None appears in a file or pipe, or if the work is short.

    Parameters
    ----------
    total : int, optional
        How many units there are; None if that is not known.
    unit : str
        What is counted.
    **settings
        Further arguments of `tqdm`.
    """
    usual = {"disable": None, "delay": 1, "leave": False}
    if in_notebook():
        from tqdm.auto import tqdm

        usual["disable"] = False  # a notebook is not a terminal, and somebody looks at it
    else:
        from tqdm import tqdm
    return tqdm(total=total, unit=unit, **{**usual, **settings})


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # imported by every kernel before its first cell
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


def named_by(bar: tqdm[NoReturn]) -> Callable[[str], object]:
    """Return what names the step that a bar is at; it shows when the bar next moves."""
    return partial(bar.set_description_str, refresh=False)
