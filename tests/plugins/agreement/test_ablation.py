"""The scorers of an ablation are plain VIFIDEL with other settings."""

import json

import numpy as np
import pytest

from vifidel_eval import Vifidel
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.plugins.agreement.experiment import Experiment
from vifidel_eval.words.settings import Settings

GOLD = {"a": ["dog", "dog", "kite"], "b": ["cup"]}
FOUND = {"a": ["dog", "cup"], "b": ["table", "table"]}
ROWS = make_rows(
    ["two dogs", "a cup on a table", "a kite"],
    ["a", "b", "a"],
    [["dogs play", "a kite flies"], ["a cup"], ["the dogs"]],
)


@pytest.fixture
def vectors(make_vectors):
    words = "dog dogs kite cup table play flies two".split()
    first = dict(zip(words, np.random.default_rng(0).random((8, 3)).tolist(), strict=True))
    return [make_vectors(first), make_vectors({word: row[::-1] for word, row in first.items()})]


@pytest.fixture
def ablations(tmp_path, vectors):
    """Return the scorers of an ablation with sides of objects and sources of vectors."""

    def ablations(sides, sources=vectors[:1], **settings):
        named = []
        for name, objects in sides.items():
            named.append((name, str(tmp_path / f"{name}.json")))
            (tmp_path / f"{name}.json").write_text(json.dumps(objects), "utf-8")
        experiment = Experiment(ablation=tuple(named), ablation_vectors=tuple(sources))
        return experiment.ablations(Settings(**settings))

    return ablations


def scores(scorer):
    return scorer.evaluate(ROWS)["VIFIDEL"].scores.tolist()


def test_a_union_has_the_larger_count_of_both(ablations, vectors, tmp_path):
    for name, objects in {"gold": GOLD, "found": FOUND}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(objects), "utf-8")
    paths = ",".join(str(tmp_path / f"{name}.json") for name in ("gold", "found"))
    scorers = Experiment(ablation=(("both", paths),)).ablations(Settings(vectors=vectors[0]))
    united = {"a": ["dog", "dog", "kite", "cup"], "b": ["cup", "table", "table"]}
    for how, scorer in scorers.items():
        plain = Vifidel(united, vectors=vectors[0], counts=how.endswith("counts"))
        assert scores(scorer) == scores(plain)
    assert list(scorers) == ["VIFIDEL both counts", "VIFIDEL both presence"]
    assert scores(scorers["VIFIDEL both counts"]) != scores(scorers["VIFIDEL both presence"])


def test_several_vectors_are_named(ablations, vectors, tmp_path):
    files = []
    for name, of_file in zip(("first", "second"), vectors, strict=True):
        files.append(str(tmp_path / f"{name}.txt"))
        of_file.save_word2vec_format(files[-1])
    scorers = ablations({"gold": GOLD}, files)
    assert list(scorers) == [
        f"VIFIDEL gold {how} {name}.txt"
        for how in ("counts", "presence")
        for name in ("first", "second")
    ]
    for name, scorer in scorers.items():
        known = vectors[name.endswith("second.txt")]
        plain = Vifidel(GOLD, vectors=known, counts=" counts " in name)
        assert scores(scorer) == pytest.approx(scores(plain), rel=1e-6)


def test_settings_reach_the_scorers(ablations):
    one, other = (
        ablations({"gold": GOLD}, **settings)["VIFIDEL gold counts"]
        for settings in ({"p": 1}, {"p": 2, "normalize": False})
    )
    assert one.signature() != other.signature()
