"""The numbers that plans are drawn from, against their definition word by word."""

import dataclasses
from itertools import chain

import numpy as np
import pytest

from vifidel_eval import Vifidel
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.report.html.formats import grouped
from vifidel_eval.report.html.images import Images
from vifidel_eval.report.html.marks import marks
from vifidel_eval.report.html.plans import UNIT, ObjectsShown, Plans, scale
from vifidel_eval.rows import Rows
from vifidel_eval.things.grounded import Verdict


def units(number):
    return round(number / UNIT)


def plain_plan(explanation, labels):
    """Return words, matches, what is said, unmentioned objects and marks, with texts as they are.

    That is what `Plans.of_system` describes, for one caption.
    """
    caption = explanation.caption.lower()
    words = sorted(explanation.words, key=lambda w: (caption.find(w.word), w.word))
    place = {word.word: at for at, word in enumerate(words)}
    penalties = {match.word: match.word_penalty for match in explanation.matches}
    sums = {}
    for match in explanation.matches:
        of_label = sums.setdefault(match.label, [0.0, 0.0])
        of_label[0] += match.mass * place[match.word]
        of_label[1] += match.mass

    def key(match):
        where, mass = sums[match.label]
        return round(where / mass, 9), labels.index(match.label), place[match.word]

    others = [word for word in words if word.judged is None]
    said = [
        (m.words, m.support, m.supported_by, m.verdict, m.category) for m in explanation.mentions
    ]
    said += [(word.word, word.support, word.supported_by, -1, None) for word in others]
    return (
        [(w.word, units(penalties.get(w.word, 1)), int(w.hallucinated)) for w in words],
        [
            (labels.index(m.label), place[m.word], units(m.mass), units(m.cost))
            for m in sorted(explanation.matches, key=key)
        ],
        [
            (
                text,
                -1 if np.isnan(support) else round(100 * support),
                by,
                verdict + 1,
                next((labels.index(x) for x in (by, category) if x in labels), -1)
                if verdict == Verdict.THERE
                else -1,
            )
            for text, support, by, verdict, category in said
        ],
        [labels.index(label) for label in explanation.unmentioned],
        marks(caption, [m.words for m in explanation.mentions], [w.word for w in others]),
    )


def read(plan, texts):
    """Return a plan with texts instead of their numbers."""
    words, matches, said, unmentioned, marked = plan
    named = [*texts, None]
    return (
        [(named[word], *rest) for word, *rest in grouped(words, 3)],
        list(grouped(matches, 4)),
        [(named[word], support, named[by], *rest) for word, support, by, *rest in grouped(said, 5)],
        list(unmentioned),
        list(marked),
    )


def check(parts, plans, objects, texts):
    """Check all plans of a system; `objects` has the labels of each image by its id."""
    explanations = list(chain.from_iterable(parts))
    assert len(explanations) == sum(plan is not None for plan in plans)
    for explanation, plan in zip(explanations, filter(None, plans), strict=True):
        assert read(plan, texts) == plain_plan(explanation, list(objects[explanation.image_id]))


def test_made_up_plans(content):
    images = Images(content)
    plans = zip(content.explanations.values(), images.plans["plans"], strict=True)
    for parts, of_system in plans:
        check(parts, of_system, content.objects, images.plans["words"])


def test_plans_of_people_s_captions(shared_data):
    coco = shared_data / "coco"
    gold = read_references(coco / "captions_val2017_references.json")
    scorer = Vifidel(coco / "instances_val2017.json")
    for name in ("human", "shuffled", "degenerate"):
        captions = read_results(coco / f"captions_val2017_{name}_results.json")
        ids = [image_id for image_id in list(gold)[:700] if image_id in captions]
        rows = Rows([captions[i] for i in ids], [gold[i] for i in ids], ids)
        parts = [part for (part,) in scorer.explained([rows])]
        objects = scorer.objects_of(ids)
        shown = ObjectsShown(list(objects.values()))
        plans = Plans({image_id: at for at, image_id in enumerate(ids)}, shown)
        check(parts, plans.of_system(parts), objects, list(plans.words))


def test_words_are_numbered_in_the_order_of_the_captions(content):
    images = Images(content)
    used = [
        number
        for of_system in images.plans["plans"]
        for words, _, said, _, _ in of_system
        for number in (
            *words[::3],
            *chain.from_iterable((row[0], row[2]) for row in grouped(said, 5)),
        )
    ]
    assert list(dict.fromkeys(number for number in used if number >= 0)) == list(
        range(len(images.plans["words"]))
    )


def test_an_image_that_a_system_lacks_has_no_plan(content):
    parts = {name: of[:1] for name, of in content.explanations.items()}
    images = Images(dataclasses.replace(content, explanations=parts))
    for of_system, [part] in zip(images.plans["plans"], parts.values(), strict=True):
        assert [plan is not None for plan in of_system] == [
            image_id in part.ids for image_id in images.ids
        ]


def test_objects_have_the_penalty_of_a_plan():
    shown = ObjectsShown([{"dog": 2, "unheard": 1}, {}, {"dog": 10**20}])
    one, two = np.array([0, 2]), np.array([0, 1])
    assert shown.places(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 0, -1])).tolist() == [
        0, 1, -1, 0, -1,
    ]  # fmt: skip
    shown.weigh(one, np.array([0, 0]), np.array([0.25, 1.0]))
    shown.weigh(two, np.array([0, 0]), np.array([0.25, 0.5]))  # image 1 has no dog
    assert shown.numbers() == [[0, 2, units(0.25), 1, 1, -1], [], [0, 10**20, units(1.0)]]
    assert ObjectsShown([{}]).numbers() == [[]]


@pytest.mark.parametrize("cost", [0.0, 0.25, 1e15, 1e180])
def test_costs_of_vectors_of_any_length(content, make_explained, cost):
    [part, *_] = content.explanations["careful"]
    costs = np.full_like(part.matches.costs, cost)
    part = dataclasses.replace(part, matches=part.matches._replace(costs=costs))
    places = {image_id: at for at, image_id in enumerate(content.references)}
    shown = ObjectsShown(list(content.objects.values()))
    found = Plans(places, shown).of_system([part])
    assert {number for plan in found if plan for number in plan[1][3::4]} == {units(cost)}
    assert scale([[part]]) == max(units(cost), 1)
    wordless = dict.fromkeys(places, "it is")
    assert scale([make_explained(wordless, content.objects, content.references)]) == units(1)
