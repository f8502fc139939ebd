"""The way to ``annotations/`` and ``scorers/`` of a checkout, which lie beside this package.

Only these two are found there, so that nothing of the checkout is imported under two names.
"""

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BESIDE = {
    f"vifidel_eval.{name}": os.path.join(os.path.dirname(_PACKAGE), name, "__init__.py")
    for name in ("annotations", "scorers")
}


class _Finder:
    """An entry of ``sys.meta_path``."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, _BESIDE[name]) if name in _BESIDE else None


# First: an editable installation has a finder too, and it may be of another checkout.
sys.meta_path.insert(0, _Finder)
