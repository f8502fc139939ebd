import hashlib
import math
from importlib import metadata

import numpy as np
import pytest
from host_metrics import evaluate

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

import json  # noqa: E402

import pytest  # noqa: E402
from conftest import call  # noqa: E402

from vifidel_eval.commands.printing import size_of  # noqa: E402
from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.io.files import beside  # noqa: E402
from vifidel_eval.plugins.networks import lm  # noqa: E402
from vifidel_eval.plugins.networks.lm import LanguageModel, caption_words, train  # noqa: E402

ANIMALS = ("dog", "cat", "horse", "cow", "bird")
PLACES = ("field", "park", "street", "garden")
CAPTIONS = {
    number: [f"A {animal} is in the {place}.", f"the {animal} runs through a {place}", "..."]
    for number, (animal, place) in enumerate((a, p) for a in ANIMALS for p in PLACES)
}
MANY = {number: texts * 16 for number, texts in CAPTIONS.items()}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "lm.pt"
    train(MANY, path, epochs=24, hidden=12, min_count=4)
    return path


def score(scorer, captions):
    gts = {number: [] for number in range(len(captions))}
    return scorer.compute_score(gts, {n: [caption] for n, caption in enumerate(captions)})


def numpy_score(path, words):
    """The score of some words from the weights alone: an LSTM step by step."""
    content = torch.load(path, weights_only=True)
    weights = {name: value.double().numpy() for name, value in content["weights"].items()}
    tokens = {word: number for number, word in enumerate(content["words"], 3)}
    numbers = [tokens.get(word, 2) for word in words]

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    h = c = np.zeros(12)
    losses = []
    for read, expected in zip([1, *numbers], [*numbers, 0], strict=True):
        gates = (
            weights["lstm.weight_ih_l0"] @ weights["embedding.weight"][read]
            + weights["lstm.bias_ih_l0"]
            + weights["lstm.weight_hh_l0"] @ h
            + weights["lstm.bias_hh_l0"]
        )
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        logits = weights["embedding.weight"] @ h + weights["output.bias"]
        losses.append(np.log(np.exp(logits).sum()) - logits[expected])
    return math.exp(-np.mean(losses))


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("A dog is in the park.", "a dog is in the park".split()),
        ("THE COW runs", "the cow runs".split()),
        ("a zebra isn't in the zoo", "a zebra is in the zoo".split()),
        ("dog", ["dog"]),
    ],
)
def test_score_is_that_of_an_lstm_written_by_hand(model, caption, words):
    _, scores = score(LanguageModel(model), [caption])
    assert scores[0] == pytest.approx(numpy_score(model, words), rel=1e-9)


def test_score_does_not_depend_on_the_batch(model):
    random = np.random.default_rng(0)
    vocabulary = [*ANIMALS, *PLACES, "a", "the", "in", "unheard"]
    captions = [
        " ".join(random.choice(vocabulary, size)) for size in random.integers(1, 30, 300)
    ] + [" ".join(random.choice(vocabulary, 5000))]  # more tokens than are scored at once
    scorer = LanguageModel(model)
    corpus, scores = score(scorer, captions)
    alone = [score(scorer, [caption])[1][0] for caption in captions]
    np.testing.assert_allclose(scores, alone, rtol=1e-12)
    assert corpus == pytest.approx(np.mean(alone), rel=1e-12)
    assert len(np.unique(scores.round(9))) > 200
    assert ((scores > 0) & (scores <= 1)).all()


def test_captions_without_a_word_score_zero_and_are_counted(model):
    gts = {7: [], 3: ["a dog"], 5: [""], 4: []}
    res = {3: [" ... "], 4: [""], 5: ["a dog"], 7: ["the dog runs"]}
    steps = []
    evaluation = evaluate(LanguageModel(model), gts, res, steps.append)
    assert evaluation.ids == [7, 3, 5, 4]
    assert evaluation.counts == {"undefined": 0, "no_words": 2, "no_claim": 2}
    assert (evaluation.scores > 0).tolist() == [True, False, True, False]
    assert evaluation.score == pytest.approx(evaluation.scores.sum() / 4)
    assert sum(steps) == 4


