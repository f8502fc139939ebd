"""The way to ``annotations/`` and ``scorers/`` where they are beside this package, not in it.

An installation has them in the package, where setup.py puts them. A checkout that is imported as
it is, from its own folder, by ``PYTHONPATH`` or by an editable installation, has them beside it.
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
        if name not in _BESIDE:
            return None
        return spec_from_file_location(name, _BESIDE[name])


# First: an editable installation has a finder too, and it may be of another checkout.
sys.meta_path.insert(0, _Finder)
