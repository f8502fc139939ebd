"""Doors: the places where what users have enters, each with content that is right there.

A number that counts is a fraction in the examples, and an id is whole.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile.command import OBJECTS

import vifidel_eval
from vifidel_eval import Vifidel
from vifidel_eval.annotations import label_rows, read_categories, read_objects
from vifidel_eval.captions import read_references, read_results, read_samples
from vifidel_eval.integrations import LMMS_EVAL
from vifidel_eval.io.image_ids import read_image_ids
from vifidel_eval.plugins.agreement import readers
from vifidel_eval.plugins.agreement.judgements import read_judgements
from vifidel_eval.plugins.agreement.spans import read_spans
from vifidel_eval.plugins.agreement.systems import read_battles
from vifidel_eval.plugins.detect.questions import read_controls
from vifidel_eval.plugins.leaderboard import board as leaderboard
from vifidel_eval.plugins.submission import read_image_list
from vifidel_eval.plugins.training.caption_scores import CapevalMetric, CaptionScores
from vifidel_eval.plugins.training.preferences import preference_pairs
from vifidel_eval.rewards import compute_score, trl_reward
from vifidel_eval.words.synonyms import read_classes

CAPTIONS = {1: "a dog", 2: "a cat"}
RECORDS = [{"image_id": image, "caption": text} for image, text in CAPTIONS.items()]
LABELS = {1: {"dog": 1}, 2: {"cat": 1}}
COCO = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "caption": "a dog", "category_id": 18, "bbox": [0, 0, 5, 5]},
        {"id": 2, "image_id": 2, "caption": "a cat", "category_id": 17, "bbox": [0, 0, 5, 5]},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 17, "name": "cat"}],
}
DETECTED = [
    {"image_id": image, "category_id": 17, "bbox": [0, 0, 5, 5], "score": 0.9} for image in (1, 2)
]
SAMPLES = {1: ["a dog", "a zebra"], 2: ["a cat", "a cat and a dog"]}
JUDGED = [{"image_id": 1, "caption": f"a {name}", "judge": 0.5} for name in ("dog", "zebra")]
SPANS = {"image_id": 7, "caption": "A red dog", "spans": [{"start": 2, "end": 5, "kind": "x"}]}
BATTLE = {"img": "7", "source1": "a", "source2": "b", "caption1": "A", "caption2": "B"}


def evaluated(captions=CAPTIONS, **given):
    return vifidel_eval.evaluate({"a": captions}, objects=LABELS, metrics="VIFIDEL", **given).scores


def tool_scores(source):
    return evaluated(scores={"a": source})


def thumb(path):
    """Read a file as both of THumB's."""
    folder = Path(path).with_name("thumb")
    folder.mkdir(exist_ok=True)
    for name in ("mscoco_references.json", "mscoco_THumB-1.0.jsonl"):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    return readers.read_thumb(folder)


def pairs(source):
    return preference_pairs(source, "judge", least_difference=0.1)


#: Doors of files, and content for JSON that is right.
FILES = {
    "objects": (read_objects, {1: ["dog", ["cat", 0.9]], 2: {"cat": 1}}),
    "instances": (read_objects, COCO),
    "detections": (read_objects, DETECTED),
    "categories": (read_categories, COCO["categories"]),
    "results": (read_results, RECORDS),
    "results by image": (read_results, CAPTIONS),
    "samples": (read_samples, SAMPLES),
    "references": (read_references, COCO),
    "references by image": (read_references, SAMPLES),
    "image ids": (read_image_ids, [1, 2]),
    "images of a submission": (read_image_list, {"images": COCO["images"], "annotations": []}),
    "scores of a run": (vifidel_eval.load, None),
    "scores of another tool": (tool_scores, {1: {"PAC-S": 0.5}, 2: {"PAC-S": 0.7}}),
    "leaderboard": (leaderboard.read, None),
    "judgements": (read_judgements, [
        {"caption": f"a {name}", "references": ["a dog"], "score": rating}
        for name, rating in (("dog", 0.5), ("cat", 1.5))
    ]),
    "HAT": (readers.read_hat, [
        {"image_path": "1.jpg", "references": ["a"], "caption": "a dog",
         "contains_hallucination": True, "grounding": [["a", False], ["dog", True]]}
    ]),
    "FOIL": (readers.read_nocaps_foil, [
        {"image_path": "1.jpg", "references": ["a"], "baseline": "a dog", "foil": "a cat",
         "replacement": ["dog", "cat"]}
    ]),
    "distractors": (readers.read_distractors, [
        {"image_id": 7, "kind": "switch", "correct": "a dog", "distractor": "a cat"}
    ]),
    "THumB": (thumb, None),
    "spans": (read_spans, [SPANS]),
    "battles": (read_battles, [BATTLE | {"winner": "a"}]),
    "controls": (read_controls, [{"image_id": 1, "thing": "dog", "control": True}]),
    "preference pairs": (pairs, [JUDGED[0], JUDGED[1] | {"judge": 1.5}]),
    "a list of classes": (read_classes, None),
}  # fmt: skip

