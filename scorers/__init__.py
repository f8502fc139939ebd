"""The scorers of the family, all with pycocoevalcap's ``compute_score(gts, res)``."""

from ..evaluation import Evaluation, Statistics
from .base import Scorer
from .chair import Chair
from .coco import Bleu, Cider, RougeL
from .combined import Mean
from .language_model import LanguageModel
from .meteor import Meteor
from .spice import Spice
from .tiger import Tiger
from .vifidel import Vifidel
from .vifidel_h import VifidelH
from .vifidel_prf import VifidelPRF
from .vilbertscore import ViLBERTScore
from .wmd import Wmd

__all__ = [
    "Bleu",
    "Chair",
    "Cider",
    "Evaluation",
    "LanguageModel",
    "Mean",
    "Meteor",
    "RougeL",
    "Scorer",
    "Spice",
    "Statistics",
    "Tiger",
    "ViLBERTScore",
    "Vifidel",
    "VifidelH",
    "VifidelPRF",
    "Wmd",
]
