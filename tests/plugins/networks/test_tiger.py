import hashlib
import json
import sys
from importlib.metadata import version

import numpy as np
import pytest
import tiger_oracle as oracle
from conftest import done

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("nltk", reason="needs NLTK")
pytestmark = pytest.mark.pytorch

from vifidel_eval import (  # noqa: E402
    CaptionError,
    ImageIdError,
    MetricUnavailable,
    VifidelError,
    VifidelWarning,
)
from vifidel_eval.captions.rows import coco_rows  # noqa: E402
from vifidel_eval.plugins.networks import tiger as module  # noqa: E402
from vifidel_eval.plugins.networks.scan import Tokenizer  # noqa: E402
from vifidel_eval.plugins.networks.tiger import weight_distribution_similarity  # noqa: E402
from vifidel_eval.scorers import Tiger  # noqa: E402
from vifidel_eval.scores.alignment import System, align  # noqa: E402
from vifidel_eval.scores.systems import score_aligned  # noqa: E402

FEATURES = dict(enumerate(oracle.random_features(5), 1))
# Each with its tokens: one, three and five references, unknown words, punctuation, contractions,
# captions of different lengths, an empty one.
TOKENS = {
    "A dog runs in the park.": "a dog runs in the park .".split(),
    "the cat's ball": "the cat 's ball".split(),
    "A dog isn't a cat, is it?": "a dog is n't a cat , is it ?".split(),
    'the "big" dog': "the `` big '' dog".split(),
    "a zebra": ["a", "zebra"],
    "zebra zebra": ["zebra", "zebra"],
    "red": ["red"],
    "": [],
    "a big red dog runs": "a big red dog runs".split(),
    "in the park a ball": "in the park a ball".split(),
}
A, B, C, D, E, F, G, EMPTY, H, I = TOKENS  # noqa: E741
GTS = {3: [A], 1: [B, C, D], 2: [E, F, G, H, I], 5: [A, C], 4: [H]}
RES = {1: [H], 2: [I], 3: [A], 4: [EMPTY], 5: [E]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scan")
    return (
        oracle.write_checkpoint(folder / "model_best.pth"),
        oracle.write_vocabulary(folder / "vocab.json"),
    )


@pytest.fixture
def make(files):
    return lambda features=FEATURES, **more: Tiger(*files, features, **more)


class Counting(dict):
    """Features that count how often they are read."""

    reads = 0

    def __getitem__(self, image_id):
        self.reads += 1
        return super().__getitem__(image_id)


def test_scores_are_those_of_the_formulas(make):
    columns = make().evaluate(coco_rows(GTS, RES))
    assert list(columns) == ["TIGEr-RRS", "TIGEr-WDS", "TIGEr"]
    for at, (image_id, references) in enumerate(GTS.items()):
        expected = oracle.tiger(
            FEATURES[image_id], [TOKENS[r] for r in references], TOKENS[RES[image_id][0]]
        )
        result = [evaluation.scores[at] for evaluation in columns.values()]
        assert result == pytest.approx(expected, abs=1e-7)
        assert columns["TIGEr"].ids[at] == image_id
    assert np.unique(columns["TIGEr"].scores.round(4)).size == len(GTS)
    score, scores = make().compute_score(GTS, RES)
    assert score == pytest.approx(scores.mean(), rel=1e-14)
    np.testing.assert_array_equal(scores, columns["TIGEr"].scores)


def test_words_and_unknown_words_are_counted(make):
    evaluation = make().evaluate(coco_rows(GTS, RES))["TIGEr"]
    tally = evaluation.tallies["captions"]
    assert evaluation.counts == {"undefined": 0, "unknown_words": 1, "no_claim": 1}
    assert tally.words == sum(len(TOKENS[caption]) for (caption,) in RES.values())
    assert tally.unknown == {"zebra": 1}


def test_a_norm_of_zero_and_extreme_ratios():
    ones, nothing = np.ones(3), np.zeros(3)
    for sides in ((nothing, nothing), (ones, nothing), (nothing, ones)):
        assert weight_distribution_similarity(*sides) == pytest.approx(0.5)
    tiny = np.full(3, 1e-150)
    assert weight_distribution_similarity(tiny, ones) == 1
    assert weight_distribution_similarity(ones, tiny) == pytest.approx(0, abs=1e-200)


def test_neither_batch_nor_order_nor_form_of_the_features_matters(make, tmp_path, monkeypatch):
    _, expected = make().compute_score(GTS, RES)
    for image_id, score in zip(GTS, expected, strict=True):
        alone = make().compute_score({image_id: GTS[image_id]}, {image_id: RES[image_id]})[0]
        assert alone == pytest.approx(score, abs=1e-9)
    turned = {image_id: references[::-1] for image_id, references in GTS.items()}
    np.testing.assert_allclose(make().compute_score(turned, RES)[1], expected, atol=1e-12)
    np.save(tmp_path / "x_ims.npy", np.repeat(np.stack(list(FEATURES.values())), 2, axis=0))
    (tmp_path / "x_ids.txt").write_text("1\n1\n2\n2\n3\n3\n4\n4\n5\n5\n")
    repeated = make(tmp_path / "x_ims.npy").compute_score(GTS, RES)[1]
    np.testing.assert_allclose(repeated, expected, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(FEATURES[1]))
    permuted = make({i: of_image[order] for i, of_image in FEATURES.items()})
    np.testing.assert_allclose(permuted.compute_score(GTS, RES)[1], expected, atol=1e-9)
    monkeypatch.setattr(module, "_IMAGES_AT_ONCE", 2)
    np.testing.assert_allclose(make().compute_score(GTS, RES)[1], expected, atol=1e-9)


def test_several_captions_of_an_image(make):
    image_ids, captions = [3, 3, 1], [H, I, H]
    features = Counting(FEATURES)
    references = [GTS[image_id] for image_id in image_ids]
    result = make(features).score(captions, image_ids=image_ids, references=references)
    assert features.reads == 2
    for score, image_id, caption in zip(result, image_ids, captions, strict=True):
        expected = make().compute_score({image_id: GTS[image_id]}, {image_id: [caption]})[0]
        assert score == pytest.approx(expected, abs=1e-9)
    assert make().signature(image_ids) == make().signature([3, 1])
    with pytest.raises(VifidelError, match="TIGEr looks images up by their ids: give image_ids"):
        make().score(captions, references=references)


@pytest.mark.parametrize(
    ("gts", "res", "error", "message"),
    [
        ({1: [A], 2: []}, {1: [A], 2: [A]}, CaptionError, "image 2: no reference; TIGEr needs one"),
        ({1: [A]}, {1: [A, H]}, CaptionError, "one candidate caption, found 2"),
        ({1: A}, {1: [A]}, CaptionError, "expected a list of references"),
        ({9: [A]}, {9: [A]}, ImageIdError, r"feature side \(features\) lacks 1 image id"),
        ({"01": [A]}, {"01": [A]}, ImageIdError, r"lacks 1 image id of the captions: '01'"),
    ],
)
def test_input_that_cannot_be_scored(make, gts, res, error, message):
    with pytest.raises(error, match=message):
        make().compute_score(gts, res)


def test_signature_pins_the_files(make, files, tmp_path):
    def signature(scorer):
        return scorer.signature(list(GTS))

    scorer = make()
    assert scorer.method() == "TIGEr"
    assert scorer.signature() == signature(scorer)  # of all images that it knows
    digest = hashlib.sha256(files[0].read_bytes()).hexdigest()[:8]
    pinned = signature(scorer)
    parts = pinned.split("|")
    assert parts[:2] == ["TIGEr", f"checkpoint:{digest}"]
    assert [part.partition(":")[0] for part in parts[2:5]] == ["vocabulary", "features", "tok"]
    assert parts[3].startswith("features:5#")
    assert parts[4] == f"tok:{Tokenizer().name}"
    versions = [f"{package}:{version(package).partition('+')[0]}" for package in ("nltk", "torch")]
    assert parts[5:] == ["captions:answers-1", *versions, f"version:{version('vifidel_eval')}"]
    other = oracle.write_checkpoint(tmp_path / "x.pth", seed=1)
    assert signature(Tiger(other, files[1], FEATURES)) != pinned
    assert signature(make({**FEATURES, 2: FEATURES[1]})) != pinned
    assert signature(make({**FEATURES, 9: FEATURES[1]})) == pinned  # nobody asks for it


@pytest.fixture
def no_punkt(monkeypatch):
    def unsplit(tokenizer, captions):
        return "dog." if any("dog" in tokenizer(caption) for caption in captions) else None

    monkeypatch.setattr(Tokenizer, "unsplit", unsplit)


def test_several_sentences_of_a_reference_are_no_systems_own(make, no_punkt):
    systems = [System("one", {3: I}), System("other", {3: B})]
    with pytest.warns(VifidelWarning, match="^some captions have several sentences") as caught:
        score_aligned(align(systems, {3: [A, I]}), {"TIGEr": make()})
    assert len(caught) == 1
    systems = [System("one", {3: A}), System("other", {3: B})]
    with pytest.warns(VifidelWarning, match="^system 'one': some captions have several"):
        score_aligned(align(systems, {3: [I]}), {"TIGEr": make()})


def test_one_sentence_names_all_libraries_that_are_missing(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tokenize", None)
    with pytest.raises(MetricUnavailable, match=r"^TIGEr needs NLTK \(.*\): pip install nltk\.$"):
        make()
    monkeypatch.setitem(sys.modules, "torch", None)
    both = r"^TIGEr needs PyTorch \(.*\) and NLTK \(.*\): pip install torch nltk\.$"
    with pytest.raises(MetricUnavailable, match=both):
        make()


def test_command_line(files, make, write, tmp_path, run):
    np.save(tmp_path / "x_ims.npy", np.stack(list(FEATURES.values())))
    (tmp_path / "x_ids.txt").write_text("1\n2\n3\n4\n5\n")
    mine = write({image_id: caption for image_id, (caption,) in RES.items()}, "mine.json")
    result = done(
        "score", mine, "--references", write(GTS), "--metrics", "tiger,WMD+TIGEr",
        "--tiger-checkpoint", files[0], "--tiger-vocabulary", files[1],
        "--tiger-features", tmp_path / "x_ims.npy", "--format", "json", "--device", "cpu",
    )  # fmt: skip
    document = json.loads(result.stdout)
    (overall,) = [system["overall"] for system in document["systems"].values()]
    assert list(overall) == ["TIGEr-RRS", "TIGEr-WDS", "TIGEr", "WMD+TIGEr"]
    assert overall["TIGEr"] == pytest.approx(make().compute_score(GTS, RES)[0], rel=1e-9)
    assert "|features:5#" in document["signatures"]["TIGEr"]
