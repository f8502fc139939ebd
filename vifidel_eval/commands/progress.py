"""The progress bar of commands that take long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(total: int | None, unit: str = " captions", **settings: Any) -> tqdm[NoReturn]:
    """Return a bar on standard error; none appears in a file or pipe, or if the work is short.

    Parameters
    ----------
    total : int, optional
        How many units there are; None if that is not known.
    unit : str
        What is counted.
    **settings
        Further arguments of `tqdm`.
    """
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, **{"disable": None, "delay": 1, "leave": False, **settings})


def named_by(bar: tqdm[NoReturn]) -> Callable[[str], object]:
    """Return what names the step that a bar is at; it shows when the bar next moves."""
    return partial(bar.set_description_str, refresh=False)
