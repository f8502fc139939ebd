"""Caption files: references and result files, in all usual formats.

A file is recognised by its content, never by its name. `vifidel_eval.io.containers` brings any
container (JSON, JSON Lines, CSV, TSV, Parquet) to records or a JSON object; the first layout that
recognises these reads them.
"""

from .read import read_references, read_results, read_samples, system_names

__all__ = ["read_references", "read_results", "read_samples", "system_names"]
