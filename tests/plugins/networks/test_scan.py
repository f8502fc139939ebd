import json

import numpy as np
import pytest
import tiger_oracle as oracle

torch = pytest.importorskip("torch", reason="needs PyTorch")
nltk = pytest.importorskip("nltk", reason="needs NLTK")
pytestmark = pytest.mark.pytorch

from vifidel_eval import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.regions import Regions  # noqa: E402
from vifidel_eval.plugins.networks.scan import Scan, Tokenizer, ground, read_vocabulary  # noqa: E402

CAPTIONS = [
    "a dog runs in the park".split(),
    [],
    "a big red ball is n't the dog 's .".split(),
    "zebra zebra".split(),
    ["cat"],
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scan")
    return (
        oracle.write_checkpoint(folder / "model_best.pth"),
        oracle.write_vocabulary(folder / "vocab.json"),
    )


@pytest.fixture(scope="module")
def scan(files):
    return Scan(*files)


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


def test_region_vectors(scan):
    features = [*oracle.random_features(2), *oracle.random_features(40, regions=5)]
    for found, of_image in zip(scan.regions(list(map(Regions, features))), features, strict=True):
        assert found.dtype == torch.float32
        np.testing.assert_allclose(found, oracle.region_vectors(of_image), atol=2e-7)
    assert scan.regions([]) == []


def test_word_vectors_of_captions_of_different_lengths(scan):
    vectors, is_word = scan.words([scan.tokens(caption) for caption in CAPTIONS])
    assert is_word.sum(dim=1).tolist() == [len(caption) + 2 for caption in CAPTIONS]
    for row, real, caption in zip(vectors, is_word, CAPTIONS, strict=True):
        np.testing.assert_allclose(row[real], oracle.word_vectors(caption), atol=1e-12)
        assert not row[~real].any()


def test_grounding_of_padded_captions_and_images():
    random = np.random.default_rng(5)
    shapes = [(4, 3), (6, 2), (2, 7)]
    images = [random.normal(size=(n, 8)) for n, _ in shapes]
    captions = [random.normal(size=(m, 8)) for _, m in shapes]
    images[1][3] = 0  # a region of zeros is grounded in nothing
    regions, words = (
        torch.nn.utils.rnn.pad_sequence([torch.from_numpy(x) for x in side], batch_first=True)
        for side in (images, captions)
    )
    is_word = torch.tensor([[True] * m + [False] * (7 - m) for _, m in shapes])
    found = ground(regions, words, is_word).numpy()
    for row, image, caption in zip(found, images, captions, strict=True):
        np.testing.assert_allclose(row[: len(image)], oracle.grounding(image, caption), atol=1e-12)
    assert found[1, 3] == 0


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
