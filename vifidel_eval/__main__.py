"""``python -m vifidel_eval``: the command ``vifidel-eval``."""

from .commands.main import main

main(prog_name="vifidel-eval")
