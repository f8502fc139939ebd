import pickle
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

from vifidel_eval import MetricUnavailable, VifidelError  # noqa: E402
from vifidel_eval.plugins import pytorch  # noqa: E402

CONTENT = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.zeros(2)}


class Harmless:
    pass


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


def read(path, safe=()):
    return pytorch.read_checkpoint(path, "checkpoint of dogs", "get a fresh copy", safe)


@pytest.mark.parametrize("zipped", [True, False])
def test_both_containers(tmp_path, zipped):
    path = tmp_path / "weights.pth"
    torch.save({**CONTENT, "more": Harmless()}, path, _use_new_zipfile_serialization=zipped)
    content, digest = read(path, [Harmless])
    assert torch.equal(content["a"], CONTENT["a"])
    assert len(digest) == 64
    torch.save({**CONTENT, "b": torch.ones(2)}, path, _use_new_zipfile_serialization=zipped)
    assert read(path)[1] != digest


@pytest.mark.parametrize("zipped", [True, False])
def test_truncated_anywhere(tmp_path, zipped):
    path = tmp_path / "weights.pth"
    torch.save(CONTENT, path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    for length in (0, 1, 5, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(VifidelError, match=r"weights\.pth: not a checkpoint of dogs, or dam"):
            read(path)


def test_a_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "weights.pth"
    torch.save({"a": torch.zeros(10_000)}, path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(VifidelError, match="not a checkpoint of dogs, or damaged; get a fresh"):
        read(path)


@pytest.mark.parametrize("zipped", [True, False])
def test_no_code_in_a_file_runs(tmp_path, zipped):
    path, built = tmp_path / "weights.pth", tmp_path / "made"
    torch.save({**CONTENT, "more": Bomb(built)}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(VifidelError, match="not a checkpoint of dogs"):
        read(path)
    path.write_bytes(pickle.dumps(Bomb(built)))
    with pytest.raises(VifidelError, match="not a checkpoint of dogs"):
        read(path)
    assert not built.exists()


def load(weights):
    network = torch.nn.ParameterDict(
        {"a": torch.zeros(2, 3, device="meta"), "b": torch.zeros(2, device="meta")}
    )
    return pytorch.load_weights(network, weights, "file", "get a fresh copy", "cpu", torch.float64)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": torch.zeros(3, 2)}, "file: 1 of 2 weights are missing, such as b; get a fresh"),
        ({**CONTENT, "a": torch.zeros(3, 2)}, r"a has shape \(3, 2\), expected \(2, 3\)"),
        ({**CONTENT, "b": torch.tensor([0.0, torch.nan])}, "b holds numbers that are not finite"),
        ({**CONTENT, "b": torch.tensor([1, 2])}, "b is not a tensor of numbers"),
        ({**CONTENT, "b": [1.0, 2.0]}, "b is not a tensor of numbers"),
    ],
)
def test_weights_are_checked(weights, message):
    network = load({**CONTENT, "more": None})
    assert torch.equal(network["a"], CONTENT["a"].double())
    with pytest.raises(VifidelError, match=message):
        load(weights)


def test_devices():
    assert (
        pytorch.find_device(None) == pytorch.find_device("cpu", double=True) == torch.device("cpu")
    )
    for name in ("cuda:99", "toaster", "meta", ""):
        with pytest.raises(VifidelError, match=f"cannot compute on device '{name}' here"):
            pytorch.find_device(name)


def test_batches_of_like_length():
    lengths = [3, 50, 2, 4, 3, 7]
    assert list(pytorch.length_sorted(lengths, 12)) == [[2, 0, 4], [3], [5], [1]]
    assert list(pytorch.length_sorted([], 12)) == []


def test_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MetricUnavailable, match=r"X needs PyTorch .*: pip install torch\.$"):
        pytorch.load_libraries("X", {"PyTorch": "torch"})
