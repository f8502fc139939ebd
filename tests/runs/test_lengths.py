import warnings

import pytest

from vifidel_eval import VifidelWarning
from vifidel_eval.runs.lengths import lengths_matter
from vifidel_eval.runs.pairing import System


def heard(**lengths):
    systems = [
        System(name, {i: "word " * words for i, words in enumerate(of_system)})
        for name, of_system in lengths.items()
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lengths_matter(systems)
    assert all(issubclass(warning.category, VifidelWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def test_lengths_that_differ_little_and_are_short_are_no_matter():
    assert heard(one=[10, 10], other=[20, 20], third=[60, 5]) != []  # 32.5 on average
    assert heard(one=[10, 10], other=[20, 20]) == []
    assert heard(one=[60]) == []
    assert heard(one=[]) == []


def test_a_factor_of_two_between_means_is_said_with_both():
    (said,) = heard(short=[10, 10], middle=[15], long=[21, 21])
    assert "system 'long' have 21.0 words on average, those of 'short' 10.0" in said


def test_long_captions_are_counted_by_system_in_the_same_warning():
    (said,) = heard(short=[10, 10], long=[61, 60, 100])
    assert "2 of 3 captions of system 'long' have more than 60 words" in said
    assert "on average" in said
    assert "'short' have" not in said


@pytest.mark.parametrize("words", [0, 1])
def test_captions_without_a_word_have_a_length(words):
    assert heard(empty=[0], other=[words]) == [] or words
