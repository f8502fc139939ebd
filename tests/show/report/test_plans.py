"""The numbers that words and plans are drawn from, against their definition caption by caption."""

import dataclasses
import re
from collections import defaultdict
from importlib.resources import files

import pytest
from plan_checks import check, units

from vifidel_eval.show.report.data import FIELDS, caption_data, plans_of, scale


def test_made_up_plans(content):
    data = caption_data(content)
    plans = zip(content.explanations.values(), data["plans"], strict=True)
    for explanations, of_system in plans:
        check(explanations, of_system, data["texts"])


def test_an_image_that_a_system_lacks_has_no_plan(content):
    some = {name: of[:20] for name, of in content.explanations.items()}
    data = caption_data(dataclasses.replace(content, explanations=some))
    for of_system in data["plans"]:
        assert [plan is not None for plan in of_system] == [True] * 20 + [False] * 25


@pytest.mark.parametrize("cost", [0.0, 0.25, 1e15, 1e180])
def test_costs_of_vectors_of_any_length(content, make_explained, cost):
    explanations = [
        dataclasses.replace(one, matches=tuple(m._replace(cost=cost) for m in one.matches))
        for one in content.explanations["careful"]
    ]
    result = plans_of(explanations, list(content.references), defaultdict(int))
    assert {number for plan in result if plan for number in plan[3][3::4]} == {units(cost)}
    assert scale(explanations) == max(units(cost), 1)
    wordless = dict.fromkeys(content.references, "it is")
    assert scale(make_explained(wordless, content.objects, content.references)) == units(1)


def test_scripts_read_the_records_that_python_writes():
    scripts = [p for p in files("vifidel_eval.show.report").iterdir() if p.name.endswith(".js")]
    code = "\n".join(script.read_text("utf-8") for script in scripts)
    read = re.findall(r'\b(?:record|records|withTexts)\("(\w+)"', code)
    assert set(read) == FIELDS.keys()
