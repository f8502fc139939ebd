"""Tasks of a pool whose worker may be killed; a module that spawned processes can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from vifidel_eval.errors import VifidelError


def work(task, on_rows):
    """Do 10 rows, 5 at a time; the worker is killed between them as often as the task says.

    A task is a folder, its name in it, and that number; a negative one is refused.
    """
    folder, name, kills = task
    if kills < 0:
        raise VifidelError(f"{name} is refused.")
    on_rows(5)
    tries = Path(folder, name)
    tried = len(tries.read_text()) if tries.exists() else 0
    if tried < kills:
        tries.write_text("x" * (tried + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "bug":
        raise ZeroDivisionError
    on_rows(5)
    return name.upper()
