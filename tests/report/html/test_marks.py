import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.report.html import marks as module
from vifidel_eval.report.html.formats import grouped
from vifidel_eval.report.html.marks import marks


@pytest.mark.parametrize(
    ("caption", "mentions", "words", "found"),
    [
        ("Two hot  dogs, one DOG.", ["hot dogs", "dog"], [], [("hot  dogs", 0), ("DOG", 1)]),
        ("a dog and a dog", ["dog", "dog"], [], [("dog", 0), ("dog", 1)]),
        ("a hotdog", ["dog"], [], []),
        ("red fire hydrant, red car", ["fire hydrant", "car"], ["red"],
         [("red", 2), ("fire hydrant", 0), ("red", 2), ("car", 1)]),
        ("a \U0001f600 dog", ["dog"], [], [("dog", 0)]),
        ("\u0915\u093f\u0924\u093e\u092c", [], ["\u0915\u093f\u0924\u093e\u092c"],
         [("\u0915\u093f\u0924\u093e\u092c", 0)]),
        ("cafe\u0301 sign", ["sign"], ["caf\u00e9"], [("cafe\u0301", 1), ("sign", 0)]),
        ("[dog", ["dog"], [], [("dog", 0)]),
    ],
)  # fmt: skip
def test_every_word_is_found_where_it_is(caption, mentions, words, found):
    numbers = marks(caption, mentions, words)
    assert [(caption[start:end], at) for start, end, at in grouped(numbers, 3)] == found


PLAIN = ["dog", "Dogs", "hot", "a", "5"]
ALL = [*PLAIN, "x_y", "t.v.", "fire-hydrant", "caf\u00e9"]


def some_of(texts, others, most):
    """Return lists of texts, half of which have others too."""
    return st.sampled_from([texts, [*texts, *others]]).flatmap(
        lambda them: st.lists(st.sampled_from(them), max_size=most)
    )


@given(
    some_of(PLAIN, ALL, 9),
    st.sampled_from([" ", "  ", ", ", "-"]),
    some_of(["dog", "hot dog", "dogs", "hot hot dog"], ["t.v.", "fire-hydrant", "5"], 4),
    st.lists(st.sampled_from(["dog", "hot", "a", "x", "caf\u00e9"]), unique=True, max_size=4),
)
def test_plain_captions_have_the_marks_of_all_others(said, between, mentions, words):
    caption = between.join(said)
    found = marks(caption, mentions, words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_plain_words", lambda mention: None)
        # A mention that is nowhere: no caption is plain, and the others keep their numbers.
        others = marks(caption, [*mentions, "nowhere"], words)
    many = len(mentions)
    assert found == [n - (i % 3 == 2 and n > many) for i, n in enumerate(others)]
