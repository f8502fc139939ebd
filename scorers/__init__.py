"""The scorers of the family, all with pycocoevalcap's ``compute_score(gts, res)``."""

from .base import Evaluation, Scorer
from .vifidel import Vifidel

__all__ = ["Evaluation", "Scorer", "Vifidel"]
