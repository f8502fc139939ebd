"""VIFIDEL for the COCO caption evaluation toolkit: how faithful a caption is to its image.

>>> from vifidel_eval import Vifidel
>>> scorer = Vifidel({42: ["dog", "frisbee"]}, references=False)
>>> score, scores = scorer.compute_score({42: []}, {42: ["a dog catches a frisbee"]})
"""

# No import of the annotations of __future__: the name is a package's here.
import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import TYPE_CHECKING, Any

from .errors import (
    AnnotationError,
    CaptionError,
    ImageIdError,
    MetricFailed,
    MetricUnavailable,
    VectorsError,
    VifidelError,
    VifidelWarning,
)

if TYPE_CHECKING:
    # Absolute names: Pyright follows the links of a strict editable installation.
    import vifidel_eval.annotations as annotations  # noqa: PLR0402
    import vifidel_eval.scorers as scorers  # noqa: PLR0402
    import vifidel_eval.tables as tables  # noqa: PLR0402
    from vifidel_eval.scorers import Column, Evaluation, Metric, Scorer, Vifidel, register

    from .asking import questions
    from .run import Run, evaluate, load
    from .words.content_words import STOP_WORDS, content_words

    __version__: str

__all__ = [
    "STOP_WORDS",
    "AnnotationError",
    "CaptionError",
    "Column",
    "Evaluation",
    "ImageIdError",
    "Metric",
    "MetricFailed",
    "MetricUnavailable",
    "Run",
    "Scorer",
    "VectorsError",
    "Vifidel",
    "VifidelError",
    "VifidelWarning",
    "__version__",
    "annotations",
    "content_words",
    "evaluate",
    "load",
    "questions",
    "register",
    "scorers",
    "tables",
]


class _Beside:
    """Finds `annotations` and `scorers`, and nothing else, beside this package in a checkout."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in (f"{__name__}.annotations", f"{__name__}.scorers"):
            return None
        folder = os.path.join(os.path.dirname(__path__[0]), name.rpartition(".")[2])
        return spec_from_file_location(name, os.path.join(folder, "__init__.py"))


if not os.path.isdir(os.path.join(__path__[0], "scorers")):
    # First: an editable installation has a finder too, and it may be of another checkout.
    sys.meta_path.insert(0, _Beside)

# Imported when first used: NumPy and the readers are not needed to import this package.
_MODULE_OF = {
    "STOP_WORDS": ".words.content_words",
    "Column": ".evaluation",
    "Evaluation": ".evaluation",
    "Metric": ".scorers",
    "Run": ".run",
    "Scorer": ".scorers",
    "Vifidel": ".scorers",
    "content_words": ".words.content_words",
    "evaluate": ".run",
    "load": ".run",
    "questions": ".asking",
    "register": ".scorers",
}


def __getattr__(name: str) -> Any:
    if name in ("annotations", "scorers", "tables"):
        return importlib.import_module(f".{name}", __name__)
    value: Any
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name], __name__), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("vifidel-eval")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
