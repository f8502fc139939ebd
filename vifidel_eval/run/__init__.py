"""One entry for Python: what is to be scored in, a `Run` out; ``vifidel-eval score`` is over it."""

from .evaluating import evaluate, load
from .run import Run

__all__ = ["Run", "evaluate", "load"]
