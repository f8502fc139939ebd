"""VIFIDEL on val2017."""

import contextlib
import io
import json
import math

import numpy as np
from host_metrics import NoSpice
from oracle import vifidel
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO

from vifidel_eval import Vifidel, content_words
from vifidel_eval.annotations import read_objects
from vifidel_eval.words.word_vectors import load_vectors


def test_real_vectors_equal_the_oracle_on_val2017(coco):
    references = {}
    for annotation in json.loads((coco / "captions_val2017_references.json").read_text("utf-8"))[
        "annotations"
    ]:
        references.setdefault(annotation["image_id"], []).append(annotation["caption"])
    human = json.loads((coco / "captions_val2017_human_results.json").read_text("utf-8"))
    res = {entry["image_id"]: [entry["caption"]] for entry in human[:60]}
    gts = {i: references[i] for i in res}
    scorer = Vifidel(coco / "instances_val2017.json")
    _, scores = scorer.compute_score(gts, res)

    objects, vectors = read_objects(coco / "instances_val2017.json"), load_vectors()

    def unit(word):
        rows = vectors.lookup(word.split())
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        mean = rows.mean(axis=0)
        return mean / np.linalg.norm(mean)

    expected = [
        vifidel(objects[i], content_words(res[i][0]), [content_words(r) for r in gts[i]], unit)
        for i in gts
    ]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


def test_val2017_ranks_human_above_shuffled_above_degenerate(coco, run):
    result = run(
        "score",
        *(coco / f"captions_val2017_{name}_results.json"
          for name in ("degenerate", "human", "shuffled")),
        "--allow-subset", "--format", "json",
        "--metrics", "VIFIDEL",
        "--references", coco / "captions_val2017_references.json",
        "--objects", coco / "instances_val2017.json",
    )  # fmt: skip
    systems = json.loads(result.stdout)["systems"]
    overall = {name: system["overall"]["VIFIDEL"] for name, system in systems.items()}
    assert overall["human"] > overall["shuffled"] > overall["degenerate"] == 0
    for name in ("human", "shuffled"):
        scores = [row["VIFIDEL"] for row in systems[name]["imgToEval"].values()]
        assert (len(scores), scores.count(None)) == (5000, 48)


def test_stock_coco_eval_cap_on_a_reversed_subset_of_val2017(coco, monkeypatch):
    monkeypatch.setattr("pycocoevalcap.eval.Spice", NoSpice)
    monkeypatch.setattr("pycocoevalcap.eval.Meteor", NoSpice)  # it hangs on line separators
    human = json.loads((coco / "captions_val2017_human_results.json").read_text("utf-8"))
    human[20]["caption"] = human[20]["caption"].replace(" ", "\u2028", 1)
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(coco / "captions_val2017_references.json"))
        coco_eval = COCOEvalCap(truth, truth.loadRes(human[:50]))
        coco_eval.params["image_id"] = [entry["image_id"] for entry in human[:50]][::-1]
        coco_eval.evaluate()
    scorer = Vifidel(coco / "instances_val2017.json")
    scorer.add_to(coco_eval)
    assert {"CIDEr", "VIFIDEL"} <= coco_eval.eval.keys()
    rows = {row["image_id"]: row for row in coco_eval.evalImgs}
    assert [row["image_id"] for row in coco_eval.evalImgs] == coco_eval.params["image_id"]
    for entry in human[:50]:
        i = entry["image_id"]
        references = [annotation["caption"] for annotation in truth.imgToAnns[i]]
        alone, _ = scorer.compute_score({i: references}, {i: [entry["caption"]]})
        assert rows[i]["VIFIDEL"] == (None if math.isnan(alone) else alone)
