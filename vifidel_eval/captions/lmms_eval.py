"""Samples of lmms-eval (``*_samples_*.jsonl``, written with ``--log_samples``).

https://github.com/EvolvingLMMs-Lab/lmms-eval, version 0.7.3: ``save_results_samples`` of
``loggers/evaluation_tracker.py`` writes one object per document with ``doc_id``, ``target``,
``filtered_resps`` and one value per metric. Captioning tasks (``tasks/coco_cap/utils.py``,
``nocaps``, ``flickr30k``, ``textcaps``) make that value ``{"pred", "image_id", "answer"}``, the
same for each metric; their test splits ``{"pred": ["caption"], "image_id"}``. A task's submission
file is COCO's results JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId
from .layout import Layout, Wanted
from .listed import captions_in
from .records import Records


def read_samples(
    content: Records | Mapping[str, Any], where: str, wanted: Wanted
) -> dict[ImageId, list[str]]:
    """Return the predictions, or the references that lmms-eval scored with.

    Raises
    ------
    CaptionError
        If a sample has no output with ``pred`` or ``answer`` and ``image_id``, or several that
        differ; or if this is the summary of a run (``*_results.json``), which holds no captions.
    """
    if not isinstance(content, Records):
        raise CaptionError(
            f"{where}: is the summary of an lmms-eval run, without captions; give its "
            "*_samples_*.jsonl (--log_samples), or the task's submission file."
        )
    key = "answer" if wanted.references else "pred"
    outputs = [_output(one, content.at(n), key) for n, one in enumerate(content.entries)]
    return captions_in(replace(content, entries=outputs), "image_id", key, wanted)


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


LAYOUT = Layout(
    "lmms-eval's samples",
    "lmms-eval: `*_samples_*.jsonl` of a captioning task; its submission file is COCO's",
    "yes: `pred`",
    "yes: `answer`",
    ("results", "configs"),
    ("doc_id", "filtered_resps resps"),
    read_samples,
)
