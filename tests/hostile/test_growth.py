"""Time grows with the input and not with its square: measured at two sizes, as a ratio.

An input four times as large may take eight times as long, which leaves room for caches that
overflow; where time grew with the square, it took sixteen times as long, and more.
"""

from __future__ import annotations

import gc
import json
import time

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu_scorer import BleuScorer

from vifidel_eval import Vifidel, VifidelError, content_words
from vifidel_eval.annotations import clean_label, read_objects
from vifidel_eval.annotations.labels import nfc
from vifidel_eval.captions.rows import MOST_CHARACTERS
from vifidel_eval.kernels import bags as bags_module
from vifidel_eval.kernels.bags import bags_of_captions, penalties
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.kernels.support import nearest
from vifidel_eval.kernels.transport import (
    sums_of_bags,
    transport_plans,
    travel_costs,
    travel_distances,
)
from vifidel_eval.words.tokenization import PythonTokenizer
from vifidel_eval.words.word_vectors import load_vectors

pytestmark = pytest.mark.slow

FACTOR = 4
MOST = 8  # times as long for FACTOR times as much
LONG_ENOUGH = 0.02  # seconds: what is faster than this is measured at a larger size


def seconds(function, size):
    """Return the processor time of a call, the best of two, without the garbage of other tests."""
    made = function(size)
    times = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):
            start = time.process_time()
            made()
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)


def grows_linearly(function, size, largest):
    """Check that `function(size)()` takes at most MOST times as long for FACTOR times as much."""
    small = seconds(function, size)
    while small < LONG_ENOUGH and FACTOR * FACTOR * size <= largest:
        size *= FACTOR
        small = seconds(function, size)
    for _ in range(3):  # a busy machine may disturb a measurement, and hardly three
        large = seconds(function, FACTOR * size)
        if large < MOST * max(small, LONG_ENOUGH):
            return
        small = seconds(function, size)
    pytest.fail(f"{size}: {small:.3f} s, {FACTOR * size}: {large:.3f} s")


TEXTS = {
    "underscores": "_",
    "words of one letter": "a_",
    "marks in no order": "\u0301\u0323",
    "pluses": "+",
    "full stops": ".",
    "abbreviations": "a.",
    "parentheses": "(",
    "open senses": "a (",
    "tags": "<a",
    "addresses": "www.",
    "mail": "a@",
    "mail with hyphens": "a@b-",
    "contractions": "n't",
    "quotes": "'",
    "ca n't": "ca ",
    "times of day": "1:",
    "thousands": "1,",
    "references to characters": "&#1",
    "Chinese": "\u4e2d",
    "Greek": "\u03a3\u0301",
    "surrogates": "\ud800",
    "blanks": " ",
    "nulls": "\0",
}
READERS = {
    "content words": content_words,
    "tokens": lambda text: PythonTokenizer().tokenize({1: [text]}),
    "labels": clean_label.__wrapped__,
    "composed form": nfc,
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("reader", READERS)
def test_text(kind, reader):
    read, unit = READERS[reader], TEXTS[kind]
    grows_linearly(lambda size: lambda: read("a" + unit * size), 2000, 128_000)


def test_different_words():
    def read(size):
        text = " ".join(f"w{i}x-y" for i in range(size))
        return lambda: (content_words(text), PythonTokenizer().tokenize({1: [text]}))

    grows_linearly(read, 2000, 32_000)


def test_bleu_of_pluses():
    def score(size):
        tokens = PythonTokenizer().tokenize({1: ["+" * size]})[1][0]
        return lambda: BleuScorer(test=tokens, refs=[tokens]).compute_score()

    grows_linearly(score, 2000, 128_000)


def instances(size):
    return {
        "images": [{"id": i} for i in range(size)],
        "annotations": [{"image_id": i, "category_id": 1} for i in range(size)],
        "categories": [{"id": 1, "name": "dog"}],
    }


OBJECTS = {
    "instances": instances,
    "detections": lambda size: [
        {"image_id": i, "category_id": 1, "score": 0.9} for i in range(size)
    ],
    "labels": lambda size: {str(i): ["dog"] for i in range(size)},
    "ids that are strings": lambda size: {f"a{i}": ["dog"] for i in range(size)},
    "labels of one image": lambda size: {"1": [f"dog {i}" for i in range(size)]},
    "categories": lambda size: {
        **instances(1),
        "categories": [{"id": i, "name": f"dog {i}"} for i in range(size)],
    },
    "boxes": lambda size: "ImageID,LabelName,Confidence\n" + "a1,Dog,0.9\n" * size,
    "objects in XML": lambda size: (
        f"<annotation>{'<object><name>dog</name></object>' * size}</annotation>"
    ),
    "nested XML": lambda size: (
        f"<annotation>{'<object><name>dog</name>' * size}{'</object>' * size}</annotation>"
    ),
}


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(tmp_path, kind):
    def read(size):
        content = OBJECTS[kind](size)
        path = tmp_path / f"{size}"
        path = path.with_suffix(".csv" if kind == "boxes" else ".json")
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return lambda: read_objects(path).signature()

    grows_linearly(read, 1000, 16_000)


@pytest.mark.parametrize("texts", [1, 3])
def test_captions_of_100_000_different_words_are_refused_soon(texts):
    captions = [" ".join(f"w{i}x" for i in range(100_000))] * texts
    start = time.process_time()
    with pytest.raises(VifidelError, match=f"at most {MOST_CHARACTERS} are read"):
        Vifidel().score(captions, objects=[["dog", "cat", "car"]] * texts)
    loading = time.process_time() - start
    captions = [" ".join(f"{i:x}" for i in range(16, 20_016))] * texts
    start = time.process_time()
    with pytest.raises(VifidelError, match="different words; metrics on word vectors take at most"):
        Vifidel().score(captions, objects=[["dog", "cat", "car"]] * texts)
    assert time.process_time() - start < 10 + loading * MOST  # it took 203 s


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon(load_vectors(None), normalize=True, stop_words=())


@pytest.mark.parametrize("at_once", [1, 7, 60, 1 << 20])
def test_pairs_in_memory_do_not_change_a_bit(lexicon, monkeypatch, at_once):
    """Words, references and labels in slices of any size give the same bits."""
    random = np.random.default_rng(5)
    words = "dog cat car tree street frisbee person bus kitchen beach red big".split()

    def bags(number, most):
        texts = [" ".join(random.choice(words, random.integers(0, most))) for _ in range(number)]
        return bags_of_captions(lexicon, texts)[0]

    labels, captions, references = bags(40, 6), bags(40, 12), bags(80, 9)
    owners = np.repeat(np.arange(40), 2)
    distances = lexicon.distances

    def everything():
        of_labels = penalties(distances, labels, references, owners)
        of_words = penalties(distances, captions, references, owners)
        together = travel_distances(distances, labels, captions, 2, of_labels, of_words)
        of_both = nearest(distances, captions, labels)
        return [of_labels, of_words, together, of_both.of_left, of_both.of_right, of_both.at_left]

    expected = everything()
    costs = travel_costs(distances, labels, captions, 2, *expected[:2])
    moved = transport_plans(labels, captions, costs) * costs
    np.testing.assert_array_equal(expected[2], sums_of_bags(moved, labels, captions))
    monkeypatch.setattr(bags_module, "PAIRS_AT_ONCE", at_once)
    for found, before in zip(everything(), expected, strict=True):
        np.testing.assert_array_equal(found, before)
