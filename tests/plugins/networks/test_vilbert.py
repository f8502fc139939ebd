import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

from vilbert_oracle import (  # noqa: E402
    Plain,
    random_image,
    random_weights,
    tokens,
    unused,
    write_config,
)

from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.regions import regions_of  # noqa: E402
from vifidel_eval.plugins.networks.vilbert import (  # noqa: E402
    Architecture,
    Vilbert,
    new_network,
    read_architecture,
)

CPU = torch.device("cpu")
CAPTIONS = ("a dog runs in the park .", "", "the woman with a red hat and an unknown ball sits")


@pytest.fixture(scope="module")
def weights():
    return random_weights()


@pytest.fixture
def sizes(tmp_path):
    return read_architecture(write_config(tmp_path / "config.json"))


@pytest.fixture
def save(tmp_path):
    def save(weights):
        path = tmp_path / "checkpoint.bin"
        torch.save(
            {
                name: torch.from_numpy(weight) if isinstance(weight, np.ndarray) else weight
                for name, weight in weights.items()
            },
            path,
        )
        return path

    return save


def states(model, captions, images):
    """Return the states of each caption, (tokens, width), from one batch."""
    encoded = [tokens(text) for text in captions]
    embedded = [model.image_states(regions_of(image, "image")) for image in images]
    padded = model.word_states(encoded, embedded).numpy()
    more = int(model.has_tasks)
    return [row[: len(of_one) + more] for row, of_one in zip(padded, encoded, strict=True)]


@pytest.mark.parametrize("tasks", [True, False])
@pytest.mark.parametrize("layer", [0, 1, 2, -1, -3])
def test_states_are_those_of_the_formulas(layer, tasks, sizes, save):
    weights = random_weights(tasks=tasks)
    model = Vilbert(save(weights), sizes, layer, CPU)
    random = np.random.default_rng(1)
    # Of different lengths and numbers of regions, so that the batch is padded on both sides.
    images = [random_image(random, regions) for regions in (3, 6, 1)]
    assert model.has_tasks == tasks
    assert model.layer == layer % 3
    plain = Plain(weights)
    for caption, image, found in zip(
        CAPTIONS, images, states(model, CAPTIONS, images), strict=True
    ):
        np.testing.assert_allclose(
            found, plain.states(tokens(caption), image)[layer], rtol=0, atol=5e-6
        )


def test_weights_after_the_block_are_not_needed(weights, sizes, save):
    image = [random_image(np.random.default_rng(0))]
    needed = {name: weight for name, weight in weights.items() if not unused(name)}
    assert len(needed) < len(weights)
    full, less = (
        states(Vilbert(save(some), sizes, -1, CPU), CAPTIONS[:1], image)[0]
        for some in (weights, needed)
    )
    np.testing.assert_array_equal(full, less)


def test_older_names_mean_the_same(weights, sizes, save):
    older = {}
    for name, weight in weights.items():
        if "LayerNorm" in name:
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")  # noqa: PLW2901
        older[f"module.{name}"] = weight
    image = [random_image(np.random.default_rng(0))]
    new, old = (
        states(Vilbert(save(some), sizes, -1, CPU), CAPTIONS[:1], image)[0]
        for some in (weights, older)
    )
    np.testing.assert_array_equal(new, old)


QUERY = "bert.encoder.c_layer.1.biattention.query2.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({QUERY: np.zeros((48, 32), "f4")},
         r"query2\.weight has shape \(48, 32\), expected \(48, 24"),
        ({"bert.embeddings.task_embeddings.weight": np.zeros((7, 24), "f4")},
         r"task_embeddings\.weight has shape \(7, 24\), expected \(8, 24\)"),
        ({"bert.embeddings.task_embeddings.weight": np.array(1, "f4")}, r"expected \(8, 24\)"),
        ({"bert.encoder.c_layer.3.biOutput.dense1.bias": np.zeros(32, "f4")},
         "4 co-attention blocks instead of 3; get a fresh copy, or give the configuration"),
    ],
)  # fmt: skip
def test_weights_that_do_not_fit(change, message, weights, sizes, save):
    with pytest.raises(VifidelError, match=message):
        Vilbert(save(weights | change), sizes, -1, CPU)


@pytest.mark.parametrize("layer", [3, -4, 1.0, True])
def test_layers_that_are_no_block(layer, weights, sizes, save):
    with pytest.raises(VifidelError, match=r"a co-attention block, from -3 to 2, not (3|-4|1.0|T)"):
        Vilbert(save(weights), sizes, layer, CPU)


def test_published_sizes_are_the_default():
    """multi_task_model.bin has 520 tensors under ``bert.``, as its repository's code makes them.

    Of these, the last layer of either stream (16 each), four unused ones in each of six blocks
    and two poolers (4) come after the last block.
    """
    weights = new_network(Architecture(), 5).state_dict()
    shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
    assert len(shapes) + 1 == 520 - 2 * 16 - 6 * 4 - 4  # one more with the tasks
    assert shapes["bert.encoder.c_layer.5.biattention.key2.weight"] == (1024, 768)
    assert shapes["bert.encoder.layer.10.output.dense.weight"] == (768, 3072)
    assert shapes["bert.encoder.v_layer.4.intermediate.dense.weight"] == (1024, 1024)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": "24"}, "hidden_size is '24' instead of a whole number"),
        ({"v_num_attention_heads": 0}, "v_num_attention_heads is 0 instead of a whole number"),
        ({"t_biattention_id": 2}, "t_biattention_id is 2 instead of whole numbers"),
        ({"v_biattention_id": [0, True]}, "v_biattention_id is .* instead of whole numbers"),
        ({"v_biattention_id": []}, "v_biattention_id is .* instead of whole numbers"),
        ({"v_biattention_id": [0, 1]}, "do not name the same number of blocks"),
        ({"t_biattention_id": [3, 2, 4]}, "do not name the same number of blocks"),
        (
            {"bi_num_attention_heads": 5},
            "a width is not divisible by its number of attention heads",
        ),
        ({"max_position_embeddings": 36}, "fewer than 37 positions"),
        ({"hidden_act": "relu"}, "its activation is not gelu"),
        ({"v_hidden_act": ["gelu"]}, "its activation is not gelu"),
        ({"dynamic_attention": True}, "dynamic attention, which is not supported"),
    ],
)
def test_configurations_that_cannot_be_used(changes, message, tmp_path):
    with pytest.raises(VifidelError, match=rf"config\.json: .*{message}"):
        read_architecture(write_config(tmp_path / "config.json", **changes))
