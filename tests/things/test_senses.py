"""Senses: what else names of things may mean."""

from __future__ import annotations

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.text.words import STOP_WORDS
from vifidel_eval.things.senses import _senses, other_senses
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
