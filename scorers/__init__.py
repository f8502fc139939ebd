"""The scorers of the family, all with pycocoevalcap's ``compute_score(gts, res)``."""

from importlib import import_module
from pkgutil import iter_modules

from ..evaluation import Column, Evaluation, Statistics
from .base import Scorer
from .chair import Chair
from .lm import LanguageModel
from .mean import Mean
from .meteor import Meteor
from .ngram_metrics import Bleu, Cider, RougeL
from .record import Metric, Option, Settings
from .registry import register
from .spice import Spice
from .tiger import Tiger
from .vifidel import Vifidel
from .vifidel_d import VifidelD
from .vifidel_h import VifidelH
from .vifidel_prf import VifidelPRF
from .vilbertscore import ViLBERTScore
from .wmd import Wmd

__all__ = [
    "Bleu",
    "Chair",
    "Cider",
    "Column",
    "Evaluation",
    "LanguageModel",
    "Mean",
    "Meteor",
    "Metric",
    "Option",
    "RougeL",
    "Scorer",
    "Settings",
    "Spice",
    "Statistics",
    "Tiger",
    "ViLBERTScore",
    "Vifidel",
    "VifidelD",
    "VifidelH",
    "VifidelPRF",
    "Wmd",
    "register",
]

# A file registers its metric when it is imported, whether or not its class is exported.
for _module in iter_modules(__path__):
    import_module(f".{_module.name}", __name__)
