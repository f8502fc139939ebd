import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.networks.vilbertscore import WordPieces

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "##s", "cafe", ".", "'", "t", "isn", "犬"]


@pytest.fixture
def write_vocabulary(tmp_path):
    def write_vocabulary(pieces, end="\n"):
        path = tmp_path / "vocab.txt"
        path.write_bytes((end.join(pieces) + end).encode())
        return path

    return write_vocabulary


@pytest.mark.parametrize(
    ("caption", "pieces"),
    [
        ("A Dog.", ["a", "dog", "."]),
        ("dogs", ["dog", "##s"]),
        ("a\tdog\n", ["a", "dog"]),
        ("isn't", ["isn", "'", "t"]),
        ("Café", ["cafe"]),  # accents go
        ("a犬犬", ["a", "犬", "犬"]),  # Chinese characters stand alone
        ("a zebra", ["a", "[UNK]"]),
        ("a [SEP] dog", ["a", "[UNK]", "[UNK]", "[UNK]", "dog"]),  # no special token
        ("[CLS]", ["[UNK]"] * 3),
        ("CAFÉ İ", ["cafe", "[UNK]"]),
        ("", []),
        (" \t ", []),
        ("a \ud800 dog", ["a", "[UNK]", "dog"]),  # half a character, as JSON can spell it
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tokens(caption, pieces, end, write_vocabulary):
    expected = [2, *map(PIECES.index, pieces), 3]
    assert WordPieces(write_vocabulary(PIECES, end), len(PIECES)).tokens([caption]) == [expected]


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([*PIECES, "cat"], r"vocab\.txt: 14 pieces in the vocabulary, but the checkpoint knows 13"),
        ([*PIECES[:-1], "dog"], "12 pieces in the vocabulary, but the checkpoint knows 13"),
        ([p for p in PIECES if p != "[CLS]"], r"not a BERT vocabulary, because it has no \[CLS\]"),
        (["{}"], r"not a BERT vocabulary, because it has no \[PAD\]"),
    ],
)
def test_vocabularies_of_others(pieces, message, write_vocabulary):
    with pytest.raises(VifidelError, match=message):
        WordPieces(write_vocabulary(pieces), len(PIECES))


def test_published_size_has_the_published_tokens(write_vocabulary):
    """Another vocabulary of 30522 pieces, such as the cased one sorted differently, is refused."""
    special = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]"}
    words = {1012: ".", 1037: "a", 3899: "dog"}
    pieces = [f"[unused{number}]" for number in range(30522)]
    for token, piece in (special | words).items():
        pieces[token] = piece
    assert WordPieces(write_vocabulary(pieces), 30522).tokens(["A dog"]) == [[101, 1037, 3899, 102]]
    pieces[3899], pieces[3900] = pieces[3900], pieces[3899]
    with pytest.raises(VifidelError, match=r"'a dog\.' gets the tokens \[101, 1037, 3900, 1012"):
        WordPieces(write_vocabulary(pieces), 30522)
