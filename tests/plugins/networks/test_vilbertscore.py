import importlib.metadata
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

import pytest  # noqa: E402
import vilbert_oracle as oracle  # noqa: E402

from vifidel_eval.captions.rows import coco_rows  # noqa: E402
from vifidel_eval.errors import CaptionError, VifidelError  # noqa: E402
from vifidel_eval.plugins.networks import vilbert  # noqa: E402
from vifidel_eval.plugins.networks.regions import regions_of, write_regions  # noqa: E402
from vifidel_eval.plugins.networks.vilbert import read_architecture  # noqa: E402
from vifidel_eval.plugins.networks.vilbertscore import greedy_matching  # noqa: E402
from vifidel_eval.scorers import ViLBERTScore  # noqa: E402

COLUMNS = ["ViLBERTScore-P", "ViLBERTScore-R", "ViLBERTScore-F"]
LONG = " ".join(["a dog sits on the red ball in the park with a hat"] * 5)
JUST = " ".join(["dog"] * 35)  # 37 tokens
SHORTER = " ".join(["cat"] * 33)
GTS = {
    7: ["a dog runs in the park .", "the dog sits", JUST],
    3: ["a woman with a red hat", LONG],
    5: ["a man"],
    4: [SHORTER, "", "a cat sits on the ball , isn ' t it", "the cat", "a hat", "in the park"],
}
RES = {3: [LONG], 4: ["A CAT on the ball"], 5: [""], 7: ["a dog runs in the park ."]}


@pytest.fixture(scope="module")
def weights():
    return oracle.random_weights()


@pytest.fixture(scope="module")
def images():
    random = np.random.default_rng(3)
    regions = {7: 6, 3: 6, 5: 1, 4: 9}
    return {image: oracle.random_image(random, many) for image, many in regions.items()}


@pytest.fixture(scope="module")
def files(weights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vilbert")
    for name, of_file in (("multi", weights), ("pretrained", oracle.random_weights(tasks=False))):
        torch.save({n: torch.from_numpy(w) for n, w in of_file.items()}, folder / f"{name}.bin")
    oracle.write_config(folder / "config.json")
    oracle.write_vocabulary(folder / "vocab.txt")
    return folder


@pytest.fixture
def make(files, images):
    def make(features=images, name="multi", **settings):
        config = files / "config.json"
        return ViLBERTScore(
            files / f"{name}.bin", files / "vocab.txt", features, config=config, **settings
        )

    return make


def table(scorer, gts=GTS, res=RES):
    """Return P, R and F, (images, 3)."""
    return np.column_stack([e.scores for e in scorer.evaluate(coco_rows(gts, res)).values()])


@pytest.mark.parametrize("name", ["multi", "pretrained"])
@pytest.mark.parametrize("layer", [-1, 0, 1])
def test_scores_are_those_of_the_formulas(layer, name, make, images):
    result = table(make(name=name, layer=layer))
    plain = oracle.Plain(oracle.random_weights(tasks=name == "multi"))
    expected = [plain.scores(RES[i][0], GTS[i], images[i], layer) for i in GTS]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)
    assert np.abs(result[:, 0] - result[:, 1]).max() > 1e-3  # the weights show mistakes


unit = st.integers(0, 2**32 - 1)


@given(seed=unit, rows=st.integers(1, 36), others=st.integers(1, 36))
def test_matching_is_that_of_the_formulas(seed, rows, others):
    random = np.random.default_rng(seed)
    # Two dimensions: many best cosines are negative, where the floor of short captions shows.
    candidate, reference = (random.standard_normal((n, 2)) for n in (rows, others))
    units = [side / np.linalg.norm(side, axis=1)[:, None] for side in (candidate, reference)]
    np.testing.assert_allclose(
        greedy_matching(candidate, reference),
        oracle.matched(*units, rows + 1, others + 1),
        atol=1e-12,
    )


