"""Caption files: references and result files, in all usual formats.

A file is recognised by its content, never by its name. `vifidel_eval.io.containers` brings any
container (JSON, JSON Lines, CSV, TSV, Parquet) to records or a JSON object, which `.layouts` looks
up in the table of layouts.
"""

from . import datasets
from .layouts import LAYOUTS, read_references, read_results, read_samples, system_names

__all__ = ["read_references", "read_results", "read_samples", "system_names"]

# The other layouts, in this order before the two plain ones.
LAYOUTS[:0] = [
    datasets.COCO,
    datasets.KARPATHY,
    datasets.LMMS_EVAL,
    datasets.VLMEVALKIT,
    datasets.REPLIES,
    datasets.LLAVA,
    datasets.HELD,
    datasets.WITHOUT_HEADER,
]
