"""Loaded runs: the files that `Run.save` and ``score --output`` write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..io.arguments import named_if_wrong
from ..scores.scores_file import read_scores
from .plan import PathLike, Plan
from .run import Run


@named_if_wrong
def load(path: PathLike) -> Run:
    """Return the run that `Run.save` or ``score --output`` wrote.

    Its `Run.scores` equal those of the run that was saved, bit by bit. The scores of images have
    the ten significant digits that every machine agrees on; counts, signatures and, if one was
    saved, the comparison are those of the file. Captions, references and objects are not in it:
    `Run.report`, `Run.inventions` and whatever else needs them reads them again from the files that
    the run was made from, and says which of these is missing or has changed.

    Raises
    ------
    VifidelError
        If the file cannot be read, is another one, is damaged, or was written by a newer version.
    """
    scores, comparisons = read_scores(path)
    return Run(scores, None, comparisons, str(path), _plan_again=_plan_again)


def _plan_again(arguments: Mapping[str, Any]) -> Plan:
    from .evaluating import plan_again  # late: most runs are loaded for their scores alone

    return plan_again(arguments)