def test_negative_cosines_count_only_between_longest_captions():
    one, long = np.array([[1.0, 0]]), np.repeat([[1.0, 0]], 36, axis=0)
    assert greedy_matching(one, -one) == (0, 0, 0)
    assert greedy_matching(long, -one) == (0, -1, 0)
    assert greedy_matching(one, -long) == (-1, 0, 0)
    assert greedy_matching(long, -long) == (-1, -1, -1)


def test_images_without_references(make):
    with pytest.raises(CaptionError, match="image 5: no reference; ViLBERTScore needs one"):
        make().compute_score(GTS | {5: []}, RES)


def test_features_so_large_that_the_encoder_fails(make, images):
    large = images[4] | {"features": np.full_like(images[4]["features"], 3e38)}
    with pytest.raises(VifidelError, match="image 4: ViLBERT's states are not finite"):
        make(images | {4: large}).compute_score(GTS, RES)


def test_signature_pins_what_changes_the_number(make, files, images):
    scorer = make()
    signature = scorer.evaluate(coco_rows(GTS, RES))[COLUMNS[-1]].signature
    version = torch.__version__.partition("+")[0]
    parts = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
    assert list(parts) == [
        "checkpoint", "config", "vocabulary", "layer", "features", "captions", "tokenizers",
        "torch", "version",
    ]  # fmt: skip
    assert (parts["layer"], parts["torch"], parts["features"][:2]) == ("2", version, "4#")
    assert parts["tokenizers"] == importlib.metadata.version("tokenizers")
    assert make().signature() == signature  # all images that it knows are those of the run
    assert "|features:2#" in make().signature([7, 3])
    assert make(layer=2).signature(list(GTS)) == signature
    for other in (make(layer=0), make(images | {7: images[3]})):
        assert other.signature(list(GTS)) != signature
    assert "|rule:inferred|" in make(name="pretrained").signature()


@pytest.fixture
def features_folder(images, tmp_path):
    folder = tmp_path / "features"
    folder.mkdir()
    for image, content in images.items():
        write_regions(folder, image, regions_of(content, "image"))
    return folder


@pytest.fixture
def score(files, features_folder, tmp_path, monkeypatch, run):
    """Return a function that runs ``score`` with the small model in the published one's place."""
    small = read_architecture(files / "config.json")
    monkeypatch.setattr(vilbert, "Architecture", lambda: small)
    truth, results = tmp_path / "truth.json", tmp_path / "mine.json"
    truth.write_text(json.dumps(GTS))
    results.write_text(json.dumps({image: caption for image, (caption,) in RES.items()}))
    options = {
        "--references": truth,
        "--vilbert-checkpoint": files / "multi.bin",
        "--vilbert-vocabulary": files / "vocab.txt",
        "--vilbert-features": features_folder,
        "--metrics": "vilbertscore",
    }

    def score(*more, **changes):
        given = options | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
        arguments = [part for option in given.items() if option[1] is not None for part in option]
        return run("score", results, *arguments, *more)

    return score


def test_command(score, make, monkeypatch):
    result = score("--format", "json", vilbert_layer=0, device="cpu")
    monkeypatch.undo()  # the published sizes again
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    overall = document["systems"]["mine"]["overall"]
    assert list(overall) == [*COLUMNS, "Words"]  # a caption is long
    expected = table(make(layer=0)).mean(axis=0)
    results = [overall[name] for name in COLUMNS]
    np.testing.assert_allclose(results, expected, rtol=0, atol=1e-6)
    assert "|layer:0|features:4#" in document["signatures"][COLUMNS[0]]


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"vilbert_features": None}, 2, "ViLBERTScore needs --vilbert-features; give it"),
        ({"vilbert_layer": 3}, 1, "from -3 to 2, not 3"),
        ({"vilbert_checkpoint": __file__}, 1, "not a ViLBERT checkpoint, or damaged"),
        ({"vilbert_vocabulary": __file__}, 1, "not a BERT vocabulary"),
        ({"vilbert_features": __file__}, 1, "give a folder"),
    ],
)
def test_command_names_what_is_wrong(changes, status, message, score):
    result = score(**changes)
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in " ".join(result.stderr.split())
