"""The numbers that words and plans are drawn from, against their definition caption by caption."""

import dataclasses
from itertools import chain

import numpy as np
import pytest

from vifidel_eval import Vifidel
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.report.html.images import Images
from vifidel_eval.report.html.plans import SUPPOSED, UNIT, plans_of, scale
from vifidel_eval.rows import Rows
from vifidel_eval.things.grounded import Verdict


def units(number):
    return round(number / UNIT)


def hundredths(support):
    return -1 if np.isnan(support) else round(100 * support)


def grouped(numbers, size):
    return list(zip(*[iter(numbers)] * size, strict=True))


def check(parts, plans, texts):
    """Check all plans of a system."""
    explanations = list(chain.from_iterable(parts))
    assert len(explanations) == sum(plan is not None for plan in plans)
    named = [*texts, None]
    for explanation, plan in zip(explanations, filter(None, plans), strict=True):
        check_one(explanation, plan, named)


def check_one(explanation, plan, named):
    objects, words, mentions, matches = (
        grouped(numbers, size) for numbers, size in zip(plan, (3, 5, 5, 4), strict=True)
    )
    labels = [named[label] for label, _, _ in objects]
    assert labels == sorted(set(labels))
    assert {match.label for match in explanation.matches} <= set(labels)
    assert tuple(named[label] for label, _, silent in objects if silent) == explanation.unmentioned
    supposed = {named[text] for text, *_, verdict in mentions if verdict == SUPPOSED}
    claimed = {named[text] for text, *_, verdict in mentions if verdict == Verdict.ABSENT}
    assert supposed - claimed == set(explanation.hedged)
    assert [
        (named[text], named[category], support, named[by], min(verdict, Verdict.ABSENT))
        for text, category, support, by, verdict in mentions
    ] == [
        (m.words, m.category, hundredths(m.support), m.supported_by, m.verdict)
        for m in explanation.mentions
    ]
    expected = sorted(explanation.words, key=lambda word: word.word)
    assert [(named[word], support, named[by]) for word, _, support, by, _ in words] == [
        (w.word, hundredths(w.support), w.supported_by) for w in expected
    ]
    for (*_, mention), word in zip(words, expected, strict=True):
        assert (mention < 0) == (word.judged is None)
        if mention >= 0:
            assert named[mentions[mention][0]] == word.mention
            assert min(mentions[mention][4], Verdict.ABSENT) == word.judged
    places = [(labels.index(m.label), m) for m in explanation.matches]
    places = [(at, [w.word for w in expected].index(m.word), m) for at, m in places]
    places.sort(key=lambda place: place[:2])
    assert matches == [(at, word, units(m.mass), units(m.cost)) for at, word, m in places]
    for at, word, match in places:
        assert objects[at][1] == units(match.label_penalty)
        assert words[word][1] == units(match.word_penalty)


def test_made_up_plans(content):
    images = Images(content)
    plans = zip(content.explanations.values(), images.plans["plans"], strict=True)
    for parts, of_system in plans:
        check(parts, of_system, images.plans["texts"])


def test_plans_of_people_s_captions(shared_data):
    coco = shared_data / "coco"
    gold = read_references(coco / "captions_val2017_references.json")
    scorer = Vifidel(coco / "instances_val2017.json")
    for name in ("human", "shuffled", "degenerate"):
        captions = read_results(coco / f"captions_val2017_{name}_results.json")
        ids = [image_id for image_id in list(gold)[:700] if image_id in captions]
        rows = Rows([captions[i] for i in ids], [gold[i] for i in ids], ids)
        parts = [part for (part,) in scorer.explained([rows])]
        texts = list({text for part in parts for text in part.texts})
        numbers = {text: number for number, text in enumerate(texts)}
        plans = plans_of(parts, {image_id: at for at, image_id in enumerate(ids)}, numbers)
        check(parts, plans, texts)


def test_every_text_is_there_once_and_used(content):
    images = Images(content)
    texts = images.plans["texts"]
    assert len(set(texts)) == len(texts)
    used = set()
    for plan in chain.from_iterable(images.plans["plans"]):
        objects, words, mentions, _ = plan
        used |= {*objects[::3], *words[::5], *words[3::5]}
        used |= {*mentions[::5], *mentions[1::5], *mentions[3::5]}
    assert used - {-1} == set(range(len(texts)))


def test_an_image_that_a_system_lacks_has_no_plan(content):
    parts = {name: of[:1] for name, of in content.explanations.items()}
    images = Images(dataclasses.replace(content, explanations=parts))
    for of_system, [part] in zip(images.plans["plans"], parts.values(), strict=True):
        assert [plan is not None for plan in of_system] == [
            image_id in part.ids for image_id in images.ids
        ]


@pytest.mark.parametrize("cost", [0.0, 0.25, 1e15, 1e180])
def test_costs_of_vectors_of_any_length(content, make_explained, cost):
    [part, *_] = content.explanations["careful"]
    costs = np.full_like(part.matches.costs, cost)
    part = dataclasses.replace(part, matches=part.matches._replace(costs=costs))
    places = {image_id: at for at, image_id in enumerate(content.references)}
    found = plans_of([part], places, dict.fromkeys(part.texts, 0))
    assert {number for plan in found if plan for number in plan[3][3::4]} == {units(cost)}
    assert scale([[part]]) == max(units(cost), 1)
    wordless = dict.fromkeys(places, "it is")
    assert scale([make_explained(wordless, content.objects, content.references)]) == units(1)
