"""Captions, references and rows that are broken, contradict themselves or are odd."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hostile.test_readers import mutated_bytes, mutated_json, reads_or_refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import CaptionError, ImageIdError, Vifidel, VifidelError, content_words
from vifidel_eval.annotations.labels import nfc
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.scorers.ngram_metrics import RougeL
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

COCO = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "caption": "A dog."},
        {"id": 2, "image_id": 2, "caption": "A cat."},
    ],
}
KEYED = {"1": ["A dog."], "2": ["A cat.", "Some cat."]}
LISTED = [{"image_id": 1, "caption": "A dog."}, {"image_id": 2, "caption": "A cat."}]
ONE_EACH = {"1": "A dog.", "2": "A cat."}


def with_image(**image):
    return {**COCO, "images": [*COCO["images"], image]}


def with_caption(**annotation):
    return {**COCO, "annotations": [*COCO["annotations"], {"caption": "A dog.", **annotation}]}


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_references, with_image(id="1"), "1 and '1' mean the same image"),
        (read_references, with_image(id="000000000001"), "mean the same image"),
        (read_references, with_image(id=1, file_name="c.jpg"), "image 1 is listed twice"),
        (read_references, with_image(id=1e400), "images[2]: 'id' is inf"),
        (read_references, with_caption(image_id=3), "image 3 is not among the file's images"),
        (read_references, with_caption(image_id=1, caption=None), "the caption is null"),
        (read_references, {"1": ["A dog."], "000000000001": ["A cat."]}, "mean the same image"),
        (read_results, [*LISTED, {"image_id": "1", "caption": "a"}], "1 and '1' mean the same"),
        (read_results, [*LISTED, {"image_id": 1.0, "caption": "a"}], "two captions for image 1"),
        (read_results, {"1": "a", "COCO_val2014_000000000001": "b"}, "mean the same image"),
        (read_results, [{"image_id": 1, "a\nb" * 90: 1}], "but only 'image_id', 'a\\nba"),
        (read_results, [{"image_id": "x" * 900 * 2, "caption": 7}], "the caption is 7"),
        (read_results, {"1": float("nan")}, "the caption is nan, not a string"),
    ],
)
def test_broken_file(tmp_path, read, content, message):
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(VifidelError) as problem:
        read(path)
    assert message in str(problem.value)
    assert str(path) in str(problem.value)
    assert "\n" not in str(problem.value)


def test_an_image_that_is_listed_twice_in_the_same_way_is_one_image(tmp_path):
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(with_image(**COCO["images"][0])))
    assert read_references(path) == {1: ["A dog."], 2: ["A cat."]}


def test_references_that_a_json_object_could_not_tell_apart():
    references = {1: ["a dog"], "1": ["a cat"]}
    with pytest.raises(ImageIdError, match="the references: 1 and '1' mean the same image"):
        align([System("human", {1: "a dog", "1": "a cat"})], references)


ARRAY = np.array(["a dog", "a cat"])
ROWS = [
    (["a dog"], {"references": [np.array(["a dog"])]}, "row 0: expected a list of references"),
    (["a dog"], {"references": ["a dog"]}, "row 0: expected a list of references, found 'a dog'"),
    (["a dog"], {"references": [[b"a dog"]]}, "row 0: expected a list of references"),
    (["a dog"], {"references": [[ARRAY]]}, "row 0: expected a list of references"),
    ([None], {}, "row 0: the caption is None, not a string"),
    ([b"a dog"], {}, "row 0: the caption is b'a dog', not a string"),
    (b"a dog", {}, "captions must be a sequence of strings"),
    (bytearray(b"a dog"), {}, "captions must be a sequence of strings"),
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


@pytest.mark.parametrize(
    "stop_words",
    [b"a dog", bytearray(b"a dog"), memoryview(b"a"), "a dog", [1], [b"a"], [["a"]], 7, None],
)
def test_stop_words_that_are_none(stop_words):
    with pytest.raises(VifidelError, match="stop_words"):
        Vifidel({1: ["dog"]}, stop_words=stop_words)


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
    scorer = Vifidel()
    dogs = [["dog", "cat"]] * 2
    with pytest.raises(CaptionError, match="row 1: the caption has 2001 different words"):
        known(scorer, words).score(["a dog", " ".join(words)], objects=dogs)
    with pytest.raises(CaptionError, match="row 1: a reference has 2001 different words"):
        known(scorer, words).score(
            ["a dog"] * 2, objects=dogs, references=[["a"], ["a", " ".join(words)]]
        )
    with pytest.raises(CaptionError, match="row 0: the image has 2001 different object labels"):
        known(scorer, words).score(["a dog"], objects=[words])
    with pytest.raises(CaptionError, match=r"row 1: 65537 references; .* at most 65536"):
        scorer.score(["a dog"] * 2, objects=dogs, references=[["a"], ["a"] * 65537])


def known(scorer, words):
    """Return the scorer if its vectors know all words, as the embedded ones do."""
    assert not np.isnan(scorer._space.vectors.lookup(words)).any()
    return scorer


def test_rouge_of_long_texts():
    # pycocoevalcap's table of all pairs would take 20 GB.
    scorer = RougeL(Tokenization(PythonTokenizer()))
    text = "a b " * 25_000
    assert scorer.compute_score({1: [text]}, {1: [text]})[0] == pytest.approx(1)
    assert scorer.compute_score({1: [text]}, {1: ["a " * 50_000]})[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("read", "example"),
    [
        (read_references, COCO),
        (read_references, KEYED),
        (read_results, LISTED),
        (read_results, ONE_EACH),
    ],
)
@settings(max_examples=40, derandomize=True, database=None)
@given(data=st.data())
def test_any_mutation(tmp_path_factory, read, example, data):
    path = tmp_path_factory.getbasetemp() / "mutated-captions.json"
    if data.draw(st.booleans()):
        path.write_text(json.dumps(data.draw(mutated_json(example))))
    else:
        path.write_bytes(data.draw(mutated_bytes(json.dumps(example))))
    reads_or_refuses(read, path)