def test_signature_pins_the_model(model, tmp_path):
    scorer = LanguageModel(str(model))
    digest = hashlib.sha256(model.read_bytes()).hexdigest()[:8]
    version = torch.__version__.partition("+")[0]
    assert scorer.method() == "LM"
    versions = f"torch:{version}|version:{metadata.version('vifidel_eval')}"
    assert scorer.signature() == f"LM|model:{digest}|captions:answers-1|{versions}"
    other = tmp_path / "lm.pt"
    train(CAPTIONS, other, epochs=1, hidden=12, min_count=4)
    assert LanguageModel(other).signature() != scorer.signature()


def test_words_include_stop_words_and_single_letters():
    captions = ["A man isn't near the T-shirt, it's 2 dogs'", "", "Ein Hündchen 猫"]
    assert caption_words(captions) == [
        ["a", "man", "is", "near", "the", "t", "shirt", "it", "2", "dogs"],
        [],
        ["ein", "hündchen", "猫"],
    ]


def test_damaged_and_foreign_files(tmp_path, model):
    content, path = torch.load(model, weights_only=True), tmp_path / "other.pt"
    lacking = {name: of for name, of in content["weights"].items() if name != "output.bias"}
    foreign = [[1, 2], {"weights": {}}, {"format": "of others"}]
    damaged = [content | {"words": words} for words in ([*content["words"], "unicorn"], 7)]
    damaged.append(content | {"weights": lacking})
    for others, more in ((foreign, ""), (damaged, ", or damaged")):
        for other in others:
            torch.save(other, path)
            message = rf"other\.pt: not a vifidel-eval language model 1{more}[^\n]*train a new one"
            with pytest.raises(VifidelError, match=message):
                LanguageModel(path)


# Training


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
    epochs = train(MANY, path, epochs=12, hidden=8, on_epoch=seen.append, on_progress=shares.append)
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
    interrupted(parts, epochs, batches)  # or after the last epoch, before the state is removed
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
    sentence = rf"lm\.pt\.unfinished: an unfinished training {message}.*delete it"
    with pytest.raises(VifidelError, match=sentence):
        train(captions, path, **SMALL | settings)
    assert (path.read_bytes(), beside(path, ".unfinished").read_bytes()) == before


@pytest.mark.parametrize("captions", [{}, {1: ["a dog"]}, {1: ["a dog"], 2: ["...", ""], 3: []}])
def test_too_few_captions(tmp_path, captions):
    with pytest.raises(VifidelError, match="captions of at least two images"):
        train(captions, tmp_path / "lm.pt")
    assert not list(tmp_path.iterdir())


class TestCommand:
    @pytest.fixture
    def captions(self, write):
        return write(CAPTIONS)

    def test_shows_each_epoch_and_the_best(self, tmp_path, captions):
        output = tmp_path / "lm.pt"
        result = call("train-lm", captions, "--output", output, "--epochs", 2, "--hidden", 8)
        assert (result.exit_code, result.stderr) == (0, f"{output}: {size_of(output)}\n")
        *epochs, last = result.stdout.splitlines()
        assert len(epochs) == 2
        assert epochs[0].startswith("epoch 1: validation perplexity ")
        assert epochs[0].endswith(", the best so far")
        assert last.startswith(f"{output}: epoch ")
        direct = tmp_path / "direct.pt"
        train(json.loads(captions.read_text("utf-8")), direct, epochs=2, hidden=8)
        assert direct.read_bytes() == output.read_bytes()

    def test_says_how_it_goes_on_after_ctrl_c(self, tmp_path, captions, monkeypatch):
        output = tmp_path / "lm.pt"
        arguments = (captions, "--output", output, "--epochs", 3, "--hidden", 8)
        effects = iter([lm._train_epoch, None, *[lm._train_epoch] * 2])

        def ctrl_c(*args):
            if (train_epoch := next(effects)) is None:
                raise KeyboardInterrupt
            train_epoch(*args)

        monkeypatch.setattr(lm, "_train_epoch", ctrl_c)
        result = call("train-lm", *arguments)
        assert result.exit_code == 130
        assert "Interrupted; the same command continues" in result.stderr
        result = call("train-lm", *arguments)
        assert result.exit_code == 0
        assert result.stderr.count("continuing") == 1
        assert f"{output}.unfinished: continuing the unfinished training" in result.stderr
        first, second, *_ = result.stdout.splitlines()
        assert first.endswith(", computed before")
        assert second.startswith("epoch 2: ")
        assert "computed before" not in second
