"""The scorers of the family, all with pycocoevalcap's ``compute_score(gts, res)``."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ..doors.arguments import Option
from ..evaluation import Column, Evaluation, Statistics
from ..words.settings import Settings
from .base import Scorer
from .chair import Chair
from .mean import Mean
from .record import Metric
from .registry import METRICS, register
from .vifidel import Vifidel
from .vifidel_d import VifidelD
from .vifidel_h import VifidelH
from .vifidel_prf import VifidelPRF
from .wmd import Wmd

if TYPE_CHECKING:
    from ..plugins.java.meteor import Meteor
    from ..plugins.java.spice import Spice
    from ..plugins.networks.clipscore import CLIPScore
    from ..plugins.networks.lm import LanguageModel
    from ..plugins.networks.tiger import Tiger
    from ..plugins.networks.vilbertscore import ViLBERTScore
    from ..plugins.ngrams import Bleu, Cider, RougeL

__all__ = [
    "Bleu",
    "CLIPScore",
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

# Classes of plug-ins' metrics.
_METRIC_OF = {
    "Bleu": "BLEU",
    "CLIPScore": "CLIPScore",
    "Cider": "CIDEr",
    "LanguageModel": "LM",
    "Meteor": "METEOR",
    "RougeL": "ROUGE_L",
    "Spice": "SPICE",
    "Tiger": "TIGEr",
    "ViLBERTScore": "ViLBERTScore",
}


def __getattr__(name: str) -> Any:
    if name not in _METRIC_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return METRICS[METRICS.find(_METRIC_OF[name])].scorer
