"""Names of systems, from the names of their result files."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import CaptionError
from ..io.arguments import named_if_wrong
from ..io.files import STANDARD_INPUT


@named_if_wrong
def system_names(paths: list[Path]) -> list[str]:
    """Return a name for the system of each result file.

    COCO names result files like ``captions_val2017_human_results.json``: that one's system is
    ``human``. Where two files would get the same name, all are named by their stems, or else by
    their paths. Standard input is called ``stdin``.

    >>> system_names([Path("captions_val2014_att2in_results.json"), Path("beam.json")])
    ['att2in', 'beam']
    """
    resolved = [os.path.realpath(path) for path in paths]
    for path, same in zip(paths, resolved, strict=True):
        if resolved.count(same) > 1:
            raise CaptionError(f"{path}: given twice; give each result file once.")
    for name_of in (_algorithm, lambda path: path.stem, str):
        names = ["stdin" if os.fspath(path) == STANDARD_INPUT else name_of(path) for path in paths]
        if len(set(names)) == len(names):
            break
    return names


def _algorithm(path: Path) -> str:
    stem = path.stem.removesuffix("_results")
    parts = stem.split("_", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "captions" and parts[2] else stem
