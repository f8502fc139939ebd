import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vifidel_eval import VectorsError
from vifidel_eval.io.caches import clear_cache
from vifidel_eval.plugins.vectors import store as vector_store
from vifidel_eval.plugins.vectors.store import open_store


def write_vectors(path, lines):
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_blocks_do_not_split_words(tmp_path, monkeypatch, make_vectors):
    random = np.random.default_rng(5)
    words = {f"word{i}": random.normal(size=3).tolist() for i in range(500)}
    vectors = make_vectors(words)
    for binary in (False, True):
        path = tmp_path / f"v{binary}"
        vectors.save_word2vec_format(str(path), binary=binary)
        for block in (64, 1000, 1 << 20):
            clear_cache()
            monkeypatch.setattr(vector_store, "_BLOCK_BYTES", block)
            rows = open_store(path).lookup(list(words))
            np.testing.assert_allclose(rows, vectors.vectors, rtol=1e-6, atol=1e-7)


def test_words_with_blanks_and_repeated_words(tmp_path):
    # GloVe 840B holds words with blanks; of a repeated word the first row counts, as in gensim.
    store = open_store(
        write_vectors(tmp_path / "g.txt", ["the 1 2", ". . 3 4", "dog 5 6", "dog 7 8"])
    )
    rows = store.lookup(["dog", ". .", "the", "cat"])
    assert rows[:3].tolist() == [[5, 6], [3, 4], [1, 2]]
    assert np.isnan(rows[3]).all()


def test_a_changed_file_is_read_again_and_its_old_cache_goes(tmp_path, cache_folder):
    clear_cache()
    path = write_vectors(tmp_path / "changing.txt", ["dog 1 2"])
    assert open_store(path).lookup(["dog"]).tolist() == [[1, 2]]
    write_vectors(path, ["dog 3 4", "cat 5 6"])
    os.utime(path, ns=(1, 1))
    assert open_store(path).lookup(["dog", "cat"]).tolist() == [[3, 4], [5, 6]]
    assert len(list(cache_folder.glob("vectors-*"))) == 1


def test_processes_that_start_at_once(tmp_path):
    path = write_vectors(tmp_path / "many.txt", [f"word{i} {i} 1" for i in range(5000)])
    code = (
        "import sys, pathlib\n"
        "from vifidel_eval.plugins.vectors.store import open_store\n"
        "print(open_store(pathlib.Path(sys.argv[1])).lookup(['word0', 'word4999'])[:, 0].tolist())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=60)[0] for process in started] == ["[0.0, 4999.0]\n"] * 4


def test_a_cache_that_another_process_removes_is_made_again(tmp_path, monkeypatch):
    clear_cache()
    path = write_vectors(tmp_path / "v.txt", ["dog 1 2", "cat 3 4"])
    open_store(path)
    glob = Path.glob

    def list_and_remove(folder, pattern):
        monkeypatch.setattr(Path, "glob", glob)
        result = list(glob(folder, pattern))
        assert result
        for database in result:
            database.unlink()
        return result

    monkeypatch.setattr(Path, "glob", list_and_remove)
    assert open_store(path).lookup(["dog", "cat"]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("damage", ["emptied", "a bit", "cut", "gone"])
def test_a_damaged_cache_is_made_again(tmp_path, cache_folder, damage):
    clear_cache()
    path = write_vectors(tmp_path / "v.txt", ["dog 1 2", "cat 3 4"])
    open_store(path)
    (damaged,) = cache_folder.glob("vectors-*")
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        damaged.unlink()
    else:
        damaged.write_bytes({"emptied": b"", "a bit": content, "cut": content[:-1]}[damage])
    assert open_store(path).lookup(["dog", "cat"]).tolist() == [[1, 2], [3, 4]]
    assert len(list(cache_folder.glob("vectors-*"))) == 1


def test_cache_that_cannot_be_written_says_what_to_set(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(VectorsError, match="set VIFIDEL_EVAL_CACHE to a folder"):
        open_store(write_vectors(tmp_path / "v.txt", ["dog 1 2"]))


@pytest.mark.skipif(os.name != "posix", reason="POSIX limits")
def test_a_full_disk_is_named(tmp_path):
    path = write_vectors(tmp_path / "v.txt", [f"word{i} {i} 1" for i in range(2000)])
    code = (
        "import resource, sys, pathlib\n"
        "from vifidel_eval.plugins.vectors.store import open_store\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "open_store(pathlib.Path(sys.argv[1]))"
    )
    cache = tmp_path / "cache"
    ended = subprocess.run(
        [sys.executable, "-c", code, path],
        env={**os.environ, "VIFIDEL_EVAL_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{cache}: word vectors cannot be saved there (file too large)" in ended.stderr
    assert not list(cache.iterdir())
