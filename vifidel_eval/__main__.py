"""``python -m vifidel_eval``: the command ``vifidel-eval``."""

from .commands.main import main

if __name__ == "__main__":
    main(prog_name="vifidel-eval")
