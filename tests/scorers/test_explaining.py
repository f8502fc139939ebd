"""The metric that explains the captions of a run, and the settings that its metrics share."""

import inspect

import pytest

from vifidel_eval import Vifidel
from vifidel_eval.run.reading import with_labels
from vifidel_eval.scorers import Bleu, Chair, Mean, Settings, VifidelD, VifidelH, VifidelPRF
from vifidel_eval.scorers.explaining import explainer_of

OBJECTS = {1: ["dog"]}


def test_vifidel_explains_where_objects_are_known():
    own = Vifidel(OBJECTS)
    assert explainer_of([VifidelH(OBJECTS), own], Settings()) is own
    assert explainer_of([Mean(Bleu(), own)], Settings()) is own
    made = explainer_of([VifidelH()], with_labels(Settings(objects=OBJECTS)))
    assert isinstance(made, Vifidel)
    assert made.objects_of([1]) == {1: {"dog": 1}}


def test_otherwise_a_metric_with_evidence_explains():
    by_references, by_objects = VifidelPRF(), VifidelH(OBJECTS)
    assert explainer_of([Bleu()], Settings()) is None
    assert explainer_of([Bleu(), by_references], Settings()) is by_references
    assert explainer_of([Chair(OBJECTS), by_references, by_objects], Settings()) is by_objects


def test_the_objects_of_chair_are_explained_by_vifidel():
    chair = Chair(OBJECTS, looked_for="coco")
    made = explainer_of([VifidelPRF(), chair], Settings())
    assert isinstance(made, Vifidel)
    assert (made.objects, made.looked_for) == (chair.objects, chair.looked_for)
    assert explainer_of([Chair()], Settings()) is None


@pytest.mark.parametrize(
    ("scorer", "lacks", "adds"),
    [
        (Vifidel, [], ["p", "counts", "normalize", "attributes"]),
        (VifidelH, [], ["support"]),
        (VifidelPRF, [], ["attributes"]),
        (VifidelD, ["references"], []),
    ],
)
def test_settings_of_evidence_are_those_of_each_metric(scorer, lacks, adds):
    shared = ["objects", "vectors", "references", "threshold", "stop_words", "things"]
    shared += ["only_things", "undefined", "uncertain", "looked_for"]
    taken = inspect.signature(scorer).parameters
    assert set(taken) == {*shared, *adds}.difference(lacks)
    scorer(OBJECTS, None, threshold=0.5, things=None, looked_for="all", undefined=0.0)
    unexpected = rf"^{scorer.__name__}\.__init__\(\) got an unexpected keyword argument"
    for name in {"another", "references", "normalize"}.difference(taken):
        with pytest.raises(TypeError, match=f"{unexpected} '{name}'"):
            scorer(**{name: False})
