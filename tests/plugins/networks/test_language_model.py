import subprocess
import sys
import zipfile

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.language_model import caption_words, load  # noqa: E402
from vifidel_eval.plugins.networks.language_training import train  # noqa: E402


def test_words_include_stop_words_and_single_letters():
    captions = ["A man isn't near the T-shirt, it's 2 dogs'", "", "Ein Hündchen 猫"]
    assert caption_words(captions) == [
        ["a", "man", "is", "near", "the", "t", "shirt", "it", "2", "dogs"],
        [],
        ["ein", "hündchen", "猫"],
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "lm.pt"
    captions = {number: [f"a dog in field {number}"] * 2 for number in range(4)}
    train(captions, path, epochs=1, hidden=8, min_count=1)
    return path


class TestDamagedAndForeignFiles:
    def refused(self, path, message):
        with pytest.raises(VifidelError, match=rf"{path.name}: {message}") as caught:
            load(path)
        assert "train a new one" in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("content", [b"", b"PK", b"{}", b"\x80\x04N.", bytes(1000)])
    def test_other_content(self, tmp_path, content):
        path = tmp_path / "lm.pt"
        path.write_bytes(content)
        self.refused(path, "not a vifidel-eval language model 1")

    @pytest.mark.parametrize("content", [[1, 2], {"weights": {}}, {"format": "of others"}])
    def test_pytorch_files_of_others(self, tmp_path, content):
        path = tmp_path / "lm.pt"
        torch.save(content, path)
        self.refused(path, "not a vifidel-eval language model 1")

    def test_a_file_that_would_run_code(self, tmp_path):
        class Code:
            def __reduce__(self):
                return open, (str(tmp_path / "traces"), "w")

        path = tmp_path / "lm.pt"
        torch.save({"format": "vifidel-eval language model 1", "words": Code()}, path)
        self.refused(path, "not a vifidel-eval language model 1")
        assert not (tmp_path / "traces").exists()

    def test_a_truncated_file(self, tmp_path, model):
        path = tmp_path / "lm.pt"
        path.write_bytes(model.read_bytes()[:-1000])
        self.refused(path, "not a vifidel-eval language model 1, or damaged")

    def test_a_changed_byte_of_the_weights(self, tmp_path, model):
        data = bytearray(model.read_bytes())
        weights = torch.load(model, weights_only=True)["weights"]["lstm.weight_hh_l0"]
        data[data.index(weights.numpy().tobytes())] ^= 1
        path = tmp_path / "lm.pt"
        path.write_bytes(data)
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is not None
        self.refused(path, "the file is damaged")

    @pytest.mark.parametrize("change", ["word", "twice", "shape", "missing", "nan", "type"])
    def test_content_that_does_not_fit(self, tmp_path, model, change):
        content = torch.load(model, weights_only=True)
        words, weights = content["words"], content["weights"]
        {
            "word": lambda: words.append("unicorn"),
            "twice": lambda: words.__setitem__(0, words[1]),
            "shape": lambda: weights.update({"lstm.bias_ih_l0": torch.zeros(3)}),
            "missing": lambda: weights.pop("output.bias"),
            "nan": lambda: weights["output.bias"].fill_(float("nan")),
            "type": lambda: content.update(words=7),
        }[change]()
        path = tmp_path / "lm.pt"
        torch.save(content, path)
        self.refused(path, "the language model in it is damaged")


def test_import_loads_no_pytorch():
    code = (
        "import sys\n"
        "from vifidel_eval.plugins.networks import language_training, lm, train_command\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
