"""Caption files: references and result files, in the formats that people have.

A file is recognised by its content, never by its name. `vifidel_eval.captions.records` brings any
container (JSON, JSON Lines, CSV, TSV, Parquet) to records; the layouts of COCO, Karpathy's splits,
lmms-eval and LLaVA have a file each.
"""

from .names import system_names
from .references import read_references
from .results import read_results

__all__ = ["read_references", "read_results", "system_names"]
