"""Rewards for reinforcement learning: what TRL's and verl's trainers call.

The calls are those of TRL's ``GRPOTrainer`` (``reward_funcs``) and of verl's custom reward
functions (``compute_score``); neither package is needed to import this module.

>>> from vifidel_eval.rewards import trl_reward
>>> reward = trl_reward("VIFIDEL-F", references=None)
>>> reward(completions=["a dog catches a frisbee"], objects=[["dog", "frisbee"]])[0] > 0.8
True

A caption that claims nothing, or leaves its column undefined, gets the worst of the column: nobody
is to earn by silence (docs/captions.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal, TypeAlias

# Absolute names: verl may load this file by its path, as a module of no package.
from vifidel_eval.captions.rows import MOST_CHARACTERS, Rows
from vifidel_eval.doors.arguments import as_python, is_finite, is_listed, name_wrong_argument
from vifidel_eval.errors import AnnotationError, CaptionError, VifidelError, warn
from vifidel_eval.evaluation import Column
from vifidel_eval.io.files import first_line
from vifidel_eval.plugins.pytorch import PickledArguments
from vifidel_eval.plugins.training.caption_scores import column_scorer, worst_of
from vifidel_eval.scorers import Scorer
from vifidel_eval.scorers.word_vectors import MOST_DIFFERENT

#: From a defined score of a column to a reward.
Transform: TypeAlias = Callable[[float], float]
#: What a caption gets that leaves its column undefined: a reward, or that of the worst score.
Undefined: TypeAlias = float | Literal["worst"] | None
#: A generated text: a string, or messages whose content is text or a list of blocks.
Completion: TypeAlias = str | Sequence[Mapping[str, Any]]

__all__ = ["TrlReward", "compute_score", "trl_reward"]


class TrlReward(PickledArguments):
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
        Function from a score to its reward, instead of the sign above.
    undefined : float, None or "worst"
        The reward of a completion that leaves the column undefined although something is known of
        its image: one that claims nothing (a refusal, only reasoning, empty), mentions nothing, or
        cannot be read. By default that of the worst score: 0, where lower is better 1, and for
        VIFIDEL-Hn 10. None gives no reward.
    as_written : bool
        Whether all of a completion is scored, with reasoning and what else is around its caption.
    strict : bool
        Whether a completion that cannot be read, being too long or no text, raises an error; by
        default it is undefined, and one warning counts those of the first such batch.

    Raises
    ------
    VifidelError
        If there is no such column, it needs what is not given, nothing is known of any image, the
        weight is not positive, or `transform` fails on a score of .5.
    """

    @name_wrong_argument
    def __init__(
        self,
        column: str = "VIFIDEL-F",
        objects: str | None = "objects",
        references: str | None = "references",
        weight: float = 1.0,
        transform: Transform | None = None,
        undefined: Undefined = "worst",
        as_written: bool = False,
        strict: bool = False,
    ) -> None:
        metric, self._column, self._scorer = column_scorer(
            column, references is not None, as_written
        )
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
        self._undefined = _reward_of(undefined, self._reward, self._column)
        self._strict, self._has_warned = strict, False
        self.__name__: str = _name(self._column, transform)

    @name_wrong_argument
    def __call__(
        self,
        completions: Sequence[Completion],
        log_metric: Callable[[str, float], object] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion; None where nothing is known of the image.

        `log_metric` gets the share of those whose score is undefined. `columns` are those of the
        data set, and what else TRL passes. It raises a VifidelError if one is missing or, if
        `strict`, a completion cannot be read.
        """
        if not is_listed(completions):
            raise VifidelError(f"completions must be a list of texts, not {completions!r:.40}.")
        evidence: dict[str, list[Any]] = {}
        for argument, name in self._columns.items():
            if name is not None and name not in columns:
                names = ", ".join(sorted(columns)) or "no other"
                raise VifidelError(
                    f"the data set has no column {name!r}; it has: {names}. Name the right one "
                    f"with {argument}=, or {argument}=None to score without."
                )
            if name is not None and not is_listed(columns[name]):
                raise VifidelError(
                    f"{name} must be a list with {argument} for each completion, not "
                    f"{columns[name]!r:.40}."
                )
            if name is not None:
                evidence[argument] = list(map(_plain, columns[name]))
        scores, are_known, unreadable = _score_completions(
            self._scorer, self._column, completions, evidence, self._strict
        )
        if unreadable and not self._has_warned:
            self._has_warned = True
            _warn_of_unreadable(unreadable, len(completions))
        rewards: list[float | None] = []
        for score, is_known in zip(scores, are_known, strict=True):
            reward = None if math.isnan(score) else self._reward(score)
            rewards.append(self._undefined if math.isnan(score) and is_known else reward)
        if log_metric is not None and rewards:
            undefined = sum(map(math.isnan, scores))
            log_metric(f"{self.__name__}/undefined", undefined / len(rewards))
        return rewards

    def __repr__(self) -> str:
        return f"<TrlReward {self.__name__}>"


#: Returns a reward function for TRL.
trl_reward = TrlReward


@name_wrong_argument
def compute_score(
    data_source: object,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    column: str = "VIFIDEL-F",
    undefined: float | Literal["worst"] = "worst",
    weight: float = 1.0,
    transform: Transform | None = None,
    as_written: bool = False,
    strict: bool = False,
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
        What the policy wrote; with `strict`, what cannot be read raises an error.
    ground_truth : sequence or mapping
        The object labels of the image: names, or ``{name: count}``; None if nothing is known.
    extra_info : mapping, optional
        The row's further information; its ``"references"``, if any, are the image's.
    column, weight, transform, as_written, strict
        As `trl_reward` describes them.
    undefined : float or "worst"
        The reward of a row whose score is undefined; a warning says so once per process. By
        default that of the worst score, but 0 for a row whose image nothing is known of.

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
    if undefined is None:
        raise VifidelError("undefined must be a finite number or 'worst', not None.")
    references = None if extra_info is None else extra_info.get("references")
    _metric, scored_column, scorer = column_scorer(column, references is not None, as_written)
    reward = partial(_reward, scored_column, weight, transform)
    instead = _reward_of(undefined, reward, scored_column)
    evidence = {"objects": [_plain(ground_truth)]}
    if references is not None:
        evidence["references"] = [_plain(references)]
    try:
        [score], [is_known], _why = _score_completions(
            scorer, scored_column, [solution_str], evidence, strict
        )
    except AnnotationError as problem:
        problem_text = str(problem).removeprefix("row 0: ")
        raise AnnotationError(f"ground_truth: {problem_text}") from None
    if not math.isnan(score):
        return {"score": reward(score), _spelled(column): score, "undefined": 0.0}
    if undefined != "worst":
        value = score = float(undefined)
    else:
        value, score = (instead or 0.0, worst_of(scored_column)) if is_known else (0.0, 0.0)
    _warn_once(column, value, is_known)
    return {"score": value, _spelled(column): score, "undefined": 1.0}


def _reward_of(
    undefined: Undefined, reward: Callable[[float], float], column: Column
) -> float | None:
    """Return the reward of a completion that leaves a column undefined."""
    if undefined == "worst":
        return reward(worst_of(column))
    if undefined is None or is_finite(undefined):
        return None if undefined is None else float(undefined)
    raise VifidelError(f"undefined must be a finite number or 'worst', not {undefined!r:.40}.")


def _name(column: Column, transform: Transform | None) -> str:
    lower = column.lower_is_better and transform is None
    return ("minus_" if lower else "") + _spelled(column.name)


def _reward(column: Column, weight: float, transform: Transform | None, score: float) -> float:
    """Return the reward, which is finite, of a defined score."""
    if not is_finite(weight) or weight <= 0:
        raise VifidelError(
            f"weight must be a positive number, not {weight!r:.40}; if lower is better, the "
            "column is subtracted anyway."
        )
    if transform is None:
        return float(weight) * (0.0 - score if column.lower_is_better else score)  # never -0.0
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


def _spelled(column: str) -> str:
    return column.lower().replace("-", "_")


def _plain(value: Any) -> Any:
    """Return what is known of an image as lists and mappings, without Parquet's missing names."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return {name: _plain(of_name) for name, of_name in value.items() if of_name is not None}
    return as_python(value)


def _warn_of_unreadable(problems: Sequence[CaptionError], number: int) -> None:
    warn(
        f"{len(problems)} of {number} completions cannot be read, and have no score: {problems[0]} "
        "Those of later batches are not reported; strict=True makes it an error."
    )


@cache
def _warn_once(column: str, reward: float, is_known: bool) -> None:
    why = "its caption claims or mentions nothing, or cannot be read"
    if not is_known:
        why = "no object label, or nothing to judge"
    warn(
        f"{column} is undefined for a row ({why}); the reward of this and every such row is "
        f"{reward:g}."
    )


def _score_completions(
    scorer: Scorer,
    column: Column,
    completions: Sequence[Any],
    evidence: Mapping[str, list[Any]],
    strict: bool,
) -> tuple[list[float], list[bool], list[CaptionError]]:
    """Return the scores of completions in a column; `evidence` is about their images, by row.

    They are NaN of those that claim nothing or cannot be read, too. The second are whether another
    caption of the same image would have a score, the third why completions cannot be read.
    """
    unreadable: dict[int, CaptionError] = {}
    captions: list[str] = []
    for at, completion in enumerate(completions):
        try:
            captions.append(_text(completion, at))
        except CaptionError as problem:
            unreadable[at] = problem
            captions.append("")
    try:
        scores = _scores_of(scorer, column, scorer.rows(captions, **evidence))
    except CaptionError:
        scores = []
        for at, caption in enumerate(captions):
            row = {name: [values[at]] for name, values in evidence.items()}
            try:
                scores += _scores_of(scorer, column, scorer.rows([caption], **row))
            except CaptionError as problem:
                # What is wrong with the row itself is an error.
                scores += _scores_of(scorer, column, scorer.rows([""], **row))
                unreadable[at] = CaptionError(
                    f"completion {at}: {str(problem).removeprefix('row 0: ')}"
                )
    if strict and unreadable:
        raise unreadable[min(unreadable)]
    for at in unreadable:
        scores[at] = math.nan
    are_known = [True] * len(scores)
    undefined = [at for at, score in enumerate(scores) if math.isnan(score)]
    if undefined:
        rows = scorer.rows([""] * len(scores), **evidence).take(undefined)
        # Captions that say all that is known of their images.
        nothing: list[Any] = [()] * len(rows)
        sides = rows.objects or nothing, rows.asked or nothing, rows.references
        named = replace(rows, captions=list(map(_known_names, *sides)), answers=None)
        for at, score in zip(undefined, _scores_of(scorer, column, named), strict=True):
            are_known[at] = not math.isnan(score)
    return scores, are_known, [unreadable[at] for at in sorted(unreadable)]


def _scores_of(scorer: Scorer, column: Column, rows: Rows) -> list[float]:
    """Return the score of each row, NaN if its caption claims nothing."""
    scores = scorer.evaluate(rows, signed=False)[column.name].scores.tolist()
    pairs = zip(scores, rows.claims_nothing, strict=True)
    return [math.nan if claims_nothing else score for score, claims_nothing in pairs]


def _known_names(labels: Iterable[str], asked: Iterable[str] | None, denied: Iterable[str]) -> str:
    """Return a text of no more words than can be read that names what is known of an image."""
    names = dict.fromkeys((*labels, *sorted(asked or ()), *denied))
    texts, left = [], MOST_DIFFERENT
    for text in names:
        left -= len(text.split()) + 1
        if left < 0:
            break
        texts.append(f"A {text}.")
    return " ".join(texts)[:MOST_CHARACTERS]


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
            if message.get("role", "assistant") == "assistant"  # not a tool's answer
        )
    except (AttributeError, KeyError, TypeError) as problem:
        raise CaptionError(
            f"completion {at}: {completion!r:.60} is neither a text nor a list of messages."
        ) from problem
