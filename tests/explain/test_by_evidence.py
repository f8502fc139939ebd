"""Explanations of several systems: the same as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval import Vifidel
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.kernels.grounding import Verdict
from vifidel_eval.words.settings import Thresholds
from vifidel_eval.words.synonyms import ClassList

WORDS = "dog dogs hot kite cat cats wolf large fire hydrant traffic light lights a the zzz".split()
VECTORS = np.random.default_rng(4).normal(size=(len(WORDS), 4)).tolist()
THINGS = ClassList(
    "small",
    (("dog", "puppy"), ("hot dog",), ("cat",), ("kite", "zzz"), ("wolf",), ("traffic light",)),
)
LABELS = st.lists(
    st.sampled_from(["dog", "hot dog", "kite", "traffic light", "unheard"]), max_size=3
)
TEXTS = st.lists(st.sampled_from([*WORDS, "hot dog", "a dog"]), max_size=7).map(" ".join)
IMAGES = st.lists(
    st.tuples(LABELS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2)), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def vectors(make_vectors):
    known = dict(zip(WORDS, VECTORS, strict=True))
    del known["zzz"]
    return make_vectors(known)


def scorer_and_rows(vectors, images):
    """Return a scorer and the rows of two systems, of which the second lacks the first image."""
    scorer = Vifidel(
        {i: labels for i, (labels, *_) in enumerate(images)}, vectors, only_things=THINGS
    )
    references = {i: message for i, (_, _, _, message) in enumerate(images)}
    one = {i: [caption] for i, (_, caption, _, _) in enumerate(images)}
    other = {i: [caption] for i, (_, _, caption, _) in enumerate(images) if i}
    return scorer, [coco_rows({i: references[i] for i in res}, res) for res in (one, other)]


@given(images=IMAGES, thresholds=st.sampled_from([Thresholds(), Thresholds(0.9, 0.5)]))
def test_systems_side_by_side_are_explained_as_each_caption_alone(vectors, images, thresholds):
    scorer, systems = scorer_and_rows(vectors, images)
    result = [[], []]
    for parts in scorer.explained(systems, thresholds):
        for of_system, part in zip(result, parts, strict=True):
            of_system.extend(part or ())
    for rows, of_system in zip(systems, result, strict=True):
        alone = zip(rows.ids, rows.captions, rows.references, strict=True)
        assert [str(e) for e in of_system] == [
            str(scorer.explain(*row, thresholds)) for row in alone
        ]


@given(images=IMAGES)
def test_words_and_objects_by_their_definition(vectors, images):
    scorer, [rows, _] = scorer_and_rows(vectors, images)
    [(part,)] = scorer.explained([rows])
    [(bare,)] = scorer.explained([rows], with_plans=set())
    weights = {Verdict.UNCONFIRMED: 0, Verdict.THERE: 1, Verdict.ABSENT: 2}
    for explanation, other in zip(part, bare, strict=True):
        # Without a plan, verdicts and words are the same.
        with_plan, without = ((one.mentions, one.objects) for one in (explanation, other))
        assert repr(with_plan) == repr(without)
        assert {word.word for word in explanation.words} == {word.word for word in other.words}
        assert other.matches == ()
        for word in explanation.words:
            mentions = [m for m in explanation.mentions if word.word in m.words.split()]
            if not mentions:
                assert (word.mention, word.category, word.judged) == (None, None, None)
                continue
            # Of several mentions the word stands for the worst, of equals for the first.
            worst = max(mentions, key=lambda mention: weights[mention.verdict])
            shown = word.mention, word.category, word.judged
            assert shown == (worst.words, worst.category, worst.verdict)
            assert word.supported_by == worst.supported_by
            assert word.support == pytest.approx(worst.support, abs=0, nan_ok=True)
        of_class = {mention.category for mention in explanation.mentions}
        classes = {THINGS.class_of.get(label, label) for label in explanation.unmentioned}
        assert not classes & of_class


def test_unknown_words_are_found_whatever_the_captions(vectors):
    # Few captions of many unknown words, and many of which few have one.
    scorer = Vifidel({i: ["dog"] for i in range(40)}, vectors, only_things=THINGS)
    captions = {0: ["qqa qqb Q\u00c9 dog"], 1: ["DOG QQA"], 2: ["a dog"], 3: ["it's qqa's dog."]}
    expected = [("qqa", "qqb", "q\u00e9"), ("qqa",), (), ("qqa",)]
    for some in (captions, captions | {i: ["a large dog"] for i in range(4, 40)}):
        result = [e.unknown_words for e in scorer.explanations({i: [] for i in some}, some)]
        assert result[:4] == expected
        assert set(result[4:]) <= {()}
