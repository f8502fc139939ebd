"""Lists in cells: text that spells a list, as JSON or as Python writes it."""

import ast
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vifidel_eval.errors import CaptionError
from vifidel_eval.io.containers import listed_in, parsed

TEXTS = st.text(st.sampled_from("ab'\"\\\n\t\x00\x7f\xa0é😀 ,[](){}")) | st.text()


@given(st.lists(TEXTS))
def test_what_python_and_json_write_of_a_list_is_that_list(texts):
    for spelled in (repr(texts), json.dumps(texts), json.dumps(texts, ensure_ascii=False)):
        assert listed_in(spelled, "here", CaptionError) == texts
    if texts:
        assert listed_in(repr(tuple(texts)), "here", CaptionError) == texts


@example("(0)")
@example("[1][0]")
@example("['a' 'b']")
@given(st.text(st.sampled_from("[]()'\" ,ab\\x41n0.1{:}"), max_size=12))
def test_nothing_is_read_that_python_reads_differently(text):
    try:
        result = parsed(text)
    except ValueError:
        return
    try:
        json.loads(text)
    except ValueError:
        assert json.dumps(result) == json.dumps(ast.literal_eval(text.strip()))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "a dog",
        "[UNK] dog",
        "[UNK] a dog [UNK] runs",
        '["STOP"] sign on a pole',
        "(a dog on a sofa)",
        "('STOP' sign)",
        "{a dog}",
        "'a dog', 'a cat'",
    ],
)
def test_captions_that_only_begin_like_a_list_are_captions(text, whole):
    assert listed_in(text, "here", CaptionError, whole) is None


@pytest.mark.parametrize(
    "text", ["[UNK]", "[a dog, a cat]", "[1]", "[None]", '{"caption": "a dog"}']
)
def test_a_caption_may_be_in_brackets(text):
    assert listed_in(text, "here", CaptionError, whole=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "['a dog.' 'a brown dog.']",  # str of an array of NumPy
        "['a dog.'\n 'a brown dog.']",
        "['a dog.', 'a brown d",  # cut off, as by Excel
        "['a dog.', nan]",
        "['a dog.', ...]",
        "[np.str_('a dog.')]",
        "['a'] + ['b']",
        "{'a dog.', 'a cat.'}",
        '{"raw": "a dog."}',
        "[a dog, a cat]",
        r"['\N{DOG}']",
        "[" * 100_000 + "]",
        "['" + r"\'" * 100_000,
    ],
)
def test_what_looks_like_a_list_and_is_none_is_refused(text):
    with pytest.raises(CaptionError, match=r"^line 2: .* looks like a list and cannot be read as"):
        listed_in(text, "line 2", CaptionError)
