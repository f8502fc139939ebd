import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vifidel_eval import content_words
from vifidel_eval.kernels.bags import bags_of_captions, joined
from vifidel_eval.kernels.lexicon import Lexicon, LexiconFull
from vifidel_eval.words.word_vectors import load_vectors

AXES = {"dog": [3.0, 0.0], "cat": [0.0, 2.0], "bird": [1.0, 1.0], "nothing": [0.0, 0.0]}


@pytest.fixture
def make_lexicon(make_vectors):
    def make_lexicon(normalize=True, stop_words=("the",)):
        return Lexicon(load_vectors(make_vectors(AXES)), normalize, stop_words)

    return make_lexicon


def as_dicts(lexicon, bags):
    return [
        {
            lexicon.words[atom]: mass
            for atom, mass in zip(bags.atoms[a:b], bags.masses[a:b].tolist(), strict=True)
        }
        for a, b in zip(bags.starts[:-1], bags.starts[1:], strict=True)
    ]


def test_captions_become_normalised_bags_in_alphabetical_order(make_lexicon):
    lexicon = make_lexicon()
    bags, tally = bags_of_captions(lexicon, ["The dog, the cat and a dog; and", "", "cat-bird"])
    found = as_dicts(lexicon, bags)
    assert found == [{"cat": 1 / 3, "dog": 2 / 3}, {}, {"bird": 0.5, "cat": 0.5}]
    assert [list(bag) for bag in found] == [["cat", "dog"], [], ["bird", "cat"]]
    assert tally.words == 7
    assert tally.unknown == {"and": 2}


def test_words_without_direction_are_unknown(make_lexicon):
    bags, tally = bags_of_captions(make_lexicon(), ["nothing unheard dog"])
    assert bags.sizes.tolist() == [1]
    assert tally.unknown == {"nothing": 1, "unheard": 1}


@settings(max_examples=40)
@given(st.lists(st.lists(st.text(st.sampled_from("ab -'\u00e9\u72d7\0"), max_size=30), max_size=4)))
@example([["", "\ud800 x dog", "\x1ca\x85b\u3000c\x0bd", "isn't it a-b-a", "\u0130" * 9], [""]])
def test_captions_read_together_have_the_words_of_each_alone(batches):
    lexicon = Lexicon(load_vectors(), normalize=True, stop_words=("it",))
    for captions in batches:  # the later ones know some pieces already
        numbers, sizes = lexicon.read(joined(captions))
        words = [content_words(caption, ("it",)) for caption in captions]
        assert sizes.tolist() == list(map(len, words))
        assert list(map(lexicon.words.__getitem__, numbers.tolist())) == [
            w for of_one in words for w in of_one
        ]


@pytest.mark.parametrize("caption", [" ".join("!" * n for n in range(1, 99)), "a-" * 99 + "dog"])
def test_pieces_without_end_do_not_fit_into_a_lexicon(caption, make_vectors):
    lexicon = Lexicon(load_vectors(make_vectors(AXES)), True, (), capacity=10)
    bags_of_captions(lexicon, ["dog cat"])
    with pytest.raises(LexiconFull):
        bags_of_captions(lexicon, [caption.replace("a-", "bird-")])


def test_null_characters_in_captions_do_not_shift_bags(make_lexicon):
    lexicon = make_lexicon()
    bags, _ = bags_of_captions(lexicon, ["dog \0 cat", "\0", "bird"])
    assert [sorted(bag) for bag in as_dicts(lexicon, bags)] == [["cat", "dog"], [], ["bird"]]
