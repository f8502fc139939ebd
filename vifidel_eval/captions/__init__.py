"""Caption files: references and result files, in the formats that people have.

A file is recognised by its content, never by its name. `vifidel_eval.captions.records` brings any
container (JSON, JSON Lines, CSV, TSV, Parquet) to records or a JSON object, which
`vifidel_eval.captions.layouts` looks up in the table of layouts; each layout has a file.
"""

from pkgutil import resolve_name

from .layouts import LAYOUTS, read_references, read_results, read_samples
from .systems import system_names

__all__ = ["read_references", "read_results", "read_samples", "system_names"]

# The modules of the other layouts, in this order before the two plain ones.
_OTHERS = ("coco_captions", "karpathy", "lmms_eval", "llava")
LAYOUTS[:0] = [resolve_name(f"{__name__}.{name}.LAYOUT") for name in _OTHERS]
