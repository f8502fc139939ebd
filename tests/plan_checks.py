"""Checks of the numbers that the report's words and plans are drawn from."""

import numpy as np

from vifidel_eval.show.report.data import UNIT


def units(number):
    return round(number / UNIT)


def hundredths(support):
    return -1 if np.isnan(support) else round(100 * support)


def grouped(numbers, size):
    return list(zip(*[iter(numbers)] * size, strict=True))


def check(explanations, plans, texts):
    """Check all plans of a system."""
    assert len(explanations) == sum(plan is not None for plan in plans)
    named = [*texts, None]
    for explanation, plan in zip(explanations, filter(None, plans), strict=True):
        check_one(explanation, plan, named)


def check_one(explanation, plan, named):
    objects, words, mentions, matches = (
        grouped(numbers, size) for numbers, size in zip(plan, (3, 5, 7, 4), strict=True)
    )
    labels = [named[label] for label, _, _ in objects]
    assert labels == sorted(set(labels))
    assert {match.label for match in explanation.matches} <= set(labels)
    assert tuple(named[label] for label, _, silent in objects if silent) == explanation.unmentioned
    assert [
        (named[text], named[category], support, named[by], verdict, named[judge], named[fits])
        for text, category, support, by, verdict, judge, fits in mentions
    ] == [
        (m.words, m.category, hundredths(m.support), m.supported_by, m.verdict, m.judged_by, m.fits)
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
            assert mentions[mention][4] == word.judged
    places = [(labels.index(m.label), m) for m in explanation.matches]
    places = [(at, [w.word for w in expected].index(m.word), m) for at, m in places]
    places.sort(key=lambda place: place[:2])
    assert matches == [(at, word, units(m.mass), units(m.cost)) for at, word, m in places]
    for at, word, match in places:
        assert objects[at][1] == units(match.label_penalty)
        assert words[word][1] == units(match.word_penalty)
