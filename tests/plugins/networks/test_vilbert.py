import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

import vilbert_oracle as oracle  # noqa: E402

from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.regions import regions_of  # noqa: E402
from vifidel_eval.plugins.networks.vilbert import (  # noqa: E402
    Architecture,
    Vilbert,
    new_network,
    read_architecture,
)

CPU = torch.device("cpu")
CAPTION = "the woman with a red hat and an unknown ball sits"


@pytest.fixture(scope="module")
def weights():
    return oracle.random_weights()


@pytest.fixture
def sizes(tmp_path):
    return read_architecture(oracle.write_config(tmp_path / "config.json"))


@pytest.fixture
def save(tmp_path):
    def save(weights):
        path = tmp_path / "checkpoint.bin"
        torch.save({name: torch.from_numpy(weight) for name, weight in weights.items()}, path)
        return path

    return save


def states(weights, sizes):
    """Return the states of a caption after the last block."""
    model = Vilbert(weights, sizes, -1, CPU)
    regions = regions_of(oracle.random_image(np.random.default_rng(0)), "image")
    return model.word_states([oracle.tokens(CAPTION)], [model.image_states(regions)]).numpy()


def test_older_names_and_fewer_weights_mean_the_same(weights, sizes, save):
    older, needed = {}, {}
    for name, weight in weights.items():
        if not oracle.unused(name):
            needed[name] = weight
        if "LayerNorm" in name:
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")  # noqa: PLW2901
        older[f"module.{name}"] = weight
    assert len(needed) < len(weights)
    result = states(save(weights), sizes)
    for other in (older, needed):
        np.testing.assert_array_equal(states(save(other), sizes), result)


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


def test_what_is_no_checkpoint(sizes, tmp_path):
    torch.save([1, 2], tmp_path / "list.bin")
    with pytest.raises(VifidelError, match="not a ViLBERT checkpoint, because it has no"):
        Vilbert(tmp_path / "list.bin", sizes, -1, CPU)


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
        ({"t_biattention_id": 2}, "t_biattention_id is 2 instead of whole numbers"),
        ({"v_biattention_id": [0, True]}, "v_biattention_id is .* instead of whole numbers"),
        ({"v_biattention_id": []}, "v_biattention_id is .* instead of whole numbers"),
        ({"v_biattention_id": [0, 1]}, "do not name the same number of blocks"),
        ({"t_biattention_id": [3, 2, 4]}, "do not name the same number of blocks"),
        ({"bi_num_attention_heads": 5}, "a width is not divisible by its number of attention head"),
        ({"max_position_embeddings": 36}, "fewer than 37 positions"),
        ({"hidden_act": "relu"}, "its activation is not gelu"),
        ({"dynamic_attention": True}, "dynamic attention, which is not supported"),
    ],
)
def test_configurations_that_cannot_be_used(changes, message, tmp_path):
    with pytest.raises(VifidelError, match=rf"config\.json: .*{message}"):
        read_architecture(oracle.write_config(tmp_path / "config.json", **changes))
    longest = oracle.write_config(tmp_path / "config.json", max_position_embeddings=37)
    assert read_architecture(longest).max_position_embeddings == 37
