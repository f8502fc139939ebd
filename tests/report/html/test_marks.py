import pytest

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
