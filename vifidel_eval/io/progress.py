"""What is shown while a run takes long: bars of what is done, and lines of what is being done."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm


@contextlib.contextmanager
def progress_bar(
    total: int | None, unit: str = " captions", shown: bool | None = None, **settings: Any
) -> Iterator[tqdm[NoReturn]]:
    """Show a bar of `total` units; none appears in a pipe or for short work unless `shown`.

    It appears after a second, whether or not it has moved; warnings are on lines of their own.
    """
    ipython = sys.modules.get("IPython")  # imported by every kernel before its first cell
    shell = None if ipython is None else ipython.get_ipython()
    notebook = shell is not None and "IPKernelApp" in shell.config
    # A notebook is not a terminal, and somebody looks at it.
    absent = sys.stderr is None or sys.stderr.closed
    usual = {"disable": False if notebook else absent or None, "delay": 1, "leave": False}
    if shown is not None:
        usual |= {"disable": not shown, "delay": 0}
    with warnings.catch_warnings():
        # A notebook without ipywidgets gets a bar of characters, which is no cause for a warning.
        warnings.filterwarnings("ignore", message="IProgress not found")
        tqdm = importlib.import_module("tqdm.auto" if notebook else "tqdm").tqdm
        bar = tqdm(total=total, unit=unit, **{**usual, **settings})
    if bar.disable:
        yield bar
        return
    show = warnings.showwarning

    def appear() -> None:
        bar.delay = 0  # else `close` takes it for one that was never shown
        bar.refresh()

    def show_below(*warning: Any, **where: Any) -> None:
        bar.clear()
        show(*warning, **where)

    timer = threading.Timer(bar.delay, appear)
    timer.daemon = True
    with bar:
        timer.start()
        warnings.showwarning = show_below
        try:
            yield bar
        finally:
            warnings.showwarning = show
            timer.cancel()


def is_seen(shown: bool | None = None) -> bool:
    """Whether somebody looks at bars, in a terminal or notebook, or they are `shown` anyway."""
    if shown is None:
        is_open = sys.stderr is not None and not sys.stderr.closed
        return "IPython" in sys.modules or (is_open and sys.stderr.isatty())
    return shown


@contextlib.contextmanager
def phase(name: str, shown: bool | None = None) -> Iterator[None]:
    """Show a line that says what is done, as `progress_bar` does, where nothing is counted."""
    with contextlib.ExitStack() as watched:
        if is_seen(shown):  # tqdm is not imported for nothing
            watched.enter_context(progress_bar(None, "", shown, desc=name, bar_format="{desc} ..."))
        yield
