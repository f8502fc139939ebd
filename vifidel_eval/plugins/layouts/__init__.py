"""Layouts of captions in datasets in splits and in what evaluations of models write.

Karpathy's ``dataset_coco.json`` and so on are ``{"images": [{"split", "filename", "sentences":
[{"raw", ...}], ...}]}``, read by ``imagernn/data_provider.py`` of
https://github.com/karpathy/neuraltalk; COCO's images have their id in ``cocoid``. The splits are
train, val, test, and for COCO restval, added to train as a rule.

lmms-eval's samples are ``*_samples_*.jsonl``, version 0.7.3 (``save_results_samples`` of
``loggers/evaluation_tracker.py`` of https://github.com/EvolvingLMMs-Lab/lmms-eval): an object per
document with ``doc_id``, ``target``, ``filtered_resps`` or ``resps``, which the model said, and a
value per metric, of captioning tasks ``{"pred", "image_id", "answer"}``, of their test splits
``{"pred": ["caption"], "image_id"}``. Older versions also wrote the document, ``doc``.

LLaVA-style answers (``llava/eval/model_vqa.py`` of https://github.com/haotian-liu/LLaVA) have
``question_id``, ``prompt``, ``text``, ``answer_id``, ``model_id``, ``metadata``. Questions have
``question_id``, ``image`` and ``text``: there, the text is the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...captions.fields import MISSING, CaptionFields, listed, steps_of, usual, usual_id, value_at
from ...captions.layouts import ByImage, Layout, captions_in, read_records, text_of
from ...errors import CaptionError
from ...io.entries import Entries, Entry, LeftOut, shows


def _read_splits(content: Entry, fields: CaptionFields) -> ByImage:
    """Return the captions of the images of some splits, as people wrote them (``raw``)."""
    if not shows(content.content, ["images[].sentences"]):
        raise CaptionError(
            f"{content}: lists images, but has neither 'annotations' nor 'sentences', so it has "
            "no captions."
        )
    images = list(content.entries("images"))
    sizes = Counter(str(image.get("split", "")) for image in images)
    held = ", ".join(f"{split or '(none)'} ({size})" for split, size in sizes.items())
    for split in fields.splits:
        if split not in sizes:
            raise CaptionError(f"{content}: no split {split!r:.40}; it has {held:.200}.")
    if not fields.splits and len(sizes) > 1:
        raise CaptionError(
            f"{content}: has the splits {held:.200}; choose with --split, such as --split test."
        )
    key = "cocoid" if all("cocoid" in image for image in images) else "filename"
    references: ByImage = {}
    left_out = LeftOut()
    for image in images:
        if fields.splits and str(image.get("split", "")) not in fields.splits:
            continue
        image_id = image.image_id(key)
        if image_id in references:
            raise image.listed_twice()
        references[image_id] = [
            text_of(sentence.get("raw", MISSING), sentence)
            for sentence in image.entries("sentences")
            if not left_out.flagged(sentence)
        ]
    left_out.warn(content.source.where, "reference", references)
    return references


KARPATHY = Layout(
    "a dataset's annotations in splits",
    "Karpathy's `dataset_coco.json`, `dataset_flickr8k.json`, `dataset_flickr30k.json`",
    "",
    "`--split test`, repeated for several splits; the image id is `cocoid` if there is one, "
    "otherwise the file name",
    ("images[]",),
    None,
    _read_splits,
    has_splits=True,
    example='{"images": [{"filename": "1.jpg", "split": "test", "sentences": [{"raw": "a dog"}]}]}',
)


# Where samples have what the model said, and the references: one text, or a list.
_RESPONSES, _TARGETS = ("filtered_resps", "resps[0]"), ("target",)


def _read_samples(content: Entry | Entries, fields: CaptionFields) -> ByImage:
    """Return the predictions, or the references that lmms-eval scored with."""
    if isinstance(content, Entry):
        raise CaptionError(
            f"{content}: is the summary of an lmms-eval run, without captions; give its "
            "*_samples_*.jsonl (--log_samples), or the task's submission file."
        )
    id_name = next((name for name in fields.id_fields if name in content.names), None)
    caption_name = next((name for name in fields.text_fields if name in content.names), None)
    key = "answer" if fields.references else "pred"
    samples = []
    for sample in content:
        output = {} if id_name and caption_name else _output(sample, key)
        if id_name:
            image_id = sample.get(id_name, MISSING)
        else:
            image_id = output["image_id"] if output else _id_in_document(sample, fields, key)
        if caption_name:
            caption = sample.get(caption_name, MISSING)
        else:
            caption = output[key] if key in output else _text(sample, fields, key)
        samples.append({"image_id": image_id, key: caption})
    return captions_in(content.with_values(samples), "image_id", key, fields)


def _output(sample: Entry, key: str) -> Mapping[str, Any]:
    """Return what a task wrote of a sample's image; nothing if it wrote nothing."""
    outputs = [
        value
        for name, value in sample.content.items()
        if name != "doc" and isinstance(value, dict) and "image_id" in value
    ]
    for other in outputs[1:]:
        if any(other.get(name) != outputs[0].get(name) for name in (key, "image_id")):
            raise CaptionError(f"{sample}: its metrics hold different '{key}'; keep one.")
    return outputs[0] if outputs else {}


