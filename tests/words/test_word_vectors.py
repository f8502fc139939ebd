import gzip
import importlib.util
import logging
import struct
import subprocess
import sys

import numpy as np
import pytest
from example_files import EXAMPLE
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval import VectorsError
from vifidel_eval.words.word_vectors import load_vectors

WORDS = {"dog": [1.0, 2.0, 3.0], "hot_dog": [0.5, 0.0, -1.0], "caf\u00e9": [0.0, 1.0, 0.25]}


def write_kv(vectors, path):
    vectors.save(str(path))


def write_word2vec(binary):
    def write(vectors, path):
        vectors.save_word2vec_format(str(path), binary=binary)

    return write


def write_glove(vectors, path):
    vectors.save_word2vec_format(str(path), write_header=False)


def write_packed(vectors, path):
    plain = path.with_suffix(".plain")
    vectors.save_word2vec_format(str(plain))
    path.write_bytes(gzip.compress(plain.read_bytes()))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.kv", write_kv),
        ("v.bin", write_word2vec(binary=True)),
        ("v.txt", write_word2vec(binary=False)),
        ("v.vec", write_word2vec(binary=False)),
        ("glove.txt", write_glove),
        ("v.txt.gz", write_packed),
        ("v", write_word2vec(binary=True)),  # the content decides, not the name
    ],
)
def test_formats(make_vectors, tmp_path, name, write):
    path = tmp_path / name
    write(make_vectors(WORDS), path)
    vectors = load_vectors(path, trust_pickles=name.endswith(".kv"))
    rows = vectors.lookup(["caf\u00e9", "unheard", "dog"])
    np.testing.assert_allclose(rows[[0, 2]], [WORDS["caf\u00e9"], WORDS["dog"]])
    assert rows.dtype == np.float64
    assert np.isnan(rows[1]).all()
    assert vectors.signature().startswith(f"{name}#")


def test_native_fasttext_composes_words_but_not_phrases(tmp_path):
    model = FastText([["dog", "dogs", "cat"]] * 5, vector_size=4, min_count=1, seed=1, workers=1)
    save_facebook_model(model, str(tmp_path / "model.bin"))
    vectors = load_vectors(tmp_path / "model.bin")
    rows = vectors.lookup(["dog", "doggy"])
    np.testing.assert_allclose(rows[0], model.wv["dog"], rtol=1e-6)
    np.testing.assert_allclose(rows[1], model.wv["doggy"], rtol=1e-6)
    assert np.isnan(vectors.lookup(["doggy"], listed_only=True)).all()


def test_embedded_vectors_are_means_of_wordllama_tokens():
    from wordllama import WordLlama

    logging.getLogger().handlers.clear()  # wordllama configures the root logger
    folder = importlib.util.find_spec("wordllama").submodule_search_locations[0]
    reference = WordLlama.load(disable_download=True, cache_dir=folder)
    words = ["dog", "hydrant", "frisbee", "h\u00fcndin"]
    rows = load_vectors().lookup(words)
    np.testing.assert_allclose(rows, reference.embed(words), atol=1e-5)


@given(
    st.lists(
        st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyzAZ0189"), max_size=15)
        | st.sampled_from(["skateboarding", "giraffes", "hot dog", "t-shirt", "\u2581dog"])
    )
)
def test_words_have_the_same_vectors_whatever_is_looked_up_with_them(words):
    vectors = load_vectors()
    # A word that is not ASCII has all words tokenised one by one.
    one_by_one = vectors.lookup([*words, "h\u00fcndin"])[:-1]
    np.testing.assert_array_equal(vectors.lookup(words), one_by_one)


def test_embedded_vectors_do_not_know_characters_spelt_in_bytes():
    rows = load_vectors().lookup(["\u72d7", "dog"])
    assert np.isnan(rows[0]).all()
    assert np.isfinite(rows[1]).all()


def test_a_saved_model_of_something_else(tmp_path):
    from gensim.corpora import Dictionary

    Dictionary([["dog"]]).save(str(tmp_path / "d.kv"))
    with pytest.raises(VectorsError, match=r"d\.kv: a saved Dictionary, not word vectors"):
        load_vectors(tmp_path / "d.kv", trust_pickles=True)


def test_missing_file_and_wrong_type():
    with pytest.raises(VectorsError, match=r"nowhere\.bin: no such file"):
        load_vectors("nowhere.bin")
    with pytest.raises(VectorsError, match="accepted: None"):
        load_vectors(7)
    with pytest.raises(VectorsError, match="hold no word"):
        load_vectors(KeyedVectors(3))


def test_name_that_is_no_file_goes_to_gensims_downloader(monkeypatch, make_vectors, tmp_path):
    import gensim.downloader

    path = tmp_path / "word2vec-google-news-300.gz"
    write_packed(make_vectors(WORDS), path)

    def load(name, return_path):
        if name != path.stem:
            raise ValueError("Incorrect model/corpus name")
        return str(path)

    monkeypatch.setattr(gensim.downloader, "load", load)
    vectors = load_vectors("word2vec-google-news-300")
    np.testing.assert_allclose(vectors.lookup(["dog"])[0], WORDS["dog"])
    with pytest.raises(VectorsError, match="'no-such-vectors' is neither a file nor"):
        load_vectors("no-such-vectors")


def test_embedded_vectors_load_quietly_and_without_wordllama_itself():
    code = (
        "import sys, logging\n"
        "from vifidel_eval.words.word_vectors import load_vectors\n"
        "load_vectors().lookup(['dog'])\n"
        "assert 'wordllama' not in sys.modules and 'gensim' not in sys.modules\n"
        "assert not logging.getLogger().handlers\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_gensim_the_default_works_and_its_own_files_are_one_sentence(tmp_path):
    """As on a Python for which gensim has no wheel."""
    (tmp_path / "model.bin").write_bytes(struct.pack("<i", 793712314))
    (tmp_path / "own.kv").write_bytes(b"\x80\x04.")
    (tmp_path / "glove.txt").write_text("dog 1 2\ncat 3 4\n")
    code = """
import sys

sys.modules["gensim"] = None  # an import of it fails
from vifidel_eval.commands.main import main
from vifidel_eval.errors import VectorsError
from vifidel_eval.vectors import load_vectors

main(sys.argv[1:], standalone_mode=False)
print(load_vectors("glove.txt").lookup(["cat"]))
for source in ("model.bin", "own.kv", "glove-twitter-25"):
    try:
        load_vectors(source, trust_pickles=True)
    except VectorsError as problem:
        print(problem)
"""
    captions, _, references, objects = EXAMPLE
    arguments = ["score", captions, "--references", references, "--objects", objects]
    called = [sys.executable, "-c", code, *arguments, "--signatures"]
    ran = subprocess.run(called, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    *scores, cat, _, _, _ = ran.stdout.splitlines()
    shown = ran.stdout.splitlines()[-3:]
    assert any("VIFIDEL" in line and "wordllama" in line for line in scores)
    assert cat == "[[3. 4.]]"
    rest = (
        "only gensim can read or download it: pip install gensim, or give word vectors as text "
        "(word2vec, GloVe, fastText's .vec) or word2vec's .bin."
    )
    sources = ("model.bin", "own.kv", "glove-twitter-25")
    assert shown == [f"{source}: {rest}" for source in sources]
