import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vifidel_eval import content_words
from vifidel_eval.kernels.bags import bags_of_captions, joined
from vifidel_eval.kernels.lexicon import Lexicon, LexiconFull
from vifidel_eval.words.word_vectors import load_vectors

AXES = {"dog": [3.0, 0.0], "cat": [0.0, 2.0], "bird": [1.0, 1.0], "nothing": [0.0, 0.0]}


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
