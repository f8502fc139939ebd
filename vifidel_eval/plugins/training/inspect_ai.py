"""A scorer for Inspect (``inspect_ai``): captions that a task's model writes."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import MetricUnavailable
from ...project import pip_install
from .caption_scores import CaptionScores

try:
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
except ModuleNotFoundError as problem:
    raise MetricUnavailable(
        f"the scorer needs the package {problem.name}: {pip_install('inspect_ai')}."
    ) from problem


@scorer(metrics={"*": [mean(), stderr()]})
def vifidel_scorer(
    columns: str | Sequence[str] = ("VIFIDEL-F", "VIFIDEL-Hi"),
    objects: str = "objects",
    references: bool = True,
    as_written: bool = False,
) -> Scorer:
    """Score what a model wrote about an image, by its objects, its references, or both.

    Parameters
    ----------
    columns : str or sequence of str
        The columns, as `CaptionScores` takes them; each gets its mean and standard error.
    objects : str
        The key of a sample's metadata that holds the object labels; a sample may lack it.
    references : bool
        Whether the targets of samples are references.
    as_written : bool
        Whether all of a completion is scored, with reasoning and what else is around its caption.

    Returns
    -------
    inspect_ai.scorer.Scorer
        Its scores explain what is made up, also as ``metadata["made_up"]``. Undefined scores are
        NaN, which Inspect leaves out of means.
    """
    scores = CaptionScores(columns, references, as_written)

    async def score(state: TaskState, target: Target) -> Score:
        captions = [text for text in target.target if text.strip()] if references else []
        caption, labels = state.output.completion, state.metadata.get(objects)
        made_up = scores.made_up(caption, labels, captions)
        return Score(
            value={**scores(caption, labels, captions)},
            answer=caption,
            explanation=f"Made up: {', '.join(made_up) or 'nothing found'}.",
            metadata={"made_up": made_up},
        )

    return score
