"""One entry for Python: `evaluate` scores, `load` reads what was scored; both return a `Run`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..captions.fields import Selection, Wanted
from ..doors.arguments import name_wrong_argument
from ..errors import VifidelError, VifidelWarning
from ..scorers.registry import parse
from ..scores.scores_file import read_scores
from ..words.settings import Settings
from .evaluating import evaluate, own_options, plan
from .plan import PathLike, Plan
from .run import Run

__all__ = ["Run", "evaluate", "load"]


@name_wrong_argument
def load(path: PathLike) -> Run:
    """Return the run that `Run.save` or ``score --output`` wrote.

    Its `Run.scores` equal those of the saved run, bit for bit. The scores of images have ten
    significant digits, which are equal on every machine; counts, signatures and, if one was saved,
    the comparison are those of the file. Captions, references and objects are not in it:
    `Run.report`, `Run.inventions` and others read them again from the files that the run was made
    from, and name the files that are missing or have changed.

    Raises
    ------
    VifidelError
        If the file cannot be read, is not such a file, is damaged, or was written by a newer
        version.
    """
    scores, comparisons = read_scores(path)
    return Run(scores, None, comparisons, str(path), _plan_again=_plan_again)


def _plan_again(arguments: Mapping[str, Any]) -> Plan:
    """Return the plan of a run that was loaded, of the arguments that its file has."""
    try:
        given = {**arguments}
        stated = {**given.pop("settings")}
        options = own_options(stated.pop("options", {}))
        has_references = given["references"] is not None
        # Imports the metrics of plug-ins and other packages.
        given["metrics"] = [name for one in given["metrics"] for name in parse(one)]
        selected = [one.name for one in fields(Selection) if one.name in given]
        records = {
            "settings": Settings(**stated, references=has_references, options=options),
            "wanted": Wanted(**given.pop("wanted")),
            "selection": Selection(**{at: given.pop(at) for at in selected}),
        }
        known = inspect.signature(plan).bind(**records, **given)
    except (AttributeError, KeyError, TypeError) as problem:
        raise VifidelError(
            f"what the scores were computed with is unknown here ({problem}): evaluate again."
        ) from None
    with warnings.catch_warnings():
        # What the inputs are like was said when they were scored.
        warnings.simplefilter("ignore", VifidelWarning)
        return plan(*known.args, **known.kwargs)
