"""Rewards for reinforcement learning: what TRL's and verl's trainers call.

The calls are those of TRL's ``GRPOTrainer`` (``reward_funcs``) and of verl's custom reward
functions (``compute_score``); neither package is needed to import this module.

>>> from vifidel_eval.rewards import trl_reward
>>> reward = trl_reward("VIFIDEL-F", references=None)
>>> reward(completions=["a dog catches a frisbee"], objects=[["dog", "frisbee"]])[0] > 0.8
True
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from numbers import Real
from typing import Any, TypeAlias

# Absolute names: verl may load this file by its path, as a module of no package.
from vifidel_eval.errors import CaptionError, VifidelError, VifidelWarning
from vifidel_eval.evaluation import Column
from vifidel_eval.io.files import first_line
from vifidel_eval.io.options import named_if_wrong
from vifidel_eval.plugins.pytorch import MadeAgain
from vifidel_eval.scorers import Scorer
from vifidel_eval.scorers.record import Metric
from vifidel_eval.scorers.registry import METRICS
from vifidel_eval.words.settings import Settings

#: A generated text: a string, or messages whose content is text or a list of blocks.
Completion: TypeAlias = str | Sequence[Mapping[str, Any]]
#: From a defined score of a column to a reward.
Transform: TypeAlias = Callable[[float], float]
#: The record of a metric, one of its columns, and what computes it from rows.
ColumnScorer: TypeAlias = tuple[Metric, Column, Scorer]

__all__ = ["TrlReward", "compute_score", "trl_reward"]


@lru_cache(maxsize=32)
def column_scorer(name: str, references: bool) -> ColumnScorer:
    """Return a column whose scores depend on their row alone, and what computes it."""
    columns = {
        column.name: (metric, column)
        for metric in METRICS.values()
        if metric.tables
        for column in metric.columns
        if column.ranked
    }
    if name not in columns:
        close = difflib.get_close_matches(str(name).upper(), columns, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise VifidelError(
            f"{name!r:.60} is not a column that can be scored row by row.{meant} These are: "
            f"{', '.join(columns)}."
        )
    metric, column = columns[name]
    if metric.references and not references:
        raise VifidelError(f"{name} compares captions with references; give references too.")
    settings = Settings(references=references, weighted=references)
    return metric, column, metric.make(settings)


class TrlReward(MadeAgain):
    """A reward function for TRL: ``GRPOTrainer(reward_funcs=[trl_reward()], ...)``.

    If higher is better, the reward is the score; if lower is better, as for ``"VIFIDEL-Hi"``, it is
    the negative score, so that a lower reward is always worse. It can be pickled, and several
    trainers or threads may share it. Its ``__name__``, under which TRL logs it, is the column's
    name in lower case, with ``minus_`` before it if lower is better.

    Parameters
    ----------
    column : str
        The column to reward.
    objects : str or None
        The data set's column of object labels, one list (or ``{name: count}``) per row; None if the
        references are the only evidence. A row may have None if nothing is known.
    references : str or None
        The data set's column of references, one list of strings per row; None to score without.
    weight : float
        Factor of every reward; greater than 0.
    transform : callable, optional
        Function from a defined score to its reward, instead of the sign above.

    Raises
    ------
    VifidelError
        If there is no such column, it needs what is not given, nothing is known of any image, the
        weight is not positive, or `transform` fails on a score of .5.
    """

    @named_if_wrong
    def __init__(
        self,
        column: str = "VIFIDEL-F",
        objects: str | None = "objects",
        references: str | None = "references",
        weight: float = 1.0,
        transform: Transform | None = None,
    ) -> None:
        metric, self._column, self._scorer = column_scorer(column, references is not None)
        if objects is None and metric.objects:
            raise VifidelError(
                f"{column} needs the objects of the images: name the data set's column of object "
                "labels with objects=."
            )
        if objects is None and references is None:
            raise VifidelError(
                f"without objects and references {column} is undefined for every row: name a "
                "column of the data set with objects= or references=."
            )
        self._columns = {"objects": objects, "references": references}
        self._reward = partial(_reward, self._column, weight, transform)
        self._reward(0.5)  # what is wrong with a transform is said before the training
        self.__name__: str = _name(self._column, transform)

    def __call__(
        self,
        completions: Sequence[Completion],
        log_metric: Callable[[str, float], object] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion; None where the column is not defined.

        `log_metric` gets the share of undefined ones. `columns` are those of the data set, and what
        else TRL passes. It raises a VifidelError if one is missing or a completion is no text.
        """
        given: dict[str, list[Any]] = {}
        for argument, name in self._columns.items():
            if name is not None and name not in columns:
                there = ", ".join(sorted(columns)) or "none"
                raise VifidelError(
                    f"the data set has no column {name!r}; it has: {there}. Name the right one "
                    f"with {argument}=, or {argument}=None to score without."
                )
            if name is not None:
                given[argument] = list(map(_plain, columns[name]))
        captions = [_text(completion, at) for at, completion in enumerate(completions)]
        scores = self._scorer.score_columns(captions, **given)[self._column.name].tolist()
        rewards = [None if math.isnan(score) else self._reward(score) for score in scores]
        if log_metric is not None and rewards:
            log_metric(f"{self.__name__}/undefined", rewards.count(None) / len(rewards))
        return rewards

    def __repr__(self) -> str:
        return f"<TrlReward {self.__name__}>"


