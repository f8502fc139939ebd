"""Captions, references and rows that are broken, contradict themselves or are odd."""

import unicodedata

import numpy as np
import pytest

from vifidel_eval import CaptionError, Vifidel, VifidelError, content_words
from vifidel_eval.annotations.labels import nfc
from vifidel_eval.words.tokenization import PythonTokenizer

ROWS = [
    (["a dog"], {"references": [np.array(["a dog"])]}, "row 0: expected a list of references"),
    (["a dog"], {"references": ["a dog"]}, "row 0: expected a list of references, found 'a dog'"),
    (["a dog"], {"references": [[b"a dog"]]}, "row 0: expected a list of references"),
    ([None], {}, "row 0: the caption is None, not a string"),
    ([b"a dog"], {}, "row 0: the caption is b'a dog', not a string"),
    (b"a dog", {}, "captions must be a sequence of strings"),
    (np.array("a dog"), {}, "captions must be a sequence of strings"),
    ("a dog", {}, "captions must be a sequence of strings"),
    (["a dog"], {"image_ids": [[1]]}, "image_ids: not all of them can be image ids"),
    (["a dog"], {"image_ids": [(1, [2])]}, "image_ids: not all of them can be image ids"),
    (["a dog", "a"], {}, "there are 2 captions and 1 objects"),
    (["x" * 100_001], {}, "row 0: the caption is 100001 characters long"),
    (["a dog"], {"references": [["x" * 100_001]]}, "row 0: the reference is 100001 characters"),
]


@pytest.mark.parametrize(("captions", "given_too", "message"), ROWS)
def test_broken_rows(captions, given_too, message):
    scorer = Vifidel()
    assert scorer.score(["a dog"], references=[["a dog"]], objects=[["dog"]]) == [1]
    with pytest.raises(VifidelError) as problem:  # after a good call, which is remembered
        scorer.score(captions, **{"references": None, "objects": [["dog"]], **given_too})
    assert message in str(problem.value)


def test_lone_surrogates():
    scorer = Vifidel({"\ud800": ["do\udc00g", "dog"]}, stop_words=["a", "\ud800"])
    assert scorer.signature() == scorer.signature()
    (score,) = scorer.score(["a \ud800dog"], image_ids=["\ud800"], references=[["the \udfffdog"]])
    assert 0 < score <= 1
    assert PythonTokenizer().tokenize({1: ["a \ud800 dog"]}) == {1: ["a dog"]}


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("&#" + "1" * 5000, "\ufffd"),
        ("&#" + "1" * 5000 + "; dog", "\ufffd dog"),
        ("&#" + "0" * 5000 + "65; dog", "a dog"),
        ("&#99999999;", "\ufffd"),
        ("&#x" + "1" * 5000 + ";", "\ufffd"),
        ("&#65;&amp;&lt;dog", "a & < dog"),
        ("mail me@example.org now", "mail me@example.org now"),
        ("+" * 3, "+ + +"),
    ],
)
def test_tokens_without_java(caption, tokens):
    assert PythonTokenizer().tokenize({1: [caption]}) == {1: [tokens]}


def test_marks_in_order_and_out_of_it():
    assert nfc("e\u0301" * 2000) == "\u00e9" * 2000
    assert nfc("\ud55c\uad6d" * 2000) == unicodedata.normalize("NFC", "\ud55c\uad6d" * 2000)
    long = "dog caf" + "e\u0301 " * 600
    assert nfc(long) == unicodedata.normalize("NFC", long)
    assert content_words("cafe\u0301 " * 600) == ["caf\u00e9"] * 600


def test_too_many_different_words():
    words = [f"w{i}x" for i in range(2001)]
    score, two = Vifidel().score, ["a dog"] * 2
    objects = [["dog", "cat"]] * 2
    with pytest.raises(CaptionError, match="row 1: the caption has 2001 different words"):
        score(["a dog", " ".join(words)], objects=objects)
    with pytest.raises(CaptionError, match="row 1: a reference has 2001 different words"):
        score(two, objects=objects, references=[["a"], ["a", " ".join(words)]])
    with pytest.raises(CaptionError, match="row 0: the image has 2001 different object labels"):
        score(["a dog"], objects=[words])
    with pytest.raises(CaptionError, match=r"row 1: 65537 references; .* at most 65536"):
        score(two, objects=objects, references=[["a"], ["a"] * 65537])
