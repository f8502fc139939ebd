import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.words import english as of_things
from vifidel_eval.words.english import (
    drop_incomplete,
    sentence_places,
    singular,
    tokens,
    word_places,
)
from vifidel_eval.words.synonyms import class_names

PIECES = """
    a dog Dogs, cat; men's dogs' isn't I'm we'll cannot 3:30 5,000 12 fire-hydrant and/or t.v. U.S.
    (two three) "quoted" 'single' -- - ... wait... $5 50% #1 & * a_b x'y what?! yes! no: end,
    caf\u00e9
""".split()
_QUOTES = {"``": '"', "''": '"'}  # NLTK writes opening and closing quotes


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A Dog", "a dog"),
        ("A dog runs.", "a dog runs ."),
        ("A dog. A cat.\nA cow", "a dog . a cat . a cow"),
        ('He says "dog." Then', 'he says " dog . " then'),
        ("at St. Mary's on Main St.", "at st. mary 's on main st ."),
        ("J. Doe", "j. doe"),
        ("1. A dog\n2. A cat on 5. Yes", "1. a dog 2. a cat on 5 . yes"),
        ("dog...cat", "dog ... cat"),
        ("dog.cat", "dog.cat"),
        ("a dog,a cat: 3:30, 5,000", "a dog , a cat : 3:30 , 5,000"),
        ("a dog's bowl, dogs' bowls, men's'", "a dog 's bowl , dogs ' bowls , men 's '"),
        ("isn't can't it's we'll", "is n't ca n't it 's we 'll"),
        ("'hello' the '70s", "' hello ' the ' 70s"),
        ("cannot gonna", "can not gon na"),
        ("a fire-hydrant and/or dog--cat", "a fire-hydrant and/or dog -- cat"),
        ("(a dog) [50%] #1 & $2!", "( a dog ) [ 50 % ] # 1 & $ 2 !"),
        ("the man’s “dog”", "the man ’ s “ dog ”"),  # noqa: RUF001
        ("", ""),
        (" . ", "."),
    ],
)
def test_tokens(caption, expected):
    assert tokens(caption) == expected.split()


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), st.sampled_from(["", ".", "?"])
)
def test_tokens_of_one_sentence_are_nltk_s(text, end):
    from nltk.tokenize.destructive import NLTKWordTokenizer

    expected = NLTKWordTokenizer().tokenize((text + end).lower())
    assert tokens(text + end) == [_QUOTES.get(token, token) for token in expected]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("A dog. A cat!", "a dog a cat", [(0, 1, 0), (2, 5, 0), (7, 8, 1), (9, 12, 1)]),
        ("\nDog.\nCat? Cow", "dog cat cow", [(1, 4, 0), (6, 9, 1), (11, 14, 2)]),
        ("a dog a dog", "dog dog", [(2, 5, 0), (8, 11, 0)]),
        ("\u0130 Dog", "dog", [(2, 5, 0)]),  # of which the lower case has two characters
        (" A dog -- \ufb01sh. A cat ", "fish -- cat", [(1, 20, 0), (1, 20, 0), (17, 20, 1)]),
        (f"a {'-' * 5000} dog", "a dog", [(0, 1, 0), (0, 5006, 0)]),  # too far away
    ],
)
def test_places_of_words(text, words, expected):
    assert word_places(text, words.split(), [*sentence_places(text)]) == expected


@pytest.mark.parametrize(
    ("caption", "left"),
    [
        ("A dog runs. A cat sits on the", "A dog runs."),
        ("A dog runs! Is it a cat? A", "A dog runs! Is it a cat?"),
        ('He says "a dog." A cat', 'He says "a dog."'),
        ("**A dog runs.** A cat", "**A dog runs.**"),
        ("A dog… A cat", "A dog…"),
        ("A dog runs.\n\nA cat", "A dog runs."),
        ("1. A dog runs.\n2. A cat", "1. A dog runs."),
        ("The bus is number 5. The dog", "The bus is number 5."),
        ("A dog runs. A cat sits.", None),
        ("A dog runs. ", None),
        ("A dog runs. *", None),
        ("A dog on the", None),
        ("", None),
        ("1. A dog and", None),
        ("A dog with Mr. Smith and", None),
        ("A dog with J. Smith and", None),
        ("A dog costs 3.50 and", None),
        ("At 5 p.m. a dog", None),
    ],
)
def test_an_incomplete_last_sentence_is_left_out_where_a_complete_one_precedes(caption, left):
    assert drop_incomplete(caption) == (caption if left is None else left)


@given(st.text("ab. !?\n1", max_size=30))
def test_what_is_left_is_a_beginning_that_stays(text):
    left = drop_incomplete(text)
    assert text.startswith(left)
    assert drop_incomplete(left) == left


@pytest.mark.parametrize(
    "ending", ["", "s", "es", "ies", "ves", "a", "i", "ae", "ice", "ose", "en"]
)
def test_singular_forms_are_those_of_textblob(ending: str) -> None:
    inflect = pytest.importorskip("textblob.en.inflect")
    stems = "dog ox oxen criter m w bus childr men pie opera x-ray".split()
    words = [stem + ending for stem in (*stems, *inflect.singular_irregular)]
    assert [singular(word) for word in words] == [inflect.singularize(word) for word in words]


def test_singular_forms_of_names_and_their_plurals_are_those_of_textblob() -> None:
    inflect = pytest.importorskip("textblob.en.inflect")
    listed = {word for name in class_names().class_of for word in name.split()}
    for words in ("uninflected", "uncountable", "ie", "s"):
        listed.update(getattr(inflect, f"singular_{words}"))
    words = {word[at:] for word in listed for at in range(3)} | {f"un{word}" for word in listed}
    words |= {f"{word}s" for word in words} | {inflect.pluralize(word) for word in listed}
    assert {w: singular(w) for w in words if w} == {w: inflect.singularize(w) for w in words if w}


def test_plurals_are_those_of_textblob_s_rules():
    from textblob.en.inflect import plural_categories, pluralize

    listed = [word for words in plural_categories.values() for word in words]
    for word in [*class_names().class_of, *listed, *(f"un{word}" for word in listed), "i", "a"]:
        plural = pluralize(word)
        expected = None if singular(plural) == word else plural
        assert of_things.irregular_plural(word) == expected