_LMMS = runpy.run_path(str(LMMS_EVAL / "vifidel_lmms.py"))


def lmms_eval(documents):
    items = [_LMMS["process_results"](**document)["VIFIDEL-F"] for document in documents]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIFIDEL_OBJECTS", str(OBJECTS))
        return _LMMS["vifidel_f"](items)


def torchmetrics(arguments):
    pytest.importorskip("torchmetrics", reason="needs TorchMetrics")
    from vifidel_eval.integrations.torchmetrics import VifidelMetric

    metric = VifidelMetric()
    metric.update(**arguments)
    return float(metric.compute())


def capevalkit(samples):
    return CapevalMetric()([SimpleNamespace(**sample) for sample in samples])


def named(call):
    """Return a door that takes its arguments in a mapping."""
    return lambda arguments: call(**arguments)


_ROWS = {"objects": [["dog"], {"cat": 1}], "references": [["a dog"], ["a cat"]]}
_MESSAGES = [[{"role": "assistant", "content": text}] for text in CAPTIONS.values()]
#: Doors of Python, and what is right there.
PYTHON = {
    "captions": (evaluated, RECORDS),
    "captions by image": (evaluated, {1: "a dog", 2: ["a cat"]}),
    "references": (lambda source: evaluated(references=source), COCO),
    "references by image": (lambda source: evaluated(references=source), SAMPLES),
    "objects": (read_objects, {1: ["dog", ["cat", 0.9]], 2: {"cat": 1}}),
    "labels with scores": (read_objects, {1: [{"label": "dog", "score": 0.9}]}),
    "instances": (read_objects, COCO),
    "objects of rows": (label_rows, [["dog"], {"cat": 1}, [["bus", 0.9]]]),
    "scores": (tool_scores, {1: 0.5, 2: 0.7}),
    "named scores": (tool_scores, {1: {"PAC-S": 0.5}, 2: {"PAC-S": 0.7}}),
    "image ids": (lambda source: evaluated(image_ids=source), [1, 2]),
    "samples": (lambda source: preference_pairs(source, objects=LABELS), SAMPLES),
    "rows": (named(Vifidel().score), {"captions": ["a dog", "a cat"], **_ROWS}),
    "compute_score": (named(Vifidel(LABELS).compute_score),
                      {"gts": {1: ["a dog"]}, "res": {1: ["a dog"]}}),
    "TRL": (named(trl_reward()), {"completions": ["a dog", "a cat"], **_ROWS}),
    "TRL's messages": (named(trl_reward(strict=True)), {"completions": _MESSAGES, **_ROWS}),
    "verl": (named(compute_score), {
        "data_source": "x", "solution_str": "a dog", "ground_truth": ["dog"], "strict": True,
        "extra_info": {"references": ["a dog"]}, "undefined": 0.5, "weight": 1.5,
    }),
    "capevalkit": (capevalkit, [
        {"id": name, "image": "1.jpg", "references": ["a dog"], "prediction": "a dog"}
        for name in "ab"
    ]),
    "lmms-eval": (lmms_eval, [
        {"doc": {"question_id": 101, "answer": ["a dog"]}, "results": ["a dog"]},
        {"doc": {"image_id": 102, "answer": ["a cat"]}, "results": ["a cat"]},
    ]),
    "single captions": (named(CaptionScores(["VIFIDEL-F", "VIFIDEL-Hi"])),
                        {"caption": "a dog", "objects": ["dog"], "references": ["a dog"]}),
    "torchmetrics": (torchmetrics, {"captions": ["a dog", "a cat"], **_ROWS}),
}  # fmt: skip