def _id_in_document(sample: Entry, fields: CaptionFields, key: str) -> Any:
    """Return the image id of a sample of somebody's own task."""
    document = sample.get("doc")
    doc = document if isinstance(document, dict) else {}
    name = usual_id(name for name, value in doc.items() if isinstance(value, str | int))
    if name is None:
        has = f" (its doc has {listed(list(doc))})" if doc else ""
        raise CaptionError(
            f"{sample}: this lmms-eval sample has no '{key}' with an 'image_id', so its image is "
            f"unknown{has}; name the fields of the id and the text, such "
            f"as --id-field {'doc' if doc else 'METRIC'}.NAME {_text_option(fields)}, "
            "or give the task's submission file."
        )
    return doc[name]


def _text(sample: Entry, fields: CaptionFields, key: str) -> Any:
    """Return the text, or texts, of a sample of somebody's own task."""
    for path in _TARGETS if fields.references else _RESPONSES:
        value = value_at(sample.content, steps_of(path))
        texts = value if isinstance(value, list) else [value]
        if texts and all(isinstance(text, str) for text in texts):
            return value
    raise CaptionError(
        f"{sample}: this lmms-eval sample has no '{key}'; name the field of the text, such as "
        f"{_text_option(fields)}."
    )


def _text_option(fields: CaptionFields) -> str:
    return f"{fields.option} {'doc.NAME' if fields.references else 'filtered_resps[0]'!r}"


LMMS_EVAL = Layout(
    "lmms-eval's samples",
    "lmms-eval: `*_samples_*.jsonl` of a captioning task; its submission file is COCO's",
    "yes: `pred`; in a task of your own, the model's answer, with the `image_id` that a metric "
    "logged, or that of `doc`",
    "yes: `answer`; in a task of your own, `target`",
    ("results", "configs"),
    ("doc_id", "filtered_resps resps"),
    _read_samples,
    example='{"doc_id": 0, "doc": {"image_id": 1}, "target": ["a dog"], '
    '"filtered_resps": ["a dog"]}',
)


def _read_answers(records: Entries, fields: CaptionFields) -> ByImage:
    """Return the answers about each image; questions, which only have ``text``, are refused."""
    ambiguous = not fields.text_fields and usual(records.names, fields.usual) == ["text"]
    if ambiguous and not {"prompt", "answer_id"} & {*records.names}:
        raise CaptionError(
            f"{records.source.where}: looks like the questions of a LLaVA-style evaluation, "
            "whose 'text' is the question; give the answers, which have 'prompt' and 'answer_id'."
        )
    return read_records(records, fields)


LLAVA = Layout(
    "LLaVA-style answers",
    "LLaVA-style answers (`question_id`, `prompt`, `text`, `answer_id`, ...)",
    "yes, if the question ids are image ids",
    "yes, likewise",
    None,
    ("question_id", "text"),
    _read_answers,
    example='{"question_id": 1, "prompt": "What is this?", "text": "a dog", "answer_id": "x"}',
)


def _read_vlmevalkit(records: Entries, fields: CaptionFields) -> ByImage:
    """Read predictions, or the references in ``answer``; rows have an ``index``."""
    ids = fields.id_fields or (usual_id(records.names) or "index",)
    return _read_of(records, replace(fields, id_fields=ids), "prediction")


def _read_of(records: Entries, fields: CaptionFields, caption: str) -> ByImage:
    """Read records whose captions have a name, and whose references are in ``answer``."""
    references = fields.reference_fields or ("answer",)
    captions = fields.caption_fields or (caption,)
    return read_records(
        records, replace(fields, reference_fields=references, caption_fields=captions)
    )


VLMEVALKIT = Layout(
    "VLMEvalKit's predictions",
    "VLMEvalKit: its `.xlsx` (`pip install pandas openpyxl`), or the same as CSV",
    "`prediction`; the id is `image_path` or the like if there is one, otherwise `index`",
    "`answer`, which may be [a list as text](captions.md#lists-in-cells)",
    None,
    ("index", "prediction", "answer"),
    _read_vlmevalkit,
    example="index,image_path,answer,prediction\n0,1.jpg,a dog,a brown dog",
)


_ABOUT_OBJECTS = re.compile(
    r"\s*(?:is|are) there .*\bin (?:the|this) (?:image|picture|photo)", re.I
)


def _read_replies(records: Entries, fields: CaptionFields) -> ByImage:
    """Read the answers to prompts, unless these ask whether something is there, as POPE does."""
    prompt = "question" if "question" in records.names else "text"
    if not fields.text_fields and any(
        _ABOUT_OBJECTS.match(str(x.get(prompt))) for x in records.first
    ):
        raise CaptionError(
            f"{records.source.where}: answers to questions such as "
            f"{records[0].get(prompt)!r:.60} are not captions; give them as objects (--objects)."
        )
    if prompt == "question":
        return _read_of(records, fields, "answer")
    return read_records(records, fields)


REPLIES = Layout(
    "prompts with a model's answer",
    'answers to prompts, `{"image", "question", "answer"}`',
    "yes; answers to POPE's questions are [objects](objects.md)",
    "yes, likewise",
    None,
    ("question text", "answer"),
    _read_replies,
    example='{"image": "1.jpg", "question": "What is this?", "answer": "a dog"}',
)


#: In this order: the first layout that recognises content reads it.
LAYOUTS = (KARPATHY, LMMS_EVAL, VLMEVALKIT, REPLIES, LLAVA)
