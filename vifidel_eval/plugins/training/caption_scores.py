"""Scores of single captions, for tools that score one sample after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...annotations import LabelItem
from ...doors.arguments import name_wrong_argument
from ...scorers import VifidelH
from .rewards import column_scorer

_MADE_UP = "VIFIDEL-Hi"  # the column whose metric says what is made up


class CaptionScores:
    """The scores of a caption in one or more columns, and what it makes up.

    Parameters
    ----------
    columns : str or sequence of str
        Columns whose scores depend on their row alone, such as ``"VIFIDEL-F"``.
    references : bool
        Whether captions have references, as evidence.
    as_written : bool
        Whether all of a text is scored, with reasoning and what else is around its caption.

    Raises
    ------
    VifidelError
        If there is no such column, or it needs what is not given.

    Examples
    --------
    >>> scores = CaptionScores(["VIFIDEL-P", "VIFIDEL-Hi"])
    >>> scores("a dog and a zebra", objects={"dog": 1, "zebra": 0})["VIFIDEL-Hi"]
    0.5
    >>> scores.made_up("a dog and a zebra", objects={"dog": 1, "zebra": 0})
    ['zebra']
    """

    @name_wrong_argument
    def __init__(
        self,
        columns: str | Sequence[str] = "VIFIDEL-F",
        references: bool = True,
        as_written: bool = False,
    ) -> None:
        names = [columns] if isinstance(columns, str) else columns
        self._scorers = {name: column_scorer(name, references, as_written)[2] for name in names}
        self._explainer = column_scorer(_MADE_UP, references, as_written)[2]
        #: Whether a higher score is better, by column.
        self.higher_is_better = {
            name: not column_scorer(name, references, as_written)[1].lower_is_better
            for name in names
        }

    @name_wrong_argument
    def __call__(
        self,
        caption: str,
        objects: Collection[LabelItem] | Mapping[str, int] | None = None,
        references: Sequence[str] = (),
    ) -> dict[str, float]:
        """Return the score in each column, NaN where it is undefined.

        `objects` are as `Scorer.score` takes them for a caption. A `VifidelError` says what of the
        image is missing or cannot be read.
        """
        row = _row(objects, references)
        found = {
            scorer: scorer.score_columns([caption], **row)
            for scorer in dict.fromkeys(self._scorers.values())
        }
        return {name: float(found[scorer][name][0]) for name, scorer in self._scorers.items()}

    @name_wrong_argument
    def made_up(
        self,
        caption: str,
        objects: Collection[LabelItem] | Mapping[str, int] | None = None,
        references: Sequence[str] = (),
    ) -> list[str]:
        """Return the things that the caption mentions and the image does not have, each once."""
        assert isinstance(self._explainer, VifidelH)
        rows = self._explainer.rows([caption], **_row(objects, references))
        return list(next(self._explainer.explain_rows(rows)).hallucinated)


def _row(objects: Any, references: Sequence[str]) -> dict[str, list[Any]]:
    """Return what is known of an image as scorers take it for one row."""
    listed = references if isinstance(references, str) else list(references)  # a string is none
    return {"references": [listed], **({} if objects is None else {"objects": [objects]})}
