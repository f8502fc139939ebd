"""Caption files: references and result files, in the formats that people have.

A file is recognised by its content, never by its name. `vifidel_eval.captions.records` brings any
container (JSON, JSON Lines, CSV, TSV, Parquet) to records or a JSON object, which
`vifidel_eval.captions.layouts` looks up in the table of layouts; each layout has a file.
"""

from . import coco_captions, karpathy, llava, lmms_eval
from .layouts import LAYOUTS, read_references, read_results, read_samples
from .systems import system_names

__all__ = ["read_references", "read_results", "read_samples", "system_names"]

# In this order, and before the two plain ones.
LAYOUTS[:0] = [coco_captions.LAYOUT, karpathy.LAYOUT, lmms_eval.LAYOUT, llava.LAYOUT]
