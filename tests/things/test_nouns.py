"""Nouns: what else names of objects may mean, and how rare words are."""

from __future__ import annotations

import math

import pytest

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.text.words import STOP_WORDS
from vifidel_eval.things.nouns import LARGEST_RARITY, _senses, other_senses, rarity
from vifidel_eval.things.synonyms import class_names


def test_names_in_singular_and_plural():
    assert other_senses("bike") == other_senses("bikes") == {"motorcycle"}
    assert other_senses("cars") == {"train"}
    assert {"cow", "elephant"} < other_senses("babies")
    assert other_senses("zebra") == frozenset()


def test_each_name_is_a_thing_and_may_mean_another_class():
    grounding = Grounding(class_names(), STOP_WORDS)
    for name, senses in _senses().items():
        assert name == name.lower().strip()
        (unit,) = grounding.units(name)
        assert unit.category is not None, name
        others = set(map(grounding.class_of_label, senses))
        assert others <= set(class_names().class_of.values())
        assert others - {unit.category}, name


def test_rare_words_weigh_more():
    # 1 065 of 4 955 images have a man in a caption.
    assert rarity("man") == pytest.approx(math.log(4955 / 1065))
    assert rarity("man") < rarity("giraffe") < rarity("saxophone") == LARGEST_RARITY == 6
