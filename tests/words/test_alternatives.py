"""Alternatives, by hand: of *a cat or a dog* a text claims one."""

import pytest

from vifidel_eval.scorers import VifidelH, VifidelPRF
from vifidel_eval.words.mentions import finder_of
from vifidel_eval.words.synonyms import class_names

FINDER = finder_of(class_names())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A cat or a dog.", {"cat": ["dog"], "dog": ["cat"]}),
        ("A cat, a dog or a horse sits.", {"cat": ["dog", "horse"], "horse": ["cat", "dog"]}),
        ("A cat or maybe a small brown dog.", {"cat": ["dog"], "dog": ["cat"]}),
        ("A cat or a dog, and a cow.", {"cat": ["dog"], "cow": []}),
        ("A cat, a cow and a dog or a horse.", {"cat": [], "cow": [], "dog": ["horse"]}),
        ("A cat and two dogs, or a horse runs.", {"cat": []}),
        ("No cat or dog.", {"cat": [], "dog": []}),
        ("A cat or a dog. The dog or cat.", {"cat": ["dog"], "dog": ["cat"]}),
        ("A cat sits or sleeps near a dog.", {"cat": [], "dog": []}),
        ("A train or buses.", {"train": ["bus"], "buses": ["train"]}),
    ],
)
def test_what_may_be_there_instead(text, expected):
    result = {p.text: list(p.alternatives) for p in FINDER.phrases(text, ())}
    assert {name: result[name] for name in expected} == expected


def test_lists_of_guesses_are_claims():
    many = FINDER.read("A cat or a dog or a cow or a horse or a bus.", ()).claims
    assert len(many) == 5
    assert not any(phrase.alternatives for phrase in many)
    *first, again, new = FINDER.read("A cat or a dog. A cat or a cow.", ()).claims
    assert [phrase.alternatives for phrase in first] == [("dog",), ("cat",)]
    assert again.alternatives == new.alternatives == ()


@pytest.mark.parametrize("scorer", [VifidelH, VifidelPRF])
def test_only_what_is_there_counts_if_either_is(scorer):
    metric = scorer({0: {"cat": 1}}, looked_for="coco")

    def scored(text):
        columns = metric.score_columns([text], image_ids=[0])
        return {name: values[0] for name, values in columns.items()}

    assert scored("A cat or a dog.") == scored("A cat.")
    assert scored("A dog or a cat.") == scored("A cat.")
    assert scored("A cow or a dog.") == scored("A cow and a dog.")
