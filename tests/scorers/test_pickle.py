"""A scorer pickles as what its constructor was given, whatever it has done since."""

import copy
import json
import pickle

import numpy as np
import pytest

from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import Bleu, Cider, Mean, RougeL, Vifidel, Wmd
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

GTS = {n: [f"a dog of kind {n}", "the dog catches a frisbee"] for n in range(50)}
RES = {n: [f"a cat sees dog {n}"] for n in GTS}


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    path = tmp_path_factory.mktemp("objects") / "objects.json"
    path.write_text(json.dumps({str(n): ["dog", "frisbee"] for n in GTS}), "utf-8")
    return path


PYTHON = Tokenization(PythonTokenizer())
MAKERS = {
    "Vifidel": lambda objects: Vifidel(objects, references=False, p=1),
    "Wmd": lambda objects: Wmd("worst"),
    "Bleu": lambda objects: Bleu(PYTHON),
    "RougeL": lambda objects: RougeL(PYTHON),
    "Cider": lambda objects: Cider(PYTHON, undefined=0.0),
    "Mean": lambda objects: Mean(Vifidel(objects), Wmd(vectors=None), scaled=True, undefined=-1),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_used_scorer_pickles_as_its_settings(name, objects):
    scorer = MAKERS[name](objects)
    fresh = pickle.dumps(scorer)
    expected = scorer.evaluate(coco_rows(GTS, RES))
    used = pickle.dumps(scorer)
    assert used == fresh
    assert len(used) < 8000
    for again in (pickle.loads(used), copy.deepcopy(scorer)):
        assert type(again) is type(scorer)
        assert again.signature() == scorer.signature()
        result = again.evaluate(coco_rows(GTS, RES))
        assert list(result) == list(expected)
        for column, evaluation in expected.items():
            np.testing.assert_array_equal(result[column].scores, evaluation.scores)
