import pickle

import pytest
from gensim.parsing.preprocessing import STOPWORDS

from vifidel_eval import STOP_WORDS, content_words


@pytest.mark.parametrize(
    ("raw", "treebank", "words"),
    [
        # The right column was written by pycocoevalcap's PTB tokenizer.
        ("A man isn't riding.", "a man is n't riding", ["man", "riding"]),
        ("You can't see it's a dog!", "you ca n't see it 's a dog", ["dog"]),
        ("The dog's bowl, the dogs' bowl", "the dog 's bowl the dogs ' bowl",
         ["dog", "bowl", "dogs", "bowl"]),
        ("He\u2019s gonna surf", "he 's gon na surf", ["surf"]),
        ("A hot-dog and a T-shirt", "a hot-dog and a t-shirt", ["hot", "dog", "shirt"]),
        ("Cats (two of them) sleep", "cats -lrb- two of them -rrb- sleep", ["cats", "sleep"]),
        ("A cell-phone/tv at 3/4", "a cell-phone/tv at 3/4", ["cell", "phone", "tv"]),
        ("Bus 25 on\u2028the street\x0c", "bus 25 on the street", ["bus", "25", "street"]),
        ("", "", []),
    ],
)  # fmt: skip
def test_raw_caption_and_treebank_tokens_give_the_same_words(raw, treebank, words):
    assert content_words(raw) == words
    assert content_words(treebank) == words


def test_pieces_between_blanks_have_the_words_of_the_caption():
    caption = "  The dog's hot-dog\u2028isn't  eaten: a cell-phone/TV \u2764 3/4."
    words = [content_words(piece) for piece in caption.split()]
    assert "|".join(map(" ".join, words)) == "|dog|hot dog||eaten||cell phone tv||"
    assert [word for piece in words for word in piece] == content_words(caption)


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("Ein Hündchen läuft über die Straße", ["hündchen", "läuft", "straße"]),
        ("U\u0308ber", ["\u00fcber"]),  # decomposed accents are composed
        ("Собака ловит фрисби", ["собака", "ловит", "фрисби"]),
        ("一只 狗 在 草地 上", ["一只", "狗", "在", "草地", "上"]),
        ("犬 が 走る", ["犬", "が", "走る"]),
        ("एक कुत्ता दौड़ रहा है", ["एक", "कुत्ता", "दौड़", "रहा", "है"]),
        ("a dog \U0001f436\ufe0f x", ["dog"]),
        ("\u2764\ufe0f", []),
    ],
)
def test_words_of_any_script(caption, words):
    german_and_english = STOP_WORDS | {"ein", "über", "die"} if "Ein" in caption else STOP_WORDS
    assert content_words(caption, german_and_english) == words


def test_stop_words_are_gensims_without_what_a_picture_shows():
    assert STOPWORDS > STOP_WORDS
    assert {
        "bill", "bottom", "computer", "cry", "empty", "fire", "mill", "mine", "system", "thick",
        "thin", "top",
    } == STOPWORDS - STOP_WORDS  # fmt: skip


def test_stop_words_are_replaceable():
    assert content_words("the dog barks", stop_words=["barks"]) == ["the", "dog"]


def test_the_stop_list_is_shown_and_pickled_by_its_name():
    assert repr(STOP_WORDS) == "STOP_WORDS"
    pickled = pickle.dumps(STOP_WORDS)
    assert pickle.loads(pickled) is STOP_WORDS
    assert len(pickled) < 100
    more = STOP_WORDS | {"ein"}
    assert type(more) is type(STOP_WORDS.union({"ein"})) is frozenset
    assert pickle.loads(pickle.dumps(more)) == more
