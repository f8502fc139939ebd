"""Samples of lmms-eval (``*_samples_*.jsonl``, written with ``--log_samples``).

https://github.com/EvolvingLMMs-Lab/lmms-eval, version 0.7.3: ``save_results_samples`` of
``loggers/evaluation_tracker.py`` writes one object per document with ``doc_id``, ``target``,
``filtered_resps`` and one value per metric. Captioning tasks (``tasks/coco_cap/utils.py``,
``nocaps``, ``flickr30k``, ``textcaps``) make that value ``{"pred", "image_id", "answer"}``, the
same for each metric; their test splits ``{"pred": ["caption"], "image_id"}``. A task's submission
file is COCO's results JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ..errors import CaptionError
from .records import Records


def are_samples(names: Collection[str]) -> bool:
    """Whether records with these fields are samples of lmms-eval."""
    return "doc_id" in names and ("filtered_resps" in names or "resps" in names)


def predictions(records: Records) -> Records:
    """Return records of ``image_id`` and ``caption``.

    Raises
    ------
    CaptionError
        If a sample has no output with ``pred`` and ``image_id``, or several that differ.
    """
    entries = []
    for number, sample in enumerate(records.entries):
        output = _output(sample, records.at(number), "pred")
        entries.append({"image_id": output["image_id"], "caption": output["pred"]})
    return replace(records, entries=entries)


def answers(records: Records) -> Records:
    """Return records of ``image_id`` and ``captions``: the references that lmms-eval scored with.

    Raises
    ------
    CaptionError
        If a sample has no output with ``answer`` and ``image_id``, or several that differ.
    """
    entries = []
    for number, sample in enumerate(records.entries):
        output = _output(sample, records.at(number), "answer")
        entries.append({"image_id": output["image_id"], "captions": output["answer"]})
    return replace(records, entries=entries)


def refuse_summary(content: Mapping[str, Any], where: str) -> None:
    """Refuse the summary of a run (``*_results.json``), which holds no captions.

    Raises
    ------
    CaptionError
        If `content` is one.
    """
    if "results" in content and "configs" in content:
        raise CaptionError(
            f"{where}: is the summary of an lmms-eval run, without captions; give its "
            "*_samples_*.jsonl (--log_samples), or the task's submission file."
        )


def _output(sample: Mapping[str, Any], at: str, wanted: str) -> Mapping[str, Any]:
    outputs = [
        value
        for value in sample.values()
        if isinstance(value, dict) and wanted in value and "image_id" in value
    ]
    if not outputs:
        raise CaptionError(
            f"{at}: a sample of lmms-eval whose task wrote no '{wanted}' with an 'image_id', so "
            "nothing says which image it is of; give the task's submission file."
        )
    for other in outputs[1:]:
        if any(other[key] != outputs[0][key] for key in (wanted, "image_id")):
            raise CaptionError(f"{at}: its metrics hold different '{wanted}'; keep one.")
    return outputs[0]