#: Returns a reward function for TRL.
trl_reward = TrlReward


@named_if_wrong
def compute_score(
    data_source: object,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    column: str = "VIFIDEL-F",
    undefined: float = 0.0,
    weight: float = 1.0,
    transform: Transform | None = None,
    **_: object,
) -> dict[str, float]:
    """Return the reward of one row as verl's reward managers take it.

    In verl's configuration, ``reward.custom_reward_function.path`` is
    ``pkg://vifidel_eval.rewards`` or the path of this file, its ``name`` is ``compute_score``, and
    `column` and the parameters after it are its ``reward_kwargs``. It may be called from many
    threads.

    Parameters
    ----------
    solution_str : str
        What the policy wrote.
    ground_truth : sequence or mapping
        The object labels of the image: names, or ``{name: count}``; None if nothing is known.
    extra_info : mapping, optional
        The row's further information; its ``"references"``, if any, are the image's.
    column, weight, transform
        As `trl_reward` describes them.
    undefined : float
        The reward of a row whose score is undefined; a warning says so once per process.

    Returns
    -------
    dict
        ``"score"``, the reward; the column's own value under its name in lower case (`undefined` if
        there is none); and ``"undefined"``, 1 if there is none and 0 otherwise.

    Raises
    ------
    VifidelError
        If the column or an argument cannot be used.
    """
    if not _is_real(undefined) or not math.isfinite(undefined):
        raise VifidelError(f"undefined must be a finite number, not {undefined!r:.40}.")
    references = None if extra_info is None else extra_info.get("references")
    of_metric, scorer = column_scorer(column, references is not None)[1:]
    columns = scorer.score_columns(
        [solution_str],
        objects=[_plain(ground_truth)],
        references=None if references is None else [_plain(references)],
    )
    score = float(columns[column][0])
    if math.isnan(score):
        _warn_once(column, undefined)
        return {"score": float(undefined), _spelled(column): float(undefined), "undefined": 1.0}
    reward = _reward(of_metric, weight, transform, score)
    return {"score": reward, _spelled(column): score, "undefined": 0.0}


def _name(column: Column, transform: Transform | None) -> str:
    lower = column.lower_is_better and transform is None
    return ("minus_" if lower else "") + _spelled(column.name)


def _reward(column: Column, weight: float, transform: Transform | None, score: float) -> float:
    """Return the reward, which is finite, of a defined score."""
    if not _is_real(weight) or not 0 < weight < math.inf:
        raise VifidelError(
            f"weight must be a positive number, not {weight!r:.40}; if lower is better, the "
            "column is subtracted anyway."
        )
    if transform is None:
        return (-float(weight) if column.lower_is_better else float(weight)) * score
    name = _name(column, transform)
    try:
        reward = float(weight) * float(transform(score))
    except Exception as problem:  # of the user's own
        raise VifidelError(
            f"the transform of {name} fails on {score:g} ({first_line(problem)}); it takes a score "
            "and returns a number."
        ) from problem
    if not math.isfinite(reward):
        raise VifidelError(
            f"the transform of {name} makes {reward} of {score:g}; a reward must be finite."
        )
    return reward


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _spelled(column: str) -> str:
    return column.lower().replace("-", "_")


def _plain(value: Any) -> Any:
    """Return what is known of an image as lists and mappings, without Parquet's missing names."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return {name: _plain(of_name) for name, of_name in value.items() if of_name is not None}
    return value.tolist() if hasattr(value, "tolist") else value


def _text(completion: Completion, at: int) -> str:
    """Return the text of a completion: of messages, that of all which the policy wrote."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]

    def written(content: Any) -> str:
        if content is None or isinstance(content, str):  # None: it only calls a tool
            return content or ""
        return "".join(block["text"] for block in content if block.get("type", "text") == "text")

    try:
        return "".join(
            written(message.get("content"))
            for message in completion
            if message.get("role", "assistant") == "assistant"  # and not what a tool answered
        )
    except (AttributeError, KeyError, TypeError) as problem:
        raise CaptionError(
            f"completion {at}: {completion!r:.60} is neither a text nor a list of messages."
        ) from problem


@cache
def _warn_once(column: str, undefined: float) -> None:
    warnings.warn(
        f"{column} is undefined for a row (no object label, or nothing to judge); the reward of "
        f"this and every such row is {undefined:g}.",
        VifidelWarning,
        stacklevel=4,
    )
