"""The command ``vifidel-eval``, also as ``python -m vifidel_eval``."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line; Ctrl-C ends it with status 130 from the first import on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)  # until a command unwinds itself, nothing is to undo

    from .commands.main import main as command

    command(prog_name="vifidel-eval")


def _end(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


if __name__ == "__main__":
    main()
