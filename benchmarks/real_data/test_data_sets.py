"""The published data sets of judgements and objects, read."""

import re

import numpy as np
import pytest
from scipy.io import loadmat

from vifidel_eval.annotations import read_objects
from vifidel_eval.plugins.agreement.flickr8k import read_flickr8k
from vifidel_eval.plugins.agreement.readers import (
    read_abstract50s,
    read_hat,
    read_nocaps_foil,
    read_pascal50s,
    read_thumb,
)


def test_real_pascal(data):
    choices = read_pascal50s(data / "pascal50s")
    kinds = dict(zip(*np.unique(choices.kinds, return_counts=True), strict=True))
    assert kinds == {"HC": 500, "HI": 500, "HM": 496, "MM": 513}
    assert len(choices.judged) == len(choices.preferred) == 2009
    # An independent look at the votes, without squeezing.
    raw = loadmat(data / "pascal50s" / "pair_pascal.mat")
    votes = [one["result"].ravel().tolist() for one in raw["result"].flat]
    assert sorted({len(of_pair) for of_pair in votes}) == [10, 11]
    wins = np.array([of_pair.count(1) - of_pair.count(-1) for of_pair in votes])
    assert (choices.preferred == np.sign(wins)).all()
    assert (wins != 0).all()
    references = {one.image_id: len(one.references) for one in choices.judged}
    assert set(references.values()) == {50, 120}
    # Counted apart from this package: by letters and digits only; by equality it would be 1.
    own = [len(one.others(one.references)) < len(one.references) for one in choices.judged]
    assert sum(own) == 39


def test_real_abstract(data):
    choices = read_abstract50s(data / "abstract50s")
    raw = loadmat(data / "abstract50s" / "consensus_abstract.mat")["triplets"]
    ratings = np.array([int(np.int16(one["rating"]).item()) for one in raw.flat])
    assert (choices.preferred == np.sign(ratings.reshape(400, 48).sum(axis=1))).all()
    assert len(choices.judged) == 400
    assert (choices.preferred == 0).sum() == 12
    assert {len(one.references) for one in choices.judged} == {48}


def test_real_flickr(data):
    ratings = read_flickr8k(data / "flickr8k")
    without = ratings.subsets["without own references"]
    assert (len(ratings.judged), without.sum()) == (5822, 5664)
    assert {len(one.references) for one in ratings.judged} == {5}
    # Every caption that is left out says what a reference says, and no other does.
    own = np.array([len(one.others(one.references)) < 5 for one in ratings.judged])
    assert (own == ~without).all()
    # CLIPScore's flattened judgements by value, on the 5 664.
    values, counts = np.unique(ratings.ratings["expert"][without], return_counts=True)
    assert dict(zip(values, counts, strict=True)) == {1: 9796, 2: 4997, 3: 1686, 4: 513}


def test_real_hallucinations(data):
    foils = read_nocaps_foil(data / "nocaps_foil" / "nocaps-val-foil.json")
    assert len(foils.judged) == 1000
    for one, marked in zip(foils.judged, foils.marked, strict=True):
        pieces = one.captions[1].split()
        # But for the marked words, foil and baseline say the same.
        rest = " ".join(piece for at, piece in enumerate(pieces) if at not in marked)
        correct, unmarked = (re.findall(r"\w+", text.lower()) for text in (one.captions[0], rest))
        assert set(unmarked) <= set(correct)
    hat = read_hat(data / "hat" / "hat.json")
    assert (len(hat.judged), int(hat.made_up.sum())) == (201, 69)
    assert [bool(marked) for marked in hat.marked] == hat.made_up[0].tolist()
    thumb = read_thumb(data / "thumb")
    assert (len(thumb.judged), int(thumb.subsets["machine"].sum())) == (1250, 1000)
    own = [len(one.others(one.references)) < len(one.references) for one in thumb.judged]
    of_people = ~thumb.subsets["machine"]
    assert np.array(own)[of_people].sum() == 21


@pytest.mark.filterwarnings("ignore:.*category ids are read as COCO's 80")
def test_real_objects(coco, data):
    gold = read_objects(coco / "instances_val2017.json")
    assert len(gold) == 5000
    assert sum(sum(labels.values()) for labels in gold.values()) == 36781
    assert sum(not labels for labels in gold.values()) == 48
    assert len(read_objects(data / "pascal50s" / "Annotations")) == 500
    detections = "instances_val2014_fakebbox100_results.json"
    assert len(read_objects(coco / "mini" / detections)) == 99
