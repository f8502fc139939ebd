"""VIFIDEL-PRF on val2017."""

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import VifidelPRF


def test_people_come_first_on_val2017(coco):
    objects = read_objects(coco / "instances_val2017.json")
    references = read_references(coco / "captions_val2017_references.json")
    human = read_results(coco / "captions_val2017_human_results.json")
    shuffled = read_results(coco / "captions_val2017_shuffled_results.json")
    ids = [i for i in human if objects[i]][:400]
    invented = " A dog and a cat are sitting on a couch."
    style = " The composition feels warm and captures an everyday moment."
    captions = {
        "people": [human[i] for i in ids],
        "style": [human[i] + style for i in ids],
        "invented": [human[i] + invented for i in ids],
        "other images": [shuffled[i] for i in ids],
        "person": ["person"] * len(ids),
    }
    scorer = VifidelPRF(objects)
    for of_rows in ([references[i] for i in ids], [[]] * len(ids)):
        mean = {
            name: scorer.score(texts, image_ids=ids, references=of_rows).mean()
            for name, texts in captions.items()
        }
        assert mean["style"] == pytest.approx(mean["people"], abs=0.02)
        assert min(mean["people"], mean["style"]) > mean["invented"] > mean["other images"]
        assert mean["people"] > mean["person"]
