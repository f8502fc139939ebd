import json

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

from vifidel_eval.commands.printing import size_of  # noqa: E402
from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.io.files import beside  # noqa: E402
from vifidel_eval.plugins.networks import lm  # noqa: E402
from vifidel_eval.plugins.networks.commands import train_lm  # noqa: E402
from vifidel_eval.plugins.networks.lm import LanguageModel, train  # noqa: E402

CAPTIONS = {
    number: [f"A {animal} is in the {place}.", f"the {animal} runs through a {place}", "..."]
    for number, (animal, place) in enumerate(
        (a, p) for a in ("dog", "cat", "horse", "cow") for p in ("field", "park", "street")
    )
}
SMALL = {"epochs": 4, "hidden": 8, "min_count": 3}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads only get in each other's way in networks this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Killed(BaseException):
    """What ends a training from outside."""


def interrupted(path, epochs, batches=0, **settings):
    """Train and stop after some epochs and some batches of the next one."""
    left = []

    def on_epoch(epoch):
        if epoch.number == epochs:
            left.append(batches)
            if not batches:
                raise Killed

    def on_progress(_):
        if left:
            left[0] -= 1
            if left[0] < 0:
                raise Killed

    with pytest.raises(Killed):
        train(CAPTIONS, path, **SMALL | settings, on_epoch=on_epoch, on_progress=on_progress)


def test_training_lowers_perplexity_and_keeps_the_best_epoch(tmp_path):
    seen, shares = [], []
    path = tmp_path / "lm.pt"
    many = {number: texts * 16 for number, texts in CAPTIONS.items()}
    epochs = train(many, path, epochs=12, hidden=8, on_epoch=seen.append, on_progress=shares.append)
    assert seen == epochs
    assert [epoch.number for epoch in epochs] == list(range(1, 13))
    assert epochs[-1].perplexity < 0.8 * epochs[0].perplexity
    assert sum(shares) == pytest.approx(12)
    best = min(epochs, key=lambda epoch: epoch.perplexity)
    assert [epoch.number for epoch in epochs if epoch.best][-1] == best.number
    assert torch.load(path, weights_only=True)["perplexity"] == best.perplexity
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("epochs", "batches"), [(1, 0), (2, 0), (2, 1), (4, 0)])
def test_an_interrupted_training_ends_as_one_in_a_piece(tmp_path, monkeypatch, epochs, batches):
    monkeypatch.setattr(lm, "_BATCH", 4)
    whole, parts = tmp_path / "whole.pt", tmp_path / "parts.pt"
    expected = train(CAPTIONS, whole, **SMALL)
    if batches or epochs < 4:
        interrupted(parts, epochs, batches)
    else:  # killed after the last epoch, before the state is removed
        interrupted(parts, 4)
    LanguageModel(parts)
    assert beside(parts, ".unfinished").exists()
    torch.manual_seed(99)
    shares = []
    resumed = train(CAPTIONS, parts, **SMALL, on_progress=shares.append)
    assert parts.read_bytes() == whole.read_bytes()
    assert [epoch.perplexity for epoch in resumed] == [epoch.perplexity for epoch in expected]
    assert [epoch.best for epoch in resumed] == [epoch.best for epoch in expected]
    assert [epoch.resumed for epoch in resumed] == [at < epochs for at in range(4)]
    assert sum(shares) == pytest.approx(4)
    assert not beside(parts, ".unfinished").exists()


@pytest.mark.parametrize(
    ("captions", "settings", "message"),
    [
        (CAPTIONS, {"seed": 3}, "with seed 0;"),
        (CAPTIONS, {"hidden": 9, "epochs": 5}, "with epochs 4, hidden 8;"),
        (CAPTIONS | {0: ["A dog"]}, {}, "with other captions;"),
    ],
)
def test_a_state_of_another_training_is_refused(tmp_path, captions, settings, message):
    path = tmp_path / "lm.pt"
    interrupted(path, 1)
    before = path.read_bytes(), beside(path, ".unfinished").read_bytes()
    with pytest.raises(
        VifidelError, match=rf"lm\.pt\.unfinished: an unfinished training {message}.*delete it"
    ):
        train(captions, path, **SMALL | settings)
    assert (path.read_bytes(), beside(path, ".unfinished").read_bytes()) == before


@pytest.mark.parametrize("captions", [{}, {1: ["a dog"]}, {1: ["a dog"], 2: ["...", ""], 3: []}])
def test_too_few_captions(tmp_path, captions):
    with pytest.raises(VifidelError, match="captions of at least two images"):
        train(captions, tmp_path / "lm.pt")
    assert not list(tmp_path.iterdir())


class TestCommand:
    @pytest.fixture
    def captions(self, tmp_path):
        path = tmp_path / "captions.json"
        path.write_text(json.dumps(CAPTIONS), "utf-8")
        return path

    def run(self, *arguments):
        return CliRunner().invoke(train_lm, [str(argument) for argument in arguments])

    def test_shows_each_epoch_and_the_best(self, tmp_path, captions):
        output = tmp_path / "lm.pt"
        result = self.run(captions, "--output", output, "--epochs", 2, "--hidden", 8)
        assert (result.exit_code, result.stderr) == (0, f"{output}: {size_of(output)}\n")
        *epochs, last = result.stdout.splitlines()
        assert len(epochs) == 2
        assert epochs[0].startswith("epoch 1: validation perplexity ")
        assert epochs[0].endswith(", the best so far")
        assert last.startswith(f"{output}: epoch ")
        direct = tmp_path / "direct.pt"
        train(json.loads(captions.read_text("utf-8")), direct, epochs=2, hidden=8)
        ones, others = (
            LanguageModel(path).compute_score({1: []}, {1: ["a dog"]}) for path in (direct, output)
        )
        assert ones == others

    def test_says_how_it_goes_on_after_ctrl_c_and_that_it_does(
        self, tmp_path, captions, monkeypatch
    ):
        output = tmp_path / "lm.pt"
        arguments = (captions, "--output", output, "--epochs", 3, "--hidden", 8)
        train_epoch = lm._train_epoch
        calls = []

        def ctrl_c(*args):
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            train_epoch(*args)

        monkeypatch.setattr(lm, "_train_epoch", ctrl_c)
        result = self.run(*arguments)
        assert result.exit_code == 1
        assert "Interrupted; the same command continues" in result.stderr
        result = self.run(*arguments)
        assert result.exit_code == 0
        assert result.stderr.count("continuing") == 1
        assert f"{output}.unfinished: continuing the unfinished training" in result.stderr
        first, second, *_ = result.stdout.splitlines()
        assert first.endswith(", computed before")
        assert second.startswith("epoch 2: ")
        assert "computed before" not in second
