import numpy as np
import pytest

from vifidel_eval.kernels import lexicon as module
from vifidel_eval.kernels.bags import Bags, bags_of_captions
from vifidel_eval.kernels.lexicon import Lexicon, LexiconFull, WordSpace
from vifidel_eval.words.word_vectors import load_vectors

SIZE = 30
ROWS = np.random.default_rng(4).normal(size=(SIZE, 5)).astype(np.float32)


@pytest.fixture(scope="module")
def lexicon(make_vectors):
    words = {f"word{chr(97 + i % 26)}{chr(97 + i // 26)}": ROWS[i].tolist() for i in range(SIZE)}
    lexicon = Lexicon(load_vectors(make_vectors(words)), normalize=False, stop_words=())
    bags_of_captions(lexicon, [" ".join(words)])
    return lexicon


def bags(*sizes):
    total = sum(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Bags(starts, np.arange(total), np.ones(total))


@pytest.mark.parametrize("normalize", [True, False])
def test_a_label_of_several_words_has_the_mean_of_those_that_are_known(make_vectors, normalize):
    vectors = make_vectors({"dog": [3.0, 0.0], "cat": [0.0, 2.0], "hot_dog": [0.0, -5.0]})
    lexicon = Lexicon(load_vectors(vectors), normalize, stop_words=())
    mean, phrase, unknown = lexicon.numbers(["dog unheard cat", "hot dog", "unheard thing"])
    expected = np.array([[1.0, 1.0], [0.0, -1.0]]) / [[2**0.5], [1.0]]
    if not normalize:
        expected = np.array([[1.5, 1.0], [0.0, -5.0]])
    np.testing.assert_allclose(lexicon.matrix[[mean, phrase]], expected, rtol=1e-12)
    assert lexicon.known[[mean, phrase, unknown]].tolist() == [True, True, False]
    assert np.isnan(lexicon.matrix[unknown]).all()


def test_a_full_lexicon_gives_way_to_another(make_vectors, monkeypatch):
    vectors = load_vectors(make_vectors({"dog": [3.0, 0.0], "cat": [0.0, 2.0]}))
    lexicon = Lexicon(vectors, True, (), capacity=2)
    assert lexicon.numbers(["dog", "cat", "dog"]) == [0, 1, 0]
    with pytest.raises(LexiconFull):
        lexicon.numbers(["dog", "bird"])
    assert lexicon.numbers(["cat", "dog"]) == [1, 0]

    monkeypatch.setattr(module, "CAPACITY", 2)
    space = WordSpace(vectors, True, frozenset())
    for words in (["dog"], ["cat"], ["bird"], [*"abcdefg"], ["dog", "cat"]):
        assert space.with_room(lambda some, words=words: len(some.numbers(words))) == len(words)
    assert space.with_room(lambda some: some.words) == ["dog", "cat"]
