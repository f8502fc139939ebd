"""VIFIDEL-H on val2017 and nocaps-FOIL."""

import json
import math

import numpy as np
import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import coco_rows, make_rows
from vifidel_eval.scorers import VifidelH
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import class_names
from vifidel_eval.words.word_vectors import load_vectors


def test_t_is_what_a_plain_loop_gives(coco):
    """Mean support, mention by mention, with cosines of float64 dot products."""
    references = read_references(coco / "captions_val2017_references.json")
    captions = read_results(coco / "captions_val2017_human_results.json")
    objects = read_objects(coco / "instances_val2017.json")
    ids = [image_id for image_id in captions if objects[image_id]][::100]
    finder, vectors = MentionFinder(class_names()), load_vectors()

    def unit(text):
        rows = vectors.lookup([w for w in text.replace("-", " ").split() if len(w) > 1])
        mean = np.mean([row / np.linalg.norm(row) for row in rows.astype(np.float64)], axis=0)
        return mean / np.linalg.norm(mean)

    def support(text, category, evidence):
        best = 0.0
        for other, of in evidence.items():
            if {category, of} != {"dog", "hot dog"}:
                best = max(best, float(unit(text) @ unit(other)))
        return best

    expected = []
    for image_id in ids:
        evidence = {}
        for reference in references[image_id]:
            for found in finder.phrases(reference, STOP_WORDS):
                evidence[found.text] = evidence.get(found.text) or found.category
        evidence |= {label: class_names().class_of.get(label) for label in objects[image_id]}
        supports = [
            support(found.text, found.category, evidence)
            for found in finder.read(captions[image_id], STOP_WORDS).claims
            if not found.denied and found.category not in class_names().stuff
        ]
        expected.append(np.mean(supports) if supports else math.nan)
    scorer = VifidelH(objects)
    rows = make_rows([captions[i] for i in ids], ids, [references[i] for i in ids])
    found = scorer.evaluate(rows)["VIFIDEL-T"].scores
    assert np.isfinite(found).sum() > 40
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_figures_of_the_docs_on_nocaps_foil(data):
    pairs = json.loads((data / "nocaps_foil/nocaps-val-foil.json").read_text("utf-8"))
    references = [pair["references"] for pair in pairs]
    scorer = VifidelH()
    found = {
        side: scorer.evaluate(make_rows([pair[side] for pair in pairs], references=references))
        for side in ("baseline", "foil")
    }
    # The mention of the lowest support is the planted one in .91 of the captions.
    hits = []
    for pair, of_row in zip(pairs, found["foil"]["VIFIDEL-T"].details["VIFIDEL-H"], strict=True):
        planted = set(pair["replacement"][1].lower().split())
        supports = [m["support"] for m in of_row["mentions"]]
        lowest = [m for m in of_row["mentions"] if m["support"] == min(supports)]
        hits.append(
            np.mean([bool(planted & set(m["words"].split())) for m in lowest or [{"words": ""}]])
        )
    assert np.mean(hits) > 0.91
    assert found["baseline"]["VIFIDEL-Hs"].score == pytest.approx(0.174, abs=0.002)
    assert found["foil"]["VIFIDEL-Hs"].score == pytest.approx(0.871, abs=0.002)


@pytest.mark.parametrize("references", [True, False])
def test_stuff_that_nobody_was_asked_for_changes_nothing(coco, references):
    captions = read_results(coco / "captions_val2017_human_results.json")
    given = read_references(coco / "captions_val2017_references.json")
    some = list(captions)[:400]
    rows = coco_rows({i: given[i] for i in some}, {i: [captions[i]] for i in some})
    objects = coco / "instances_val2017.json"
    one, other = (
        VifidelH(objects, references=references, only_things=things).evaluate(rows)
        for things in (class_names(), class_names().things)
    )
    for column in ("VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-T"):
        assert one[column].score == other[column].score
        np.testing.assert_array_equal(one[column].scores, other[column].scores)
