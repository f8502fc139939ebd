import json

import pytest

pytest.importorskip("torch", reason="needs PyTorch")
nltk = pytest.importorskip("nltk", reason="needs NLTK")
pytestmark = pytest.mark.pytorch

from vifidel_eval import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.scan import Tokenizer, read_vocabulary  # noqa: E402


@pytest.fixture
def punkt(tmp_path, monkeypatch):
    """NLTK's data for finding sentences, untrained: it knows no abbreviations."""
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (folder / name).write_text("", "utf-8")
    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    yield
    nltk.tokenize._get_punkt_tokenizer.cache_clear()


@pytest.fixture
def no_punkt(tmp_path, monkeypatch):
    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    yield
    nltk.tokenize._get_punkt_tokenizer.cache_clear()


def check_single_sentences(tokenizer):
    assert tokenizer("A dog isn't the cat's.") == "a dog is n't the cat 's .".split()
    assert tokenizer('the "big" dog, (red)!') == "the `` big '' dog , ( red ) !".split()
    assert tokenizer("") == tokenizer(" \n ") == []
    assert tokenizer("Ein HÜBSCHER Hund") == ["ein", "hübscher", "hund"]


def test_tokens_with_punkt(punkt):
    tokenizer = Tokenizer()
    assert tokenizer.name == "nltk-punkt"
    check_single_sentences(tokenizer)
    tokens = tokenizer("A ball. A cat.")
    assert tokens == ["a", "ball", ".", "a", "cat", "."]
    assert tokenizer.unsplit(["ball. a cat"]) is None


def test_tokens_without_punkt(no_punkt):
    tokenizer = Tokenizer()
    assert tokenizer.name == "nltk-line"
    check_single_sentences(tokenizer)
    tokens = tokenizer("A ball. A cat.")
    assert tokens == ["a", "ball.", "a", "cat", "."]
    one_sentence = ["A ball, a cat ... and a dog.", "A ball!", ""]
    assert tokenizer.unsplit(one_sentence) is None
    assert tokenizer.unsplit([*one_sentence, "A ball. A cat."]) == "ball."


FIRST = {"<pad>": 0, "<start>": 1, "<end>": 2}


@pytest.mark.parametrize(
    "content",
    [
        [1],
        {"word2idx": {"<start>": 0, "<end>": 1}},
        {"word2idx": {**FIRST, "<unk>": 1}},
        {"word2idx": {**FIRST, "<unk>": 3, "a": True}},
        {"word2idx": {**FIRST, "<unk>": 3, "a": 5}},
    ],
)
def test_vocabularies_that_are_none(tmp_path, content):
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(VifidelError, match=r"vocab\.json: no 'word2idx' in it that numbers words"):
        read_vocabulary(path)
