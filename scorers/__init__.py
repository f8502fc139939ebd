"""The scorers of the family, all with pycocoevalcap's ``compute_score(gts, res)``."""

from .base import Evaluation, Scorer
from .combined import Mean
from .vifidel import Vifidel
from .wmd import Wmd

__all__ = ["Evaluation", "Mean", "Scorer", "Vifidel", "Wmd"]
