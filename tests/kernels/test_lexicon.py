import pytest

from vifidel_eval.kernels import lexicon as module
from vifidel_eval.kernels.lexicon import Lexicon, LexiconFull, WordSpace
from vifidel_eval.words.word_vectors import load_vectors


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
