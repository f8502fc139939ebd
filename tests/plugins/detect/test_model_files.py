"""Models on disk: what is one, what pins it, and that nothing is fetched unless it is asked for."""

import json
import shutil
import sys

import pytest

from vifidel_eval.detect import find_model
from vifidel_eval.errors import MetricUnavailable, VifidelError

pytest.importorskip("transformers", reason="needs transformers")
huggingface_hub = pytest.importorskip("huggingface_hub", reason="needs transformers")

pytestmark = pytest.mark.pytorch


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "tiny"
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_the_digest_pins_weights_and_configuration(folder, tmp_path):
    files = find_model(folder)
    assert (files.name, files.path) == ("tiny", folder)
    assert len(files.digest) == 16
    moved = shutil.copytree(folder, tmp_path / "moved")
    (moved / "README.md").write_text("notes")
    assert find_model(moved).digest == files.digest
    for name in ("config.json", "model.safetensors", "b.safetensors", "vocab.txt", "spiece.model"):
        copy = shutil.copytree(folder, tmp_path / f"other-{name}")
        (copy / name).write_bytes(b"other")
        assert find_model(copy).digest != files.digest, name


def test_shards_are_pinned_wherever_the_index_finds_them(folder, tmp_path):
    (tmp_path / "far.safetensors").write_bytes(b"far")
    index = folder / "model.safetensors.index.json"
    names = {"a": "model.safetensors", "b": "../far.safetensors"}
    index.write_text(json.dumps({"weight_map": names}))
    before = find_model(folder).digest
    (tmp_path / "far.safetensors").write_bytes(b"farther")
    assert find_model(folder).digest != before


@pytest.mark.parametrize(
    "content",
    [[], {}, {"weight_map": []}, {"weight_map": {"a": 1}}, {"weight_map": {"a": "a.bin"}}],
)
def test_an_index_that_names_other_weights(folder, content):
    (folder / "model.safetensors.index.json").write_text(json.dumps(content))
    with pytest.raises(VifidelError, match=r"its weight_map is not a mapping of weights to .safe"):
        find_model(folder)


def test_folders_that_are_no_models(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(VifidelError, match=r"no .safetensors file in this folder, and other wei"):
        find_model(folder)
    (folder / "config.json").unlink()
    with pytest.raises(VifidelError, match=r"there is no config.json in this folder"):
        find_model(folder)


@pytest.mark.parametrize("name", ["a/b/c", "x y", "../nowhere", "s3://bucket/model", "a\nb"])
def test_names_that_are_no_ids(name):
    with pytest.raises(VifidelError, match="not a model; name a folder that transformers wrote"):
        find_model(name)


def test_nothing_is_fetched_unless_it_is_asked_for(folder, monkeypatch):
    calls = []

    def snapshot(name, local_files_only=False, **wanted):
        calls.append((name, local_files_only))
        if local_files_only:
            raise FileNotFoundError
        return folder

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    pattern = r"^owner/model: no such folder, .* add --download to download it from https://"
    with pytest.raises(VifidelError, match=pattern):
        find_model("owner/model")
    assert calls == [("owner/model", True)]
    messages = []
    files = find_model("owner/model", download=True, on_download=messages.append)
    assert calls[1:] == [("owner/model", True), ("owner/model", False)]
    assert (files.name, files.path) == ("owner/model", folder)
    (sentence,) = messages
    assert sentence.startswith("owner/model: downloaded from https://")


def test_what_the_cache_has_is_used_if_it_is_whole(folder, tmp_path, monkeypatch):
    cached, calls = tmp_path / "cached", []

    def snapshot(name, local_files_only=False, **wanted):
        calls.append(local_files_only)
        return cached if local_files_only else folder

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(VifidelError, match=r"owner/model: there is no config\.json"):
        find_model("owner/model")
    assert find_model("owner/model", download=True).path == folder
    assert calls == [True, True, False]
    shutil.copytree(folder, cached)
    assert find_model("owner/model", download=True).path == cached
    assert calls[3:] == [True]
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MetricUnavailable, match=r"needs transformers .*: pip install transf"):
        find_model("owner/model")


def test_fetching_that_fails(monkeypatch):
    def snapshot(name, local_files_only=False, **wanted):
        raise OSError("401 Client Error.\nAccess to model owner/model is restricted")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(VifidelError, match=r"cannot be downloaded from https://.* \(401 Client"):
        find_model("owner/model", download=True)
