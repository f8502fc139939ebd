import contextlib
import io
import json
import math

import pytest
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO

import vifidel_eval
from vifidel_eval import CaptionError, Vifidel
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.scores.scores_file import scores_text

OBJECTS = {
    139: ["dog", "frisbee"],
    285: ["bear"],
    632: ["bed", "book"],
    724: ["stop sign", "car"],
    776: [],
}
REFERENCES = {
    139: ["a dog with a frisbee", "the dog plays"],
    285: ["a big brown bear", "a bear in the grass"],
    632: ["a bedroom with a bookcase", "a bed by a window"],
    724: ["a stop sign at a street", "cars behind a sign"],
    776: ["three teddy bears", "toys in a row"],
}
CANDIDATES = {
    139: "A dog\u2028catches a frisbee.",
    285: "A bear walks\x0cin the grass.",
    632: "A book on a bed",
    724: "A red stop sign",
    776: "Teddy bears",
}


def coco_pair(references, results):
    """Return pycocotools' objects as a COCO evaluation script makes them."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {},
            "images": [{"id": i} for i in references],
            "annotations": [
                {"id": 10 * i + at, "image_id": i, "caption": caption}
                for i, captions in references.items()
                for at, caption in enumerate(captions)
            ],
        }
        coco.createIndex()
        return coco, coco.loadRes([{"image_id": i, "caption": c} for i, c in results.items()])


def test_one_line_puts_every_row_at_its_own_image():
    coco_eval = COCOEvalCap(*coco_pair(REFERENCES, CANDIDATES))
    coco_eval.params["image_id"] = [776, 724, 632, 139]
    scorer = Vifidel(OBJECTS)
    score = scorer.add_to(coco_eval)
    assert coco_eval.eval == {"VIFIDEL": score}
    assert [row["image_id"] for row in coco_eval.evalImgs] == [776, 724, 632, 139]
    for row in coco_eval.evalImgs:
        i = row["image_id"]
        expected = scorer.explain(i, CANDIDATES[i], REFERENCES[i]).score
        assert row["VIFIDEL"] == (None if math.isnan(expected) else expected)
        assert coco_eval.imgToEval[i]["VIFIDEL"] == row["VIFIDEL"]
    assert len({row["VIFIDEL"] for row in coco_eval.evalImgs}) == 4
    json.dumps(coco_eval.evalImgs, allow_nan=False)
    assert 285 not in coco_eval.imgToEval


@pytest.mark.filterwarnings("ignore:none of the 1 captions has a usable object label")
def test_an_undefined_corpus_score_prints_as_a_number():
    coco_eval = COCOEvalCap(*coco_pair(REFERENCES, CANDIDATES))
    coco_eval.params["image_id"] = [776]  # has no objects
    scorer = Vifidel(OBJECTS)
    assert math.isnan(scorer.add_to(coco_eval))
    assert [f"{name}: {score:.3f}" for name, score in coco_eval.eval.items()] == ["VIFIDEL: nan"]
    assert coco_eval.evalImgs == [{"image_id": 776, "VIFIDEL": None}]
    run = vifidel_eval.evaluate({"x": {776: "Teddy bears"}}, objects=OBJECTS, metrics="VIFIDEL")
    assert json.loads(scores_text(run.detail))["systems"]["x"]["overall"] == {"VIFIDEL": None}


def test_by_column_is_a_list_for_a_host_with_a_list_of_names():
    scorer = VifidelPRF(OBJECTS)
    gts, res = REFERENCES, {i: [caption] for i, caption in CANDIDATES.items()}
    hosted = {}
    for one, method in [(scorer.by_column(), ["P", "R", "F"]), (scorer, "F alone")]:
        score, scores = one.compute_score(gts, res)
        if type(method) == list:  # noqa: E721 - as pycocoevalcap's eval.py has it
            for sc, scs, m in zip(score, scores, method, strict=True):
                hosted[m] = sc, scs
        else:
            hosted[method] = score, scores.tolist()
    run = vifidel_eval.evaluate({"x": CANDIDATES}, REFERENCES, OBJECTS, "VIFIDEL-PRF")
    for name in "PRF":
        assert hosted[name][0] == run.scores["x"][f"VIFIDEL-{name}"]
        by_image = [of.get(f"VIFIDEL-{name}") for of in run.per_image("x").values()]
        assert [None if math.isnan(s) else s for s in hosted[name][1]] == by_image
    assert str(hosted["F alone"]) == str(hosted["F"])


def test_one_line_names_an_image_without_a_caption():
    del (results := dict(CANDIDATES))[632]
    coco_eval = COCOEvalCap(*coco_pair(REFERENCES, results))
    with pytest.raises(CaptionError, match=r"image 632: .* found 0 captions"):
        Vifidel(OBJECTS).add_to(coco_eval)
    assert 632 not in coco_eval.cocoRes.imgToAnns
