"""VIFIDEL-PRF on val2017."""

import numpy as np
import pytest
from prf_oracle import plain

from vifidel_eval import content_words
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.vectors import load_vectors


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
        assert mean["people"] > mean["style"] > mean["invented"] > mean["other images"]
        assert mean["people"] > mean["person"]


def test_equals_the_plain_loop_on_val2017(coco):
    objects = read_objects(coco / "instances_val2017.json")
    references = read_references(coco / "captions_val2017_references.json")
    human = read_results(coco / "captions_val2017_human_results.json")
    ids = list(human)[:40]
    vectors = load_vectors()

    def vector_of(word):
        rows = vectors.lookup(word.split())
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.mean(axis=0)

    names = VifidelPRF()._things.class_of
    for of_image in (lambda i: references[i], lambda i: []):
        columns = VifidelPRF(objects, edition=1).score_columns(
            [human[i] for i in ids], image_ids=ids, references=[of_image(i) for i in ids]
        )
        for at, i in enumerate(ids):
            p = plain(
                content_words(human[i]),
                list(objects[i]),
                [content_words(r) for r in of_image(i)],
                vector_of,
                lambda word: word in names or word.removesuffix("s") in names,
            )
            # A plural that only the rules for singular forms find changes weights, not supports.
            assert columns["VIFIDEL-R"][at] == pytest.approx(p[1], abs=1e-9, nan_ok=True)
